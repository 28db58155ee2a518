/* Where words and slots of a PMU lie; see banks.h. */
#include "backend/section/banks.h"

#include "support/number/integer.h"

SambaWordPlace sambaWordPlace(const SambaMachine *machine, const SambaBuffer *buffer,
                              uint64_t word) {
  uint64_t mask = (uint64_t)machine->pmu_banks - 1; /* a power of two */
  switch (buffer->banking) {
  case SAMBA_BANKING_ROW:
    return (SambaWordPlace){(uint32_t)(word / buffer->row_words & mask), 0};
  case SAMBA_BANKING_DIAGONAL:
    return (SambaWordPlace){(uint32_t)(word & mask), (uint32_t)(word / buffer->row_words & mask)};
  default:
    return (SambaWordPlace){(uint32_t)(word & mask), 0};
  }
}

uint64_t sambaSlotBytes(const SambaMachine *machine, uint64_t elements, SambaDType dtype) {
  uint64_t word = (uint64_t)machine->pmu_word_bytes;
  uint64_t bytes;
  if (__builtin_mul_overflow(elements, (uint64_t)sambaDTypeBytes(dtype), &bytes) ||
      __builtin_add_overflow(bytes, word - 1, &bytes))
    return UINT64_MAX;
  return bytes / word * word;
}

SambaSlotPlacement sambaSlotPlacement(const SambaMachine *machine, const SambaUnit *unit) {
  const SambaPort *port = unit->input_count ? unit->inputs : unit->outputs;
  SambaSlotPlacement placement = {
      .arrays = (uint64_t)machine->pmu_bank_arrays,
      .slot_bytes = sambaSlotBytes(machine, unit->buffer.slot_elements, port->dtype)};
  if (!placement.arrays)
    return placement;

  placement.array_bytes = (uint64_t)machine->pmu_bytes / placement.arrays;
  uint64_t share = (unit->buffer.slot_count + placement.arrays - 1) / placement.arrays;
  placement.alternate = share <= placement.array_bytes / placement.slot_bytes;
  return placement;
}

SambaArrayRange sambaSlotArrays(const SambaSlotPlacement *placement, uint64_t slot) {
  if (!placement->arrays)
    return (SambaArrayRange){0, 0};
  if (placement->alternate) {
    uint32_t array = (uint32_t)(slot % placement->arrays);
    return (SambaArrayRange){array, array + 1};
  }

  uint64_t first = slot * placement->slot_bytes / placement->array_bytes;
  uint64_t last = ((slot + 1) * placement->slot_bytes - 1) / placement->array_bytes;
  last = last < placement->arrays ? last : placement->arrays - 1;
  return (SambaArrayRange){(uint32_t)(first < last ? first : last), (uint32_t)last + 1};
}
