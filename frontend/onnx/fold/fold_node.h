/* Evaluating nodes whose inputs are known at compile time: one function per fold of the table.
 * Each sets *out_done only when it has made the outputs; what it cannot do stays for the graph. */
#ifndef SAMBA_FRONTEND_ONNX_FOLD_FOLD_NODE_H
#define SAMBA_FRONTEND_ONNX_FOLD_FOLD_NODE_H

#include "frontend/onnx/core/node.h"

#define X(name) SambaStatus sambaOnnxFold##name(const SambaOnnxNode *node, bool *out_done);
#include "frontend/onnx/fold/folds.def"
#undef X

#endif
