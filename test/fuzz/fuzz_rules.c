/* libFuzzer target: any bytes as a file of fusion rules. test/fuzz/run builds and runs it. */
#include "backend/rule/rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SambaArena arena = {0};
  SambaRules rules;
  sambaStatusFree(sambaRulesRead("rules", (const char *)data, size, &arena, &rules));
  sambaArenaDestroy(&arena);
  return 0;
}
