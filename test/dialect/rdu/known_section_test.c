/* A section that is known as a struct is not read again, until somebody changes its IR. */
#include "dialect/rdu/section/known_section.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/operation_digest.h"
#include "dialect/bridge/work.h"
#include "test/dialect/context.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

static const char text[] =
    "rdu.section @copy(%a: !rdu.symbol<8xf32> {rdu.name = \"a\"},\n"
    "    %b: !rdu.symbol<8xf32> {rdu.name = \"b\", rdu.written}) {\n"
    "  %t = rdu.load %a {outputs = [{loops = [2], strides = [4, 1], tile = [4]}]}\n"
    "      : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>\n"
    "  rdu.store %b, %t {inputs = [{loops = [2], strides = [4, 1], tile = [4]}]}\n"
    "      : (!rdu.symbol<8xf32>, !rdu.stream<4xf32>) -> ()\n"
    "}\n";

static uint64_t readCount(void) { return sambaWorkTotal(SAMBA_WORK_SECTIONS_READ); }

static MlirOperation sectionOf(MlirModule module) {
  return mlirBlockGetFirstOperation(mlirModuleGetBody(module));
}

static int32_t takenGenerator(MlirOperation section) {
  SambaKnownSection *known = NULL;
  assert_null(sambaKnownSectionTake(section, &known));
  int32_t generator = known->section->units[0].load_store.ag;
  sambaKnownSectionGiveBack(section, known);
  return generator;
}

static void isReadOncePerContent(void **state) {
  (void)state;
  uint64_t before = readCount();
  MlirModule module = mlirModuleCreateParse(context, sambaMlirString(text)); /* and verified */
  assert_false(mlirModuleIsNull(module));
  MlirOperation section = sectionOf(module);
  MlirOperation load =
      mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(section, 0)));
  assert_int_equal(readCount() - before, 1);

  assert_true(mlirOperationVerify(section));
  assert_int_equal(takenGenerator(section), -1);
  assert_int_equal(takenGenerator(section), -1);
  assert_int_equal(readCount() - before, 1);

  /* Another pass gives the load its generator: an inherent attribute. */
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  mlirOperationSetAttributeByName(load, sambaMlirString("ag"), mlirIntegerAttrGet(i64, 3));
  assert_int_equal(takenGenerator(section), 3);
  assert_int_equal(readCount() - before, 2);

  /* What is no part of the struct changes the content too. */
  mlirOperationSetDiscardableAttributeByName(load, sambaMlirString("mine.note"),
                                             mlirUnitAttrGet(context));
  assert_int_equal(takenGenerator(section), 3);
  assert_int_equal(readCount() - before, 3);

  /* A copy elsewhere in memory has the same content. */
  MlirOperation copy = mlirOperationClone(section);
  assert_int_equal(takenGenerator(copy), 3);
  assert_int_equal(readCount() - before, 3);
  mlirOperationDestroy(copy);
  mlirModuleDestroy(module);
}

static bool differ(SambaContentDigest a, SambaContentDigest b) {
  return a.words[0] != b.words[0] || a.words[1] != b.words[1];
}

static SambaContentDigest digestOfText(const char *source) {
  MlirModule module = mlirModuleCreateParse(context, sambaMlirString(source));
  assert_false(mlirModuleIsNull(module));
  SambaContentDigest digest = sambaOperationDigest(sectionOf(module));
  mlirModuleDestroy(module);
  return digest;
}

/* Each text differs from the first in one thing that an operation has. */
static void digestsSeeEverything(void **state) {
  (void)state;
  static const char *const texts[] = {
      "func.func @f(%a: i32, %b: i32) -> i32 { %c = arith.addi %a, %b : i32 return %c : i32 }",
      "func.func @g(%a: i32, %b: i32) -> i32 { %c = arith.addi %a, %b : i32 return %c : i32 }",
      "func.func @f(%a: i32, %b: i32) -> i32 { %c = arith.addi %b, %a : i32 return %c : i32 }",
      "func.func @f(%a: i32, %b: i32) -> i32 { %c = arith.subi %a, %b : i32 return %c : i32 }",
      "func.func @f(%a: i64, %b: i64) -> i64 { %c = arith.addi %a, %b : i64 return %c : i64 }",
      "func.func @f(%a: i32, %b: i32) -> i32 { %c = arith.addi %a, %b {k} : i32 return %c : i32 }",
      "func.func @f(%a: i32, %b: i32) -> i32 { %c = arith.addi %a, %b : i32 return %a : i32 }",
      "func.func @f(%a: i32, %b: i32) -> i32 { %c = arith.addi %a, %b overflow<nsw> : i32\n"
      "  return %c : i32 }",
      "func.func @f(%a: i32, %b: i32) -> i32 { %c = arith.addi %a, %b : i32\n"
      "  %d = arith.addi %a, %b : i32 return %c : i32 }",
  };
  enum { count = sizeof texts / sizeof *texts };
  SambaContentDigest digests[count];
  for (int i = 0; i < count; ++i) {
    digests[i] = digestOfText(texts[i]);
    for (int k = 0; k < i; ++k)
      assert_true(differ(digests[i], digests[k]));
  }
  assert_false(differ(digests[0], digestOfText(texts[0])));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(isReadOncePerContent),
                                     cmocka_unit_test(digestsSeeEverything)};
  return cmocka_run_group_tests(tests, start, stop);
}
