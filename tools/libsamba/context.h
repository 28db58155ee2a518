/* A context as the files of the library see it. */
#ifndef SAMBA_TOOLS_LIBSAMBA_CONTEXT_H
#define SAMBA_TOOLS_LIBSAMBA_CONTEXT_H

#include "samba/context.h"

#include "mlir-c/IR.h"

struct SambaContext {
  MlirContext mlir; /* null until it is first needed */
  char *target;
  SambaGenerator *generator;
  bool is_lazy;
  SambaLazyOptions lazy; /* where it is */
  /* What lazy tensors are computed with; NULL until it is first needed. */
  void *device;
  void (*release_device)(void *device);
};

/* The compiler's context, made when it is first asked for. */
MlirContext sambaContextGetMlir(SambaContext *context);

#endif
