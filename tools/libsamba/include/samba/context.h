/* The context: what everything that is compiled or computed in one place shares. A process may have
 * several; one is used by one thread at a time. */
#ifndef SAMBA_CONTEXT_H
#define SAMBA_CONTEXT_H

#include "samba/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SambaContext SambaContext;

/* Cheap: the compiler is set up when something is first traced or compiled. */
SAMBA_EXPORT SambaStatus sambaContextCreate(SambaContext **out_context);
/* Traces of the context must be gone. */
SAMBA_EXPORT void sambaContextDestroy(SambaContext *context);

/* The machine that is compiled for unless the options of a compilation name another: a shipped one
 * (sn40l at first) or the path of a machine file. A machine that does not exist is refused when
 * something is compiled. */
SAMBA_EXPORT void sambaContextSetTarget(SambaContext *context, const char *target);
/* Borrowed until the next call of sambaContextSetTarget. */
SAMBA_EXPORT const char *sambaContextGetTarget(const SambaContext *context);

/* An empty graph; the context must outlive it. */
SAMBA_EXPORT SambaTrace *sambaTraceCreate(SambaContext *context, const char *graph_name);

/* "0.1.0" */
SAMBA_EXPORT const char *sambaGetVersion(void);

#ifdef __cplusplus
}
#endif

#endif
