/* The values that a module computes, at any level from a traced graph to rdu sections, on inputs
 * that follow from a seed. Nothing of the way down is used: graphs and sections of samba and linalg
 * operations are evaluated by their definition, rdu sections by a simulator that the program has
 * brought. */
#ifndef SAMBA_LOWERING_CHECK_MODULE_VALUES_H
#define SAMBA_LOWERING_CHECK_MODULE_VALUES_H

#include "dialect/samba/samba.h"
#include "lowering/check/section_runner.h"

typedef struct SambaInputOptions {
  uint64_t seed;
  int64_t integers; /* integers are drawn from [0, integers) */
} SambaInputOptions;

/* A result or an argument of a graph. */
typedef struct SambaGraphValue {
  const char *graph, *name;
  size_t number; /* among the results, or arguments, of its graph */
  SambaTensorType type;
  const double *elements; /* one number per element */
} SambaGraphValue;

typedef struct SambaModuleValues {
  SambaArena arena; /* of everything */
  SAMBA_ARRAY(SambaGraphValue) arguments, results;
} SambaModuleValues;

/* Fills zeroed values; free them in any case. An argument's values depend on the seed, its graph
 * and its name alone, so a module before and after a pass gets the same. An argument that has lost
 * its name gets what the one in its place had in `original`, which may be NULL. */
SambaStatus sambaModuleEvaluate(MlirOperation module, const SambaInputOptions *options,
                                const SambaModuleValues *original, SambaModuleValues *out_values);
void sambaModuleValuesFree(SambaModuleValues *values);

#endif
