/* Tracing for the code of the compiler: samba/trace.h, and what speaks of MLIR. */
#ifndef SAMBA_FRONTEND_TRACE_TRACE_H
#define SAMBA_FRONTEND_TRACE_TRACE_H

#include "frontend/trace/value.h"
#include "samba/trace.h"
#include "support/base/memory.h"
#include "support/text/trace_record.h"

/* Makes sure the samba dialect is registered with the context; the context stays the caller's. */
SambaTrace *sambaTraceCreateInContext(MlirContext context, const char *graph_name);
MlirContext sambaTraceContext(const SambaTrace *trace);
SambaArena *sambaTraceArena(SambaTrace *trace);
/* Remembers a failure (taken) unless there is one already. */
void sambaTraceFail(SambaTrace *trace, SambaStatus status);

/* Ends the graph; to be called once. Either the status is a failure, or out_module is a verified
 * module with one public function. */
SambaStatus sambaTraceFinish(SambaTrace *trace, MlirModule *out_module);

/* The model has numbers of this name, but they are part of the operators and no argument. */
void sambaTraceNameConstant(SambaTrace *trace, SambaStringRef name);

#endif
