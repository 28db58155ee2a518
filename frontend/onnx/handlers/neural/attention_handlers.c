/* Handlers of ONNX operators of transformers: Attention, RotaryEmbedding. */
#include "frontend/onnx/handlers/handlers.h"

#include "support/file/tensor_file.h"

#include <math.h>

static SambaStatus optional(const SambaOnnxNode *node, uint32_t input, SambaTraceValue **out) {
  *out = NULL;
  return sambaOnnxHasInput(node, input) ? sambaOnnxTensor(node, input, out) : NULL;
}

/* first, first + 1, ...: i64 of the shape [count, 1] or [count]. */
static SambaStatus counted(const SambaOnnxNode *node, int64_t first, int64_t count, bool column,
                           SambaTraceValue **out) {
  int64_t dims[] = {count, 1};
  SambaConstant *constant = sambaConstantNew(node->arena, SAMBA_ONNX_INT64, column ? 2 : 1, dims);
  if (!constant)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a sequence of %lld positions is longer than %d",
                           (long long)count, SAMBA_ONNX_MAX_FOLDED);
  for (int64_t i = 0; i < count; ++i)
    constant->data[i].i = first + i;
  return sambaOnnxMaterialize(node, constant, out);
}

/* ---- Attention ---- */

typedef struct Attention {
  SambaTraceValue *q, *k, *v; /* [B, heads, length, size]; k and v with the past in front */
  SambaTraceValue *mask;      /* NULL: none */
  SambaTraceValue *lengths;   /* of the keys that are valid, per sample; NULL: all are */
  int64_t past;               /* positions in front */
  int64_t output_mode;        /* what the fourth output is */
  double scale, softcap;
  SambaDType precision; /* of the softmax; COUNT: the scores' own */
  bool flat, causal, wants_scores;
} Attention;

/* As [B, heads, length, size]: a tensor of rank 3 has the heads in its last dimension. */
static SambaStatus splitHeads(const SambaOnnxNode *node, uint32_t input, const char *attribute,
                              SambaTraceValue **x) {
  const SambaTensorType *type = &(*x)->type;
  if (type->rank == 4)
    return NULL;
  int64_t heads = sambaOnnxInt(node, attribute, 0);
  if (type->rank != 3)
    return sambaStatusMake(SAMBA_INVALID, "input %u has rank %u, but must have rank 3 or 4", input,
                           type->rank);
  if (heads < 1 || type->dims[2] % heads)
    return sambaStatusMake(SAMBA_INVALID,
                           "input %u has %lld elements in its last dimension, but attribute '%s' "
                           "says %lld heads; it must divide them",
                           input, (long long)type->dims[2], attribute, (long long)heads);

  int64_t dims[] = {type->dims[0], type->dims[1], heads, type->dims[2] / heads};
  *x = sambaPermute(sambaReshape(*x, 4, dims), (int64_t[]){0, 2, 1, 3});
  return *x ? NULL : sambaOnnxTraceFailure(node);
}

static SambaStatus readAttributes(const SambaOnnxNode *node, Attention *out) {
  int64_t precision = sambaOnnxInt(node, "softmax_precision", 0);

  out->scale = sambaOnnxFloat(node, "scale", 0);
  out->softcap = sambaOnnxFloat(node, "softcap", 0);
  out->causal = sambaOnnxInt(node, "is_causal", 0) != 0;
  out->output_mode = sambaOnnxInt(node, "qk_matmul_output_mode", 0);
  out->wants_scores = sambaOnnxOutputUsed(node, 3);
  if (out->output_mode < 0 || out->output_mode > 3)
    return sambaStatusMake(SAMBA_INVALID,
                           "attribute 'qk_matmul_output_mode' is %lld, but must be "
                           "0 to 3",
                           (long long)out->output_mode);
  out->precision = precision ? sambaOnnxDType(node->importer, precision) : SAMBA_DTYPE_COUNT;
  if (precision && (out->precision == SAMBA_DTYPE_COUNT || !sambaDTypeIsFloat(out->precision)))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "softmax_precision %s is not supported; FLOAT, FLOAT16 and BFLOAT16 are",
                           sambaOnnxTypeName(precision));
  return NULL;
}

/* Keys and values behind those of the past; they are results too. */
static SambaStatus joinPast(const SambaOnnxNode *node, Attention *out) {
  SambaTraceValue *past[2];
  SAMBA_RETURN_IF_ERROR(optional(node, 4, &past[0]));
  SAMBA_RETURN_IF_ERROR(optional(node, 5, &past[1]));
  if (!past[0] != !past[1])
    return sambaStatusMake(SAMBA_INVALID,
                           "inputs 4 and 5, the past key and value, must both be there or none");
  if (past[0] && (past[0]->type.rank != 4 || past[1]->type.rank != 4))
    return sambaStatusMake(SAMBA_INVALID, "inputs 4 and 5 have ranks %u and %u, but must have 4",
                           past[0]->type.rank, past[1]->type.rank);

  if (past[0]) {
    out->past = past[0]->type.dims[2];
    out->k = sambaCat(2, (SambaTraceValue *[]){past[0], out->k}, 2);
    out->v = sambaCat(2, (SambaTraceValue *[]){past[1], out->v}, 2);
    if (!out->k || !out->v)
      return sambaOnnxTraceFailure(node);
  }

  for (uint32_t i = 0; i < 2; ++i)
    if (sambaOnnxOutputUsed(node, 1 + i))
      SAMBA_RETURN_IF_ERROR(sambaOnnxSetTensor(node, 1 + i, i ? out->v : out->k));
  return NULL;
}

/* Every head of k and v for the heads of q that share it. */
static SambaStatus shareHeads(Attention *out) {
  int64_t heads = out->q->type.dims[1], shared = out->k->type.dims[1];
  SambaTraceValue **each[] = {&out->k, &out->v};
  if (out->v->type.dims[1] != shared || heads % shared)
    return sambaStatusMake(SAMBA_INVALID,
                           "the key has %lld heads and the value %lld; both must have one number, "
                           "which divides the query's %lld",
                           (long long)shared, (long long)out->v->type.dims[1], (long long)heads);
  if (heads == shared)
    return NULL;

  for (uint32_t i = 0; i < 2; ++i) {
    const int64_t *dims = (*each[i])->type.dims;
    int64_t one[] = {dims[0], shared, 1, dims[2], dims[3]};
    int64_t all[] = {dims[0], shared, heads / shared, dims[2], dims[3]};
    int64_t flat[] = {dims[0], heads, dims[2], dims[3]};
    *each[i] = sambaReshape(sambaExpand(sambaReshape(*each[i], 5, one), 5, all), 4, flat);
  }
  return NULL;
}

static SambaTraceValue *bothTrue(SambaTraceValue *a, SambaTraceValue *b) {
  return a ? sambaLogicalAnd(a, b) : b;
}

/* Where the scores count, as i1: before the position of the query when causal, before the end of
 * the valid keys. NULL: everywhere, or only the operator's own causality says. */
static SambaStatus allowedPlaces(const SambaOnnxNode *node, const Attention *attention,
                                 SambaTraceValue **out) {
  int64_t queries = attention->q->type.dims[2], keys = attention->k->type.dims[2];
  SambaTraceValue *rows, *columns, *lengths = attention->lengths;
  *out = NULL;
  if (!attention->causal && !lengths)
    return NULL;
  SAMBA_RETURN_IF_ERROR(counted(node, 0, keys, false, &columns));

  if (lengths) {
    if (lengths->type.rank != 1 || lengths->type.dims[0] != attention->q->type.dims[0])
      return sambaStatusMake(SAMBA_INVALID,
                             "input 6, the lengths, must have one number for each of the %lld "
                             "samples",
                             (long long)attention->q->type.dims[0]);
    int64_t dims[] = {lengths->type.dims[0], 1, 1, 1};
    lengths = sambaReshape(sambaCast(lengths, SAMBA_DTYPE_I64), 4, dims);
    *out = sambaLt(columns, lengths);
  }

  if (attention->causal) {
    bool aligned = lengths && !sambaOnnxHasInput(node, 4);
    int64_t first = aligned ? -queries : attention->past;
    SAMBA_RETURN_IF_ERROR(counted(node, first, queries, true, &rows));
    *out = bothTrue(*out, sambaLe(columns, aligned ? sambaAdd(lengths, rows) : rows));
  }

  return *out ? NULL : sambaOnnxTraceFailure(node);
}

/* The mask in all its columns: those that it does not have are not allowed. */
static SambaStatus wholeMask(const SambaOnnxNode *node, Attention *attention) {
  SambaTraceValue *mask = attention->mask;
  if (!mask)
    return NULL;
  uint32_t rank = mask->type.rank;
  int64_t keys = attention->k->type.dims[2];
  bool is_bool = mask->type.dtype == SAMBA_DTYPE_I1;
  if (rank < 2 || rank > 4 || mask->type.dims[rank - 1] > keys)
    return sambaStatusMake(SAMBA_INVALID,
                           "input 3, the mask, has rank %u; it must have rank 2 to 4 and at most "
                           "%lld columns",
                           rank, (long long)keys);

  int64_t low[SAMBA_MAX_RANK] = {0}, high[SAMBA_MAX_RANK] = {0};
  high[rank - 1] = keys - mask->type.dims[rank - 1];
  mask = is_bool ? mask : sambaCast(mask, attention->q->type.dtype);
  if (mask && high[rank - 1])
    mask = sambaPad(mask, low, high, is_bool ? 0 : -INFINITY);
  attention->mask = mask;
  return mask ? NULL : sambaOnnxTraceFailure(node);
}

/* Step by step: with a cap, with scores that are a result, with a softmax of another precision. */
static SambaTraceValue *attendByStep(const SambaOnnxNode *node, const Attention *attention,
                                     SambaTraceValue **out_scores) {
  SambaTrace *trace = node->trace;
  SambaDType dtype = attention->q->type.dtype;
  SambaTraceValue *mask = attention->mask;
  double root = sqrt(attention->scale);
  SambaTraceValue *factor = sambaTraceScalar(trace, dtype, root);

  SambaTraceValue *keys = sambaTranspose(sambaMul(attention->k, factor), 2, 3);
  SambaTraceValue *scores = sambaMatmul(sambaMul(attention->q, factor), keys);
  SambaTraceValue *result = scores;
  if (attention->softcap > 0) {
    SambaTraceValue *cap = sambaTraceScalar(trace, dtype, attention->softcap);
    scores = sambaMul(sambaTanh(sambaDiv(scores, cap)), cap);
    result = attention->output_mode ? scores : result;
  }

  if (mask && mask->type.dtype == SAMBA_DTYPE_I1)
    scores = sambaWhere(mask, scores, sambaTraceScalar(trace, dtype, -INFINITY));
  else if (mask)
    scores = sambaAdd(scores, mask);
  result = attention->output_mode == 2 ? scores : result;
  if (attention->precision != SAMBA_DTYPE_COUNT)
    scores = sambaCast(scores, attention->precision);
  scores = sambaCast(sambaSoftmax(scores, -1), dtype);
  *out_scores = attention->output_mode == 3 ? scores : result;

  return sambaMatmul(scores, attention->v);
}

/* Whether the softmax is asked for in fewer bits than the operator computes it in. */
static bool isCoarse(const Attention *attention) {
  return attention->precision != SAMBA_DTYPE_COUNT && attention->precision != SAMBA_DTYPE_F32 &&
         attention->precision != attention->q->type.dtype;
}

SambaStatus sambaOnnxImportAttention(const SambaOnnxNode *node) {
  Attention attention = {0};
  SambaTraceValue *scores = NULL, *allowed, *y;

  SAMBA_RETURN_IF_ERROR(readAttributes(node, &attention));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &attention.q));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &attention.k));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &attention.v));
  SAMBA_RETURN_IF_ERROR(optional(node, 3, &attention.mask));
  SAMBA_RETURN_IF_ERROR(optional(node, 6, &attention.lengths));
  attention.flat = attention.q->type.rank == 3;
  SAMBA_RETURN_IF_ERROR(splitHeads(node, 0, "q_num_heads", &attention.q));
  SAMBA_RETURN_IF_ERROR(splitHeads(node, 1, "kv_num_heads", &attention.k));
  SAMBA_RETURN_IF_ERROR(splitHeads(node, 2, "kv_num_heads", &attention.v));
  SAMBA_RETURN_IF_ERROR(joinPast(node, &attention));
  attention.v = sambaCast(attention.v, attention.q->type.dtype);
  if (!attention.v)
    return sambaOnnxTraceFailure(node);
  SAMBA_RETURN_IF_ERROR(shareHeads(&attention));

  if (attention.scale == 0)
    attention.scale = 1 / sqrt((double)attention.q->type.dims[3]);
  SAMBA_RETURN_IF_ERROR(wholeMask(node, &attention));
  bool stepwise = attention.softcap > 0 || attention.wants_scores || isCoarse(&attention);
  bool own_causality =
      attention.causal && !attention.mask && !attention.lengths && !attention.past && !stepwise;
  attention.causal = attention.causal && !own_causality;
  SAMBA_RETURN_IF_ERROR(allowedPlaces(node, &attention, &allowed));
  if (allowed && attention.mask && attention.mask->type.dtype != SAMBA_DTYPE_I1)
    attention.mask =
        sambaWhere(allowed, attention.mask,
                   sambaTraceScalar(node->trace, attention.mask->type.dtype, -INFINITY));
  else if (allowed)
    attention.mask = bothTrue(attention.mask, allowed);

  if (stepwise)
    y = attendByStep(node, &attention, &scores);
  else
    y = sambaScaledDotProductAttention(attention.q, attention.k, attention.v, attention.mask,
                                       attention.scale, own_causality);
  if (y && attention.flat) {
    int64_t dims[] = {y->type.dims[0], y->type.dims[2], y->type.dims[1] * y->type.dims[3]};
    y = sambaReshape(sambaPermute(y, (int64_t[]){0, 2, 1, 3}), 3, dims);
  }
  if (attention.wants_scores)
    SAMBA_RETURN_IF_ERROR(sambaOnnxSetTensor(node, 3, scores));
  return sambaOnnxSetTensor(node, 0, y);
}

/* ---- RotaryEmbedding ---- */

/* The angles of every element of a head: [B, S, half] becomes [B, S, 1, 2 * half], or with heads
 * before positions [B, 1, S, 2 * half]. */
static SambaTraceValue *spread(SambaTraceValue *angles, bool interleaved, bool heads_first) {
  if (!angles)
    return NULL;
  int64_t batch = angles->type.dims[0], positions = angles->type.dims[1];
  int64_t half = angles->type.dims[2];
  int64_t pairs[] = {batch, positions, half, 1};
  SambaTraceValue *each = interleaved ? sambaReshape(angles, 4, pairs) : angles;
  SambaTraceValue *twice = sambaCat(2, (SambaTraceValue *[]){each, each}, -1);
  int64_t dims[] = {batch, heads_first ? 1 : positions, heads_first ? positions : 1, 2 * half};
  return sambaReshape(twice, 4, dims);
}

SambaStatus sambaOnnxImportRotaryEmbedding(const SambaOnnxNode *node) {
  SambaTraceValue *x, *angles[2], *positions;
  int64_t heads = sambaOnnxInt(node, "num_heads", 0);
  bool interleaved = sambaOnnxInt(node, "interleaved", 0) != 0;

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &angles[0]));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &angles[1]));
  SAMBA_RETURN_IF_ERROR(optional(node, 3, &positions));
  SambaTensorType type = x->type;
  bool heads_first = type.rank == 4;
  if (type.rank != 3 && type.rank != 4)
    return sambaStatusMake(SAMBA_INVALID, "input 0 has rank %u, but must have rank 3 or 4",
                           type.rank);
  if (!heads_first && (heads < 1 || type.dims[2] % heads))
    return sambaStatusMake(SAMBA_INVALID,
                           "input 0 has %lld elements in its last dimension, but attribute "
                           "'num_heads' is %lld; it must divide them",
                           (long long)type.dims[2], (long long)heads);
  if (!heads_first)
    x = sambaReshape(x, 4, (int64_t[]){type.dims[0], type.dims[1], heads, type.dims[2] / heads});
  int64_t size = x->type.dims[3];
  int64_t turned = sambaOnnxInt(node, "rotary_embedding_dim", 0);
  turned = turned ? turned : size;

  for (uint32_t i = 0; i < 2; ++i) {
    angles[i] = positions ? sambaEmbedding(angles[i], positions) : angles[i];
    if (!angles[i])
      return sambaOnnxTraceFailure(node);
    const SambaTensorType *table = &angles[i]->type;
    if (turned < 2 || turned > size || table->rank != 3 || 2 * table->dims[2] != turned)
      return sambaStatusMake(
          SAMBA_INVALID,
          "input %u must give half of the %lld elements that are turned, of %lld "
          "in a head, for each position of each sample",
          1 + i, (long long)turned, (long long)size);
    angles[i] = spread(angles[i], interleaved, heads_first);
  }

  SambaTraceValue *rest = turned < size ? sambaSlice(x, 3, turned, size, 1) : NULL;
  x = rest ? sambaSlice(x, 3, 0, turned, 1) : x;
  x = sambaRotaryEmbedding(x, angles[0], angles[1], interleaved);
  x = rest ? sambaCat(2, (SambaTraceValue *[]){x, rest}, 3) : x;
  return sambaOnnxSetTensor(node, 0, heads_first ? x : sambaReshape(x, 3, type.dims));
}
