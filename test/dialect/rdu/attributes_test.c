/* Machines and mappings: struct -> attribute -> text -> attribute -> struct. */
#include "backend/machine/shipped.h"
#include "dialect/rdu/mapping.h"
#include "dialect/rdu/rdu.h"
#include "dialect/samba/samba.h"
#include "test/dialect/context.h"

#include <stdio.h>
#include <stdlib.h>

static MlirAttribute throughText(MlirAttribute attribute, SambaArena *arena) {
  assert_false(mlirAttributeIsNull(attribute));
  MlirAttribute again = mlirAttributeParseGet(
      context, mlirStringRefCreateFromCString(sambaPrintAttribute(arena, attribute)));
  assert_true(mlirAttributeEqual(attribute, again));
  return again;
}

static void machines(void **state) {
  (void)state;
  SambaArena arena = {0};

  for (int i = 0; sambaMachineShipped(i); ++i) {
    SambaMachine own = *sambaMachineShipped(i);
    SambaMachine again;
    MlirAttribute attribute = sambaMachineToAttribute(mlirLocationUnknownGet(context), &own);
    /* A shipped machine is a name. */
    char text[128];
    snprintf(text, sizeof text, "#rdu.machine<\"%s\">", own.name);
    assert_string_equal(sambaPrintAttribute(&arena, attribute), text);
    /* Anything else is every parameter with its source. */
    own.clock_hz += 1000;
    snprintf(own.name, sizeof own.name, "mine%d", i);
    attribute = throughText(sambaMachineToAttribute(mlirLocationUnknownGet(context), &own), &arena);
    assert_null(sambaMachineFromAttribute(attribute, &again));
    assert_string_equal(own.name, again.name);
    for (int p = 0; p < SAMBA_PARAMETER_COUNT; ++p) {
      assert_int_equal(sambaMachineGet(&own, (SambaParameter)p),
                       sambaMachineGet(&again, (SambaParameter)p));
      assert_int_equal(own.reasons[p].kind, again.reasons[p].kind);
      if (own.reasons[p].text)
        assert_string_equal(own.reasons[p].text, again.reasons[p].text);
      else
        assert_null(again.reasons[p].text);
    }
    assert_null(
        sambaAttributeGet(mlirLocationUnknownGet(context), "rdu.machine",
                          mlirStringRefCreateFromCString("m"),
                          mlirAttributeParseGet(context, mlirStringRefCreateFromCString("{a = 1}")))
            .ptr);
  }

  sambaArenaDestroy(&arena);
}

static void refusals(void **state) {
  (void)state;
  SambaMachine machine;
  SambaMapping mapping;
  MlirAttribute other = mlirUnitAttrGet(context);
  SambaStatus status = sambaMachineFromAttribute(other, &machine);
  assert_string_equal(sambaStatusGetMessage(status), "the machine must be #rdu.machine<...>");
  sambaStatusFree(status);
  status = sambaMappingFromAttribute(other, &mapping);
  assert_string_equal(sambaStatusGetMessage(status), "a mapping must be #rdu.mapping<...>");
  sambaStatusFree(status);
}

static void mappings(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaMapping own = {.dim_count = 3,
                      .tile = {64, 1, 1 << 20},
                      .unroll = {2, 1, 1},
                      .order = {2, 0, 1},
                      .operand_level = {0, 3},
                      .operand_depth = {2, 2},
                      .operand_joined = {1, 2},
                      .group = 7,
                      .pipeline_count = 2,
                      .pipeline_dims = {2, 0}};
  SambaMapping one = {.dim_count = 1, .tile = {5}};
  SambaMapping zero = {0};
  const SambaMapping *all[] = {&own, &one, &zero};

  for (int i = 0; i < 3; ++i) {
    SambaMapping again;
    MlirAttribute attribute =
        sambaMappingToAttribute(mlirLocationUnknownGet(context), all[i], SAMBA_MAX_STAGE_OPERANDS);
    assert_null(sambaMappingFromAttribute(throughText(attribute, &arena), &again));
    assert_memory_equal(all[i], &again, sizeof again);
  }

  /* On operations: one, or a list for an operation of several stages. */
  MlirModule module = mlirModuleCreateEmpty(mlirLocationUnknownGet(context));
  MlirOperation op = mlirModuleGetOperation(module);
  SambaMapping both[] = {own, one};
  SambaMapping read;
  assert_false(sambaMappingOfOperation(op, 0, &read));
  assert_memory_equal(&read, &zero, sizeof read);
  sambaMappingSetOnOperation(op, 1, both);
  assert_true(sambaMappingOfOperation(op, 0, &read));
  assert_memory_equal(&read, &own, sizeof read);
  assert_false(sambaMappingOfOperation(op, 1, &read));
  sambaMappingSetOnOperation(op, 2, both);
  assert_true(sambaMappingOfOperation(op, 1, &read));
  assert_memory_equal(&read, &one, sizeof read);
  assert_false(sambaMappingOfOperation(op, 2, &read));
  assert_true(mlirOperationVerify(op));
  mlirModuleDestroy(module);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(machines), cmocka_unit_test(mappings),
                                     cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, start, stop);
}
