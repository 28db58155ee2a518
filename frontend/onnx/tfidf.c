/* TfIdfVectorizer over whole numbers: how often the n-grams of a pool occur in each row. */
#include "frontend/onnx/importer.h"

#include <stdlib.h>

typedef struct {
  const SambaOnnxNode *node;
  SambaTrace *trace;
  SambaTensor *x;                                   /* [rows, length], i64 */
  const int64_t *pool, *starts, *columns;           /* attributes pool_int64s, ngram_counts, ngram_indexes */
  size_t pool_size, start_count, gram_count, width; /* width: columns of the result */
  const float *weights;                             /* one per n-gram, may be NULL */
  int64_t most_skips;
} Vectorizer;

static SambaTensor *constantOf(const Vectorizer *v, SambaDType dtype, int64_t rows, int64_t columns, const void *data) {
  SambaTensorType type = {.dtype = dtype, .rank = 2, .dims = {rows, columns}};
  return sambaTraceConstant(v->trace, &type, data, false);
}

/* How often each of `grams` n-grams occurs: [rows, grams] in f32. NULL when the rows are too short. */
static SambaTensor *countsOf(const Vectorizer *v, const int64_t *grams, int64_t count, int64_t n) {
  int64_t rows = v->x->type.dims[0], length = v->x->type.dims[1], last = 2;
  int64_t *letters = sambaAllocate(sambaArraySize((size_t)count + 1, sizeof *letters));
  SambaTensor *total = NULL;
  for (int64_t distance = 1; distance <= (n == 1 ? 1 : v->most_skips + 1); ++distance) {
    int64_t places = length - distance * (n - 1);
    SambaTensor *match = NULL;
    for (int64_t k = 0; places > 0 && k < n; ++k) {
      for (int64_t g = 0; g < count; ++g)
        letters[g] = grams[g * n + k];
      SambaTensor *part = sambaSlice(v->x, 1, k * distance, k * distance + places, 1);
      SambaTensor *equal = sambaEq(sambaReshape(part, 3, (int64_t[]){rows, 1, places}),
                                   constantOf(v, SAMBA_DTYPE_I64, count, 1, letters));
      match = match ? sambaLogicalAnd(match, equal) : equal;
    }
    if (!match)
      continue;
    SambaTensor *found = sambaSum(sambaCast(match, SAMBA_DTYPE_F32), 1, &last, false);
    total = total ? sambaAdd(total, found) : found;
  }
  free(letters);
  return total;
}

/* The counts of n-grams `first`.. in their columns, times their weights. */
static SambaTensor *placed(const Vectorizer *v, SambaTensor *counts, size_t first, int64_t count) {
  float *matrix = sambaAllocateZeroed(sambaArraySize((size_t)count, v->width), sizeof *matrix);
  for (size_t g = 0; g < (size_t)count; ++g)
    matrix[g * v->width + (size_t)v->columns[first + g]] = v->weights ? v->weights[first + g] : 1;
  SambaTensor *result = sambaMatmul(counts, constantOf(v, SAMBA_DTYPE_F32, count, (int64_t)v->width, matrix));
  free(matrix);
  return result;
}

static SambaStatus readPool(Vectorizer *v) {
  if (!sambaOnnxInts(v->node, "pool_int64s", &v->pool, &v->pool_size))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "attribute 'pool_int64s' is missing; pools of strings are not supported");
  if (!sambaOnnxInts(v->node, "ngram_counts", &v->starts, &v->start_count) ||
      !sambaOnnxInts(v->node, "ngram_indexes", &v->columns, &v->gram_count))
    return sambaStatusMake(SAMBA_INVALID, "attributes 'ngram_counts' and 'ngram_indexes' must be there");
  size_t grams = 0;
  for (size_t n = 0; n < v->start_count; ++n) {
    int64_t from = v->starts[n], to = n + 1 < v->start_count ? v->starts[n + 1] : (int64_t)v->pool_size;
    if (from < 0 || from > to || to > (int64_t)v->pool_size || (to - from) % (int64_t)(n + 1))
      return sambaStatusMake(SAMBA_INVALID, "attribute 'ngram_counts' does not divide the pool into n-grams");
    grams += (size_t)(to - from) / (n + 1);
  }
  for (size_t g = 0; g < v->gram_count; ++g) {
    if (v->columns[g] < 0 || v->columns[g] >= 1 << 24)
      return sambaStatusMake(SAMBA_INVALID, "attribute 'ngram_indexes' has %lld", (long long)v->columns[g]);
    v->width = v->columns[g] >= (int64_t)v->width ? (size_t)v->columns[g] + 1 : v->width;
  }
  const Onnx__AttributeProto *weights = sambaOnnxAttribute(v->node, "weights");
  v->weights = weights && weights->n_floats ? weights->floats : NULL;
  if (v->gram_count && v->width > ((size_t)1 << 26) / v->gram_count)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "%zu n-grams in %zu columns are too many", v->gram_count, v->width);
  if (grams != v->gram_count || !v->width || (v->weights && weights->n_floats != grams))
    return sambaStatusMake(SAMBA_INVALID, "the pool has %zu n-grams, but there are %zu indexes and %zu weights", grams,
                           v->gram_count, weights ? weights->n_floats : 0);
  return NULL;
}

SambaStatus sambaOnnxImportTfIdfVectorizer(const SambaOnnxNode *node) {
  Vectorizer v = {.node = node, .trace = node->importer->trace, .most_skips = sambaOnnxInt(node, "max_skip_count", 0)};
  int64_t least = sambaOnnxInt(node, "min_gram_length", 1), most = sambaOnnxInt(node, "max_gram_length", 1);
  bool presence = sambaOnnxStringIs(node, "mode", "IDF", false), counts = sambaOnnxStringIs(node, "mode", "TF", false);
  if (!presence && !counts && !sambaOnnxStringIs(node, "mode", "TFIDF", false))
    return sambaStatusMake(SAMBA_INVALID, "attribute 'mode' is none of TF, IDF, TFIDF");
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &v.x));
  SAMBA_RETURN_IF_ERROR(readPool(&v));
  bool single = v.x->type.rank == 1;
  if (v.x->type.rank < 1 || v.x->type.rank > 2)
    return sambaStatusMake(SAMBA_INVALID, "input 0 has rank %u, but must be a row or rows", v.x->type.rank);
  if (counts)
    v.weights = NULL;
  v.x = sambaCast(v.x, SAMBA_DTYPE_I64);
  if (single && v.x)
    v.x = sambaReshape(v.x, 2, (int64_t[]){1, v.x->type.dims[0]});
  SambaTensor *result = NULL;
  size_t first = 0;
  for (size_t i = 0; i < v.start_count && v.x; ++i) {
    int64_t n = (int64_t)i + 1, from = v.starts[i], to = i + 1 < v.start_count ? v.starts[i + 1] : (int64_t)v.pool_size,
            count = (to - from) / n;
    SambaTensor *found = count && n >= least && n <= most ? countsOf(&v, v.pool + from, count, n) : NULL;
    if (found && presence)
      found = sambaMinimum(found, sambaTraceScalar(v.trace, SAMBA_DTYPE_F32, 1));
    if (found)
      found = placed(&v, found, first, count);
    if (found)
      result = result ? sambaAdd(result, found) : found;
    first += (size_t)count;
  }
  if (!result && v.x && !sambaTraceStatus(v.trace)) { /* no n-gram fits */
    SambaTensorType type = {.dtype = SAMBA_DTYPE_F32, .rank = 2, .dims = {v.x->type.dims[0], (int64_t)v.width}};
    result = sambaTraceConstant(v.trace, &type, &(float){0}, true);
  }
  return sambaOnnxSetTensor(node, 0, single ? sambaReshape(result, 1, (int64_t[]){(int64_t)v.width}) : result);
}
