/* The steps that composite operators (softmax, norms, attention) are made of; inside the operator
 * table.
 *
 * Statistics keep reduced dimensions as 1, so that they broadcast against what they were taken of.
 * All are f32. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_CALLS_COMPOSE_H
#define SAMBA_DIALECT_SAMBA_TABLE_CALLS_COMPOSE_H

#include "dialect/samba/table/core/stage_builder.h"

typedef struct SambaComposition {
  SambaStageGraph *graph;
  const char *name, *layer;
} SambaComposition;

/* What is done to an element before it is reduced. */
typedef enum {
  SAMBA_REDUCE_PLAIN,      /* x */
  SAMBA_REDUCE_SQUARE,     /* x * x */
  SAMBA_REDUCE_DEVIATION,  /* (x - s) * (x - s), s broadcast */
  SAMBA_REDUCE_EXPONENTIAL /* exp(x - s) */
} SambaReduceForm;

/* Reduces x over the flagged axes (kept as 1). `statistic` is read by the forms that need s. */
uint32_t sambaComposeReduce(const SambaComposition *composition, uint32_t x, const bool *reduced,
                            SambaLaneOpcode opcode, SambaReduceForm form, uint32_t statistic);
/* x / count as a tensor of its own. */
uint32_t sambaComposeDivide(const SambaComposition *composition, uint32_t x, int64_t count);
/* 1 / sqrt(x / count + epsilon) */
uint32_t sambaComposeInverseDeviation(const SambaComposition *composition, uint32_t x,
                                      int64_t count, double epsilon);
/* softmax of x along `axis` into result: four stages. */
void sambaComposeSoftmax(const SambaComposition *composition, uint32_t x, uint32_t axis,
                         uint32_t result);
/* A parameter of a norm: (C1) x's dtype or f32, and exactly this shape. */
SambaStatus sambaCheckNormParameter(const SambaOperatorCall *call, unsigned constraint,
                                    uint32_t operand, const char *what, uint32_t rank,
                                    const int64_t *dims);

#endif
