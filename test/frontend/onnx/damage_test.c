/* Damaged models: cut off at every byte, bits flipped by a seeded generator. The importer answers
 * with an error or a module, never with a crash or a hang (run under ASan and UBSan in CI). */
#include "frontend/onnx/onnx.h"
#include "test/frontend/onnx/model_text.h"

#include "mlir-c/Diagnostics.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const models[] = {
    "opset 11; input x f32 2x3; init w f32 3x4 1 2 3 4 5 6 7 8 9 10 11 12; init b f32 4 1 2 3 4; "
    "output y; node Gemm "
    "x,w,b -> g; node Softmax g -> y axis=1",
    "opset 13; input x f32 1x2x6x6; init w f32 2x1x3x3 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9; output "
    "y; node Conv x,w -> "
    "c group=2 pads=[1,1,1,1]; node Relu c "
    "-> r; node MaxPool r -> m kernel_shape=[2,2] strides=[2,2]; node Shape m -> s; init i i64 1 "
    "0; node Gather s,i -> "
    "n; init k i64 1 -1; node Concat n,k "
    "-> t axis=0; node Reshape m,t -> y",
    "opset 13; input x i64 4; init w f32 5x3 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; output y; node "
    "Gather w,x -> e; init "
    "a i64 1 0; node Unsqueeze e,a -> u; "
    "init p i64 6 0 1 0 0 1 0; node Pad u,p -> q; init s i64 1 1; init t i64 1 5; node Slice "
    "q,s,t,s -> c; node "
    "Constant -> d value={f32,2,1,2}; node "
    "ReduceMean c -> m axes=[1]; node Sub c,m -> v; extern z f32 3 location=none; node Tanh v -> y",
};
enum { flipsPerModel = 4000 };

static void importBytes(MlirContext context, const char *path, int fd, const uint8_t *data,
                        size_t size) {
  assert_int_equal(ftruncate(fd, 0), 0);
  assert_int_equal(pwrite(fd, data, size, 0), (ssize_t)size);
  MlirModule module;
  SambaStatus status = sambaOnnxImportModel(context, path, NULL, NULL, NULL, &module);
  if (status)
    assert_true(strlen(sambaStatusGetMessage(status)) > strlen(path));
  else
    mlirModuleDestroy(module);
  sambaStatusFree(status);
}

static MlirLogicalResult silence(MlirDiagnostic diagnostic, void *user_data) {
  (void)diagnostic, (void)user_data;
  return mlirLogicalResultSuccess();
}

static void testDamage(void **state) {
  (void)state;
  MlirContext context = mlirContextCreateWithThreading(false);

  mlirContextAttachDiagnosticHandler(context, silence, NULL, NULL);
  char path[] = "/tmp/samba-damage-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  uint64_t random = 20240607;

  for (size_t m = 0; m < sizeof models / sizeof *models; ++m) {
    size_t size;
    uint8_t *data = modelFromText(models[m], &size);
    for (size_t cut = 0; cut < size; ++cut)
      importBytes(context, path, fd, data, cut);
    for (int flip = 0; flip < flipsPerModel; ++flip) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      size_t at = (size_t)(random >> 33) % size;
      uint8_t bit = (uint8_t)(1u << (random >> 30 & 7));
      data[at] ^= bit;
      importBytes(context, path, fd, data, size);
      if (flip % 4) /* every fourth flip stays: damage adds up, until the next model */
        data[at] ^= bit;
      if (flip % 64 == 63) {
        free(data);
        data = modelFromText(models[m], &size);
      }
    }
    free(data);
  }

  close(fd);
  unlink(path);
  mlirContextDestroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testDamage)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
