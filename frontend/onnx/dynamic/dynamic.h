/* Nodes with operands that are only there at run time though they steer shapes, and nodes with
 * tensors that have no elements. */
#ifndef SAMBA_FRONTEND_ONNX_DYNAMIC_DYNAMIC_H
#define SAMBA_FRONTEND_ONNX_DYNAMIC_DYNAMIC_H

#include "frontend/onnx/core/node.h"

/* Imports the node by `import` with the first such operand as the constant that the declared shapes
 * determine; *out_done: there was one. */
SambaStatus sambaOnnxImportDeclared(const SambaOnnxNode *node,
                                    SambaStatus (*import)(const SambaOnnxNode *node),
                                    bool *out_done);
/* Imports the node with such operands as index arithmetic; *out_done: it could. */
SambaStatus sambaOnnxImportRuntimeForm(const SambaOnnxNode *node, bool *out_done);
/* Resize and Upsample of declared shape with scales or a region that are not known; options without
 * sizes and scales. */
SambaStatus sambaOnnxResizeAtRunTime(const SambaOnnxNode *node, SambaTraceValue *x,
                                     const SambaInterpolateOptions *options, bool *out_done);
/* Imports a node that has inputs or results without elements; *out_done: it could. */
SambaStatus sambaOnnxImportEmpty(const SambaOnnxNode *node, bool *out_done);

#endif
