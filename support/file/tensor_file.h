/* Tensors in files: NumPy's .npy (versions 1 to 3) and one serialized ONNX TensorProto (.pb). */
#ifndef SAMBA_SUPPORT_FILE_TENSOR_FILE_H
#define SAMBA_SUPPORT_FILE_TENSOR_FILE_H

#include "support/base/memory.h"
#include "support/base/status.h"
#include "support/file/atomic_file.h"
#include "support/number/dtype.h"

enum { SAMBA_TENSOR_FILE_MAX_RANK = 32 };

typedef struct SambaTensorFile {
  SambaDType dtype;
  uint32_t rank;
  int64_t dims[SAMBA_TENSOR_FILE_MAX_RANK];
  void *data; /* row-major, little-endian, in the arena */
  uint64_t elements, bytes;
} SambaTensorFile;

/* Reads a file by its ending (.npy or .pb). Errors name the file and what is wrong; types that
 * devices do not have (f64, strings, ...) are refused by name. */
SambaStatus sambaTensorFileRead(const char *path, SambaArena *arena, SambaTensorFile *out_tensor);
/* The same from bytes in memory; `name` is for messages. */
SambaStatus sambaNpyParse(const char *name, const uint8_t *data, size_t size, SambaArena *arena,
                          SambaTensorFile *out_tensor);
/* Takes f64 too, which host memory has and devices have not. */
SambaStatus sambaHostNpyParse(const char *name, const uint8_t *data, size_t size, SambaArena *arena,
                              SambaTensorFile *out_tensor);
SambaStatus sambaTensorProtoParse(const char *name, const uint8_t *data, size_t size,
                                  SambaArena *arena, SambaTensorFile *out_tensor);

/* Writes a .npy file (version 1), whole or not at all. NumPy has no bf16, so its bits are written
 * as 16-bit integers ('<u2'). */
SambaStatus sambaNpyWrite(const char *path, SambaDType dtype, uint32_t rank, const int64_t *dims,
                          const void *data);

/* Begins such a file: writes its header and leaves the elements to the caller, who appends, commits
 * or discards it. For tensors that come piece by piece. */
SambaStatus sambaNpyBegin(const char *path, SambaDType dtype, uint32_t rank, const int64_t *dims,
                          SambaAtomicFile *out_file);

/* The dtype of an ONNX element type number (TensorProto.DataType), SAMBA_DTYPE_COUNT when Samba has
 * none. */
SambaDType sambaDTypeOfOnnx(int64_t data_type);
/* "FLOAT", "DOUBLE", ...; "?" for unknown numbers. */
const char *sambaOnnxTypeName(int64_t data_type);

#endif
