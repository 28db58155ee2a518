/* The digits demo: a trained network from ONNX to cycles on the simulated RDU.
 *
 *   digits-demo FOLDER OUT.pef
 *
 * It compiles FOLDER/digits.onnx, runs all test images as one batch, and compares the result with
 * the labels and with PyTorch's outputs.
 */
#include "frontend/onnx/onnx.h"
#include "pipeline/compile.h"
#include "runtime/session.h"
#include "runtime/summary.h"
#include "samba/session.h"
#include "support/file/tensor_file.h"
#include "support/text/command_line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static SambaStatus compileModel(const char *model, const char *pef) {
  MlirContext context = sambaCompilerContextCreate();
  MlirModule module;
  SambaModuleOptions options = {0};
  SambaStatus status = sambaOnnxImportModel(context, model, NULL, NULL, NULL, &module);
  if (!status) {
    status = sambaCompileModule(module, &options, &(SambaCompileOutput){.path = pef});
    mlirModuleDestroy(module);
  }
  mlirContextDestroy(context);
  return status;
}

/* Prints how many rows have their largest element at the label, and the largest difference from the
 * reference. */
static SambaStatus printAccuracy(const SambaTensor *logits, const SambaTensorFile *labels,
                                 const SambaTensorFile *reference) {
  uint64_t images = (uint64_t)sambaTensorGetDims(logits)[0];
  uint64_t classes = (uint64_t)sambaTensorGetDims(logits)[1];
  uint64_t right = 0;
  uint64_t rightInPyTorch = 0;
  const float *ours = sambaTensorGetDataPtr(logits);
  const float *theirs = reference->data;
  const int64_t *label = labels->data;
  float largest = 0;

  if (labels->elements != images || reference->bytes != (uint64_t)sambaTensorGetNumBytes(logits))
    return sambaStatusMake(SAMBA_INVALID, "labels or outputs do not belong to these images");
  for (uint64_t i = 0; i < images; ++i) {
    uint64_t best = 0, bestInPyTorch = 0;
    for (uint64_t c = 0; c < classes; ++c) {
      uint64_t at = i * classes + c;
      uint64_t row = i * classes;
      best = ours[at] > ours[row + best] ? c : best;
      bestInPyTorch = theirs[at] > theirs[row + bestInPyTorch] ? c : bestInPyTorch;
      largest = fmaxf(largest, fabsf(ours[at] - theirs[at]));
    }
    right += (int64_t)best == label[i];
    rightInPyTorch += (int64_t)bestInPyTorch == label[i];
  }

  printf("accuracy %.2f%% (%llu of %llu digits; PyTorch %.2f%%), largest difference from PyTorch "
         "%.3g\n",
         100.0 * (double)right / (double)images, (unsigned long long)right,
         (unsigned long long)images, 100.0 * (double)rightInPyTorch / (double)images,
         (double)largest);
  return NULL;
}

static SambaStatus run(const char *folder, const char *pef, SambaArena *arena) {
  SambaTensorFile images, labels, reference;
  SambaTensor *logits;
  SambaSession *session;

  SAMBA_RETURN_IF_ERROR(
      sambaTensorFileRead(sambaArenaFormat(arena, "%s/images.npy", folder), arena, &images));
  SAMBA_RETURN_IF_ERROR(
      sambaTensorFileRead(sambaArenaFormat(arena, "%s/labels.npy", folder), arena, &labels));
  SAMBA_RETURN_IF_ERROR(
      sambaTensorFileRead(sambaArenaFormat(arena, "%s/outputs.npy", folder), arena, &reference));
  SambaSimulatedDeviceOptions options = {.threads = (int)sysconf(_SC_NPROCESSORS_ONLN)};
  SambaDeviceFactory device = sambaSimulatedDevice(&options);
  SAMBA_RETURN_IF_ERROR(sambaSessionOpen(pef, &device, &session));
  SambaStatus status = sambaSessionSetInput(session, sambaStringRef("images"), images.dtype,
                                            images.rank, images.dims, images.data);
  if (!status)
    status = sambaSessionRun(session, NULL, NULL, NULL);
  if (!status)
    status = sambaSessionReadTensor(session, sambaStringRef("logits"), &logits);
  if (!status) {
    status = printAccuracy(logits, &labels, &reference);
    sambaPrintSummary(session);
    sambaTensorRelease(logits);
  }

  sambaSessionClose(session);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: digits-demo FOLDER OUT.pef\n");
    return 1;
  }
  SambaArena arena = {0};
  SambaStatus status = compileModel(sambaArenaFormat(&arena, "%s/digits.onnx", argv[1]), argv[2]);
  if (!status)
    status = run(argv[1], argv[2], &arena);
  sambaArenaDestroy(&arena);
  return sambaReport(status);
}
