/* The pipeline samba-to-rdu as text: one table from which samba-opt, the plugin and samba-compile
 * take the same steps. */
#ifndef SAMBA_PIPELINE_PIPELINE_H
#define SAMBA_PIPELINE_PIPELINE_H

#include "support/base/memory.h"
#include "support/base/status.h"
#include "support/text/string_ref.h"

#include "mlir-c/Pass.h"

/* Options of samba-to-rdu; strings are borrowed, NULL means the default. */
typedef struct SambaPipelineOptions {
  const char *target;    /* sn40l (default), another shipped machine or a machine file */
  const char *opt;       /* o0, o1 (default), o3 */
  const char *mapping;   /* section (default), spatial */
  const char *precision; /* mp0 (default, alias f32), mp1, mp4 (alias bf16) */
  const char *inference; /* true (default), false */
  const char *rules;     /* fusion rules file */
  const char *decisions; /* decisions file */
} SambaPipelineOptions;

/* The passes, comma-separated, in the arena, in two: up to the sections with their memory, and what
 * makes each of them a configuration; the second may run again for sections that did not fit.
 * Errors name the option whose value is not known. */
SambaStatus sambaPipelineTexts(SambaArena *arena, const SambaPipelineOptions *options,
                               const char **out_front, const char **out_back);
/* Adds the whole, from the text of options, `target=tiny opt=o0`; values with spaces in quotes. */
SambaStatus sambaPipelineAdd(MlirOpPassManager manager, SambaStringRef options);
extern const char sambaPipelineDescription[]; /* for --help */

#endif
