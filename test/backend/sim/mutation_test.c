/* Damaged configurations in both engines: fields of encoded sections get other values, by their
 * table, so that the damage is deep; what the decoder still accepts must run to a result or to a
 * named fault. Best under ASan and UBSan. */
#include "backend/config/encoding.h"
#include "backend/config/record_codec.h"
#include "backend/estimate/stream_rates.h"
#include "backend/listing/listing.h"
#include "backend/machine/shipped.h"
#include "backend/place/placer/place.h"
#include "backend/place/router/route.h"
#include "backend/section/access.h"
#include "backend/sim/timing/timing.h"
#include "backend/sim/value/values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Rows of a table picked by index, then through a buffer with a guarded read, dealt to two units,
 * reduced and merged. */
static const char source[] =
    "section s {\n"
    "  symbol table dtype=f32 elements=180\n"
    "  symbol rows dtype=i32 elements=12\n"
    "  symbol sums dtype=f32 elements=24 written=yes\n"
    "  load indices symbol=rows\n"
    "    output dtype=i32 trips=[12, 1 |] strides=[1, 0]\n"
    "  load picked symbol=table\n"
    "    output dtype=f32 trips=[12, 1 | 20] strides=[0, 0 | 1] has_index=yes index_stride=20 "
    "index_limit=9\n"
    "    input dtype=i32\n"
    "  buffer tile slot_count=2 slot_elements=20\n"
    "    input dtype=f32 trips=[12 | | 20] strides=[0 | | 1]\n"
    "    output dtype=f32 trips=[12 | 2 | 16] strides=[0 | 16 | 1] fill=1.0\n"
    "      guard limit=20 strides=[0 | 16 | 1]\n"
    "  compute even trips=[12 | 16] reduce=[1]\n"
    "    input dtype=f32 strides=[0 | 1]\n"
    "    %1 = mul f32 %0, %0\n"
    "    %2 = reduce_add f32 %1\n"
    "    output dtype=f32 strides=[0 | 0]\n"
    "  compute odd trips=[12 | 16] reduce=[1] lane_reduce=yes\n"
    "    input dtype=f32 strides=[0 | 1]\n"
    "    %1 = reduce_max f32 %0\n"
    "    %2 = exp f32 %1\n"
    "    output dtype=f32 strides=[0 | 0]\n"
    "  store out symbol=sums\n"
    "    input dtype=f32 trips=[12, 2 |] strides=[2, 1]\n"
    "  stream s0 scalar indices.out0 -> picked.in0\n"
    "  stream s1 vector picked.out0 -> tile.in0\n"
    "  stream s2 vector tile.out0 -> even.in0\n"
    "  stream s3 vector tile.out0 -> odd.in0\n"
    "  stream s4 scalar even.out0 -> out.in0\n"
    "  stream s5 scalar odd.out0 -> out.in0\n"
    "}\n";

static uint32_t random_state = 2463534242u;
static uint32_t randomBelow(uint32_t bound) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 17;
  random_state ^= random_state << 5;
  return random_state % bound;
}

/* One number of the image: a field, or an item of a list. */
typedef struct Place {
  void *structure;
  const SambaRecordRow *row;
  uint32_t counters;
} Place;
typedef SAMBA_ARRAY(Place) Places;

static void collectPlaces(SambaRecordId id, void *structure, uint32_t counters, Places *places) {
  const SambaRecord *record = sambaRecordGet(id);
  for (uint32_t i = 0; i < record->row_count; ++i) {
    const SambaRecordRow *row = &record->rows[i];
    const char *label = sambaRecordRowLabel(row);
    bool is_count = strstr(label, "_count") &&
                    strcmp(label, "slot_count") != 0; /* would not fit its array any more */
    if (row->form == SAMBA_ROW_TRIPS)
      counters = (uint32_t)sambaMemberGet(structure, row->count, false);
    if ((row->form == SAMBA_ROW_FIELD && !is_count) || row->form == SAMBA_ROW_MASK ||
        ((row->form == SAMBA_ROW_TRIPS || row->form == SAMBA_ROW_STRIDES) && counters))
      sambaArrayAppend(places, (Place){structure, row, counters});
    if (row->form == SAMBA_ROW_CHOICE)
      collectPlaces((SambaRecordId)(row->record + sambaMemberGet(structure, row->member, false)),
                    structure, counters, places);
    if (row->form == SAMBA_ROW_ARRAY) {
      uint64_t count = sambaMemberGet(structure, row->count, false);
      char *items = sambaMemberGetPointer(structure, row->member);
      for (uint64_t k = row->from; k < count && k < row->until; ++k)
        collectPlaces(row->record, items + k * row->item_size, counters, places);
    }
  }
}

static uint64_t changedNumber(uint64_t old) {
  switch (randomBelow(8)) {
  case 0:
    return old + 1;
  case 1:
    return old - 1;
  case 2:
    return old * 2;
  case 3:
    return old / 2;
  case 4:
    return 0;
  case 5:
    return 1;
  case 6:
    return randomBelow(64);
  default:
    return (uint64_t)randomBelow(UINT32_MAX) << randomBelow(33);
  }
}

static void change(const Place *place) {
  const SambaRecordRow *row = place->row;
  if (row->form == SAMBA_ROW_FIELD || row->form == SAMBA_ROW_MASK) {
    uint64_t number =
        changedNumber(sambaMemberGet(place->structure, row->member, row->kind == 'S'));
    if (row->kind != 'S' && row->form == SAMBA_ROW_FIELD && row->bits < 64)
      number &= (UINT64_C(1) << row->bits) - 1;
    sambaMemberSet(place->structure, row->member, number);
    return;
  }

  uint32_t item = randomBelow(place->counters);
  if (row->form == SAMBA_ROW_TRIPS) {
    uint32_t *trips = sambaMemberGetPointer(place->structure, row->member);
    trips[item] = (uint32_t)changedNumber(trips[item]);
  } else {
    int64_t *strides = sambaMemberGetPointer(place->structure, row->member);
    strides[item] = (int64_t)changedNumber((uint64_t)strides[item]);
  }
}

/* The check bounds what is unsafe, not what is long: long runs and large symbols are left
 * out here. */
static bool isShort(const SambaSection *section) {
  uint64_t elements = 0, steps = 0;
  for (uint32_t i = 0; i < section->symbol_count; ++i)
    elements += section->symbols[i].elements;
  for (uint32_t i = 0; i < section->unit_count; ++i) {
    const SambaUnit *unit = &section->units[i];
    const SambaAccess *access = unit->kind == SAMBA_UNIT_COMPUTE ? NULL : sambaMemoryAccess(unit);
    steps += access ? sambaTripProduct(access->trips, 0, access->counter_count)
                    : sambaTripProduct(unit->compute.trips, 0, unit->compute.counter_count);
  }
  return elements < 1 << 20 && steps < 1 << 22;
}

/* Runs both engines; true when values came to a result. */
static bool run(SambaValues *values, const SambaMachine *machine, const SambaSection *section) {
  SambaBinding *bindings = sambaAllocateZeroed(section->symbol_count, sizeof *bindings);
  uint64_t address = 0, argins[1] = {0};

  for (uint32_t i = 0; i < section->symbol_count; ++i) {
    SambaBinding *binding = &bindings[i];
    binding->bytes = section->symbols[i].elements * sambaDTypeBytes(section->symbols[i].dtype);
    binding->address = address;
    address += (binding->bytes + 4095) / 4096 * 4096;
    binding->data = aligned_alloc(64, (binding->bytes + 63) / 64 * 64);
    for (uint64_t k = 0; k < binding->bytes; ++k)
      binding->data[k] = k % 4 == 0 ? (uint8_t)(k / 4 % 9) : 0;
  }

  SambaIndexTraces traces = {0};
  SambaStatus status = sambaValuesExecute(values, section, bindings, argins, 1, &traces);
  bool good = !status;

  if (status)
    assert_int_equal(sambaStatusGetCode(status), SAMBA_FAULT);
  sambaStatusFree(status);
  SambaTimingOptions options = {.max_cycles = 10000000};
  SambaTimingResult result;
  status = sambaTimingExecute(machine, section, bindings, &traces, &options, &result);
  if (status)
    assert_true(strlen(sambaStatusGetMessage(status)) > 0);
  sambaStatusFree(status);
  sambaTimingResultFree(&result);
  sambaIndexTracesFree(&traces);
  for (uint32_t i = 0; i < section->symbol_count; ++i)
    free(bindings[i].data);
  free(bindings);

  return good;
}

static void damagedSectionsEndWell(void **state) {
  (void)state;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("tiny"));
  SambaArena arena = {0};
  SambaSection *section;
  SambaByteBuffer bytes = {0};
  size_t position = 0;

  assert_null(sambaSectionParse(sambaStringRef(source), &position, &arena, &section));
  const uint32_t *rates = sambaSectionRates(section, machine, &arena);
  assert_null(sambaSectionPlace(section, machine, rates));
  assert_null(sambaSectionRoute(section, machine, rates, NULL));
  assert_null(sambaSectionEncode(section, machine, &bytes));
  SambaValuesOptions options = {.threads = 1};
  SambaValues *values;
  assert_null(sambaValuesCreate(machine, &options, &values));
  assert_true(run(values, machine, section));
  uint32_t decoded = 0, good = 0;

  for (int round = 0; round < 4000; ++round) {
    SambaArena scratch = {0};
    SambaImage image = {0};
    Places places = {0};
    SambaByteBuffer damaged = {0};
    assert_null(sambaRecordRead(SAMBA_RECORD_section, bytes.data, bytes.size, &scratch, &image));
    collectPlaces(SAMBA_RECORD_section, &image, 0, &places);
    for (uint32_t changes = 1 + randomBelow(3); changes > 0; --changes)
      change(&places.data[randomBelow((uint32_t)places.size)]);
    SambaStatus status = sambaRecordWrite(SAMBA_RECORD_section, &image, &damaged);
    if (!status)
      status = sambaSectionDecode(damaged.data, damaged.size, machine, &scratch, &section);
    if (!status && isShort(section)) {
      ++decoded;
      good += run(values, machine, section);
    }

    sambaStatusFree(status);
    sambaArrayFree(&places);
    sambaArrayFree(&damaged);
    sambaArenaDestroy(&scratch);
  }

  assert_true(decoded > 200); /* the damage gets through */
  assert_true(good > 100);
  sambaValuesDestroy(values);
  sambaArrayFree(&bytes);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(damagedSectionsEndWell)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
