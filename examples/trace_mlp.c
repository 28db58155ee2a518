/* A multi-layer perceptron by way of the tracing API: it is traced in C, compiled, and run on the
 * simulated RDU.
 *
 *   trace_mlp [OUT.pef]
 *
 * The network is y = relu(x * w1' + b1) * w2' + b2 on a small batch. The result is compared with
 * the same sums in double precision. Without a file the PEF stays in memory. */
#include <samba/samba.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { batch = 8, inputs = 32, hidden = 48, outputs = 10 };

static const char target[] = "tiny";

/* Deterministic values in [-1, 1). */
static void fill(float *data, int count, unsigned seed) {
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = (float)(int)(seed >> 8) / (float)(1 << 23) - 1.0f;
  }
}

static SambaTrace *traceNetwork(SambaContext *context, const float *w1, const float *b1,
                                const float *w2, const float *b2) {
  SambaTrace *trace = sambaTraceCreate(context, "forward");
  SambaTraceValue *x = sambaTraceInput(trace, "x", SAMBA_DTYPE_F32, 2, (int64_t[]){batch, inputs});

  sambaTraceSetLayer(trace, sambaStringRef("fc1"), NULL, 0);
  SambaTraceValue *weight1 =
      sambaTraceParameter(trace, "fc1.weight", SAMBA_DTYPE_F32, 2, (int64_t[]){hidden, inputs}, w1);
  SambaTraceValue *bias1 =
      sambaTraceParameter(trace, "fc1.bias", SAMBA_DTYPE_F32, 1, (int64_t[]){hidden}, b1);
  SambaTraceValue *h = sambaRelu(sambaLinear(x, weight1, bias1));
  sambaTraceSetLayer(trace, sambaStringRef("fc2"), NULL, 0);
  SambaTraceValue *weight2 = sambaTraceParameter(trace, "fc2.weight", SAMBA_DTYPE_F32, 2,
                                                 (int64_t[]){outputs, hidden}, w2);
  SambaTraceValue *bias2 =
      sambaTraceParameter(trace, "fc2.bias", SAMBA_DTYPE_F32, 1, (int64_t[]){outputs}, b2);
  sambaTraceOutput(trace, "y", sambaLinear(h, weight2, bias2));
  return trace;
}

/* Largest difference from the same network in double precision. */
static double largestDifference(const float *x, const float *w1, const float *b1, const float *w2,
                                const float *b2, const float *y) {
  double largest = 0;
  for (int n = 0; n < batch; ++n) {
    double h[hidden];
    for (int i = 0; i < hidden; ++i) {
      h[i] = b1[i];
      for (int k = 0; k < inputs; ++k)
        h[i] += (double)x[n * inputs + k] * w1[i * inputs + k];
      h[i] = h[i] > 0 ? h[i] : 0;
    }
    for (int o = 0; o < outputs; ++o) {
      double sum = b2[o];
      for (int k = 0; k < hidden; ++k)
        sum += h[k] * w2[o * hidden + k];
      largest = fmax(largest, fabs(sum - y[n * outputs + o]));
    }
  }

  return largest;
}

/* Compiles to the file, or to memory, and loads the PEF. */
static SambaStatus compileAndLoad(SambaContext *context, SambaTrace *trace, const char *path,
                                  SambaSession *session) {
  SambaCompileOptions options = {.target = target};
  if (path) {
    SAMBA_RETURN_IF_ERROR(sambaCompileTrace(context, trace, &options, path));
    return sambaSessionLoadPef(session, path);
  }
  SambaPefData pef;
  SAMBA_RETURN_IF_ERROR(sambaCompileTraceToMemory(context, trace, &options, &pef));
  SambaStatus status = sambaSessionLoadPefMemory(session, pef.data, pef.size);
  sambaFree(pef.data);
  return status;
}

static SambaStatus compute(SambaSession *session, const float *x, float *y) {
  SambaTensor *result;
  SAMBA_RETURN_IF_ERROR(sambaSessionSetInput(session, sambaStringRef("x"), SAMBA_DTYPE_F32, 2,
                                             (int64_t[]){batch, inputs}, x));
  SAMBA_RETURN_IF_ERROR(sambaSessionRun(session, NULL, NULL, NULL));
  SAMBA_RETURN_IF_ERROR(sambaSessionReadTensor(session, sambaStringRef("y"), &result));
  SambaStatus status = sambaTensorCopyToFloat(result, y, batch * outputs);
  sambaTensorRelease(result);
  return status;
}

static SambaStatus run(SambaContext *context, SambaSession *session, const char *path) {
  static float x[batch * inputs], w1[hidden * inputs], b1[hidden], w2[outputs * hidden],
      b2[outputs], y[batch * outputs];
  fill(x, batch * inputs, 1), fill(w1, hidden * inputs, 2), fill(b1, hidden, 3),
      fill(w2, outputs * hidden, 4), fill(b2, outputs, 5);
  SambaTrace *trace = traceNetwork(context, w1, b1, w2, b2);
  SambaStatus status = compileAndLoad(context, trace, path, session);
  sambaTraceDestroy(trace);
  SAMBA_RETURN_IF_ERROR(status);
  SAMBA_RETURN_IF_ERROR(compute(session, x, y));

  SambaRunReport report;
  sambaSessionGetReport(session, &report);
  double difference = largestDifference(x, w1, b1, w2, b2, y);
  printf("largest difference from double precision: %.3g\n", difference);
  printf("%s: %llu cycles, launch %llu cycles, %llu calls, %llu flop\n", target,
         (unsigned long long)report.activity.cycles,
         (unsigned long long)report.activity.launch_cycles, (unsigned long long)report.calls,
         (unsigned long long)report.activity.flops);
  if (!(difference < 1e-4))
    return sambaStatusMake(SAMBA_MISMATCH, "the result differs by more than 1e-4");
  return NULL;
}

int main(int argc, char **argv) {
  if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
    fprintf(stderr, "usage: trace_mlp [OUT.pef]\n");
    return 1;
  }

  SambaContext *context;
  SambaSession *session = NULL;
  SambaSimulatedDeviceOptions options = {.threads = 1};
  SambaDeviceFactory device = sambaSimulatedDevice(&options);
  SambaStatus status = sambaContextCreate(&context);
  if (!status)
    status = sambaSessionCreate(&device, &session);
  if (!status)
    status = run(context, session, argc == 2 ? argv[1] : NULL);
  if (status)
    fprintf(stderr, "error: %s\n", sambaStatusGetMessage(status));
  int code = status ? 1 : 0;
  sambaSessionClose(session);
  sambaContextDestroy(context);
  sambaStatusFree(status);
  return code;
}
