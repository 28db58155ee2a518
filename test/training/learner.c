#include "test/training/learner.h"

#include "samba/session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void succeeds(SambaStatus status) {
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
}

void refuses(SambaStatus status, const char *text) {
  assert_non_null(status);
  if (!strstr(sambaStatusGetMessage(status), text))
    fail_msg("'%s' does not contain '%s'", sambaStatusGetMessage(status), text);
  sambaStatusFree(status);
}

void learnerBegin(Learner *learner, const char *path) {
  *learner = (Learner){.context = sambaCompilerContextCreate(), .path = path};
  learner->trace = sambaTraceCreateInContext(learner->context, "step");
}

SambaStatus learnerCompile(Learner *learner) {
  SambaModuleOptions options = {.pipeline = {.inference = "false"}};
  MlirModule module;
  SAMBA_RETURN_IF_ERROR(sambaTraceFinish(learner->trace, &module));
  SambaStatus status =
      sambaCompileModule(module, &options, &(SambaCompileOutput){.path = learner->path});
  mlirModuleDestroy(module);
  return status;
}

void learnerOpen(Learner *learner) {
  SambaSimulatedDeviceOptions options = {.threads = 1, .values_only = true};
  SambaDeviceFactory device = sambaSimulatedDevice(&options);
  succeeds(learnerCompile(learner));
  succeeds(sambaSessionOpen(learner->path, &device, &learner->session));
}

void learnerEnd(Learner *learner) {
  char log[256];
  snprintf(log, sizeof log, "%s.log", learner->path);
  unlink(log);
  unlink(learner->path);
  if (learner->session)
    sambaSessionClose(learner->session);
  sambaTraceDestroy(learner->trace);
  mlirContextDestroy(learner->context);
  sambaArenaDestroy(&learner->arena);
}

SambaTraceValue *trained(Learner *learner, const char *name, uint32_t rank, const int64_t *dims) {
  SambaTraceValue *weight =
      sambaTraceParameter(learner->trace, name, SAMBA_DTYPE_F32, rank, dims, NULL);
  return sambaTraceSetRequiresGrad(weight, true);
}

SambaTraceValue *fed(Learner *learner, const char *name, uint32_t rank, const int64_t *dims) {
  return sambaTraceInput(learner->trace, name, SAMBA_DTYPE_F32, rank, dims);
}

static const SambaPefSymbol *symbolOf(Learner *learner, const char *name) {
  const SambaPefSymbol *symbol;
  succeeds(sambaSessionFindTensor(learner->session, sambaStringRef(name), &symbol));
  return symbol;
}

void put(Learner *learner, const char *name, const float *values) {
  const SambaPefSymbol *symbol = symbolOf(learner, name);
  int64_t dims[SAMBA_MAX_RANK];
  for (uint32_t i = 0; i < symbol->dims_count; ++i)
    dims[i] = symbol->dims[i].size;
  succeeds(sambaSessionSetInput(learner->session, sambaStringRef(name), SAMBA_DTYPE_F32,
                                (uint32_t)symbol->dims_count, dims, values));
}

const float *get(Learner *learner, const char *name) {
  SambaTensor *tensor;
  succeeds(sambaSessionReadTensor(learner->session, sambaStringRef(name), &tensor));
  assert_int_equal(sambaTensorGetDType(tensor), SAMBA_DTYPE_F32);
  float *copy = sambaArenaCopy(&learner->arena, sambaTensorGetDataPtr(tensor),
                               sambaTensorGetNumBytes(tensor));
  sambaTensorRelease(tensor);
  return copy;
}

uint64_t elementsOf(Learner *learner, const char *name) {
  return sambaPefSymbolElements(symbolOf(learner, name));
}

static void run(Learner *learner, const char *types, SambaRunOptions options) {
  static const char letters[] = {[SAMBA_SECTION_ZEROGRAD] = 'Z', [SAMBA_SECTION_FWD] = 'F',
                                 [SAMBA_SECTION_BCKWD] = 'B',    [SAMBA_SECTION_OPT] = 'O',
                                 [SAMBA_SECTION_REDUCE] = 'R',   [SAMBA_SECTION_GRADNORM] = 'G'};
  SambaSectionType chosen[16];
  for (const char *letter = types; *letter; ++letter) {
    const char *found = memchr(letters, *letter, sizeof letters);
    assert_non_null(found);
    chosen[options.order.type_count++] = (SambaSectionType)(found - letters);
  }
  options.order.types = chosen;
  succeeds(sambaSessionRun(learner->session, &options, NULL, NULL));
}

void runs(Learner *learner, const char *types) { run(learner, types, (SambaRunOptions){0}); }

void runsWith(Learner *learner, const char *types, const char *hyperparameter, double value) {
  SambaHyperparameter given = {sambaStringRef(hyperparameter), value};
  run(learner, types, (SambaRunOptions){.hyperparameter_count = 1, .hyperparameters = &given});
}

void areNear(const float *got, const double *expected, uint64_t count, double tolerance) {
  for (uint64_t i = 0; i < count; ++i)
    if (!(fabs(got[i] - expected[i]) <= tolerance))
      fail_msg("element %llu is %.9g, not %.9g", (unsigned long long)i, got[i], expected[i]);
}

void areAll(const float *got, double expected, uint64_t count, double tolerance) {
  for (uint64_t i = 0; i < count; ++i)
    areNear(got + i, &expected, 1, tolerance);
}
