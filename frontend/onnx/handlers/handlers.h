/* The handlers of ONNX operators: each imports one node as operators of the trace. */
#ifndef SAMBA_FRONTEND_ONNX_HANDLERS_HANDLERS_H
#define SAMBA_FRONTEND_ONNX_HANDLERS_HANDLERS_H

#include "frontend/onnx/core/node.h"

#define X(name) SambaStatus sambaOnnxImport##name(const SambaOnnxNode *node);
#include "frontend/onnx/handlers/handlers.def"
#undef X

/* `count` elements along one axis, from start on, step apart. */
SambaTraceValue *sambaOnnxPart(SambaTraceValue *x, uint32_t axis, int64_t start, int64_t count,
                               int64_t step);

#endif
