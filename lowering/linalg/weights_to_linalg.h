/* The data of a graph's arguments, in the module that leaves Samba. */
#ifndef SAMBA_LOWERING_LINALG_WEIGHTS_TO_LINALG_H
#define SAMBA_LOWERING_LINALG_WEIGHTS_TO_LINALG_H

#include "mlir-c/IR.h"

#include <stdbool.h>

typedef enum {
  SAMBA_WEIGHTS_ARGUMENTS, /* they stay arguments, without data */
  SAMBA_WEIGHTS_CONSTANTS, /* arith.constant */
  SAMBA_WEIGHTS_GLOBALS    /* ml_program.global and a load */
} SambaWeightsForm;

typedef struct SambaWeightsOptions {
  SambaWeightsForm form;
  const char *folder;      /* that paths of data are relative to */
  const char *data_folder; /* that the data must lie in */
} SambaWeightsOptions;

/* Every argument with samba.value becomes what the form says, and no argument any more. False after
 * an error was emitted. */
bool sambaWeightsToLinalg(MlirOperation function, const SambaWeightsOptions *options);

#endif
