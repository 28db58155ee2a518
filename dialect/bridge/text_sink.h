/* A text as the target of MLIR's printers: mlirTypePrint(type, sambaTextSink, &text). */
#ifndef SAMBA_DIALECT_BRIDGE_TEXT_SINK_H
#define SAMBA_DIALECT_BRIDGE_TEXT_SINK_H

#include "support/text/text.h"

#include "mlir-c/Support.h"

static inline void sambaTextSink(MlirStringRef piece, void *text) {
  sambaTextAppend((SambaText *)text, piece.data, piece.length);
}

#endif
