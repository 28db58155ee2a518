/* TfIdfVectorizer over integers: how often each n-gram of a pool occurs in a row.
 *
 * An n-gram of the pool occurs at p with distance d when elements p, p + d, .. p + (n - 1) d of the
 * row are its items. Distances are 1 to max_skip_count + 1; n-grams of one item count once. For
 * each length all grams, rows and places are compared at once: slices of the row against columns of
 * the pool. */
#include "frontend/onnx/handlers/handlers.h"

#include <stdlib.h>

typedef struct {
  const SambaOnnxNode *node;
  SambaTraceValue *x; /* [rows, 1, columns] of i64 */
  int64_t columns, skips;
  const int64_t *pool;
} Grams;

/* [rows, count]: occurrences of grams of `size` items, `count` of them from pool[first] on. */
static SambaTraceValue *countGrams(const Grams *grams, int64_t size, int64_t first, int64_t count) {
  SambaTrace *trace = grams->node->trace;
  SambaTensorType type = {.dtype = SAMBA_DTYPE_I64, .rank = 2, .dims = {count, 1}};
  SambaTraceValue *sum = NULL;
  int64_t *items = sambaAllocate(sambaArraySize((size_t)count + 1, sizeof *items));
  int64_t last = 2;

  for (int64_t distance = 1; distance <= (size > 1 ? grams->skips + 1 : 1); ++distance) {
    int64_t places = grams->columns - (size - 1) * distance;
    SambaTraceValue *all = NULL;
    if (places < 1)
      break;
    for (int64_t k = 0; k < size; ++k) {
      for (int64_t g = 0; g < count; ++g)
        items[g] = grams->pool[first + g * size + k];
      SambaTraceValue *here = sambaSlice(grams->x, 2, k * distance, k * distance + places, 1);
      SambaTraceValue *equal = sambaEq(here, sambaTraceConstant(trace, &type, items, false));
      all = all ? sambaLogicalAnd(all, equal) : equal;
    }
    SambaTraceValue *found = sambaSum(sambaCast(all, SAMBA_DTYPE_F32), 1, &last, false);
    sum = sum ? sambaAdd(sum, found) : found;
  }

  free(items);
  return sum;
}

/* The attributes. Lists are borrowed from the model. */
typedef struct {
  int64_t least, most; /* items of the n-grams that are counted */
  const int64_t *starts, *indexes;
  size_t start_count, pool_size, index_count;
  const Onnx__AttributeProto *weights; /* NULL: all 1 */
  int64_t width;                       /* of the result */
} Pool;

static SambaStatus readPool(const SambaOnnxNode *node, Grams *grams, Pool *out) {
  out->least = sambaOnnxInt(node, "min_gram_length", 1);
  out->most = sambaOnnxInt(node, "max_gram_length", 1);
  grams->skips = sambaOnnxInt(node, "max_skip_count", 0);
  out->weights = sambaOnnxAttribute(node, "weights");

  bool found = sambaOnnxInts(node, "ngram_counts", &out->starts, &out->start_count);
  found &= sambaOnnxInts(node, "ngram_indexes", &out->indexes, &out->index_count);
  found &= sambaOnnxInts(node, "pool_int64s", &grams->pool, &out->pool_size);
  if (!found)
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "ngram_counts, ngram_indexes and pool_int64s must be there; text is not supported");
  if (out->least < 1 || out->most < out->least || (size_t)out->most > out->start_count ||
      grams->skips < 0 || grams->skips > 1 << 16)
    return sambaStatusMake(SAMBA_INVALID,
                           "the lengths of n-grams, %lld to %lld, do not fit ngram_counts",
                           (long long)out->least, (long long)out->most);

  for (size_t i = 0; i < out->index_count; ++i) {
    int64_t index = out->indexes[i];
    bool once = index >= 0 && index < (int64_t)1 << 24;
    for (size_t k = 0; k < i && once; ++k)
      once = out->indexes[k] != index;
    if (!once || (out->weights && out->weights->n_floats != out->index_count))
      return sambaStatusMake(SAMBA_INVALID, "ngram_indexes must be different and from 0 to 2^24 - "
                                            "1, and weights, if there are any, as many");
    out->width = index >= out->width ? index + 1 : out->width;
  }

  return NULL;
}

/* How often each n-gram of the pool occurs, [rows, n-grams and a column of 0]. Column k of the
 * result is column from[k] of them, times scale[k]. */
static SambaStatus countPool(const Grams *grams, const Pool *pool, int64_t rows, int64_t *from,
                             float *scale, SambaTraceValue **out_counts) {
  SambaTraceValue **parts =
      SAMBA_ARENA_ARRAY(grams->node->arena, SambaTraceValue *, pool->start_count + 1);
  uint32_t used = 0;
  int64_t columns = 0, gram = 0;
  for (int64_t k = 0; k < pool->width; ++k)
    from[k] = -1;

  for (size_t size = 1; size <= pool->start_count; ++size) {
    int64_t first = pool->starts[size - 1];
    int64_t end = size < pool->start_count ? pool->starts[size] : (int64_t)pool->pool_size;
    int64_t number = (end - first) / (int64_t)size;
    if (first < 0 || end < first || end > (int64_t)pool->pool_size ||
        number * (int64_t)size != end - first || gram + number > (int64_t)pool->index_count)
      return sambaStatusMake(SAMBA_INVALID,
                             "ngram_counts do not divide the pool into n-grams with an index each");

    bool counted = (int64_t)size >= pool->least && (int64_t)size <= pool->most && number;
    SambaTraceValue *part = counted ? countGrams(grams, (int64_t)size, first, number) : NULL;
    for (int64_t g = 0; g < number; ++g) {
      int64_t place = pool->indexes[gram + g];
      scale[place] = pool->weights ? pool->weights->floats[gram + g] : 1;
      if (part)
        from[place] = columns + g;
    }
    if (part) {
      parts[used++] = part;
      columns += number;
    }
    gram += number;
  }

  for (int64_t k = 0; k < pool->width; ++k)
    from[k] = from[k] < 0 ? columns : from[k];
  SambaTraceValue *zero = sambaTraceScalar(grams->node->trace, SAMBA_DTYPE_F32, 0);
  parts[used++] = sambaExpand(zero, 2, (int64_t[]){rows, 1});
  *out_counts = used > 1 ? sambaCat(used, parts, 1) : parts[0];
  return NULL;
}

SambaStatus sambaOnnxImportTfIdfVectorizer(const SambaOnnxNode *node) {
  SambaTraceValue *x, *counts;
  Grams grams = {.node = node};
  Pool pool = {0};
  SAMBA_RETURN_IF_ERROR(readPool(node, &grams, &pool));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (x->type.rank < 1 || x->type.rank > 2 || sambaDTypeIsFloat(x->type.dtype))
    return sambaStatusMake(SAMBA_INVALID, "input 0 must be one or several rows of integers");

  int64_t rows = x->type.rank == 2 ? x->type.dims[0] : 1;
  grams.columns = x->type.dims[x->type.rank - 1];
  grams.x = sambaReshape(sambaCast(x, SAMBA_DTYPE_I64), 3, (int64_t[]){rows, 1, grams.columns});
  int64_t *from = SAMBA_ARENA_ARRAY(node->arena, int64_t, (size_t)pool.width + 1);
  float *scale = SAMBA_ARENA_ARRAY(node->arena, float, (size_t)pool.width + 1);
  SAMBA_RETURN_IF_ERROR(countPool(&grams, &pool, rows, from, scale, &counts));

  SambaTrace *trace = node->trace;
  SambaTensorType places = {.dtype = SAMBA_DTYPE_I64, .rank = 1, .dims = {pool.width}};
  SambaTensorType factors = {.dtype = SAMBA_DTYPE_F32, .rank = 1, .dims = {pool.width}};
  SambaTraceValue *y = sambaIndexSelect(counts, sambaTraceConstant(trace, &places, from, false), 1);
  if (sambaOnnxStringIs(node, "mode", "IDF", false)) /* whether, not how often */
    y = sambaCast(sambaGt(y, sambaTraceScalar(trace, SAMBA_DTYPE_F32, 0)), SAMBA_DTYPE_F32);
  if (pool.weights && !sambaOnnxStringIs(node, "mode", "TF", false))
    y = sambaMul(y, sambaTraceConstant(trace, &factors, scale, false));
  return sambaOnnxSetTensor(node, 0, x->type.rank == 1 ? sambaReshape(y, 1, &pool.width) : y);
}
