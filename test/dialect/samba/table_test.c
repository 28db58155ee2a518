/* The operator table and the dialect's TableGen list the same operations with the same attributes
 * and numbers of operands. */
#include "dialect/samba/samba.h"
#include "test/dialect/context.h"
#include "test/dialect/samba/registered_operations.h"

#include <stdio.h>
#include <stdlib.h>

/* Ops with structure of their own have no row. */
static bool hasNoRow(SambaStringRef name) {
  static const char *const names[] = {"constant", "section", "call", "yield", "stack", "unstack"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (sambaStringRefEqualC(name, names[i]))
      return true;
  return false;
}

static void checkRow(MlirStringRef op, void *user_data) {
  int *count = user_data;
  SambaStringRef name = {op.data + 6, op.length - 6};
  if (hasNoRow(name))
    return;
  if (!sambaOperatorFind(name))
    fail_msg("samba.%.*s is in TableGen but not in the operator table", SAMBA_STRING_ARGS(name));
  ++*count;
}

static void everyOperationHasARow(void **state) {
  (void)state;
  int count = 0;
  sambaDialectOperations(context, mlirStringRefCreateFromCString("samba"), checkRow, &count);
  uint32_t rows = 0;
  while (sambaOperatorAt(rows)) {
    char name[80];
    snprintf(name, sizeof name, "samba.%s", sambaOperatorAt(rows)->name);
    if (!mlirContextIsRegisteredOperation(context, mlirStringRefCreateFromCString(name)))
      fail_msg("%s is in the operator table but not in TableGen", name);
    ++rows;
  }
  assert_int_equal(count, rows);
}

typedef struct Names {
  const SambaOperator *row;
  int count;
} Names;

static void checkAttribute(MlirStringRef name, void *user_data) {
  Names *names = user_data;
  SambaStringRef text = sambaFromMlir(name);
  for (const SambaAttributeRow *row = names->row->attributes; row->name; ++row)
    if (sambaStringRefEqualC(text, row->name)) {
      ++names->count;
      return;
    }
  fail_msg("samba.%s: TableGen has attribute '%.*s', the table has not", names->row->name,
           SAMBA_STRING_ARGS(text));
}

static void attributesAgree(void **state) {
  (void)state;
  for (uint32_t i = 0; sambaOperatorAt(i); ++i) {
    Names names = {.row = sambaOperatorAt(i)};
    char name[80];
    int expected = 0;
    snprintf(name, sizeof name, "samba.%s", names.row->name);
    sambaOperationAttributeNames(context, mlirStringRefCreateFromCString(name), checkAttribute,
                                 &names);
    for (const SambaAttributeRow *row = names.row->attributes; row->name; ++row)
      ++expected;
    if (names.count != expected)
      fail_msg("%s: TableGen has %d attributes, the table %d", name, names.count, expected);
  }
}

/* Keeps the first diagnostic. */
static void appendText(MlirStringRef part, void *user_data) {
  char *text = user_data;
  size_t used = strlen(text);
  snprintf(text + used, 512 - used, "%.*s", SAMBA_MLIR_STRING_ARGS(part));
}
static MlirLogicalResult keep(MlirDiagnostic diagnostic, void *user_data) {
  char *text = user_data;
  if (!text[0])
    mlirDiagnosticPrint(diagnostic, appendText, text);
  return mlirLogicalResultSuccess();
}

/* Whether TableGen's own check of the number of operands refuses `count`. */
static bool refuses(const char *name, uint32_t result_count, uint32_t count) {
  MlirLocation location = mlirLocationUnknownGet(context);
  int64_t dims[1] = {1};
  MlirType type = mlirRankedTensorTypeGet(1, dims, mlirF32TypeGet(context), mlirAttributeGetNull());
  MlirBlock block = mlirBlockCreate(1, &type, &location);
  MlirValue values[8];
  MlirType types[SAMBA_MAX_RESULTS];

  for (uint32_t i = 0; i < result_count; ++i)
    types[i] = type;
  for (uint32_t i = 0; i < count; ++i)
    values[i] = mlirBlockGetArgument(block, 0);
  MlirOperationState state = mlirOperationStateGet(mlirStringRefCreateFromCString(name), location);
  mlirOperationStateAddOperands(&state, count, values);
  mlirOperationStateAddResults(&state, result_count, types);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockAppendOwnedOperation(block, op);
  char text[512] = "";
  MlirDiagnosticHandlerID id = mlirContextAttachDiagnosticHandler(context, keep, text, NULL);
  mlirOperationVerify(op);
  mlirContextDetachDiagnosticHandler(context, id);
  mlirBlockDestroy(block);

  return strstr(text, "operands, but found") || strstr(text, "single operand") ||
         strstr(text, "operand group starting");
}

static void operandCountsAgree(void **state) {
  (void)state;
  for (uint32_t i = 0; sambaOperatorAt(i); ++i) {
    const SambaOperator *row = sambaOperatorAt(i);
    char name[80];
    snprintf(name, sizeof name, "samba.%s", row->name);
    for (uint32_t count = 0; count < 7; ++count) {
      bool taken =
          count >= sambaOperatorLeastOperands(row) && count <= sambaOperatorMostOperands(row);
      /* A variadic list takes more than the table does; the table has the last word. */
      if (taken && refuses(name, sambaOperatorResults(row), count))
        fail_msg("%s: the table takes %u operands, TableGen does not", name, count);
      if (count < sambaOperatorLeastOperands(row) && sambaOperatorMostOperands(row) != UINT32_MAX &&
          !refuses(name, sambaOperatorResults(row), count))
        fail_msg("%s: TableGen takes %u operands, the table does not", name, count);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyOperationHasARow),
      cmocka_unit_test(attributesAgree),
      cmocka_unit_test(operandCountsAgree),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
