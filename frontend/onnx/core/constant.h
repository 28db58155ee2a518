/* Values known at compile time: small tensors of numbers, for the shape arithmetic that exporters
 * leave in graphs. */
#ifndef SAMBA_FRONTEND_ONNX_CORE_CONSTANT_H
#define SAMBA_FRONTEND_ONNX_CORE_CONSTANT_H

#include "dialect/samba/table/core/operator.h"
#include "support/base/memory.h"
#include "support/base/status.h"

enum { SAMBA_ONNX_MAX_FOLDED = 1 << 16 }; /* elements; what is larger stays in the graph */

/* TensorProto.DataType of ONNX: the types of numbers. */
enum {
  SAMBA_ONNX_FLOAT = 1,
  SAMBA_ONNX_UINT8,
  SAMBA_ONNX_INT8,
  SAMBA_ONNX_UINT16,
  SAMBA_ONNX_INT16,
  SAMBA_ONNX_INT32,
  SAMBA_ONNX_INT64,
  SAMBA_ONNX_BOOL = 9,
  SAMBA_ONNX_FLOAT16,
  SAMBA_ONNX_DOUBLE,
  SAMBA_ONNX_UINT32,
  SAMBA_ONNX_UINT64,
  SAMBA_ONNX_BFLOAT16 = 16
};

typedef union SambaNumber {
  int64_t i; /* integers and booleans */
  double r;  /* floats; f32 values are rounded to f32 */
} SambaNumber;

typedef struct SambaConstant {
  int64_t onnx_type; /* TensorProto.DataType: may be one that Samba has not (f64, u32 ...) */
  bool is_float;
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK]; /* 0 is legal here */
  int64_t count;
  SambaNumber *data;
} SambaConstant;

/* A constant with uninitialized elements; NULL when it would be too large or the rank too high. */
SambaConstant *sambaConstantNew(SambaArena *arena, int64_t onnx_type, uint32_t rank,
                                const int64_t *dims);
/* Reads row-major little-endian elements; NULL for types without numbers (strings, complex). */
SambaConstant *sambaConstantFromBytes(SambaArena *arena, int64_t onnx_type, uint32_t rank,
                                      const int64_t *dims, const void *bytes);
/* Writes the elements as dtype into out (row-major). */
void sambaConstantToBytes(const SambaConstant *constant, SambaDType dtype, void *out);
bool sambaOnnxTypeIsFloat(int64_t onnx_type);
uint32_t sambaOnnxTypeBytes(int64_t onnx_type); /* 0: not a fixed-size number */
int64_t sambaOnnxTypeOf(SambaDType dtype);      /* TensorProto.DataType */
/* A number as this type can hold it. */
SambaNumber sambaNumberConvert(SambaNumber number, bool from_float, int64_t onnx_type);
static inline double sambaConstantReal(const SambaConstant *c, int64_t index) {
  return c->is_float ? c->data[index].r : (double)c->data[index].i;
}

/* The element that numpy's broadcasting reads for element `index` of a result of rank x dims. */
int64_t sambaConstantBroadcastIndex(const SambaConstant *c, uint32_t rank, const int64_t *dims,
                                    int64_t index);

#endif
