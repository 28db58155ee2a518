/* Legality of chains and accesses, part of sambaSectionCheck: levels, trip products, address
 * ranges, guards, indices. */
#include "backend/section/check/check_internal.h"

SambaStatus sambaChainCheck(const uint32_t *trips, uint32_t counter_count) {
  if (counter_count > SAMBA_MAX_COUNTERS)
    return sambaStatusMake(SAMBA_INVALID, "a chain of %u counters, expected at most %d",
                           counter_count, SAMBA_MAX_COUNTERS);
  uint64_t product = 1;

  for (uint32_t c = 0; c < counter_count; ++c) {
    if (trips[c] == 0)
      return sambaStatusMake(SAMBA_INVALID, "counter %u has trip count 0, expected at least 1", c);
    if (__builtin_mul_overflow(product, (uint64_t)trips[c], &product) ||
        product >= (uint64_t)SAMBA_MAX_STEPS)
      return sambaStatusMake(
          SAMBA_INVALID, "the product of the trip counts reaches 2^48 at counter %u, expected less",
          c);
  }

  return NULL;
}

static SambaStatus checkLevels(const SambaUnit *unit, const SambaAccess *access) {
  if (access->token_level > access->counter_count)
    return sambaStatusMake(SAMBA_INVALID,
                           "token_level is %u, expected at most the %u counters of the chain",
                           access->token_level, access->counter_count);
  if (unit->kind != SAMBA_UNIT_BUFFER && access->slot_level != 0)
    return sambaStatusMake(SAMBA_INVALID, "slot_level is %u, expected 0: only a buffer has slots",
                           access->slot_level);
  if (access->slot_level > access->token_level)
    return sambaStatusMake(SAMBA_INVALID,
                           "slot_level is %u, expected at most token_level, which is %u",
                           access->slot_level, access->token_level);
  return NULL;
}

static SambaStatus checkGuards(const SambaAccess *access) {
  if (access->guard_count > SAMBA_MAX_GUARDS)
    return sambaStatusMake(SAMBA_INVALID, "%u guards, expected at most %d", access->guard_count,
                           SAMBA_MAX_GUARDS);
  for (uint32_t g = 0; g < access->guard_count; ++g) {
    int64_t low, high;
    if (!sambaAffineRange(access->guards[g].constant, access->guards[g].strides, access->trips,
                          access->counter_count, &low, &high))
      return sambaStatusMake(SAMBA_INVALID, "the expression of guard %u leaves 64 bits", g);
  }
  return NULL;
}

static SambaStatus checkIndex(const SambaUnit *unit, const SambaAccess *access) {
  if (!access->has_index)
    return NULL;
  uint32_t port = unit->kind == SAMBA_UNIT_STORE;

  if (unit->kind != SAMBA_UNIT_LOAD && unit->kind != SAMBA_UNIT_STORE)
    return sambaStatusMake(SAMBA_INVALID,
                           "has_index, but only a load or a store takes an index stream");
  if (unit->input_count <= port)
    return sambaStatusMake(SAMBA_INVALID,
                           "has_index, but there is no input %u to take the index stream", port);
  if (access->index_counters > access->counter_count - access->token_level)
    return sambaStatusMake(SAMBA_INVALID,
                           "index_counters is %u, expected at most the %u counters inside a token",
                           access->index_counters, access->counter_count - access->token_level);
  if (access->index_limit < 1)
    return sambaStatusMake(SAMBA_INVALID, "index_limit is %lld, expected at least 1",
                           (long long)access->index_limit);
  const SambaPort *index = &unit->inputs[port];
  if (sambaDTypeIsFloat(index->dtype) || index->dtype == SAMBA_DTYPE_I1)
    return sambaStatusMake(SAMBA_INVALID,
                           "the index stream at input %u is %s, expected an integer type", port,
                           sambaDTypeName(index->dtype));
  uint64_t elements = sambaTripProduct(access->trips, access->token_level,
                                       access->token_level + access->index_counters);
  if (index->token_elements != elements)
    return sambaStatusMake(SAMBA_INVALID,
                           "the index stream at input %u has tokens of %llu elements, expected "
                           "%llu: the product of the %u counters it spans",
                           port, (unsigned long long)index->token_elements,
                           (unsigned long long)elements, access->index_counters);
  return NULL;
}

SambaStatus sambaAccessCheck(const SambaUnit *unit, const SambaPort *port, uint64_t elements) {
  const SambaAccess *access = &port->access;
  SAMBA_RETURN_IF_ERROR(sambaChainCheck(access->trips, access->counter_count));
  SAMBA_RETURN_IF_ERROR(checkLevels(unit, access));
  SAMBA_RETURN_IF_ERROR(checkGuards(access));
  SAMBA_RETURN_IF_ERROR(checkIndex(unit, access));
  uint32_t bits = 8 * sambaDTypeBytes(port->dtype);

  if (bits < 64 && access->fill >> bits)
    return sambaStatusMake(SAMBA_INVALID, "fill 0x%llx does not fit in %s",
                           (unsigned long long)access->fill, sambaDTypeName(port->dtype));
  uint64_t token_elements =
      sambaTripProduct(access->trips, access->token_level, access->counter_count);
  if (port->token_elements != token_elements)
    return sambaStatusMake(
        SAMBA_INVALID,
        "token_elements is %llu, expected %llu: the product of the trip counts from token_level",
        (unsigned long long)port->token_elements, (unsigned long long)token_elements);
  int64_t low, high;
  if (!sambaAffineRange(access->base, access->strides, access->trips, access->counter_count, &low,
                        &high))
    return sambaStatusMake(SAMBA_INVALID, "the addresses leave 64 bits");
  int64_t last;
  if (access->has_index &&
      (sambaMulOverflows(access->index_stride, access->index_limit - 1, &last) ||
       sambaAddOverflows(last < 0 ? low : high, last, &last)))
    return sambaStatusMake(SAMBA_INVALID, "the addresses with the index added leave 64 bits");
  if (sambaAccessStaysWithin(access, elements))
    return NULL;
  if (unit->kind == SAMBA_UNIT_BUFFER)
    return sambaStatusMake(SAMBA_INVALID,
                           "addresses %lld to %lld can leave the slot of %llu elements",
                           (long long)low, (long long)high, (unsigned long long)elements);

  /* What guards leave open is checked at every access while it runs. */
  if (access->guard_count == 0 && !access->has_index)
    return sambaStatusMake(
        SAMBA_INVALID,
        "address out of range: addresses %lld to %lld leave the symbol of %llu elements",
        (long long)low, (long long)high, (unsigned long long)elements);
  return NULL;
}
