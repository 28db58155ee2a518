/* Importing ONNX: a model file to a module with one samba graph. */
#ifndef SAMBA_FRONTEND_ONNX_ONNX_H
#define SAMBA_FRONTEND_ONNX_ONNX_H

#include "support/base/status.h"
#include <stddef.h>
#include <stdint.h>

#include "mlir-c/IR.h"

typedef struct SambaOnnxImportOptions {
  /* "NAME=1x3x224x224": shapes of graph inputs, for those with dynamic dimensions. */
  const char *const *shapes;
  size_t shape_count;
  /* "NAME=FILE" (.npy or .pb): that graph input is a constant known at compile time. */
  const char *const *binds;
  size_t bind_count;
  /* The folder of the file that the IR will be written to: paths of weights are made relative to
   * it. NULL: the current folder. */
  const char *output_folder;
  /* "f32": tensors of the type DOUBLE become f32. NULL: they are refused. */
  const char *f64;
  /* The model will be trained: every float initializer is a weight, single numbers too. */
  bool trains;
} SambaOnnxImportOptions;

/* Receives the lines of the trace record and its digest (see SambaTraceRecord); borrowed for the
 * call. */
typedef void (*SambaOnnxRecordCallback)(uint32_t line_count, const char *const *lines,
                                        const uint8_t digest[32], void *user_data);

/* Reads the model. Exactly one of status and *out_module; the module has passed the verifier, its
 * weights are ranges of the model's file (or of its external data files). An error names the file
 * and, where there is one, the node: name, operator type, index. `options` may be NULL; so may
 * callback. */
SambaStatus sambaOnnxImportModel(MlirContext context, const char *path,
                                 const SambaOnnxImportOptions *options,
                                 SambaOnnxRecordCallback callback, void *user_data,
                                 MlirModule *out_module);

#endif
