/* Slots of buffers: as small as the orders of their ports allow. The formula is held against a
 * search that knows nothing of counters: it walks all words. */
#include "backend/codegen/codegen.h"
#include "backend/listing/listing.h"
#include "backend/machine/shipped.h"
#include "backend/plan/plan.h"
#include "backend/section/check/section_check.h"
#include "backend/section/slot_need.h"
#include "backend/section/stream_order.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/*===-- All words of a slot, as a port comes to them ------------------------------------------===*/

typedef struct Words {
  uint64_t count, tokens;
  uint64_t *at;
} Words;

static Words wordsOf(const SambaAccess *access) {
  Words words = {
      .count = sambaTripProduct(access->trips, access->slot_level, access->counter_count),
      .tokens = sambaTripProduct(access->trips, access->slot_level, access->token_level)};
  words.at = sambaAllocateZeroed(words.count, sizeof *words.at);
  for (uint64_t n = 0; n < words.count; ++n) {
    int64_t address = access->base;
    uint64_t rest = n;
    for (uint32_t c = access->counter_count; c-- > access->slot_level;) {
      address += access->strides[c] * (int64_t)(rest % access->trips[c]);
      rest /= access->trips[c];
    }
    words.at[n] = (uint64_t)address;
  }
  return words;
}

static const SambaAccess *accessOf(const SambaUnit *unit, uint32_t port) {
  return port < unit->input_count ? &unit->inputs[port].access
                                  : &unit->outputs[port - unit->input_count].access;
}

/* Whether slots of 1 / parts of the words would do: every port comes to the words of one part
 * before those of the next, in the same pattern. */
static bool partsWouldDo(const Words *ports, uint32_t count, uint64_t elements, uint64_t parts) {
  uint64_t *part_of = sambaAllocateZeroed(elements, sizeof *part_of); /* counted from 1 */
  uint64_t *first = sambaAllocateZeroed(elements, sizeof *first);     /* word of part 0, from 1 */
  bool would = true;

  for (uint32_t p = 0; p < count && would; ++p) {
    uint64_t run = ports[p].count / parts;
    would = ports[p].tokens % parts == 0;
    for (uint64_t n = 0; n < ports[p].count && would; ++n) {
      uint64_t word = ports[p].at[n], pattern = ports[p].at[n % run];
      would = (!part_of[word] || part_of[word] == n / run + 1) &&
              (!first[word] || first[word] == pattern + 1);
      part_of[word] = n / run + 1;
      first[word] = pattern + 1;
    }
  }
  free(part_of);
  free(first);
  return would;
}

/* Whether the buffer could do with smaller slots. */
static bool couldBeSmaller(const SambaUnit *unit) {
  uint32_t count = unit->input_count + unit->output_count;
  Words *ports = sambaAllocateZeroed(count, sizeof *ports);
  uint64_t fewest = UINT64_MAX;
  bool could = false;
  for (uint32_t p = 0; p < count; ++p) {
    ports[p] = wordsOf(accessOf(unit, p));
    fewest = ports[p].tokens < fewest ? ports[p].tokens : fewest;
  }
  for (uint64_t parts = 2; parts <= fewest && !could; ++parts)
    could = unit->buffer.slot_elements % parts == 0 &&
            partsWouldDo(ports, count, unit->buffer.slot_elements, parts);
  for (uint32_t p = 0; p < count; ++p)
    free(ports[p].at);
  free(ports);
  return could;
}

/* Guards leave out words that the search would count. */
static bool isPlain(const SambaUnit *unit) {
  for (uint32_t p = 0; p < unit->input_count + unit->output_count; ++p)
    if (accessOf(unit, p)->guard_count)
      return false;
  return unit->kind == SAMBA_UNIT_BUFFER && !unit->buffer.loop_carried && !unit->buffer.in_place;
}

/*===-- Compiled code -------------------------------------------------------------------------===*/

/* What buffers hold, in words: at least, by any schedule; in a slot, which is read when it is full;
 * in all slots, because others are filled meanwhile. */
typedef struct Held {
  uint32_t buffers, ahead;
  uint64_t window, slot, all;
} Held;

static void addHeld(const SambaUnit *unit, Held *held) {
  const SambaAccess *write = &unit->inputs[0].access;
  SambaStreamOrder made = sambaAccessOrder(write, write->slot_level);
  uint64_t window = 0;
  ++held->buffers;
  held->ahead += unit->buffer.slot_count > 1;
  for (uint32_t o = 0; o < unit->output_count && unit->input_count == 1; ++o) {
    const SambaAccess *read = &unit->outputs[o].access;
    SambaStreamOrder taken = sambaAccessOrder(read, read->slot_level);
    SambaConversion conversion;
    if (sambaOrderConversion(&made, &taken, &conversion)) {
      assert_true(conversion.window <= conversion.block);
      assert_true(conversion.block <= unit->buffer.slot_elements);
      window = conversion.window > window ? conversion.window : window;
    }
  }
  if (!window)
    return;
  held->window += window;
  held->slot += unit->buffer.slot_elements;
  held->all += unit->buffer.slot_elements * unit->buffer.slot_count;
}

/* No slot of compiled code can be smaller; what a PMU holds beyond one slot is what is filled
 * ahead. */
static void compiledSlotsAreSmallest(void **state) {
  (void)state;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  Held held = {0};
  for (uint32_t k = 0; k < graphKindCount; ++k)
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      SambaArena arena = {0};
      SambaStageGraph graph = {.arena = &arena, .name = graphKinds[k].name};
      SambaSection *section;
      Random random = {seed * 7919};
      graphKinds[k].make(&graph, &random);
      assert_null(sambaPlanTiles(&graph, machine, NULL));
      assert_null(sambaCodegenSection(&graph, machine, &arena, &section));
      assert_null(sambaSectionCheck(section));
      for (uint32_t u = 0; u < section->unit_count; ++u) {
        const SambaUnit *unit = &section->units[u];
        if (unit->kind != SAMBA_UNIT_BUFFER)
          continue;
        assert_int_equal(sambaSlotCut(unit).parts, 1);
        if (!isPlain(unit) || unit->buffer.slot_elements > 1 << 14)
          continue;
        addHeld(unit, &held);
        if (couldBeSmaller(unit))
          fail_msg("%s, seed %llu: slots of '%s' could be smaller than %llu", graphKinds[k].name,
                   (unsigned long long)seed, unit->name,
                   (unsigned long long)unit->buffer.slot_elements);
        /* A PMU with one slot is filled once. */
        assert_true(unit->buffer.slot_count > 1 || sambaUnitFirings(unit) == 1);
      }
      sambaArenaDestroy(&arena);
    }
  print_message("%u buffers, %u of them filled ahead; words at least %llu, in a slot %llu, in all "
                "slots %llu\n",
                held.buffers, held.ahead, (unsigned long long)held.window,
                (unsigned long long)held.slot, (unsigned long long)held.all);
  assert_true(held.buffers > 100 && held.ahead > 20);
}

/*===-- By hand -------------------------------------------------------------------------------===*/

#define BUFFER(write, write_strides, read, read_strides)                                           \
  "section s {\nsymbol x dtype=f32 elements=96\nsymbol y dtype=f32 elements=96 written=yes\n"      \
  "buffer b slot_count=1 slot_elements=96\n"                                                       \
  "input dtype=f32 trips=[1 | " write "] strides=[0 | " write_strides "]\n"                        \
  "output dtype=f32 trips=[1 | " read "] strides=[0 | " read_strides "]\n"                         \
  "load l symbol=x\noutput dtype=f32 trips=[" write "] strides=[" write_strides "]\n"              \
  "store s symbol=y\ninput dtype=f32 trips=[" read "] strides=[" read_strides "]\n"                \
  "stream a vector l.out0 -> b.in0\nstream b vector b.out0 -> s.in0\n}\n"

static void expectCut(const char *text, uint64_t parts, uint64_t stride) {
  SambaArena arena = {0};
  SambaSection *section;
  size_t position = 0;
  SambaStatus status = sambaSectionParse(sambaStringRef(text), &position, &arena, &section);
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
  SambaSlotCut cut = sambaSlotCut(&section->units[0]);
  assert_int_equal(cut.parts, parts);
  if (parts > 1)
    assert_int_equal(cut.stride, stride);
  assert_int_equal(couldBeSmaller(&section->units[0]), parts > 1);
  sambaArenaDestroy(&arena);
}

static void cuts(void **state) {
  (void)state;
  /* Row by row at both ends, and two rows at a time at one. */
  expectCut(BUFFER("8 | 12", "12 | 1", "8 | 12", "12 | 1"), 8, 12);
  expectCut(BUFFER("4 | 24", "24 | 1", "8 | 12", "12 | 1"), 4, 24);
  /* Columns of two at both ends: the words of a part do not follow each other. */
  expectCut(BUFFER("6 | 8, 2", "2 | 12, 1", "6 | 2, 8", "2 | 1, 12"), 6, 2);
  /* A transpose, a repeat outside, rows that overlap, tokens that are whole slots. */
  expectCut(BUFFER("8 | 12", "12 | 1", "12 | 8", "1 | 12"), 1, 0);
  expectCut(BUFFER("8 | 12", "12 | 1", "3, 8 | 12", "0, 12 | 1"), 1, 0);
  expectCut(BUFFER("8 | 12", "12 | 1", "7 | 24", "12 | 1"), 1, 0);
  expectCut(BUFFER(" | 96", " | 1", "8 | 12", "12 | 1"), 1, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cuts),
                                     cmocka_unit_test(compiledSlotsAreSmallest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
