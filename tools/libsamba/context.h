/* A context as the files of the library see it. */
#ifndef SAMBA_TOOLS_LIBSAMBA_CONTEXT_H
#define SAMBA_TOOLS_LIBSAMBA_CONTEXT_H

#include "samba/context.h"
#include "samba/mlir.h"

struct SambaContext {
  MlirContext mlir;  /* null until it is first needed */
  bool borrows_mlir; /* it is the caller's */
  char *target;
  SambaGenerator *generator;
  bool is_lazy;
  SambaLazyOptions lazy; /* where it is */
  /* What lazy tensors are computed with; NULL until it is first needed. */
  void *device;
  void (*release_device)(void *device);
};

#endif
