/* Reading an ONNX file without its payloads.
 *
 * A scanner of protocol buffer wire format copies the model, leaving out what the importer does not
 * need and every tensor's raw_data and packed float_data: it notes where in the file they are, and
 * puts the number of the note in their place. What is left is a skeleton that protobuf-c can unpack
 * in memory proportional to the graph. Nesting is limited, every length is checked against its
 * surrounding message. */
#ifndef SAMBA_FRONTEND_ONNX_FILE_WIRE_H
#define SAMBA_FRONTEND_ONNX_FILE_WIRE_H

#include "support/base/memory.h"
#include "support/base/status.h"

enum { SAMBA_ONNX_MAX_DEPTH = 64 };

/* Where a tensor's elements are in the file (raw little-endian). In the skeleton, raw_data of that
 * tensor is the index of its payload as four bytes. */
typedef struct SambaOnnxPayload {
  uint64_t offset, bytes;
} SambaOnnxPayload;

typedef struct SambaOnnxSkeleton { /* zero-initialize */
  SAMBA_ARRAY(uint8_t) bytes;
  SAMBA_ARRAY(SambaOnnxPayload) payloads;
} SambaOnnxSkeleton;

/* Scans a whole file. Errors give the byte offset of what is wrong. */
SambaStatus sambaOnnxScan(const uint8_t *data, size_t size, SambaOnnxSkeleton *out_skeleton);
void sambaOnnxSkeletonFree(SambaOnnxSkeleton *skeleton);

#endif
