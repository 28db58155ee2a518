/* The library inside of another MLIR compiler: dialect handles, passes, a module of the caller's
 * context. The test links MLIR's C API itself, as such a compiler does. */
#include "samba/mlir.h"
#include "samba/samba.h"

#include "mlir-c/Diagnostics.h"
#include "mlir-c/Pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char text[] = "func.func @forward(%x: tensor<2x4xf32> {samba.name = \"x\"})"
                           "    -> (tensor<2x4xf32> {samba.name = \"y\"}) {\n"
                           "  %0 = samba.neg %x : tensor<2x4xf32>\n"
                           "  %1 = samba.relu %0 : tensor<2x4xf32>\n"
                           "  return %1 : tensor<2x4xf32>\n"
                           "}\n";

static const SambaCompileOptions tiny = {.target = "tiny"};

static void fine(SambaStatus status) {
  if (status)
    fail_msg("unexpected error: %s", sambaStatusGetMessage(status));
}

static void expectError(SambaStatus status, const char *expected) {
  if (!status || !strstr(sambaStatusGetMessage(status), expected))
    fail_msg("the error is: %s\nexpected in it: %s", sambaStatusGetMessage(status), expected);
  sambaStatusFree(status);
}

/* A context like that of a compiler which knows samba by its handle alone. */
static MlirContext ownContext(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllSambaDialects(registry);
  MlirContext mlir = mlirContextCreateWithRegistry(registry, true);
  mlirDialectRegistryDestroy(registry);
  return mlir;
}

static MlirModule parse(MlirContext mlir) {
  MlirModule module = mlirModuleCreateParse(mlir, mlirStringRefCreateFromCString(text));
  assert_false(mlirModuleIsNull(module));
  return module;
}

static void append(MlirStringRef part, void *user) {
  char *all = user;
  snprintf(all + strlen(all), 4000 - strlen(all), "%.*s", (int)part.length, part.data);
}

static void print(MlirModule module, char all[4000]) {
  all[0] = '\0';
  mlirOperationPrint(mlirModuleGetOperation(module), append, all);
}

/* Runs the PEF and compares y with max(-x, 0). */
static void checkValues(const SambaPefData *pef) {
  const float x[8] = {1, -2, 3, -4, 5, -6, 7, -8};
  const SambaSimulatedDeviceOptions options = {.threads = 1};
  SambaDeviceFactory device = sambaSimulatedDevice(&options);
  SambaSession *session;
  SambaTensor *y;
  SambaRunReport report;
  float numbers[8];

  fine(sambaSessionCreate(&device, &session));
  fine(sambaSessionLoadPefMemory(session, pef->data, pef->size));
  fine(
      sambaSessionSetInput(session, sambaStringRef("x"), SAMBA_DTYPE_F32, 2, (int64_t[]){2, 4}, x));
  fine(sambaSessionRun(session, NULL, NULL, NULL));
  fine(sambaSessionReadTensor(session, sambaStringRef("y"), &y));
  fine(sambaTensorCopyToFloat(y, numbers, 8));
  for (int i = 0; i < 8; ++i)
    assert_true(numbers[i] == (x[i] < 0 ? -x[i] : 0));
  sambaSessionGetReport(session, &report);
  assert_true(report.activity.cycles > 0);
  sambaTensorRelease(y);
  sambaSessionClose(session);
}

/* A handle brings its dialect into a registry, and into a context. */
static void testHandles(void **state) {
  (void)state;
  const MlirDialectHandle handles[] = {mlirGetDialectHandle__samba__(),
                                       mlirGetDialectHandle__rdu__()};
  static const char *const names[] = {"samba", "rdu"};
  static const char *const operations[] = {"samba.relu", "rdu.section"};

  for (int i = 0; i < 2; ++i) {
    MlirStringRef name = mlirStringRefCreateFromCString(names[i]);
    MlirStringRef operation = mlirStringRefCreateFromCString(operations[i]);
    assert_true(mlirStringRefEqual(mlirDialectHandleGetNamespace(handles[i]), name));

    MlirContext mlir = mlirContextCreate();
    assert_false(mlirContextIsRegisteredOperation(mlir, operation));
    MlirDialect dialect = mlirDialectHandleLoadDialect(handles[i], mlir);
    assert_true(mlirStringRefEqual(mlirDialectGetNamespace(dialect), name));
    assert_true(mlirContextIsRegisteredOperation(mlir, operation));
    mlirContextDestroy(mlir);

    MlirDialectRegistry registry = mlirDialectRegistryCreate();
    mlirDialectHandleInsertDialect(handles[i], registry);
    mlir = mlirContextCreateWithRegistry(registry, false);
    mlirDialectRegistryDestroy(registry);
    assert_false(mlirDialectIsNull(mlirContextGetOrLoadDialect(mlir, name)));
    mlirContextDestroy(mlir);
  }
}

/* Passes one by one, by their group, and pipelines by name, in a pass manager of the caller's. What
 * the pipeline leaves becomes a PEF. */
static void testPipeline(void **state) {
  (void)state;
  MlirContext mlir = ownContext();
  MlirModule module = parse(mlir);
  char all[4000];
  MlirPassManager manager = mlirPassManagerCreate(mlir);
  mlirPassManagerAddOwnedPass(manager, mlirCreateSambaDecomposeComposites());
  assert_true(
      mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))));
  mlirPassManagerDestroy(manager);
  SambaPefData pef;
  expectError(sambaEmitMlirToMemory(module, &pef), "no section");
  assert_null(pef.data);

  mlirRegisterSambaPasses();
  mlirRegisterSambaLoweringPasses();
  mlirRegisterAllSambaPasses();
  mlirRegisterAllSambaPasses();
  manager = mlirPassManagerCreate(mlir);
  all[0] = '\0';
  assert_true(mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
      mlirPassManagerGetAsOpPassManager(manager),
      mlirStringRefCreateFromCString("canonicalize,samba-to-rdu{target=tiny}"), append, all)));
  assert_true(
      mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))));
  mlirPassManagerDestroy(manager);
  fine(sambaEmitMlirToMemory(module, &pef));
  checkValues(&pef);
  sambaFree(pef.data);
  mlirModuleDestroy(module);
  mlirContextDestroy(mlir);
}

/* A module of the caller's is compiled and stays as it was; so does its context. */
static void testModule(void **state) {
  (void)state;
  MlirContext mlir = ownContext();
  MlirModule module = parse(mlir);
  SambaContext *context, *other;
  SambaPefData pef, from_text;
  char before[4000], after[4000];

  print(module, before);
  fine(sambaContextCreateWithMlir(mlir, &context));
  assert_true(mlirContextEqual(sambaContextGetMlir(context), mlir));
  fine(sambaCompileMlirToMemory(context, module, &tiny, &pef));
  print(module, after);
  assert_string_equal(before, after);
  checkValues(&pef);

  /* Another context makes the same bytes of the text. Its module is not that one's. */
  fine(sambaContextCreate(&other));
  fine(sambaCompileTextToMemory(other, sambaStringRef(text), &tiny, &from_text));
  assert_int_equal(pef.size, from_text.size);
  assert_memory_equal(pef.data, from_text.data, pef.size);
  sambaFree(pef.data);
  sambaFree(from_text.data);
  expectError(sambaCompileMlirToMemory(other, module, &tiny, &pef),
              "the module belongs to another MLIR context than the Samba context; make that with "
              "sambaContextCreateWithMlir, from the module's context");
  assert_null(pef.data);
  expectError(sambaCompileMlir(other, module, &tiny, "/tmp/samba-never.pef"),
              "sambaContextCreateWithMlir");
  sambaContextDestroy(other);

  /* The caller's context outlives that of Samba. */
  sambaContextDestroy(context);
  print(module, after);
  assert_string_equal(before, after);
  mlirModuleDestroy(module);
  mlirContextDestroy(mlir);
}

/* A refusal is the status; it does not go to the handlers of the caller's context as well. */
static MlirLogicalResult count(MlirDiagnostic diagnostic, void *user) {
  (void)diagnostic;
  ++*(int *)user;
  return mlirLogicalResultSuccess();
}

static void testRefusal(void **state) {
  (void)state;
  MlirContext mlir = mlirContextCreate();
  SambaContext *context;
  SambaPefData pef;
  int heard = 0;

  mlirContextAttachDiagnosticHandler(mlir, count, &heard, NULL);
  fine(sambaContextCreateWithMlir(mlir, &context));
  MlirModule module = parse(mlir);
  expectError(
      sambaCompileMlirToMemory(context, module, &(SambaCompileOptions){.target = "tin"}, &pef),
      "tin");
  assert_null(pef.data);
  assert_int_equal(heard, 0);
  sambaContextDestroy(context);
  mlirModuleDestroy(module);
  mlirContextDestroy(mlir);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testHandles), cmocka_unit_test(testPipeline),
                                     cmocka_unit_test(testModule), cmocka_unit_test(testRefusal)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
