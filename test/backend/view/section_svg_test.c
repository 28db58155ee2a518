/* The picture of a section: what is not placed or routed is refused, every unit and hop is there,
 * names are text and not markup, the same section gives the same bytes. */
#include "backend/view/section_svg.h"

#include "backend/section/access.h"
#include "test/backend/sample_sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint32_t occurrences(const char *text, const char *what) {
  uint32_t count = 0;
  for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
    ++count;
  return count;
}

static void expectRefused(SambaSection *section, const char *part) {
  SambaText text = {0};
  SambaStatus status = sambaSectionDraw(section, sampleMachine(), &text);
  assert_int_equal(sambaStatusGetCode(status), SAMBA_INVALID);
  assert_non_null(strstr(sambaStatusGetMessage(status), part));
  assert_int_equal(text.size, 0);
  sambaStatusFree(status);
  sambaTextFree(&text);
}

static void refusals(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaSection *section = sampleMatmul(&arena);
  int32_t x = section->units[4].x;

  section->units[4].x = -1;
  expectRefused(section, "section 'matmul' cannot be drawn: unit 'ct' is not placed");
  section->units[4].x = x;
  section->units[0].load_store.ag = SAMBA_NO_INDEX;
  expectRefused(section, "is not placed; place it first");
  section->units[0].load_store.ag = 0;
  section->streams[3].hop_count = 0;
  expectRefused(section, "cannot be drawn: stream 3 from unit 'bb' is not routed; route it first");
  sambaArenaDestroy(&arena);
}

static void draws(SambaSection *section, const SambaMachine *machine) {
  SambaText text = {0};
  SambaText again = {0};
  assert_null(sambaSectionDraw(section, machine, &text));
  assert_null(sambaSectionDraw(section, machine, &again));
  assert_true(sambaStringRefEqual(sambaTextRef(&text), sambaTextRef(&again)));
  assert_int_equal(occurrences(sambaTextGet(&text), "<use "), section->unit_count);
  const char *streams = strstr(sambaTextGet(&text), "<g class=\"streams\">");
  assert_non_null(streams);
  assert_int_equal(occurrences(streams, "<path class=\"from-"), section->stream_count);
  sambaTextFree(&text);
  sambaTextFree(&again);
}

static void everything(void **state) {
  (void)state;
  SambaArena arena = {0};
  draws(sampleMatmul(&arena), sampleMachine());
  draws(sampleGather(&arena), sampleLargeMachine());

  SambaSection *wires = sampleMatmul(&arena);
  SambaMachine ideal = *sampleMachine();
  ideal.network = SAMBA_NETWORK_IDEAL;
  for (uint32_t s = 0; s < wires->stream_count; ++s)
    wires->streams[s].hop_count = 0;
  draws(wires, &ideal);
  sambaArenaDestroy(&arena);
}

static void names(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaText text = {0};
  SambaSection *section = sampleMatmul(&arena);

  section->units[0].name = "<a & b>";
  section->units[1].layer = "caf\xc3\xa9 \xff\x01";
  section->units[2].layer = "0123456789/0123456789/0123456789/0123456789";
  assert_null(sambaSectionDraw(section, sampleMachine(), &text));
  assert_non_null(strstr(sambaTextGet(&text), "<title>&lt;a &amp; b&gt;: load, address generator"));
  assert_non_null(strstr(sambaTextGet(&text), ", layer caf\xc3\xa9 \\FF\\01</title>"));
  assert_non_null(strstr(sambaTextGet(&text), "…789/0123456789/0123456789/0123456789 <tspan"));
  assert_null(strstr(sambaTextGet(&text), "<a & b>"));
  sambaTextFree(&text);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refusals), cmocka_unit_test(everything),
                                     cmocka_unit_test(names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
