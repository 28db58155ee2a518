/* From a trace to a session that can run it: the model is traced again where it shall run, compared
 * with its PEF, and what it needs goes to the device.
 *
 *   sambaSessionTraceGraph(session, trace, &(SambaTraceGraphOptions){.pef = "model.pef"});
 *   sambaSessionRun(session, &options, NULL, NULL); */
#ifndef SAMBA_TRACE_GRAPH_H
#define SAMBA_TRACE_GRAPH_H

#include "samba/session.h"
#include "samba/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero: the PEF that the session has, its first graph, and everything is transferred. */
typedef struct SambaTraceGraphOptions {
  const char *pef;      /* a path; NULL or "": that of the session */
  const char *graph;    /* its name in the PEF; NULL or "": the first one */
  const char *mapping;  /* "section" or "spatial": what the PEF must have; NULL: either */
  bool no_transfer;     /* nothing is written: the program says what goes over, and when */
  bool no_output_grads; /* the gradients of outputs are left as they are */
} SambaTraceGraphOptions;

/* Loads the PEF, compares the trace with it (sambaSessionCheckTrace), remembers the host tensors of
 * the trace (sambaSessionGetTensor), writes those that have data or can make them, and begins with
 * ones as gradients of outputs. Tensors that the PEF does not have, since nothing needs them, are
 * left out. options may be NULL. */
SAMBA_EXPORT SambaStatus sambaSessionTraceGraph(SambaSession *session, SambaTrace *trace,
                                                const SambaTraceGraphOptions *options);

#ifdef __cplusplus
}
#endif

#endif
