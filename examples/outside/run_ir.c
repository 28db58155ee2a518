/* IR as text becomes numbers and cycles in one process, and no file is written: parse a module, run
 * a pipeline on it, make a PEF of what it leaves, run that on the simulated machine. */
#include <samba/mlir.h>
#include <samba/samba.h>

#include <mlir-c/Pass.h>

#include <math.h>
#include <stdio.h>

enum { ROWS = 4, INPUTS = 64, OUTPUTS = 32 };

static const char text[] =
    "func.func @layer(%x: tensor<4x64xf32> {samba.name = \"x\"},\n"
    "                 %w: tensor<32x64xf32> {samba.name = \"w\"},\n"
    "                 %b: tensor<32xf32> {samba.name = \"b\"})\n"
    "    -> (tensor<4x32xf32> {samba.name = \"y\"}) {\n"
    "  %0 = samba.linear %x, %w, %b : tensor<4x64xf32>, tensor<32x64xf32>, tensor<32xf32>\n"
    "  %1 = samba.relu %0 : tensor<4x32xf32>\n"
    "  return %1 : tensor<4x32xf32>\n"
    "}\n";

static const char pipeline[] = "canonicalize,cse,samba-to-rdu{target=tiny}";

static void fill(float *values, int count, int seed) {
  for (int i = 0; i < count; ++i)
    values[i] = (float)((i * 37 + seed * 11) % 41 - 20) / 16;
}

static void print(MlirStringRef part, void *user) {
  (void)user;
  fwrite(part.data, 1, part.length, stderr);
}

/* Parses the text and brings it down to placed and routed sections. */
static SambaStatus lower(MlirContext context, SambaPefData *out_pef) {
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  if (mlirModuleIsNull(module))
    return sambaStatusMake(SAMBA_INVALID, "the module does not parse");

  SambaStatus status = NULL;
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirOpPassManager passes = mlirPassManagerGetAsOpPassManager(manager);
  MlirStringRef names = mlirStringRefCreateFromCString(pipeline);
  if (mlirLogicalResultIsFailure(mlirOpPassManagerAddPipeline(passes, names, print, NULL)) ||
      mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))))
    status = sambaStatusMake(SAMBA_INVALID, "the pipeline failed");
  else
    status = sambaEmitMlirToMemory(module, out_pef);

  mlirPassManagerDestroy(manager);
  mlirModuleDestroy(module);
  return status;
}

static double largestDifference(const float *x, const float *w, const float *b, const float *y) {
  double largest = 0;
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < OUTPUTS; ++j) {
      double sum = b[j];
      for (int k = 0; k < INPUTS; ++k)
        sum += (double)x[i * INPUTS + k] * w[j * INPUTS + k];
      largest = fmax(largest, fabs(y[i * OUTPUTS + j] - fmax(sum, 0)));
    }
  return largest;
}

/* Loads the PEF, sets the inputs, runs, and compares the result with a plain loop. */
static SambaStatus simulate(SambaSession *session, const SambaPefData *pef) {
  float x[ROWS * INPUTS], w[OUTPUTS * INPUTS], b[OUTPUTS], y[ROWS * OUTPUTS];
  SambaTensor *result;
  SambaRunReport report;
  fill(x, ROWS * INPUTS, 1);
  fill(w, OUTPUTS * INPUTS, 2);
  fill(b, OUTPUTS, 3);

  SAMBA_RETURN_IF_ERROR(sambaSessionLoadPefMemory(session, pef->data, pef->size));
  SAMBA_RETURN_IF_ERROR(sambaSessionSetInput(session, sambaStringRef("x"), SAMBA_DTYPE_F32, 2,
                                             (int64_t[]){ROWS, INPUTS}, x));
  SAMBA_RETURN_IF_ERROR(sambaSessionSetInput(session, sambaStringRef("w"), SAMBA_DTYPE_F32, 2,
                                             (int64_t[]){OUTPUTS, INPUTS}, w));
  SAMBA_RETURN_IF_ERROR(sambaSessionSetInput(session, sambaStringRef("b"), SAMBA_DTYPE_F32, 1,
                                             (int64_t[]){OUTPUTS}, b));
  SAMBA_RETURN_IF_ERROR(sambaSessionRun(session, NULL, NULL, NULL));
  SAMBA_RETURN_IF_ERROR(sambaSessionReadTensor(session, sambaStringRef("y"), &result));
  SambaStatus status = sambaTensorCopyToFloat(result, y, ROWS * OUTPUTS);
  sambaTensorRelease(result);
  SAMBA_RETURN_IF_ERROR(status);

  sambaSessionGetReport(session, &report);
  double difference = largestDifference(x, w, b, y);
  printf("largest difference from double precision: %.2g\n", difference);
  printf("%s: %llu cycles\n", report.machine.name, (unsigned long long)report.activity.cycles);
  if (!(difference < 1e-4))
    return sambaStatusMake(SAMBA_MISMATCH, "the result differs by more than 1e-4");
  return NULL;
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllSambaDialects(registry);
  mlirRegisterAllSambaPasses();
  MlirContext context = mlirContextCreateWithRegistry(registry, true);
  SambaSimulatedDeviceOptions options = {.threads = 1};
  SambaDeviceFactory device = sambaSimulatedDevice(&options);
  SambaSession *session = NULL;
  SambaPefData pef = {0};

  SambaStatus status = lower(context, &pef);
  if (!status)
    status = sambaSessionCreate(&device, &session);
  if (!status)
    status = simulate(session, &pef);
  if (status)
    fprintf(stderr, "error: %s\n", sambaStatusGetMessage(status));

  int code = status ? 1 : 0;
  sambaStatusFree(status);
  sambaSessionClose(session);
  sambaFree(pef.data);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return code;
}
