/* From a model to a PEF by the public options: what the library and samba-compile have in common.
 */
#ifndef SAMBA_TOOLS_LIBSAMBA_MODEL_H
#define SAMBA_TOOLS_LIBSAMBA_MODEL_H

#include "pipeline/compile.h"
#include "samba/compile.h"

/* What a model is given as: one of trace, module, path and text. */
typedef struct SambaModel {
  SambaTrace *trace;
  MlirModule module; /* borrowed */
  const char *path;  /* .onnx, .mlir, .mlirbc */
  SambaStringRef text;
} SambaModel;

/* Compiles it. configure (may be NULL): see SambaModuleOptions. */
SambaStatus sambaModelCompile(MlirContext context, const SambaModel *model,
                              const SambaCompileOptions *options,
                              bool (*configure)(MlirPassManager manager, void *user),
                              SambaCompileOutput *output);

#endif
