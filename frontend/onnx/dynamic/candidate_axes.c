/* What declared shapes say about new shapes, axes, counts and lengths that are only there at run
 * time; see candidates.h. candidate_sizes.c has the rules for sizes of pictures. */
#include "frontend/onnx/dynamic/candidates.h"

SambaStatus sambaOnnxWholeShape(const SambaOnnxNode *node, uint32_t input,
                                SambaOnnxCandidates *candidates) {
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  (void)input;
  if (sambaOnnxDeclaredShape(node, 0, &rank, dims))
    sambaOnnxAddCandidate(node, candidates, 1, rank, dims, 0);
  return NULL;
}

/* Which dimensions of 1 are left out does not matter: the first that must. Unsqueeze is the same,
 * seen from behind. */
SambaStatus sambaOnnxAxesOfOnes(const SambaOnnxNode *node, uint32_t input,
                                SambaOnnxCandidates *candidates) {
  uint32_t rank, declared, from = 0;
  int64_t dims[SAMBA_MAX_RANK], declared_dims[SAMBA_MAX_RANK], axes[SAMBA_MAX_RANK], count = 0;
  bool known, squeeze = strcmp(node->proto->op_type, "Squeeze") == 0;

  (void)input;
  SAMBA_RETURN_IF_ERROR(
      sambaOnnxDeclaredShapes(node, &rank, dims, &declared, declared_dims, &known));
  const int64_t *wide = squeeze ? dims : declared_dims;
  const int64_t *narrow = squeeze ? declared_dims : dims;
  uint32_t wide_rank = squeeze ? rank : declared;
  uint32_t narrow_rank = squeeze ? declared : rank;

  for (uint32_t axis = 0; known && axis < wide_rank; ++axis) {
    if (from < narrow_rank && wide[axis] == narrow[from])
      ++from;
    else
      axes[count++] = axis;
  }

  if (known && from == narrow_rank)
    sambaOnnxAddCandidate(node, candidates, 1, count, axes, 0);
  return NULL;
}

SambaStatus sambaOnnxRepeats(const SambaOnnxNode *node, uint32_t input,
                             SambaOnnxCandidates *candidates) {
  uint32_t rank, declared;
  int64_t dims[SAMBA_MAX_RANK], declared_dims[SAMBA_MAX_RANK], counts[SAMBA_MAX_RANK];
  bool known;

  (void)input;
  SAMBA_RETURN_IF_ERROR(
      sambaOnnxDeclaredShapes(node, &rank, dims, &declared, declared_dims, &known));
  for (uint32_t axis = 0; axis < rank && known; ++axis) {
    known = declared == rank &&
            (dims[axis] ? declared_dims[axis] % dims[axis] : declared_dims[axis]) == 0;
    counts[axis] = known && dims[axis] ? declared_dims[axis] / dims[axis] : 1;
  }

  if (known && rank && node->version >= 6)
    sambaOnnxAddCandidate(node, candidates, 1, rank, counts, 0);
  return NULL;
}

/* The declared size of every part; one that is not declared is what the others leave. */
SambaStatus sambaOnnxPartSizes(const SambaOnnxNode *node, uint32_t input,
                               SambaOnnxCandidates *candidates) {
  uint32_t rank, declared, axis, open = SAMBA_NO_INDEX;
  int64_t dims[SAMBA_MAX_RANK];
  int64_t *sizes = SAMBA_ARENA_ARRAY(node->arena, int64_t, node->output_count);

  (void)input;
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &rank, dims));
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), rank, &axis));
  int64_t left = dims[axis];

  for (uint32_t part = 0; part < node->output_count; ++part) {
    if (sambaOnnxDeclaredShape(node, part, &declared, dims) && declared == rank)
      left -= sizes[part] = dims[axis];
    else if (open == SAMBA_NO_INDEX)
      open = part;
    else
      return NULL;
  }

  if (open != SAMBA_NO_INDEX)
    sizes[open] = left;
  if (left >= 0)
    sambaOnnxAddCandidate(node, candidates, 1, node->output_count, sizes, 0);
  return NULL;
}

/* The size of the result along the axis of the attribute: TopK's k, OneHot's depth. */
SambaStatus sambaOnnxSizeOfAxis(const SambaOnnxNode *node, uint32_t input,
                                SambaOnnxCandidates *candidates) {
  uint32_t rank, axis;
  int64_t dims[SAMBA_MAX_RANK];
  (void)input;
  bool known =
      sambaOnnxDeclaredShape(node, 0, &rank, dims) || sambaOnnxDeclaredShape(node, 1, &rank, dims);
  if (!known || !rank)
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", -1), rank, &axis));
  sambaOnnxAddCandidate(node, candidates, 1, 1, &dims[axis], 0);
  return NULL;
}

SambaStatus sambaOnnxFirstSize(const SambaOnnxNode *node, uint32_t input,
                               SambaOnnxCandidates *candidates) {
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  (void)input;
  if (sambaOnnxDeclaredShape(node, 0, &rank, dims) && rank)
    sambaOnnxAddCandidate(node, candidates, 0, 1, dims, 0);
  return NULL;
}

/* Sets of as many axes as the operand has that lead to the declared shape. Dimensions of 1 change
 * nothing: sets that differ in them only are one candidate, and they have no weight in the key. */
SambaStatus sambaOnnxAxesReduced(const SambaOnnxNode *node, uint32_t input,
                                 SambaOnnxCandidates *candidates) {
  uint32_t rank, declared, operand_rank;
  int64_t dims[SAMBA_MAX_RANK], declared_dims[SAMBA_MAX_RANK], operand_dims[SAMBA_MAX_RANK];
  bool known, keep = sambaOnnxInt(node, "keepdims", 1) != 0;

  SAMBA_RETURN_IF_ERROR(
      sambaOnnxDeclaredShapes(node, &rank, dims, &declared, declared_dims, &known));
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, input, &operand_rank, operand_dims));
  if (!known || operand_rank > 1)
    return NULL;
  int64_t wanted = operand_rank ? operand_dims[0] : 1;
  candidates->rank = rank;
  for (uint32_t axis = 0; axis < rank; ++axis)
    candidates->weights[axis] = dims[axis] == 1 ? 0 : (int64_t)1 << axis;

  for (uint32_t set = 1; set < 1u << rank; ++set) {
    int64_t axes[SAMBA_MAX_RANK], count = 0, key = 0;
    uint32_t at = 0;
    bool fits = true;
    for (uint32_t axis = 0; axis < rank && fits; ++axis) {
      bool reduced = set >> axis & 1;
      if (reduced)
        axes[count++] = axis, key += candidates->weights[axis];
      if (!reduced || keep)
        fits = at < declared && declared_dims[at++] == (reduced ? 1 : dims[axis]);
    }
    for (uint32_t i = 0; i < candidates->count && fits; ++i)
      fits = candidates->keys[i] != key;
    if (fits && at == declared && count == wanted)
      sambaOnnxAddCandidate(node, candidates, 1, count, axes, key);
  }

  return NULL;
}

/* The result has the shape of the input whatever the axis is. */
SambaStatus sambaOnnxAnyAxis(const SambaOnnxNode *node, uint32_t input,
                             SambaOnnxCandidates *candidates) {
  int64_t dims[SAMBA_MAX_RANK];
  (void)input;
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &candidates->rank, dims));
  for (int64_t axis = 0; axis < candidates->rank; ++axis) {
    candidates->weights[axis] = axis;
    sambaOnnxAddCandidate(node, candidates, 0, 1, &axis, axis);
  }
  return NULL;
}

/* One half of the spectrum has length / 2 + 1 values: the length is even or odd. */
SambaStatus sambaOnnxTransformLength(const SambaOnnxNode *node, uint32_t input,
                                     SambaOnnxCandidates *candidates) {
  uint32_t rank, axis;
  int64_t dims[SAMBA_MAX_RANK];

  (void)input;
  const SambaConstant *given = sambaOnnxConstant(node, 2);
  if ((sambaOnnxHasInput(node, 2) && (!given || !given->count)) ||
      !sambaOnnxDeclaredShape(node, 0, &rank, dims))
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(
      given ? given->data[0].i : sambaOnnxInt(node, "axis", node->version < 20 ? 1 : -2), rank,
      &axis));
  bool half = sambaOnnxInt(node, "onesided", 0) != 0;
  int64_t size = dims[axis];
  int64_t even = 2 * (size - 1);
  int64_t odd = even + 1;
  if (!half)
    sambaOnnxAddCandidate(node, candidates, 0, 1, &size, size);
  if (half && even > 0)
    sambaOnnxAddCandidate(node, candidates, 0, 1, &even, even);
  if (half && odd > 0)
    sambaOnnxAddCandidate(node, candidates, 0, 1, &odd, odd);
  return NULL;
}

/* frames = (signal - frame) / step + 1, rounded down. */
SambaStatus sambaOnnxFrameStep(const SambaOnnxNode *node, uint32_t input,
                               SambaOnnxCandidates *candidates) {
  uint32_t rank, declared, window_rank;
  int64_t dims[SAMBA_MAX_RANK], declared_dims[SAMBA_MAX_RANK], window[SAMBA_MAX_RANK];
  bool known;

  (void)input;
  SAMBA_RETURN_IF_ERROR(
      sambaOnnxDeclaredShapes(node, &rank, dims, &declared, declared_dims, &known));
  const SambaConstant *length = sambaOnnxConstant(node, 3);
  if (!known || rank < 2 || declared < 2 || (!length && !sambaOnnxHasInput(node, 2)))
    return NULL;
  if (length ? length->count != 1 : false)
    return NULL;
  if (!length)
    SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 2, &window_rank, window));
  int64_t left = dims[1] - (length ? length->data[0].i : window[0]);
  for (int64_t step = 1; step <= left && candidates->count < SAMBA_ONNX_MAX_CANDIDATES; ++step)
    if (left / step + 1 == declared_dims[1])
      sambaOnnxAddCandidate(node, candidates, 0, 1, &step, step);
  return NULL;
}
