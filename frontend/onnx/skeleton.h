/* The wire scanner: reads a serialized ONNX ModelProto once, leaves large tensor payloads where they are and makes a
 * skeleton that protobuf-c can unpack without copying weights.
 *
 * (protobuf-c alone copies every byte and recurses on nested input without a limit; see docs/rationale.md.) */
#ifndef SAMBA_FRONTEND_ONNX_SKELETON_H
#define SAMBA_FRONTEND_ONNX_SKELETON_H

#include "support/memory.h"
#include "support/status.h"

/* One raw_data that was left out. Shorter ones than SAMBA_ONNX_MARKER_BYTES stay; so a raw_data of exactly that many
 * bytes in the skeleton is a marker, whose first 8 bytes are the index of the payload, little-endian. */
typedef struct SambaOnnxPayload {
  uint64_t offset, bytes; /* in the file */
} SambaOnnxPayload;

typedef struct SambaOnnxSkeleton {
  SAMBA_ARRAY(uint8_t) bytes;
  SAMBA_ARRAY(SambaOnnxPayload) payloads;
} SambaOnnxSkeleton;

enum { SAMBA_ONNX_MAX_DEPTH = 64, SAMBA_ONNX_MARKER_BYTES = 65 };

/* Scans `size` bytes of a file mapped at `data`. Errors name the offset: truncated, malformed, nested deeper than
 * SAMBA_ONNX_MAX_DEPTH messages. Linear in the number of fields; payloads are not touched. */
SambaStatus sambaOnnxScan(const uint8_t *data, size_t size, SambaOnnxSkeleton *out_skeleton);
void sambaOnnxSkeletonFree(SambaOnnxSkeleton *skeleton);

#endif
