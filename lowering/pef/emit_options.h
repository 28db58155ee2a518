/* What the caller of the PEF emitter decides. */
#ifndef SAMBA_LOWERING_PEF_EMIT_OPTIONS_H
#define SAMBA_LOWERING_PEF_EMIT_OPTIONS_H

#include "backend/estimate/predict.h"

#include "mlir-c/IR.h"

typedef struct SambaEmitOption {
  const char *key, *value;
} SambaEmitOption;

/* What is known of a configuration while it is emitted, for reports; one per image of the PEF. */
typedef struct SambaEmittedSection {
  SambaPrediction prediction;
  double launch_cycles, flops;
  char *unit, *layer; /* the busiest of the bottleneck, "": none; owned */
  MlirAttribute end;  /* of its first call: why it ends (rdu_attribute_names.h); null: not said */
} SambaEmittedSection;
typedef SAMBA_ARRAY(SambaEmittedSection) SambaEmittedSections;
void sambaEmittedSectionsFree(SambaEmittedSections *sections);

typedef struct SambaEmitOptions {
  const char *folder; /* external data paths in the IR are relative to this folder; NULL or "": the
                         current one */
  /* A file with data must lie in this folder ("": the current one) or below, unless it is `model`,
   * the file that the user named. NULL: it may lie anywhere. */
  const char *data_folder;
  const char *model;
  bool external_weights; /* refer to the files instead of copying their data */
  const char
      *trace; /* the trace record of the first graph, for the check at run time; may be NULL */
  size_t trace_size;
  uint32_t option_count; /* what goes into the options table */
  const SambaEmitOption *options;
  SambaEmittedSections *emitted; /* gets what is known of each configuration; may be NULL */
} SambaEmitOptions;

#endif
