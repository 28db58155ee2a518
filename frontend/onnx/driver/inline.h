/* Nodes that others take the place of: calls of the model's functions, If, Loop. */
#ifndef SAMBA_FRONTEND_ONNX_DRIVER_INLINE_H
#define SAMBA_FRONTEND_ONNX_DRIVER_INLINE_H

#include "frontend/onnx/core/node.h"

/* The model's function that the node calls, or NULL. */
const Onnx__FunctionProto *sambaOnnxFunctionOf(const SambaOnnxNode *node);
/* Imports the function's nodes in place of the node; errors name the node inside. */
SambaStatus sambaOnnxInlineFunction(const SambaOnnxNode *node, const Onnx__FunctionProto *function);

/* Handlers of the table. */
SambaStatus sambaOnnxImportIf(const SambaOnnxNode *node);
SambaStatus sambaOnnxImportLoop(const SambaOnnxNode *node);

#endif
