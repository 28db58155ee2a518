/* libFuzzer target: any bytes as an ONNX model (the wire scanner), as a TensorProto and as a .npy
 * file. Run by test/fuzz/run. */
#include "frontend/onnx/file/wire.h"
#include "support/file/tensor_file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SambaOnnxSkeleton skeleton = {0};
  SambaArena arena = {0};
  SambaTensorFile tensor;
  sambaStatusFree(sambaOnnxScan(data, size, &skeleton));
  sambaOnnxSkeletonFree(&skeleton);
  sambaStatusFree(sambaTensorProtoParse("fuzz", data, size, &arena, &tensor));
  sambaStatusFree(sambaNpyParse("fuzz", data, size, &arena, &tensor));
  sambaArenaDestroy(&arena);
  return 0;
}
