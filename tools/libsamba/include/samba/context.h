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

/* ---- Random numbers and parameters ---- */

/* The generator of the context, borrowed; its seed is 0 at first. Factories of samba/tensor.h take
 * it, and lazy data that have no seed of their own. */
SAMBA_EXPORT SambaGenerator *sambaContextGetGenerator(SambaContext *context);
SAMBA_EXPORT void sambaContextSetSeed(SambaContext *context, uint64_t seed);

/* From now on parameters are made without data, which come with these options when something needs
 * them. NULL: with data, as at first. The options are checked and copied. */
SAMBA_EXPORT SambaStatus sambaContextSetLazy(SambaContext *context,
                                             const SambaLazyOptions *options);
SAMBA_EXPORT bool sambaContextIsLazy(const SambaContext *context);
/* A tensor that requires a gradient, with first values as the initializer says. */
SAMBA_EXPORT SambaStatus sambaContextCreateParameter(SambaContext *context, SambaDType dtype,
                                                     uint32_t rank, const int64_t *dims,
                                                     SambaStringRef name,
                                                     const SambaInitializer *initializer,
                                                     SambaTensor **out_tensor);

/* ---- Graphs ---- */

/* An empty graph; the context must outlive it. */
SAMBA_EXPORT SambaTrace *sambaTraceCreate(SambaContext *context, const char *graph_name);

/* "0.1.0" */
SAMBA_EXPORT const char *sambaGetVersion(void);

#ifdef __cplusplus
}
#endif

#endif
