/* The memory of a PMU: which bank holds a word, and which array of the banks holds a slot
 * (docs/timing-model.md, "Banks of a PMU").
 *
 * A PMU has pmu_banks banks, each pmu_word_bytes wide. Words are counted from the start of a slot,
 * which begins at a word of its own. Every bank is made of pmu_bank_arrays arrays of one port each;
 * the upper part of an address says in which array it lies. */
#ifndef SAMBA_BACKEND_SECTION_BANKS_H
#define SAMBA_BACKEND_SECTION_BANKS_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* Where a word of a slot lies: a skew of s puts it in bank (bank + s x row) modulo pmu_banks. */
typedef struct SambaWordPlace {
  uint32_t bank, row; /* row: 0 unless the banking is diagonal */
} SambaWordPlace;
SambaWordPlace sambaWordPlace(const SambaMachine *machine, const SambaBuffer *buffer,
                              uint64_t word);

/* Bytes of one slot of a buffer: whole words. UINT64_MAX when they do not fit 64 bits. */
uint64_t sambaSlotBytes(const SambaMachine *machine, uint64_t elements, SambaDType dtype);

/* How the slots of a buffer lie in the arrays. Slot s lies in array s modulo the arrays when each
 * array holds its share of the slots. Otherwise the slots follow each other from address 0. */
typedef struct SambaSlotPlacement {
  uint64_t arrays; /* 0: the banks have two ports, and reads never wait for writes */
  uint64_t array_bytes, slot_bytes;
  bool alternate;
} SambaSlotPlacement;
SambaSlotPlacement sambaSlotPlacement(const SambaMachine *machine, const SambaUnit *unit);

/* The arrays [first, end) in which a slot lies; none where the banks have two ports. */
typedef struct SambaArrayRange {
  uint32_t first, end;
} SambaArrayRange;
SambaArrayRange sambaSlotArrays(const SambaSlotPlacement *placement, uint64_t slot);

#endif
