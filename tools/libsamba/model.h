/* From a model to a PEF by the public options: what the library and samba-compile have in common.
 */
#ifndef SAMBA_TOOLS_LIBSAMBA_MODEL_H
#define SAMBA_TOOLS_LIBSAMBA_MODEL_H

#include "frontend/onnx/onnx.h"
#include "pipeline/compile.h"
#include "samba/compile.h"

/* What a model is given as: one of trace, module, path and text. */
typedef struct SambaModel {
  SambaTrace *trace;
  MlirModule module; /* borrowed */
  const char *path;  /* .onnx, .mlir, .mlirbc */
  SambaStringRef text;
} SambaModel;

/* The module of an ONNX model as the options ask for it; the callback gets its record. */
SambaStatus sambaModelImportOnnx(MlirContext context, const char *path,
                                 const SambaCompileOptions *options,
                                 SambaOnnxRecordCallback callback, void *user,
                                 MlirModule *out_module);

/* Compiles it. configure (may be NULL): see SambaModuleOptions. */
SambaStatus sambaModelCompile(MlirContext context, const SambaModel *model,
                              const SambaCompileOptions *options,
                              bool (*configure)(MlirPassManager manager, void *user),
                              SambaCompileOutput *output);

#endif
