/* Counting with chains; see access.h. */
#include "backend/section/access.h"

#include <stdlib.h>
#include <string.h>

uint64_t sambaTripProduct(const uint32_t *trips, uint32_t from, uint32_t until) {
  uint64_t product = 1;
  for (uint32_t c = from; c < until; ++c)
    if (__builtin_mul_overflow(product, (uint64_t)trips[c], &product))
      return UINT64_MAX;
  return product;
}

/* Adds the range of factor * v, v in [low, high], to a range; false on overflow. */
static bool addRange(int64_t factor, int64_t low, int64_t high, int64_t *minimum,
                     int64_t *maximum) {
  int64_t a, b;
  if (sambaMulOverflows(factor, low, &a) || sambaMulOverflows(factor, high, &b))
    return false;
  return !sambaAddOverflows(*minimum, a < b ? a : b, minimum) &&
         !sambaAddOverflows(*maximum, a < b ? b : a, maximum);
}

bool sambaAffineRange(int64_t base, const int64_t *strides, const uint32_t *trips,
                      uint32_t counter_count, int64_t *out_minimum, int64_t *out_maximum) {
  *out_minimum = *out_maximum = base;
  for (uint32_t c = 0; c < counter_count; ++c)
    if (!addRange(strides[c], 0, (int64_t)trips[c] - 1, out_minimum, out_maximum))
      return false;
  return true;
}

/* The factor k with which the address moves in step with the guard's expression on each of its
 * counters, or 0. */
static int64_t commonFactor(const SambaGuard *guard, const int64_t *strides,
                            uint32_t counter_count) {
  int64_t factor = 0;
  for (uint32_t c = 0; c < counter_count; ++c) {
    int64_t step = guard->strides[c];
    if (step == 0)
      continue;
    if (strides[c] == INT64_MIN || step == INT64_MIN || strides[c] % step != 0)
      return 0;
    int64_t candidate = strides[c] / step;
    if (candidate == 0 || (factor && candidate != factor))
      return 0;
    factor = candidate;
  }
  return factor;
}

bool sambaAccessStaysWithin(const SambaAccess *access, uint64_t elements) {
  int64_t strides[SAMBA_MAX_COUNTERS];
  uint32_t count = access->counter_count;

  if (count > SAMBA_MAX_COUNTERS || elements > INT64_MAX)
    return false;
  if (count)
    memcpy(strides, access->strides, count * sizeof *strides);
  int64_t minimum = access->base;
  int64_t maximum = access->base;

  for (uint32_t g = 0; g < access->guard_count; ++g) {
    const SambaGuard *guard = &access->guards[g];
    int64_t low, high, offset;
    if (guard->limit <= 0)
      return true; /* never enabled */
    if (!sambaAffineRange(guard->constant, guard->strides, access->trips, count, &low, &high))
      return false;
    low = low < 0 ? 0 : low;
    high = high > guard->limit - 1 ? guard->limit - 1 : high;
    if (low > high)
      return true; /* never enabled */
    /* address = ... + k * (guard's expression - its constant): the guard bounds that part. */
    int64_t factor = commonFactor(guard, strides, count);
    if (factor == 0)
      continue;
    if (sambaMulOverflows(factor, guard->constant, &offset) || offset == INT64_MIN ||
        !addRange(1, -offset, -offset, &minimum, &maximum) ||
        !addRange(factor, low, high, &minimum, &maximum))
      return false;
    for (uint32_t c = 0; c < count; ++c)
      if (guard->strides[c])
        strides[c] = 0;
  }

  for (uint32_t c = 0; c < count; ++c)
    if (!addRange(strides[c], 0, (int64_t)access->trips[c] - 1, &minimum, &maximum))
      return false;
  if (access->has_index &&
      !addRange(access->index_stride, 0, access->index_limit - 1, &minimum, &maximum))
    return false;
  return minimum >= 0 && maximum < (int64_t)elements;
}

bool sambaPortHasAccess(const SambaUnit *unit, bool output, uint32_t port) {
  switch (unit->kind) {
  case SAMBA_UNIT_LOAD:
    return output && port == 0;
  case SAMBA_UNIT_STORE:
    return !output && port == 0;
  case SAMBA_UNIT_BUFFER:
    return true;
  default:
    return false;
  }
}

uint32_t sambaUnitLongestChain(const SambaUnit *unit) {
  if (unit->kind == SAMBA_UNIT_COMPUTE)
    return unit->compute.counter_count;
  uint32_t longest = 0;

  for (uint32_t i = 0; i < unit->input_count + unit->output_count; ++i) {
    bool output = i >= unit->input_count;
    uint32_t port = output ? i - unit->input_count : i;
    if (!sambaPortHasAccess(unit, output, port))
      continue;
    const SambaAccess *access = output ? &unit->outputs[port].access : &unit->inputs[port].access;
    longest = access->counter_count > longest ? access->counter_count : longest;
  }

  return longest;
}

const SambaAccess *sambaMemoryAccess(const SambaUnit *unit) {
  return unit->kind == SAMBA_UNIT_LOAD ? &unit->outputs[0].access : &unit->inputs[0].access;
}

uint64_t sambaUnitFirings(const SambaUnit *unit) {
  if (unit->kind == SAMBA_UNIT_COMPUTE)
    return sambaTripProduct(unit->compute.trips, 0, unit->compute.token_level);
  const SambaAccess *access = sambaMemoryAccess(unit);
  return sambaTripProduct(
      access->trips, 0, unit->kind == SAMBA_UNIT_BUFFER ? access->slot_level : access->token_level);
}

uint64_t sambaPortTokens(const SambaUnit *unit, bool output, uint32_t port) {
  const SambaPort *p = output ? &unit->outputs[port] : &unit->inputs[port];
  if (unit->kind == SAMBA_UNIT_COMPUTE)
    return sambaTripProduct(unit->compute.trips, 0, p->compute.level);
  if (unit->kind == SAMBA_UNIT_BUFFER)
    return sambaTripProduct(p->access.trips, 0, p->access.token_level);
  return sambaUnitFirings(unit);
}

uint64_t sambaPortStreamTokens(const SambaPort *port, uint64_t tokens, uint32_t position) {
  uint64_t round = (uint64_t)port->block * port->stream_count;
  uint64_t rest = tokens % round;
  uint64_t before = (uint64_t)port->block * position;
  uint64_t part = rest > before ? rest - before : 0; /* of the last, incomplete round */
  if (part > port->block)
    part = port->block;
  return tokens / round * port->block + part;
}

SambaDType sambaProgramInputType(SambaDType dtype) {
  if (sambaDTypeIsFloat(dtype))
    return SAMBA_DTYPE_F32;
  return dtype == SAMBA_DTYPE_I1 || dtype == SAMBA_DTYPE_I64 ? dtype : SAMBA_DTYPE_I32;
}

SambaDType sambaLaneOpResultType(const SambaLaneOp *op) {
  if (op->opcode >= SAMBA_LANE_EQ && op->opcode <= SAMBA_LANE_GE)
    return SAMBA_DTYPE_I1;
  return op->opcode == SAMBA_LANE_INT_TO_FLOAT ? SAMBA_DTYPE_F32 : (SambaDType)op->type;
}

bool sambaStepsVisitOnce(SambaAccessStep *steps, uint32_t count) {
  uint64_t reach = 0;
  for (uint32_t left = count; left > 0; --left) {
    uint32_t least = 0;
    for (uint32_t c = 1; c < left; ++c)
      if (llabs(steps[c].stride) < llabs(steps[least].stride))
        least = c;
    uint64_t stride = (uint64_t)llabs(steps[least].stride), span;
    if (stride <= reach || __builtin_mul_overflow(stride, steps[least].trips - 1, &span) ||
        __builtin_add_overflow(reach, span, &reach))
      return false;
    steps[least] = steps[left - 1];
  }
  return true;
}
