/* ONNX models from short texts, for tests: written as wire format by hand, so that broken ones can
 * be made too.
 *
 * Items separated by ';':  opset 13 | opset com.microsoft 1 | input NAME TYPE DIMS | init NAME TYPE
 * DIMS VALUES.. | node OP[:DOMAIN] IN,IN -> OUT,OUT ATTR=VALUE.. | extern NAME TYPE DIMS
 * KEY=VALUE.. (external data) | output NAME [TYPE DIMS] | value NAME TYPE DIMS (declared, not a
 * result). TYPE: f32 f64 i64 i32 bool string seq (a sequence). DIMS: 2x3, 2xN (dim_param), 2x?
 * (open), - (rank 0), none (no shape). An absent input is
 * `_`. VALUE: 3 | 1.5 | [1,2] | 'text' | {TYPE DIMS v v} (a tensor)
 * | ?N (AttributeProto.type N without a value). */
#ifndef SAMBA_TEST_FRONTEND_ONNX_MODEL_TEXT_H
#define SAMBA_TEST_FRONTEND_ONNX_MODEL_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the model; release with free(). */
uint8_t *modelFromText(const char *text, size_t *out_size);
/* Writes bytes to a file made for the test; returns its path, to be unlinked and freed. */
char *writeTemporary(const void *data, size_t size, const char *ending);

#endif
