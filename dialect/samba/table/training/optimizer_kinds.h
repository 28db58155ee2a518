/* The optimizers that a training graph may ask for: their settings with defaults and ranges, the
 * operator that updates a parameter, and the state that it keeps. One table, from which the
 * command line, the attribute #samba.optimizer and the pass samba-add-optimizers take what they
 * know.
 *
 * Defaults are those of torch.optim, but for AdamW's beta2 and weight_decay, which are the
 * reference API's (.997 and 0). */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_TRAINING_OPTIMIZER_KINDS_H
#define SAMBA_DIALECT_SAMBA_TABLE_TRAINING_OPTIMIZER_KINDS_H

#include "support/base/status.h"
#include "support/text/text.h"

#include <stdbool.h>
#include <stdint.h>

enum { SAMBA_MAX_OPTIMIZER_SETTINGS = 7 };

/* Settings by name, whatever the optimizer. */
typedef enum {
  SAMBA_SETTING_LR,
  SAMBA_SETTING_MOMENTUM,
  SAMBA_SETTING_WEIGHT_DECAY,
  SAMBA_SETTING_NESTEROV,
  SAMBA_SETTING_BETA1,
  SAMBA_SETTING_BETA2,
  SAMBA_SETTING_EPS,
  SAMBA_SETTING_MAX_GRAD_NORM,
  SAMBA_SETTING_FP32_PARAMS,
  SAMBA_SETTING_COUNT
} SambaOptimizerSettingName;

typedef struct SambaOptimizerSetting {
  SambaOptimizerSettingName name;
  bool required;
  double otherwise;   /* unless it is required */
  double least, most; /* of the values that it may have */
  bool below_most;    /* `most` itself is too much */
  bool bound;         /* an argin, bound at each launch; else a constant of the compilation */
  bool rare;          /* records show it only where it is not 0 */
} SambaOptimizerSetting;

typedef enum { SAMBA_OPTIMIZER_SGD, SAMBA_OPTIMIZER_ADAMW } SambaOptimizerKindName;

typedef struct SambaOptimizerKind {
  SambaOptimizerKindName kind;
  const char *name;
  const char *states[3]; /* behind NAME__, in the order of the operands; rare ones last */
  uint32_t setting_count;
  SambaOptimizerSetting settings[SAMBA_MAX_OPTIMIZER_SETTINGS];
} SambaOptimizerKind;

/* "lr", "momentum", ... */
const char *sambaOptimizerSettingName(SambaOptimizerSettingName name);
/* NULL: there is no such optimizer. */
const SambaOptimizerKind *sambaOptimizerFind(SambaStringRef name);
/* The error for a name that is none: it lists those that are. */
SambaStatus sambaOptimizerUnknown(SambaStringRef name);
/* Stores one setting of an optimizer in values[name], after checking its range. */
SambaStatus sambaOptimizerSet(const SambaOptimizerKind *kind, SambaStringRef name, double value,
                              double *values);
/* All settings to their defaults; required ones to NaN. */
void sambaOptimizerDefaults(const SambaOptimizerKind *kind, double values[SAMBA_SETTING_COUNT]);
/* Every required setting has been set. */
SambaStatus sambaOptimizerCheck(const SambaOptimizerKind *kind,
                                const double values[SAMBA_SETTING_COUNT]);
/* "sgd,lr=0.1,momentum=0.9" */
SambaStatus sambaOptimizerParse(SambaStringRef text, const SambaOptimizerKind **out_kind,
                                double out_values[SAMBA_SETTING_COUNT]);

/* The settings that are compiled in, as trace records show them: " {nesterov = 0}". What is bound
 * at launch may differ from run to run and is left out. */
void sambaOptimizerAppendSettings(SambaText *text, const SambaOptimizerKind *kind,
                                  const double *values);

#endif
