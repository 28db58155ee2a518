/* Reductions, searches, sorts and losses as C functions; see operators.h. */
#include "frontend/trace/trace.h"
#include "samba/operators.h"

static SambaTraceValue *extremeIndex(const char *name, SambaTraceValue *x, const int64_t *dim,
                                     bool keepdim, bool select_last) {
  SambaAttribute attributes[3];
  uint32_t count = 0;
  if (dim)
    attributes[count++] = sambaIntAttribute("dim", *dim);
  if (keepdim)
    attributes[count++] = sambaBoolAttribute("keepdim", true);
  if (select_last)
    attributes[count++] = sambaBoolAttribute("select_last", true);
  return sambaTraceBuild(name, 1, 1, &x, count, attributes);
}
SambaTraceValue *sambaArgmax(SambaTraceValue *x, const int64_t *dim, bool keepdim,
                             bool select_last) {
  return extremeIndex("argmax", x, dim, keepdim, select_last);
}
SambaTraceValue *sambaArgmin(SambaTraceValue *x, const int64_t *dim, bool keepdim,
                             bool select_last) {
  return extremeIndex("argmin", x, dim, keepdim, select_last);
}

SambaTraceValue *sambaCumsum(SambaTraceValue *x, int64_t dim, bool exclusive, bool reverse) {
  SambaAttribute attributes[3] = {sambaIntAttribute("dim", dim)};
  uint32_t count = 1;
  if (exclusive)
    attributes[count++] = sambaBoolAttribute("exclusive", true);
  if (reverse)
    attributes[count++] = sambaBoolAttribute("reverse", true);
  return sambaTraceBuild("cumsum", 1, 1, &x, count, attributes);
}

/* Values and indices. */
static SambaTraceValue *ordered(const char *name, SambaTraceValue *x, uint32_t count,
                                const SambaAttribute *attributes, SambaTraceValue **out_indices) {
  SambaTraceValue *results[2] = {NULL, NULL};
  SambaStatus status =
      x ? sambaTraceOperator(x->trace, name, 1, &x, count, attributes, results) : NULL;
  if (status)
    sambaTraceFail(x->trace, status);
  if (out_indices)
    *out_indices = results[1];
  return results[0];
}
SambaTraceValue *sambaTopk(SambaTraceValue *x, int64_t k, int64_t dim, bool largest,
                           SambaTraceValue **out_indices) {
  SambaAttribute attributes[] = {sambaIntAttribute("k", k), sambaIntAttribute("dim", dim),
                                 sambaBoolAttribute("largest", largest)};
  return ordered("topk", x, 3, attributes, out_indices);
}
SambaTraceValue *sambaSort(SambaTraceValue *x, int64_t dim, bool descending,
                           SambaTraceValue **out_indices) {
  SambaAttribute attributes[] = {sambaIntAttribute("dim", dim),
                                 sambaBoolAttribute("descending", descending)};
  return ordered("sort", x, 2, attributes, out_indices);
}

static SambaTraceValue *triangle(const char *name, SambaTraceValue *x, int64_t diagonal,
                                 SambaTraceValue *more) {
  SambaAttribute attribute = sambaIntAttribute("diagonal", diagonal);
  return sambaTraceBuild(name, 1, 2, (SambaTraceValue *[]){x, more}, diagonal ? 1 : 0, &attribute);
}
SambaTraceValue *sambaTriu(SambaTraceValue *x, int64_t diagonal, SambaTraceValue *more) {
  return triangle("triu", x, diagonal, more);
}
SambaTraceValue *sambaTril(SambaTraceValue *x, int64_t diagonal, SambaTraceValue *more) {
  return triangle("tril", x, diagonal, more);
}
SambaTraceValue *sambaEinsum(const char *equation, uint32_t count,
                             SambaTraceValue *const *tensors) {
  SambaAttribute attribute = sambaStringAttribute("equation", equation);
  for (uint32_t i = 0; i < count; ++i)
    if (!tensors[i])
      return NULL;
  return count ? sambaTraceBuild("einsum", 1, count, tensors, 1, &attribute) : NULL;
}

/* ---- Losses ---- */

static SambaTraceValue *classLoss(const char *name, SambaTraceValue *x, SambaTraceValue *target,
                                  SambaTraceValue *weight, const int64_t *ignore_index,
                                  const char *reduction) {
  SambaAttribute attributes[2] = {sambaStringAttribute("reduction", reduction)};
  if (ignore_index)
    attributes[1] = sambaIntAttribute("ignore_index", *ignore_index);
  return target ? sambaTraceBuild(name, 1, 3, (SambaTraceValue *[]){x, target, weight},
                                  ignore_index ? 2 : 1, attributes)
                : NULL;
}
SambaTraceValue *sambaNllLoss(SambaTraceValue *x, SambaTraceValue *target, SambaTraceValue *weight,
                              const int64_t *ignore_index, const char *reduction) {
  return classLoss("nll_loss", x, target, weight, ignore_index, reduction);
}
SambaTraceValue *sambaCrossEntropy(SambaTraceValue *x, SambaTraceValue *target,
                                   SambaTraceValue *weight, const int64_t *ignore_index,
                                   const char *reduction) {
  return classLoss("cross_entropy", x, target, weight, ignore_index, reduction);
}
