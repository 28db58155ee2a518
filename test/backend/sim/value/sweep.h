/* Programs of one or two f32 inputs run over many points, and their errors in units of the last
 * place. */
#ifndef SAMBA_TEST_BACKEND_SIM_VALUE_SWEEP_H
#define SAMBA_TEST_BACKEND_SIM_VALUE_SWEEP_H

#include "backend/sim/value/values.h"

enum { sweepToken = 4096 }; /* points come in multiples of it */

/* A lane program of two f32 inputs, values 0 and 1; counters 0 and 1 are n / token and token. */
typedef struct SweepProgram {
  uint32_t op_count;
  const SambaLaneOp *ops;
  uint32_t result;
} SweepProgram;

/* Runs it over n points, `token` of them per token; cpu NULL: the host. */
void sweepRun(const SweepProgram *program, const float *x, const float *y, float *out, uint32_t n,
              uint32_t token, const char *cpu);

/* Error of a in units in the last place of the f32 nearest to the exact value; 1e9 for a wrong
 * special value. */
double sweepUlps(float a, double exact);

/* Patterns spread over all of f32, both signs, and the corners; at most sweepCapacity. Returns
 * their number. */
enum { sweepCapacity = 2000000 };
uint32_t sweepFill(float *x);

/* One function of one operand against its f64 reference. */
typedef struct SweepFunction {
  const char *name;
  double (*exact)(double);
  double bound; /* ulp */
  double slack; /* an absolute error that does not count, for functions that scale a denormal */
} SweepFunction;

/* The largest error over the sample (all: every f32), printed with where it is; fails
 * above the bound. The sample is run again for a host without AVX and FMA and point by
 * point: the same bits. */
void sweepCheck(const SweepFunction *function, const SweepProgram *program, bool all);

#endif
