/* LeNet learns to read digits: traced, compiled and trained in C, on the simulated RDU.
 *
 *   train_lenet [--seed N] [--epochs N] FOLDER OUT
 *
 * FOLDER has the scans. OUT.checkpoint is what was learned until half an epoch before the end; what
 * goes on from there must come to the same, bit for bit. */
#include "examples/digits/scans.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Training {
  int seed, epochs;
  char pef[4096], checkpoint[4096];
  Scans scans;
  ScanBatch batch;
  SambaSession *session;
  uint64_t first; /* step of what runs */
  bool tests;     /* else it learns */
  uint32_t right; /* of the scans that were tested */
  uint32_t bits;  /* of all losses or logits of a run, as one number */
} Training;

/* A convolution of 3x3 for images, a linear layer for vectors; weights start as PyTorch's do. */
static SambaTraceValue *layer(SambaTraceValue *x, uint64_t *random, const char *name,
                              int64_t outputs) {
  SambaTrace *trace = sambaTraceValueGetTrace(x);
  uint32_t rank = sambaTraceValueGetRank(x); /* and that of the weight */
  int64_t inputs = sambaTraceValueGetDims(x)[1], dims[] = {outputs, inputs, 3, 3};
  double bound = 1 / sqrt((double)(rank == 4 ? inputs * 9 : inputs));
  char weight[32], bias[32];
  snprintf(weight, sizeof weight, "%s.weight", name);
  snprintf(bias, sizeof bias, "%s.bias", name);
  sambaTraceSetLayer(trace, sambaStringRef(name), __FILE__, __LINE__);
  SambaTraceValue *w = sambaTraceUniformParameter(trace, weight, rank, dims, bound, random);
  SambaTraceValue *b = sambaTraceUniformParameter(trace, bias, 1, dims, bound, random);
  SambaWindowOptions window = {.padding = (int64_t[]){1, 1, 1, 1}};
  return rank == 4 ? sambaConv(x, w, b, &window) : sambaLinear(x, w, b);
}

static SambaStatus compile(const Training *training) {
  SambaContext *context;
  SAMBA_RETURN_IF_ERROR(sambaContextCreate(&context));
  SambaTrace *trace = sambaTraceCreate(context, "lenet");
  const int64_t images[] = {SCAN_BATCH, 1, SCAN_SIDE, SCAN_SIDE}, two[] = {2, 2};
  SambaWindowOptions pool = {.kernel = two, .stride = two};
  uint64_t random = (uint64_t)training->seed;
  SambaTraceValue *x = sambaTraceInput(trace, "image", SAMBA_DTYPE_F32, 4, images);
  SambaTraceValue *label = sambaTraceInput(trace, "label", SAMBA_DTYPE_I64, 1, images);
  x = sambaMaxPool(sambaRelu(layer(x, &random, "conv1", 6)), &pool);
  x = sambaMaxPool(sambaRelu(layer(x, &random, "conv2", 16)), &pool);
  x = sambaRelu(layer(sambaFlatten(x, 1, -1), &random, "fc1", 120));
  x = layer(sambaRelu(layer(x, &random, "fc2", 84)), &random, "fc3", SCAN_CLASSES);
  sambaTraceLoss(trace, "loss", sambaCrossEntropy(x, label, NULL, NULL, "mean"));
  sambaTraceOutput(trace, "logits", x);
  sambaTraceAddOptimizer(trace, "sgd,lr=0.1", "", 0, NULL);

  SambaStatus status = sambaCompileTrace(context, trace, NULL, training->pef);
  sambaTraceDestroy(trace);
  sambaContextDestroy(context);
  return status;
}

static SambaStatus feed(void *user, uint64_t pass) {
  Training *self = user;
  takeScans(&self->scans, self->tests, (uint64_t)self->seed, self->first + pass, &self->batch);
  return writeScans(self->session, &self->batch);
}

static SambaStatus look(void *user, uint64_t pass) {
  Training *self = user;
  SambaTensor *seen;
  SambaStringRef name = sambaStringRef(self->tests ? "logits" : "loss");
  SAMBA_RETURN_IF_ERROR(sambaSessionReadTensor(self->session, name, &seen));
  const void *values = sambaTensorGetDataPtr(seen);
  for (int64_t i = 0; i < sambaTensorGetNumElements(seen); ++i)
    self->bits = 31 * self->bits + ((const uint32_t *)values)[i];
  int step = (int)(self->first + pass + 1);
  if (self->tests)
    self->right += countRightScans(&self->batch, values);
  else if (step % SCAN_EPOCH == 0 || isatty(STDERR_FILENO)) /* in one line on a terminal */
    fprintf(stderr, "step %d: loss %.5f%c", step, (double)*(const float *)values,
            step % SCAN_EPOCH ? '\r' : '\n');
  sambaTensorRelease(seen);
  return NULL;
}

static SambaStatus runSteps(Training *self, bool tests, uint64_t first, uint64_t until) {
  const SambaSectionType forward = SAMBA_SECTION_FWD;
  SambaRunOptions options = {.order = {.types = &forward, .type_count = tests}};
  SambaSteps steps = {until - first, 0, options, feed, look, .user = self};
  self->first = first, self->tests = tests, self->right = self->bits = 0;
  return sambaSessionRunSteps(self->session, &steps);
}

/* Trains to the end: from the start with a checkpoint on the way, or from that checkpoint. */
static SambaStatus train(Training *self, bool restarts) {
  uint64_t end = (uint64_t)self->epochs * SCAN_EPOCH, stop = end - SCAN_EPOCH / 2;
  SambaSimulatedDeviceOptions options = {.threads = (int)sysconf(_SC_NPROCESSORS_ONLN)};
  SambaDeviceFactory device = sambaSimulatedDevice(&options);
  SAMBA_RETURN_IF_ERROR(sambaSessionOpen(self->pef, &device, &self->session));
  SambaStatus status = restarts ? NULL : runSteps(self, false, 0, stop);
  if (!status)
    status = (restarts ? sambaSessionLoad : sambaSessionSave)(self->session, self->checkpoint);
  if (!status)
    status = runSteps(self, false, stop, end);
  if (!status)
    status = runSteps(self, true, 0, SCAN_TEST_BATCHES);
  if (!status)
    printf("accuracy %.2f%%, %u of %d digits%s\n", 100.0 * self->right / SCANS_TESTED, self->right,
           SCANS_TESTED, restarts ? ", from the checkpoint" : "");
  sambaSessionClose(self->session);
  return status;
}

static SambaStatus run(Training *self, const char *folder) {
  SAMBA_RETURN_IF_ERROR(readScans(folder, &self->scans));
  SAMBA_RETURN_IF_ERROR(compile(self));
  SAMBA_RETURN_IF_ERROR(train(self, false));
  uint32_t bits = self->bits;
  SAMBA_RETURN_IF_ERROR(train(self, true));
  bool same = bits == self->bits;
  return same ? NULL : sambaStatusMake(SAMBA_MISMATCH, "the checkpoint leads elsewhere");
}

int main(int argc, char **argv) {
  static Training training = {.seed = 1, .epochs = 30};
  static const char usage[] = "usage: train_lenet [--seed N] [--epochs N] FOLDER OUT";
  int at = 1, known = 1;
  if (argc == 2 && strcmp(argv[1], "--help") == 0)
    return puts(usage) < 0;
  for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
    bool seeds = strcmp(argv[at], "--seed") == 0;
    known &= seeds || strcmp(argv[at], "--epochs") == 0;
    *(seeds ? &training.seed : &training.epochs) = atoi(argv[at + 1]);
  }
  if (!known || argc != at + 2 || training.epochs < 1 || training.epochs > 9999) {
    fprintf(stderr, "error: train_lenet wants FOLDER, OUT and 1 to 9999 epochs\n%s\n", usage);
    return 1;
  }
  snprintf(training.pef, sizeof training.pef, "%s.pef", argv[at + 1]);
  snprintf(training.checkpoint, sizeof training.checkpoint, "%s.checkpoint", argv[at + 1]);
  SambaStatus status = run(&training, argv[at]);
  if (!status)
    return 0;
  fprintf(stderr, "error: %s\n", sambaStatusGetMessage(status));
  sambaStatusFree(status);
  return 1;
}
