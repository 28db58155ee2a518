/* Expansions: a failed call ends the decomposition with its reason, and results are held to the
 * types of infer. */
#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/registry/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static SambaStatus inferSame(const SambaOperatorCall *call, SambaTensorType *out) {
  *out = call->operands[0];
  return NULL;
}

static SambaStatus decomposeUnknown(const SambaOperatorCall *call, SambaExpansion *expansion,
                                    const uint32_t *operands, uint32_t *out_results) {
  (void)call;
  uint32_t once = sambaExpandUnary(expansion, "convolve", operands[0]);
  out_results[0] = sambaExpandBinary(expansion, "add", once, operands[0]);
  return NULL;
}

static SambaStatus decomposeRefused(const SambaOperatorCall *call, SambaExpansion *expansion,
                                    const uint32_t *operands, uint32_t *out_results) {
  (void)call;
  out_results[0] = sambaExpandUnary(expansion, "logical_not", operands[0]);
  return NULL;
}

static SambaStatus decomposeWrongly(const SambaOperatorCall *call, SambaExpansion *expansion,
                                    const uint32_t *operands, uint32_t *out_results) {
  (void)call;
  out_results[0] = sambaExpandCast(expansion, operands[0], SAMBA_DTYPE_I32);
  return NULL;
}

static void failuresAreNamed(void **state) {
  (void)state;
  static const struct {
    SambaStatus (*decompose)(const SambaOperatorCall *, SambaExpansion *, const uint32_t *,
                             uint32_t *);
    const char *message;
  } cases[] = {{decomposeUnknown, "convolve: there is no such operator"},
               {decomposeRefused, "logical_not: (C1) the operand is f32, but must be i1"},
               {decomposeWrongly, "result 0 of the decomposition is 2xi32, not 2xf32"}};

  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    SambaOperator operator = {
        .name = "test", .operands = {"input"}, .infer = inferSame, .decompose = cases[i].decompose};
    SambaTensorType type = {.dtype = SAMBA_DTYPE_F32, .rank = 1, .dims = {2}};
    SambaOperatorCall call = {.operator = &operator, .operand_count = 1, .operands = &type};
    SambaArena arena = {0};
    SambaExpansion expansion = {.arena = &arena, .find = sambaOperatorFind};
    uint32_t result;
    SambaStatus status = sambaOperatorExpand(&call, &expansion, &result);
    assert_string_equal(sambaStatusGetMessage(status), cases[i].message);
    sambaStatusFree(status);
    sambaExpansionFree(&expansion);
    sambaArenaDestroy(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(failuresAreNamed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
