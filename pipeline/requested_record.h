/* The trace record of a graph that is trained by request; see support/text/trace_record.h. */
#ifndef SAMBA_PIPELINE_REQUESTED_RECORD_H
#define SAMBA_PIPELINE_REQUESTED_RECORD_H

#include "support/base/status.h"
#include "support/text/text.h"

#include "mlir-c/IR.h"

/* The graph was traced as for inference (`traced`: its lines, each with its newline), and
 * samba-request-training has changed it since, with this optimizer (empty: none). Appends the lines
 * that tracing the whole training would have made. */
SambaStatus sambaTraceRecordRequested(MlirOperation function, SambaStringRef traced,
                                      SambaStringRef optimizer, SambaText *out_record);

#endif
