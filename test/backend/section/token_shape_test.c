/* Shapes of tokens, and streams whose ends cannot be one sequence. */
#include "backend/listing/listing.h"
#include "backend/section/check/section_check.h"
#include "backend/section/stated_order.h"
#include "backend/section/token_shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static SambaTokenShape shape(uint32_t rank, uint64_t a, uint64_t b, uint64_t c) {
  return (SambaTokenShape){rank, {a, b, c}};
}

static bool agree(SambaTokenShape a, SambaTokenShape b) {
  bool found = sambaTokenShapesAgree(&a, &b);
  assert_int_equal(found, sambaTokenShapesAgree(&b, &a));
  return found;
}

static void commonCounters(void **state) {
  (void)state;
  assert_true(agree(shape(2, 16, 8, 0), shape(2, 16, 8, 0)));
  assert_true(agree(shape(2, 16, 8, 0), shape(1, 128, 0, 0)));
  assert_true(agree(shape(2, 16, 8, 0), shape(3, 4, 4, 8)));
  assert_true(agree(shape(2, 16, 8, 0), shape(2, 8, 16, 0))); /* both are 8x2x8 */
  assert_true(agree(shape(0, 0, 0, 0), shape(0, 0, 0, 0)));
  assert_false(agree(shape(2, 6, 4, 0), shape(2, 4, 6, 0)));
  assert_false(agree(shape(3, 2, 6, 4), shape(3, 2, 4, 6)));

  SambaTokenShape a = shape(2, 16, 8, 0), b = shape(2, 8, 16, 0), both;
  assert_true(sambaTokenShapesMeet(&a, &b, &both));
  assert_int_equal(both.rank, 3);
  assert_true(both.dims[0] == 8 && both.dims[1] == 2 && both.dims[2] == 8);
}

static void refinement(void **state) {
  (void)state;
  SambaTokenShape fine = shape(3, 4, 4, 8), coarse = shape(2, 16, 8, 0), other = shape(2, 8, 16, 0);
  assert_true(sambaTokenShapeRefines(&fine, &coarse));
  assert_false(sambaTokenShapeRefines(&coarse, &fine));
  assert_true(sambaTokenShapeRefines(&coarse, &coarse));
  assert_false(sambaTokenShapeRefines(&coarse, &other));
  assert_false(sambaTokenShapeRefines(&other, &coarse));
}

#define SECTION(units)                                                                             \
  "section s {\nsymbol x dtype=f32 elements=128\nsymbol y dtype=f32 elements=128 written=yes\n"    \
  "load lx symbol=x\noutput dtype=f32 trips=[| 16, 8] strides=[| 8, 1]\n"                          \
  "store sy symbol=y\ninput dtype=f32 trips=[| 128] strides=[| 1]\n" units                         \
  "stream a vector lx.out0 -> c.in0\nstream b vector c.out0 -> d.in0\n"                            \
  "stream c vector d.out0 -> sy.in0\n}\n"
#define COMPUTE(name, trips, strides)                                                              \
  "compute " name " trips=[| " trips "]\ninput dtype=f32 strides=[| " strides "]\n"                \
  "%1 = neg f32 %0\noutput dtype=f32 strides=[| " strides "]\n"

static void expectParsed(const char *text, const char *message) {
  SambaArena arena = {0};
  SambaSection *section;
  size_t position = 0;
  SambaStatus status = sambaSectionParse(sambaStringRef(text), &position, &arena, &section);
  if (!message) {
    assert_null(status);
  } else {
    assert_non_null(status);
    if (!strstr(sambaStatusGetMessage(status), message))
      fail_msg("'%s' does not say '%s'", sambaStatusGetMessage(status), message);
    sambaStatusFree(status);
  }
  sambaArenaDestroy(&arena);
}

/* A PCU takes its operands in the order in which they come. */
static void endsOfStreams(void **state) {
  (void)state;
  expectParsed(SECTION(COMPUTE("c", "16, 8", "8, 1") COMPUTE("d", "16, 8", "8, 1")), NULL);
  expectParsed(SECTION(COMPUTE("c", "16, 8", "8, 1") COMPUTE("d", "4, 4, 8", "32, 8, 1")), NULL);
  expectParsed(SECTION(COMPUTE("c", "8, 16", "16, 1") COMPUTE("d", "128", "1")), NULL);
  expectParsed(SECTION(COMPUTE("c", "16, 8", "8, 1") COMPUTE("d", "8, 16", "16, 1")),
               "stream 1: unit 'c' output 0 sends tokens of 16x8, unit 'd' input 0 takes tokens of "
               "8x16: no counters step through both; let a buffer between them send what is taken");
}

/* A port that states an order of places, of a shape alone, or of a copy. */
static void setOrder(SambaPort *port, SambaOrderKind kind, const SambaOrderStep *steps,
                     uint32_t count) {
  port->order_kind = kind;
  port->order = steps;
  port->order_count = count;
}

static void expectChecked(SambaSection *section, const char *message, const char *note) {
  SambaStatus status = sambaSectionCheck(section);
  if (!message) {
    if (status)
      fail_msg("%s", sambaStatusGetMessage(status));
    return;
  }
  assert_non_null(status);
  if (!strstr(sambaStatusGetMessage(status), message))
    fail_msg("'%s' does not say '%s'", sambaStatusGetMessage(status), message);
  if (note)
    assert_string_equal(sambaStatusGetNote(status, 0), note);
  sambaStatusFree(status);
}

/* Ports state orders; what the two ends of a stream say is compared, counters joined. */
static void expectOrders(SambaOrderKind kind, const SambaOrderStep *made, uint32_t made_count,
                         const SambaOrderStep *taken, uint32_t taken_count, const char *message,
                         const char *note) {
  SambaArena arena = {0};
  SambaSection *section;
  size_t position = 0;
  const char *text = SECTION(COMPUTE("c", "16, 8", "8, 1") COMPUTE("d", "16, 8", "8, 1"));
  assert_null(sambaSectionParse(sambaStringRef(text), &position, &arena, &section));
  setOrder(&section->units[2].outputs[0], made ? kind : SAMBA_ORDER_NONE, made, made_count);
  setOrder(&section->units[3].inputs[0], taken ? kind : SAMBA_ORDER_NONE, taken, taken_count);
  expectChecked(section, message, note);
  sambaArenaDestroy(&arena);
}

#define STEP(trips, step) {trips, {step, 0}, {step, 0}}

static void statedOrders(void **state) {
  (void)state;
  static const SambaOrderStep rows[] = {STEP(16, 8), STEP(8, 1)};
  static const SambaOrderStep cut[] = {STEP(4, 32), STEP(4, 8), STEP(8, 1)};
  static const SambaOrderStep columns[] = {STEP(16, 1), STEP(8, 16)};
  static const SambaOrderStep tiles[] = {STEP(2, 64), STEP(8, 1), STEP(8, 8)};
  static const SambaOrderStep odd[] = {STEP(6, 1)}, many[65] = {STEP(128, 1)};
  static const SambaOrderStep indexed[] = {{16, {0, 1}, {0, 1}}, STEP(8, 1)};
  static const SambaOrderStep other[] = {{16, {0, 2}, {0, 2}}, STEP(8, 1)};
  static const SambaOrderStep moved[] = {{16, {8, 0}, {1, 0}}, {8, {1, 0}, {16, 0}}};
  const SambaOrderKind places = SAMBA_ORDER_PLACES;

  expectOrders(places, rows, 2, rows, 2, NULL, NULL);
  expectOrders(places, rows, 2, cut, 3, NULL, NULL);
  expectOrders(places, rows, 2, NULL, 0, NULL, NULL);
  expectOrders(places, rows, 2, columns, 2,
               "stream 1: unit 'c' output 0 sends 128 by [1], unit 'd' input 0 takes 16x8 by [1, "
               "16]: the orders differ, and a buffer between them must convert",
               "its slots need 128 elements");
  expectOrders(places, rows, 2, tiles, 3, "the orders differ", "its slots need 64 elements");
  expectOrders(places, odd, 1, NULL, 0,
               "unit 'c' (compute): output 0: its order is 6 by [1], but the unit steps through "
               "tokens of 16x8",
               NULL);
  expectOrders(places, many, 65, NULL, 0, "its order has 65 counters, expected at most 64", NULL);

  /* Places that indices give, and places of two tensors. */
  expectOrders(places, indexed, 2, indexed, 2, NULL, NULL);
  expectOrders(places, indexed, 2, other, 2,
               "sends 16x8 by [1 : index, 1], unit 'd' input 0 takes 16x8 by [2 : index, 1]: the "
               "orders differ",
               NULL);
  expectOrders(SAMBA_ORDER_MOVES, moved, 2, moved, 2, NULL, NULL);
  expectOrders(SAMBA_ORDER_MOVES, moved, 2, rows, 2,
               "sends 16x8 by {from = [8, 1], to = [1, 16]}, unit 'd' input 0 takes 128 by {from = "
               "[1], to = [1]}: the orders differ",
               "its slots need 128 elements");

  /* A type without places still names the counters. */
  expectOrders(SAMBA_ORDER_SHAPE, rows, 2, cut, 3, NULL, NULL);
  static const SambaOrderStep other_shape[] = {STEP(8, 16), STEP(16, 1)};
  expectOrders(SAMBA_ORDER_SHAPE, other_shape, 2, NULL, 0,
               "unit 'c' (compute): output 0: its type has tokens of 8x16, but the unit steps "
               "through tokens of 16x8: state the order of the stream, or the counters that both "
               "ends have",
               NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(commonCounters), cmocka_unit_test(refinement),
                                     cmocka_unit_test(endsOfStreams),
                                     cmocka_unit_test(statedOrders)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
