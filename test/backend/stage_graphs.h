/* Random stage graphs for tests: what operators look like once they are stages. */
#ifndef SAMBA_TEST_BACKEND_STAGE_GRAPHS_H
#define SAMBA_TEST_BACKEND_STAGE_GRAPHS_H

#include "backend/stage/stage.h"

typedef struct Random {
  uint64_t state;
} Random;
uint64_t randomNext(Random *random);
/* In [low, high]. */
int64_t randomIn(Random *random, int64_t low, int64_t high);

typedef struct GraphKind {
  const char *name;
  void (*make)(SambaStageGraph *graph, Random *random);
} GraphKind;
extern const GraphKind graphKinds[];
extern const uint32_t graphKindCount;

/* Building blocks. Dimension lists end at rank. Coefficients: map[axis] = one dimension (or -1:
 * constant 0). */
uint32_t addTensor(SambaStageGraph *graph, SambaTensorRole role, SambaDType dtype, uint32_t rank,
                   const int64_t *dims);
uint32_t addMatmul(SambaStageGraph *graph, uint32_t a, uint32_t b, bool transposed,
                   SambaTensorRole role, SambaDType out);
/* Stage 0 makes queries of a batch, rows, heads and what is in these: 2, 32, 2, 32 in f32. Stage 1
 * scores them by keys: batch, heads, 32 rows, 40 columns. */
void makeScoresOfHeads(SambaStageGraph *graph);

#endif
