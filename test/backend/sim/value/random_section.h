/* Seeded random sections of several shapes, small enough for the naive interpreter. */
#ifndef SAMBA_TEST_BACKEND_SIM_VALUE_RANDOM_SECTION_H
#define SAMBA_TEST_BACKEND_SIM_VALUE_RANDOM_SECTION_H

#include "test/backend/sim/value/builder.h"

typedef enum {
  RANDOM_ELEMENTWISE, /* a random program over random broadcasts, types and counter orders */
  RANDOM_REDUCTION,   /* the same with reductions, in order or by lanes, over several firings */
  RANDOM_MATMUL,      /* tiles, k chunks, batch, layouts, a tail */
  RANDOM_WINDOW,      /* sliding windows with guards from a buffer, reduced or systolic */
  RANDOM_SPREAD,      /* split over copies, merged again; multicast */
  RANDOM_INDEXED,     /* gather and scatter */
  RANDOM_PASSES,      /* products pass by pass, with operands sent again */
  RANDOM_SHAPES
} RandomShape;

/* Builds a section and fills its input formals. Uses the state of srand48. */
void randomSection(Builder *builder, RandomShape shape);

#endif
