/* Signal operators of ONNX: windows and the mel matrix are constants, DFT and STFT operators. */
#include "frontend/onnx/handlers/handlers.h"

#include <math.h>

static const double turn = 6.283185307179586476925286766559;

/* Input `input` as one known number. */
static SambaStatus knownNumber(const SambaOnnxNode *node, uint32_t input, double *out_value) {
  const SambaConstant *constant = sambaOnnxConstant(node, input);
  if (!constant || constant->count != 1)
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "input %u must be one number known at compile time; if it comes from a graph input, use "
        "--bind NAME=FILE",
        input);
  *out_value = sambaConstantReal(constant, 0);
  return NULL;
}
static SambaStatus knownInt(const SambaOnnxNode *node, uint32_t input, int64_t otherwise,
                            int64_t *out_value) {
  double value = (double)otherwise;
  if (sambaOnnxHasInput(node, input))
    SAMBA_RETURN_IF_ERROR(knownNumber(node, input, &value));
  *out_value = (int64_t)value;
  return NULL;
}

/* A new constant of attribute output_datatype's type. */
static SambaStatus newConstant(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                               SambaConstant **out_constant) {
  int64_t type = sambaOnnxInt(node, "output_datatype", 1);
  *out_constant = sambaConstantNew(node->arena, type, rank, dims);
  return *out_constant ? NULL
                       : sambaStatusMake(SAMBA_UNSUPPORTED,
                                         "the result cannot be a constant: it has element type "
                                         "%lld and the last dimension %lld",
                                         (long long)type, (long long)dims[rank - 1]);
}

static void setNumber(SambaConstant *constant, int64_t index, double value) {
  constant->data[index] = sambaNumberConvert((SambaNumber){.r = value}, true, constant->onnx_type);
}

/* a - b cos(2 pi n / N) + c cos(4 pi n / N), N the size or, symmetric, one less. */
SambaStatus sambaOnnxImportWindow(const SambaOnnxNode *node) {
  static const struct {
    const char *name;
    double a, b, c;
  } windows[] = {{"HannWindow", 0.5, 0.5, 0},
                 {"HammingWindow", 25.0 / 46, 21.0 / 46, 0},
                 {"BlackmanWindow", 0.42, 0.5, 0.08}};
  int which = 0;

  while (strcmp(node->proto->op_type, windows[which].name) != 0)
    ++which;
  double size;
  SambaConstant *window;
  SAMBA_RETURN_IF_ERROR(knownNumber(node, 0, &size));
  int64_t count = (int64_t)size;
  SAMBA_RETURN_IF_ERROR(newConstant(node, 1, &count, &window));
  double period = sambaOnnxInt(node, "periodic", 1) ? size : size - 1;
  for (int64_t n = 0; n < count; ++n)
    setNumber(window, n,
              windows[which].a - windows[which].b * cos(turn * (double)n / period) +
                  windows[which].c * cos(2 * turn * (double)n / period));
  return sambaOnnxSetConstant(node, 0, window);
}

static SambaTraceValue *number(SambaTrace *trace, double value) {
  return sambaTraceScalar(trace, SAMBA_DTYPE_F32, value);
}

/* 0, 1, 2, ... as [count] or, standing, [count, 1] */
static SambaTraceValue *countUp(const SambaOnnxNode *node, int64_t count, bool standing) {
  SambaTensorType type = {.dtype = SAMBA_DTYPE_F32, .rank = standing ? 2 : 1, .dims = {count, 1}};
  float *data = SAMBA_ARENA_ARRAY(node->arena, float, (size_t)count);
  for (int64_t i = 0; i < count; ++i)
    data[i] = (float)i;
  return sambaTraceConstant(node->trace, &type, data, false);
}

/* The mel matrix from numbers that are there at run time; its sizes are those of the declared
 * result. */
static SambaStatus melAtRunTime(const SambaOnnxNode *node, const int64_t *dims) {
  SambaTrace *trace = node->trace;
  SambaTraceValue *inputs[5], *mel[2];

  for (uint32_t i = 0; i < 5; ++i) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, i, &inputs[i]));
    inputs[i] = sambaReshape(sambaCast(inputs[i], SAMBA_DTYPE_F32), 0, NULL);
  }

  for (int i = 0; i < 2; ++i) { /* 2595 log10(1 + f / 700) */
    SambaTraceValue *ratio =
        sambaAdd(sambaDiv(inputs[3 + i], number(trace, 700)), number(trace, 1));
    mel[i] = sambaMul(sambaLog(ratio), number(trace, 2595 / log(10)));
  }

  int64_t rows = dims[0];
  int64_t bins = dims[1];
  SambaTraceValue *step = sambaDiv(sambaSub(mel[1], mel[0]), number(trace, (double)(bins + 2)));
  SambaTraceValue *points = sambaAdd(sambaMul(countUp(node, bins + 2, false), step), mel[0]);
  SambaTraceValue *power = sambaExp(sambaMul(points, number(trace, log(10) / 2595)));
  SambaTraceValue *hertz = sambaMul(sambaSub(power, number(trace, 1)), number(trace, 700));
  SambaTraceValue *length = sambaAdd(inputs[1], number(trace, 1));
  SambaTraceValue *edges = sambaFloor(sambaDiv(sambaMul(hertz, length), inputs[2]));
  SambaTraceValue *first = sambaSlice(edges, 0, 0, bins, 1);
  SambaTraceValue *center = sambaSlice(edges, 0, 1, bins + 1, 1);
  SambaTraceValue *last = sambaSlice(edges, 0, 2, bins + 2, 1);
  SambaTraceValue *bin = countUp(node, rows, true);
  SambaTraceValue *zero = number(trace, 0);
  SambaTraceValue *one = number(trace, 1);
  SambaTraceValue *rising = sambaDiv(sambaSub(bin, first), sambaSub(center, first));
  SambaTraceValue *falling = sambaDiv(sambaSub(last, bin), sambaSub(last, center));
  SambaTraceValue *value =
      sambaWhere(sambaLogicalAnd(sambaGe(bin, first), sambaLe(bin, center)), rising, zero);
  value = sambaWhere(sambaEq(first, center), sambaWhere(sambaEq(bin, center), one, zero), value);
  value = sambaWhere(sambaLogicalAnd(sambaGe(bin, center), sambaLt(bin, last)), falling, value);

  return sambaOnnxSetTensor(node, 0, value);
}

/* Triangles over the bins of a spectrum, as ONNX's reference makes them. */
SambaStatus sambaOnnxImportMelWeightMatrix(const SambaOnnxNode *node) {
  double numbers[5];
  uint32_t rank;
  int64_t declared[SAMBA_MAX_RANK];
  bool known = true;

  for (uint32_t i = 0; i < 5; ++i)
    known = known && sambaOnnxConstant(node, i);
  if (!known && sambaOnnxInt(node, "output_datatype", 1) == 1 &&
      sambaOnnxDeclaredShape(node, 0, &rank, declared) && rank == 2)
    return melAtRunTime(node, declared);
  for (uint32_t i = 0; i < 5; ++i)
    SAMBA_RETURN_IF_ERROR(knownNumber(node, i, &numbers[i]));
  int64_t bins = (int64_t)numbers[0];
  int64_t length = (int64_t)numbers[1];
  int64_t dims[] = {length / 2 + 1, bins};
  double low = 2595 * log10(1 + numbers[3] / 700);
  double high = 2595 * log10(1 + numbers[4] / 700);
  SambaConstant *matrix = NULL;
  if (bins >= 1 && length >= 1 && bins < SAMBA_ONNX_MAX_FOLDED)
    SAMBA_RETURN_IF_ERROR(newConstant(node, 2, dims, &matrix));
  int64_t *edges = SAMBA_ARENA_ARRAY(node->arena, int64_t, matrix ? (size_t)bins + 2 : 1);
  bool inside = matrix != NULL;

  for (int64_t i = 0; inside && i < bins + 2; ++i) {
    double mel = (double)i * ((high - low) / (double)(bins + 2)) + low;
    double edge = floor((double)(length + 1) * (700 * (pow(10, mel / 2595) - 1)) / numbers[2]);
    inside = edge >= 0 && edge < (double)dims[0] && (i == 0 || edge >= (double)edges[i - 1]);
    edges[i] = inside ? (int64_t)edge : 0;
  }

  if (!inside)
    return sambaStatusMake(
        SAMBA_INVALID,
        "%g mel bins from %g to %g Hz do not lie in a spectrum of %g points at %g Hz", numbers[0],
        numbers[3], numbers[4], numbers[1], numbers[2]);
  for (int64_t i = 0; i < matrix->count; ++i)
    setNumber(matrix, i, 0);

  for (int64_t i = 0; i < bins; ++i) {
    int64_t first = edges[i];
    int64_t center = edges[i + 1];
    int64_t last = edges[i + 2];
    if (first == center)
      setNumber(matrix, center * bins + i, 1);
    for (int64_t bin = first; first < center && bin <= center; ++bin)
      setNumber(matrix, bin * bins + i, (double)(bin - first) / (double)(center - first));
    for (int64_t bin = center; bin < last; ++bin)
      setNumber(matrix, bin * bins + i, (double)(last - bin) / (double)(last - center));
  }

  return sambaOnnxSetConstant(node, 0, matrix);
}

/* The axis is an attribute, from version 20 on an input. */
SambaStatus sambaOnnxImportDft(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  int64_t length;
  int64_t axis = sambaOnnxInt(node, "axis", 1);
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(knownInt(node, 1, 0, &length));
  if (node->version >= 20)
    SAMBA_RETURN_IF_ERROR(knownInt(node, 2, -2, &axis));
  return sambaOnnxSetTensor(node, 0,
                            sambaDft(x, axis, length, sambaOnnxInt(node, "inverse", 0) != 0,
                                     sambaOnnxInt(node, "onesided", 0) != 0));
}

SambaStatus sambaOnnxImportStft(const SambaOnnxNode *node) {
  SambaTraceValue *x, *window = NULL;
  int64_t hop, length;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(knownInt(node, 1, 0, &hop));
  if (sambaOnnxHasInput(node, 2))
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &window));
  SAMBA_RETURN_IF_ERROR(knownInt(node, 3, 0, &length));
  if (x->type.rank == 2) /* a real signal without the dimension of its parts */
    x = sambaReshape(x, 3, (int64_t[]){x->type.dims[0], x->type.dims[1], 1});
  return sambaOnnxSetTensor(
      node, 0, sambaStft(x, window, hop, length, sambaOnnxInt(node, "onesided", 1) != 0));
}
