/* A value of a trace: what the graph knows of a tensor; see trace.h. */
#ifndef SAMBA_FRONTEND_TRACE_VALUE_H
#define SAMBA_FRONTEND_TRACE_VALUE_H

#include "dialect/samba/table/core/operator.h"
#include "samba/trace.h"
#include "support/text/string_ref.h"

#include "mlir-c/IR.h"

/* One value of a trace. Owned by the trace. */
struct SambaTraceValue {
  SambaTrace *trace;
  MlirValue value;
  SambaTensorType type;
  SambaStringRef name; /* arguments: as given; others: "" */
  SambaStringRef kind; /* arguments: "input", "weight", ...; others: "" */
  SambaStringRef region;
  SambaStringRef memory;
  bool requires_grad;
  uint32_t id;       /* position in the trace: arguments and results count in order of creation */
  uint32_t argument; /* arguments: number; others: SAMBA_NO_INDEX */
};

#endif
