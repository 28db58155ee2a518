/* Walks over arrays with strides; see strided.h. */
#include "support/tensor/strided.h"

static void setSide(int64_t *out, uint32_t rank, const int64_t *dims, const int64_t *strides,
                    uint32_t element_bytes) {
  if (strides && rank)
    memcpy(out, strides, rank * sizeof *out);
  else
    sambaTensorRowMajorStrides(rank, dims, out);
  for (uint32_t axis = 0; axis < rank; ++axis)
    out[axis] *= element_bytes;
}

void sambaStridedSetTarget(SambaStridedPair *pair, uint8_t *data, const int64_t *strides,
                           uint32_t element_bytes) {
  pair->target = data;
  setSide(pair->target_strides, pair->rank, pair->dims, strides, element_bytes);
}

void sambaStridedSetSource(SambaStridedPair *pair, const uint8_t *data, const int64_t *strides,
                           uint32_t element_bytes) {
  pair->source = data;
  setSide(pair->source_strides, pair->rank, pair->dims, strides, element_bytes);
}

/* Dimensions of size 1 go; neighbours that both sides walk through as one become one. */
static void joinDimensions(SambaStridedPair *pair) {
  uint32_t rank = 0;
  for (uint32_t axis = 0; axis < pair->rank; ++axis) {
    if (pair->dims[axis] == 1)
      continue;
    bool joins = rank &&
                 pair->target_strides[rank - 1] == pair->target_strides[axis] * pair->dims[axis] &&
                 pair->source_strides[rank - 1] == pair->source_strides[axis] * pair->dims[axis];
    uint32_t to = joins ? rank - 1 : rank++;
    pair->dims[to] = joins ? pair->dims[to] * pair->dims[axis] : pair->dims[axis];
    pair->target_strides[to] = pair->target_strides[axis];
    pair->source_strides[to] = pair->source_strides[axis];
  }
  pair->rank = rank;
}

void sambaStridedForEachRow(SambaStridedPair *pair, SambaRowFunction function, void *user) {
  for (uint32_t axis = 0; axis < pair->rank; ++axis)
    if (!pair->dims[axis])
      return;
  joinDimensions(pair);
  if (!pair->rank) {
    function(user, pair->target, 0, pair->source, 0, 1);
    return;
  }

  uint32_t last = pair->rank - 1;
  int64_t index[SAMBA_TENSOR_MAX_RANK] = {0};
  uint8_t *target = pair->target;
  const uint8_t *source = pair->source;
  for (;;) {
    function(user, target, pair->target_strides[last], source, pair->source_strides[last],
             pair->dims[last]);

    uint32_t axis = last;
    while (axis-- > 0) {
      target += pair->target_strides[axis];
      source += pair->source_strides[axis];
      if (++index[axis] < pair->dims[axis])
        break;
      target -= pair->target_strides[axis] * pair->dims[axis];
      source -= pair->source_strides[axis] * pair->dims[axis];
      index[axis] = 0;
    }
    if (axis == UINT32_MAX)
      return;
  }
}

static void copyRow(void *user, uint8_t *target, int64_t target_step, const uint8_t *source,
                    int64_t source_step, int64_t count) {
  size_t size = *(uint32_t *)user;
  if (target_step == (int64_t)size && source_step == (int64_t)size) {
    memcpy(target, source, size * (size_t)count);
    return;
  }
  for (int64_t i = 0; i < count; ++i, target += target_step, source += source_step)
    memcpy(target, source, size);
}

void sambaStridedCopy(SambaStridedPair *pair, uint32_t element_bytes) {
  sambaStridedForEachRow(pair, copyRow, &element_bytes);
}
