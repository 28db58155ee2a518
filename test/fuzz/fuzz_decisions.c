/* libFuzzer target: any bytes as a decisions file. test/fuzz/run builds and runs it. */
#include "backend/decision/decision.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SambaArena arena = {0};
  SambaDecisions decisions;
  sambaStatusFree(sambaDecisionsRead("decisions", (const char *)data, size, &arena, &decisions));
  sambaArenaDestroy(&arena);
  return 0;
}
