/* The pipeline samba-to-rdu as text: one table from which samba-opt, the plugin and samba-compile
 * take the same steps. */
#ifndef SAMBA_PIPELINE_PIPELINE_H
#define SAMBA_PIPELINE_PIPELINE_H

#include "support/base/memory.h"
#include "support/base/status.h"
#include "support/text/string_ref.h"

#include "mlir-c/Pass.h"

/* Options of samba-to-rdu; strings are borrowed, NULL and "" mean the default. */
typedef struct SambaPipelineOptions {
  const char *entry;          /* the function that is compiled; none: every public one */
  const char *target;         /* a shipped machine or a machine file */
  const char *opt;            /* o0, o1, o3 */
  const char *search_seconds; /* that the search of o3 may take */
  const char *mapping;        /* section, spatial */
  const char *precision;      /* mp0 (alias f32), mp1, mp4 (alias bf16) */
  const char *inference;      /* true; false: the graph is trained, by the next four */
  const char *loss;       /* results that are losses, separated by commas; none: see Passes.td */
  const char *optimizer;  /* sgd,lr=0.1; none: gradients only */
  const char *freeze;     /* weights that are not trained, separated by commas */
  const char *accumulate; /* true: gradients are summed until ZEROGRAD */
  const char *io_host_memory; /* true: inputs and outputs lie in host memory */
  const char *rules;          /* fusion rules file, or the name of shipped rules */
  const char *decisions;      /* decisions file */
  const char *dump;           /* folder for the plan of each section, as text */
} SambaPipelineOptions;

/* The same options, none of them NULL. */
SambaPipelineOptions sambaPipelineWithDefaults(const SambaPipelineOptions *options);

/* One of them, as users know it. */
typedef struct SambaPipelineOption {
  const char *name;
  size_t offset; /* in SambaPipelineOptions */
  const char *initial, *help;
} SambaPipelineOption;
/* All of them; the last one has no name. */
extern const SambaPipelineOption sambaPipelineOptionTable[];

/* Which functions are graphs; then what options say of training, written into the graph (none: no
 * text); up to the sections with their memory; what makes each of them a configuration, which may
 * run again for sections that did not fit; and, beside that, what writes their mappings only. */
typedef enum {
  SAMBA_PHASE_ENTER,
  SAMBA_PHASE_FOREIGN, /* what other compilers emit (TOSA, linalg) becomes a graph */
  SAMBA_PHASE_REQUEST,
  SAMBA_PHASE_GRAPH,
  SAMBA_PHASE_SECTIONS,
  SAMBA_PHASE_MAPPINGS
} SambaPipelinePhase;

/* The passes of a phase, comma-separated, in the arena. Errors name the option whose value is not
 * known. */
SambaStatus sambaPipelineText(SambaArena *arena, const SambaPipelineOptions *options,
                              SambaPipelinePhase phase, const char **out_text);
/* A pipeline by name. */
typedef struct SambaPipeline {
  const char *name, *description; /* for --help */
  unsigned phases;                /* a bit each */
} SambaPipeline;
/* All of them; the last one has no name. */
extern const SambaPipeline sambaPipelineTable[];
/* Adds the pipeline. values: of the options, in the order of their table. */
SambaStatus sambaPipelineAdd(MlirOpPassManager manager, const SambaPipeline *pipeline,
                             const char *const *values);

#endif
