/* A tensor of a trace: metadata, a value of the graph, and where its data may be; see trace.h. */
#ifndef SAMBA_FRONTEND_TRACE_TENSOR_H
#define SAMBA_FRONTEND_TRACE_TENSOR_H

#include "dialect/samba/table/core/operator.h"
#include "support/base/status.h"

#include "mlir-c/IR.h"

typedef struct SambaTrace SambaTrace;

/* Where a tensor's data is, for whoever asks while the graph is not running. Tracing does not look
 * at it. */
typedef enum {
  SAMBA_STORAGE_NONE,
  SAMBA_STORAGE_BORROWED,
  SAMBA_STORAGE_OWNED,
  SAMBA_STORAGE_LAZY
} SambaStorageKind;
typedef struct SambaStorage {
  SambaStorageKind kind;
  void *data;                      /* BORROWED, OWNED: row-major unless strides say otherwise */
  int64_t strides[SAMBA_MAX_RANK]; /* in elements; all 0: row-major */
  void (*release)(void *data, void *user_data); /* OWNED: called when the trace is destroyed */
  SambaStatus (*materialize)(void *user_data, void *out); /* LAZY: writes the elements, row-major */
  void *user_data;
} SambaStorage;

/* One tensor of a trace. Owned by the trace. */
typedef struct SambaTensor {
  SambaTrace *trace;
  MlirValue value;
  SambaTensorType type;
  SambaStringRef name; /* arguments: as given; others: "" */
  SambaStringRef kind; /* arguments: "input", "weight", ...; others: "" */
  SambaStringRef region;
  SambaStringRef memory;
  bool requires_grad;
  SambaStorage storage;
  uint32_t id;       /* position in the trace: arguments and results count in order of creation */
  uint32_t argument; /* arguments: number; others: SAMBA_NO_INDEX */
} SambaTensor;

#endif
