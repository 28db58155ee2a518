/* Fourier transforms as compositions: dft, stft. A transform is one contraction with a table of
 * cosines and sines, each the f32 nearest to its value. */
#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/core/stage_builder.h"

#include <math.h>

enum { MOST_POINTS = 4096 };

static SambaStatus checkLength(unsigned constraint, int64_t length) {
  return length >= 1 && length <= MOST_POINTS
             ? NULL
             : sambaStatusMake(SAMBA_INVALID,
                               "(C%u) the transform has length %lld, but must have 1 to %d",
                               constraint, (long long)length, MOST_POINTS);
}
static SambaStatus checkParts(unsigned constraint, const SambaTensorType *x) {
  int64_t parts = x->dims[x->rank - 1];
  return parts == 1 || parts == 2
             ? NULL
             : sambaStatusMake(SAMBA_INVALID,
                               "(C%u) the last dimension is %lld, but must be 1 or 2", constraint,
                               (long long)parts);
}
static bool flagOf(const SambaOperatorCall *call, const char *name) {
  return sambaOperatorCallInt(call, name) != 0;
}

/* What element n (its part `from`: real, imaginary) gives to part `to` of frequency k. The angle is
 * reduced exactly. */
static double factor(int64_t n, int64_t k, int64_t length, int64_t from, int64_t to, bool inverse) {
  int64_t turn = n * k % length;
  double angle = 6.283185307179586476925286766559 * (double)turn / (double)length;
  double cosine = 4 * turn == length || 4 * turn == 3 * length ? 0 : cos(angle);
  double sine = turn == 0 || 2 * turn == length ? 0 : sin(angle);
  if (!inverse && sine != 0)
    sine = -sine;
  double value = cosine;
  if (from != to)
    value = from == 0 ? sine : -sine;
  return inverse ? value / (double)length : value;
}

/* ---- dft ---- */

static SambaStatus dftOf(const SambaOperatorCall *call, uint32_t *out_dim, int64_t *out_length,
                         int64_t *out_count) {
  const SambaTensorType *x = &call->operands[0];
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the input", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the input", x, 2, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(checkParts(2, x));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(3, call, "dim", x->rank, out_dim));
  if (*out_dim == x->rank - 1)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C3) attribute 'dim' names the dimension of real and imaginary part");
  *out_length = sambaOperatorCallIntOr(call, "length", x->dims[*out_dim]);
  SAMBA_RETURN_IF_ERROR(checkLength(4, *out_length));
  if (flagOf(call, "inverse") && flagOf(call, "onesided"))
    return sambaStatusMake(SAMBA_INVALID, "(C5) an inverse transform cannot be onesided");
  *out_count = flagOf(call, "onesided") ? *out_length / 2 + 1 : *out_length;

  return NULL;
}

static SambaStatus inferDft(const SambaOperatorCall *call, SambaTensorType *out) {
  uint32_t dim;
  int64_t length, count;
  SAMBA_RETURN_IF_ERROR(dftOf(call, &dim, &length, &count));
  *out = call->operands[0];
  out->dims[dim] = count;
  out->dims[out->rank - 1] = 2;
  return NULL;
}

static SambaStatus decomposeDft(const SambaOperatorCall *call, SambaExpansion *expansion,
                                const uint32_t *operands, uint32_t *out_results) {
  SambaTensorType type = call->operands[0];
  uint32_t dim;
  uint32_t last = type.rank - 1;
  int64_t length;
  int64_t count;
  int64_t parts = type.dims[last];
  int64_t dims[SAMBA_MAX_RANK];
  int64_t back[SAMBA_MAX_RANK];

  SAMBA_RETURN_IF_ERROR(dftOf(call, &dim, &length, &count));
  bool inverse = flagOf(call, "inverse");
  int64_t used = type.dims[dim] < length ? type.dims[dim] : length; /* what follows are zeros */
  uint32_t x = sambaExpandSlice(expansion, sambaExpandCast(expansion, operands[0], SAMBA_DTYPE_F32),
                                dim, 0, used, 1);
  uint32_t next = 0;
  for (uint32_t axis = 0; axis < type.rank;
       ++axis) /* the transformed dimension next to the parts */
    if (axis != dim && axis != last)
      dims[next++] = axis;
  dims[next++] = dim, dims[next] = last;
  for (uint32_t axis = 0; axis < type.rank; ++axis)
    back[dims[axis]] = axis;
  bool moves = dim + 1 != last;
  if (moves)
    x = sambaExpandPermute(expansion, x, dims);
  SambaTensorType moved = *sambaExpansionType(expansion, x);
  moved.dims[last - 1] = used * parts;
  x = sambaExpandReshape(expansion, x, last, moved.dims);
  double *table = SAMBA_ARENA_ARRAY(expansion->arena, double, (size_t)(2 * count * used * parts));
  double *at = table;
  for (int64_t k = 0; k < count; ++k)
    for (int64_t to = 0; to < 2; ++to)
      for (int64_t n = 0; n < used; ++n)
        for (int64_t from = 0; from < parts; ++from)
          *at++ = factor(n, k, length, from, to, inverse);
  uint32_t weight = sambaExpandNumbers(expansion, SAMBA_DTYPE_F32, 2,
                                       (int64_t[]){2 * count, used * parts}, table);
  uint32_t y = sambaExpandBinary(expansion, "linear", x, weight);
  moved.dims[last - 1] = count, moved.dims[last] = 2;
  y = sambaExpandReshape(expansion, y, type.rank, moved.dims);
  out_results[0] =
      sambaExpandCast(expansion, moves ? sambaExpandPermute(expansion, y, back) : y, type.dtype);

  return NULL;
}

/* ---- stft ---- */

typedef struct {
  int64_t length, hop, frames, frequencies;
} Stft;

static SambaStatus stftOf(const SambaOperatorCall *call, Stft *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *window = call->operand_count > 1 ? &call->operands[1] : NULL;

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the signal", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the signal", x, 3, 3));
  SAMBA_RETURN_IF_ERROR(checkParts(2, x));
  if (window) {
    SAMBA_RETURN_IF_ERROR(
        sambaCheckSameDType(1, "the window", window->dtype, "the signal", x->dtype));
    SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the window", window, 1, 1));
  }

  out->length = sambaOperatorCallIntOr(call, "length", window ? window->dims[0] : x->dims[1]);
  out->hop = sambaOperatorCallInt(call, "hop");
  SAMBA_RETURN_IF_ERROR(checkLength(3, out->length));
  if (window)
    SAMBA_RETURN_IF_ERROR(sambaCheckDim(3, "the window", window, 0, out->length));
  if (out->length > x->dims[1])
    return sambaStatusMake(SAMBA_INVALID, "(C3) the transform has length %lld, but the signal %lld",
                           (long long)out->length, (long long)x->dims[1]);
  if (out->hop < 1)
    return sambaStatusMake(SAMBA_INVALID, "(C4) attribute 'hop' is %lld, but must be 1 or more",
                           (long long)out->hop);
  out->frames = (x->dims[1] - out->length) / out->hop + 1;
  out->frequencies = flagOf(call, "onesided") ? out->length / 2 + 1 : out->length;

  return NULL;
}

static SambaStatus inferStft(const SambaOperatorCall *call, SambaTensorType *out) {
  Stft stft;
  SAMBA_RETURN_IF_ERROR(stftOf(call, &stft));
  *out = (SambaTensorType){.dtype = call->operands[0].dtype,
                           .rank = 4,
                           .dims = {call->operands[0].dims[0], stft.frames, stft.frequencies, 2}};
  return NULL;
}

/* A convolution of [B, C, L] by kernels [2 frequencies, C, length]. */
static SambaStatus decomposeStft(const SambaOperatorCall *call, SambaExpansion *expansion,
                                 const uint32_t *operands, uint32_t *out_results) {
  Stft stft;
  SAMBA_RETURN_IF_ERROR(stftOf(call, &stft));
  const SambaTensorType *type = &call->operands[0];
  int64_t parts = type->dims[2];
  int64_t channels = 2 * stft.frequencies;
  double *table =
      SAMBA_ARENA_ARRAY(expansion->arena, double, (size_t)(channels * parts * stft.length));
  double *at = table;

  for (int64_t k = 0; k < stft.frequencies; ++k)
    for (int64_t to = 0; to < 2; ++to)
      for (int64_t from = 0; from < parts; ++from)
        for (int64_t n = 0; n < stft.length; ++n)
          *at++ = factor(n, k, stft.length, from, to, false);
  uint32_t kernels = sambaExpandNumbers(expansion, SAMBA_DTYPE_F32, 3,
                                        (int64_t[]){channels, parts, stft.length}, table);
  if (call->operand_count > 1)
    kernels = sambaExpandBinary(expansion, "mul", kernels,
                                sambaExpandCast(expansion, operands[1], SAMBA_DTYPE_F32));
  uint32_t x = sambaExpandPermute(
      expansion, sambaExpandCast(expansion, operands[0], SAMBA_DTYPE_F32), (int64_t[]){0, 2, 1});
  SambaAttribute stride = sambaIntsAttribute("stride", &stft.hop, 1);
  uint32_t y = sambaExpandCall(expansion, "conv1d", 2, (uint32_t[]){x, kernels}, 1, &stride);
  y = sambaExpandReshape(expansion, y, 4,
                         (int64_t[]){type->dims[0], stft.frequencies, 2, stft.frames});
  out_results[0] = sambaExpandCast(
      expansion, sambaExpandPermute(expansion, y, (int64_t[]){0, 3, 1, 2}), type->dtype);
  return NULL;
}

const SambaOperator sambaSignalOperators[] = {
    {.name = "dft",
     .summary = "discrete Fourier transform along dim",
     .computes = "The last dimension holds real and imaginary part (1: real). y[k] = sum over n of "
                 "x[n] e^(-2 pi i k n / length), x cut or continued by zeros to `length`; inverse: "
                 "e^(+2 pi i k n / length) and a division by length; onesided: only k <= length / "
                 "2. Composite: one contraction with a table.",
     .operands = {"input"},
     .attributes = {REQUIRED(INT, "dim", "negative: from the end"),
                    OPTIONAL(INT, "length", "absent: the dimension's size"),
                    BOOL("inverse", false, "the inverse transform"),
                    BOOL("onesided", false, "only the frequencies up to the middle")},
     .constraints = {"x has a float dtype", "rank 2 or more, and 1 or 2 as last dimension",
                     "dim names another dimension", "length is 1 to 4096",
                     "an inverse is not onesided"},
     .example = "%y = samba.dft %x {dim = 1, onesided = true} : tensor<2x8x1xf32>",
     .source = "torch.fft.fft; ONNX DFT",
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferDft,
     .decompose = decomposeDft},
    {.name = "stft",
     .summary = "Fourier transforms of windows of a signal",
     .computes =
         "x is B x L x 1 (real) or 2. Frame f is x[hop f, ..., hop f + length - 1] times the "
         "window, transformed; result: B x frames x frequencies x 2. onesided: only frequencies up "
         "to length / 2. Composite: one convolution with window times table.",
     .operands = {"input", "window?"},
     .attributes = {REQUIRED(INT, "hop", "from frame to frame"),
                    OPTIONAL(INT, "length", "absent: the window's, else the signal's"),
                    BOOL("onesided", false, "only the frequencies up to the middle")},
     .constraints = {"x has a float dtype, the window too",
                     "x has rank 3 and 1 or 2 as last dimension, the window rank 1",
                     "length (the window's, or attribute length) is 1 to 4096 and at most L",
                     "hop is 1 or more"},
     .example = "%y = samba.stft %x, %w {hop = 4} : tensor<2x32x1xf32>, tensor<8xf32>",
     .source = "torch.stft; ONNX STFT",
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferStft,
     .decompose = decomposeStft},
    {0}};
