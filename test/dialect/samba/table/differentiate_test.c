/* Differentiation of graphs of calls: what flows where, and what is refused. Rules by themselves
 * are held to PyTorch elsewhere. */
#include "dialect/samba/table/calls/differentiate.h"
#include "dialect/samba/table/registry/registry.h"
#include "support/base/index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static const SambaTensorType pair = {.dtype = SAMBA_DTYPE_F32, .rank = 1, .dims = {2}};

static SambaStatus inferSame(const SambaOperatorCall *call, SambaTensorType *out) {
  *out = call->operands[0];
  return NULL;
}
static SambaStatus differentiateWrongly(const SambaGradientCall *gradient,
                                        SambaExpansion *expansion) {
  gradient->operand_gradients[0] =
      sambaExpandReshape(expansion, sambaGradientOfResult(gradient), 2, (int64_t[]){1, 2});
  return NULL;
}
static SambaStatus differentiateRefused(const SambaGradientCall *gradient,
                                        SambaExpansion *expansion) {
  gradient->operand_gradients[0] =
      sambaExpandUnary(expansion, "logical_not", sambaGradientOfResult(gradient));
  return NULL;
}

static const SambaOperator untold = {.name = "untold", .operands = {"input"}, .infer = inferSame};
static const SambaOperator step = {
    .name = "step", .operands = {"input"}, .infer = inferSame, .no_gradient = true};
static const SambaOperator wrong = {.name = "wrong",
                                    .operands = {"input"},
                                    .infer = inferSame,
                                    .differentiate = differentiateWrongly};
static const SambaOperator refused = {.name = "refused",
                                      .operands = {"input"},
                                      .infer = inferSame,
                                      .differentiate = differentiateRefused};

static const SambaOperator *find(SambaStringRef name) {
  static const SambaOperator *const own[] = {&untold, &step, &wrong, &refused};
  for (size_t i = 0; i < sizeof own / sizeof *own; ++i)
    if (sambaStringRefEqualC(name, own[i]->name))
      return own[i];
  return sambaOperatorFind(name);
}

/* exp(w), then `name`; the gradient of w. */
static SambaStatus differentiateThrough(SambaArena *arena, SambaExpansion *expansion,
                                        const char *name, SambaGradients *out, uint32_t *out_step) {
  *expansion = (SambaExpansion){.arena = arena, .find = find};
  uint32_t w = sambaExpandOperand(expansion, &pair);
  uint32_t seed = sambaExpandOperand(expansion, &pair);
  uint32_t loss = sambaExpandUnary(expansion, name, sambaExpandUnary(expansion, "exp", w));
  SambaDifferentiation what = {1, &loss, &seed, 1, &w};
  return sambaDifferentiate(expansion, &what, out, out_step);
}

static void refusalsNameTheOperator(void **state) {
  (void)state;
  static const struct {
    const char *name, *message;
  } cases[] = {
      {"untold", "untold has no rule for its gradient; compute it outside of what is trained"},
      {"wrong", "the gradient of operand 0 of wrong is 1x2xf32, not 2xf32"},
      {"refused", "gradient of refused: logical_not: (C1) the operand is f32, but must be i1"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    SambaArena arena = {0};
    SambaExpansion expansion;
    SambaGradients gradients;
    uint32_t at;
    SambaStatus status = differentiateThrough(&arena, &expansion, cases[i].name, &gradients, &at);
    assert_non_null(status);
    assert_string_equal(sambaStatusGetMessage(status), cases[i].message);
    assert_int_equal(at, 1);
    sambaStatusFree(status);
    sambaExpansionFree(&expansion);
    sambaArenaDestroy(&arena);
  }
}

static void whatCutsIsFound(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaExpansion expansion;
  SambaGradients gradients;
  uint32_t at;
  assert_null(differentiateThrough(&arena, &expansion, "step", &gradients, &at));
  assert_int_equal(gradients.gradients[0], SAMBA_NO_INDEX);
  assert_int_equal(gradients.cuts[0], 1);
  sambaExpansionFree(&expansion);
  sambaArenaDestroy(&arena);
}

/* w * w + w: three uses, two additions; every appended step knows which it reverses. */
static void usesAreSummed(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaExpansion expansion = {.arena = &arena, .find = sambaOperatorFind};
  uint32_t w = sambaExpandOperand(&expansion, &pair);
  uint32_t seed = sambaExpandOperand(&expansion, &pair);
  uint32_t square = sambaExpandBinary(&expansion, "mul", w, w);
  uint32_t loss = sambaExpandBinary(&expansion, "add", square, w);
  SambaDifferentiation what = {1, &loss, &seed, 1, &w};
  SambaGradients gradients;
  uint32_t at, additions = 0;

  assert_null(sambaDifferentiate(&expansion, &what, &gradients, &at));
  assert_int_equal(gradients.first_step, 2);
  for (size_t s = gradients.first_step; s < expansion.steps.size; ++s) {
    assert_true(gradients.origins[s - 2] < 2);
    additions += strcmp(expansion.steps.data[s].operator->name, "add") == 0;
  }
  assert_int_equal(additions, 2);
  sambaExpansionFree(&expansion);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refusalsNameTheOperator),
                                     cmocka_unit_test(whatCutsIsFound),
                                     cmocka_unit_test(usesAreSummed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
