/* Where lazy tensors are computed: the context's session, and the programs that it has run. */
#ifndef SAMBA_TOOLS_LIBSAMBA_LAZY_DEVICE_H
#define SAMBA_TOOLS_LIBSAMBA_LAZY_DEVICE_H

#include "samba/compile.h"
#include "samba/lazy.h"
#include "samba/session.h"

/* A graph that was compiled: two traces with one record are one program. Counted references. */
typedef struct SambaLazyProgram {
  uint32_t references;
  uint8_t digest[32];
  char *target;
  SambaPefData pef;
  uint64_t planned_bytes, sum_bytes; /* of activations */
  uint32_t calls;                    /* of sections, in one run */
} SambaLazyProgram;

/* Compiles the trace, which takes nothing more, or finds the program that it was compiled to. The
 * caller gets a reference. */
SambaStatus sambaLazyCompile(SambaContext *context, SambaTrace *trace,
                             SambaLazyProgram **out_program);
void sambaLazyProgramRelease(SambaLazyProgram *program);

/* The session with that program loaded. Borrowed until the next call. */
SambaStatus sambaLazyLoad(SambaContext *context, SambaLazyProgram *program,
                          SambaSession **out_session);
/* Runs everything; counted in the statistics, if asked. */
SambaStatus sambaLazyRun(SambaContext *context, SambaSession *session, bool counted);

#endif
