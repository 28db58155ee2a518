/* libFuzzer target: any bytes as the index of a checkpoint, as a .npy file and as a serialized
 * tensor. test/fuzz/run builds and runs it. */
#include "runtime/checkpoint/checkpoint_index.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SambaArena arena = {0};
  SambaCheckpointIndex index;
  SambaTensorFile tensor;

  SambaStatus status = sambaCheckpointIndexParse("index", data, size, &arena, &index);
  if (!status) /* what was read can be written */
    free(sambaCheckpointIndexFormat(&index));
  sambaStatusFree(status);
  sambaStatusFree(sambaNpyParse("array", data, size, &arena, &tensor));
  sambaStatusFree(sambaTensorProtoParse("tensor", data, size, &arena, &tensor));

  sambaArenaDestroy(&arena);
  return 0;
}
