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
  SambaTensor *x; /* [rows, 1, columns] of i64 */
  int64_t columns, skips;
  const int64_t *pool;
} Grams;

/* [rows, count]: occurrences of grams of `size` items, `count` of them from pool[first] on. */
static SambaTensor *countGrams(const Grams *grams, int64_t size, int64_t first, int64_t count) {
  SambaTrace *trace = grams->node->trace;
  SambaTensorType type = {.dtype = SAMBA_DTYPE_I64, .rank = 2, .dims = {count, 1}};
  SambaTensor *sum = NULL;
  int64_t *items = sambaAllocate(sambaArraySize((size_t)count + 1, sizeof *items));
  int64_t last = 2;

  for (int64_t distance = 1; distance <= (size > 1 ? grams->skips + 1 : 1); ++distance) {
    int64_t places = grams->columns - (size - 1) * distance;
    SambaTensor *all = NULL;
    if (places < 1)
      break;
    for (int64_t k = 0; k < size; ++k) {
      for (int64_t g = 0; g < count; ++g)
        items[g] = grams->pool[first + g * size + k];
      SambaTensor *here = sambaSlice(grams->x, 2, k * distance, k * distance + places, 1);
      SambaTensor *equal = sambaEq(here, sambaTraceConstant(trace, &type, items, false));
      all = all ? sambaLogicalAnd(all, equal) : equal;
    }
    SambaTensor *found = sambaSum(sambaCast(all, SAMBA_DTYPE_F32), 1, &last, false);
    sum = sum ? sambaAdd(sum, found) : found;
  }

  free(items);
  return sum;
}

SambaStatus sambaOnnxImportTfIdfVectorizer(const SambaOnnxNode *node) {
  SambaTensor *x, **parts;
  const int64_t *starts, *indexes;
  size_t startCount, poolSize, indexCount;

  Grams grams = {.node = node, .skips = sambaOnnxInt(node, "max_skip_count", 0)};
  int64_t least = sambaOnnxInt(node, "min_gram_length", 1);
  int64_t most = sambaOnnxInt(node, "max_gram_length", 1);
  int64_t rows = 1;
  int64_t width = 0;
  int64_t gram = 0;
  bool found = sambaOnnxInts(node, "ngram_counts", &starts, &startCount);
  found &= sambaOnnxInts(node, "ngram_indexes", &indexes, &indexCount);
  if (!found || !sambaOnnxInts(node, "pool_int64s", &grams.pool, &poolSize))
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "ngram_counts, ngram_indexes and pool_int64s must be there; text is not supported");
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (x->type.rank < 1 || x->type.rank > 2 || sambaDTypeIsFloat(x->type.dtype))
    return sambaStatusMake(SAMBA_INVALID, "input 0 must be one or several rows of integers");
  if (least < 1 || most < least || (size_t)most > startCount || grams.skips < 0 ||
      grams.skips > 1 << 16)
    return sambaStatusMake(SAMBA_INVALID,
                           "the lengths of n-grams, %lld to %lld, do not fit ngram_counts",
                           (long long)least, (long long)most);
  const Onnx__AttributeProto *weights = sambaOnnxAttribute(node, "weights");
  bool present = sambaOnnxStringIs(node, "mode", "IDF", false),
       count = sambaOnnxStringIs(node, "mode", "TF", false);

  for (size_t i = 0; i < indexCount; ++i) {
    bool once = indexes[i] >= 0 && indexes[i] < (int64_t)1 << 24;
    for (size_t k = 0; k < i && once; ++k)
      once = indexes[k] != indexes[i];
    if (!once || (weights && weights->n_floats != indexCount))
      return sambaStatusMake(
          SAMBA_INVALID,
          "ngram_indexes must be different places, with one of the weights, if any, for each");
    width = indexes[i] >= width ? indexes[i] + 1 : width;
  }

  grams.columns = x->type.dims[x->type.rank - 1];
  if (x->type.rank == 2)
    rows = x->type.dims[0];
  grams.x = sambaReshape(sambaCast(x, SAMBA_DTYPE_I64), 3, (int64_t[]){rows, 1, grams.columns});

  /* Column k of the result is column from[k] of the counts, the last of which is 0. */
  int64_t *from = SAMBA_ARENA_ARRAY(node->arena, int64_t, (size_t)width + 1);
  int64_t columns = 0;
  float *scale = SAMBA_ARENA_ARRAY(node->arena, float, (size_t)width + 1);
  parts = SAMBA_ARENA_ARRAY(node->arena, SambaTensor *, startCount + 1);
  uint32_t used = 0;
  for (int64_t k = 0; k < width; ++k)
    from[k] = -1;

  for (int64_t size = 1; size <= (int64_t)startCount; ++size) {
    int64_t first = starts[size - 1];
    int64_t end = size < (int64_t)startCount ? starts[size] : (int64_t)poolSize;
    int64_t number = (end - first) / size;
    if (first < 0 || end < first || end > (int64_t)poolSize || number * size != end - first ||
        gram + number > (int64_t)indexCount)
      return sambaStatusMake(SAMBA_INVALID,
                             "ngram_counts do not divide the pool into n-grams with an index each");
    SambaTensor *part =
        size >= least && size <= most && number ? countGrams(&grams, size, first, number) : NULL;
    for (int64_t g = 0; g < number && part; ++g)
      from[indexes[gram + g]] = columns + g;
    for (int64_t g = 0; g < number; ++g)
      scale[indexes[gram + g]] = weights ? weights->floats[gram + g] : 1;
    if (part)
      parts[used++] = part, columns += number;
    gram += number;
  }

  SambaTrace *trace = node->trace;
  parts[used++] = sambaExpand(sambaTraceScalar(trace, SAMBA_DTYPE_F32, 0), 2, (int64_t[]){rows, 1});
  for (int64_t k = 0; k < width; ++k)
    from[k] = from[k] < 0 ? columns : from[k];
  SambaTensorType places = {.dtype = SAMBA_DTYPE_I64, .rank = 1, .dims = {width}};
  SambaTensorType factors = {.dtype = SAMBA_DTYPE_F32, .rank = 1, .dims = {width}};
  SambaTensor *counts = used > 1 ? sambaCat(used, parts, 1) : parts[0];
  SambaTensor *y = sambaIndexSelect(counts, sambaTraceConstant(trace, &places, from, false), 1);
  if (present)
    y = sambaCast(sambaGt(y, sambaTraceScalar(trace, SAMBA_DTYPE_F32, 0)), SAMBA_DTYPE_F32);
  if (!count && weights)
    y = sambaMul(y, sambaTraceConstant(trace, &factors, scale, false));
  return sambaOnnxSetTensor(node, 0, x->type.rank == 1 ? sambaReshape(y, 1, &width) : y);
}
