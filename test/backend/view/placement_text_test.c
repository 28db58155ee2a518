/* Placement and routes as text, of a section that is placed by hand and of one that is not. */
#include "backend/view/placement_text.h"

#include "test/backend/sample_sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void expectPart(const SambaText *text, const char *part) {
  if (!strstr(sambaTextGet(text), part))
    fail_msg("'%s' is not in:\n%s", part, sambaTextGet(text));
}

static void placement(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaText text = {0};
  SambaSection *section = sampleMatmul(&arena);

  section->units[4].layer = "fc1";
  sambaPlacementPrint(section, sampleMachine(), &text);
  expectPart(&text, "placement of matmul on tiny");
  expectPart(&text, "\n  .M..\n  .CM.\n  ....\n  ....\n");
  expectPart(&text, "\n  ag 0 at (1, 0): load at\n");
  expectPart(&text, "\n  (2, 1): buffer bb\n");
  expectPart(&text, "\n  (1, 1): compute ct of fc1\n");
  section->units[4].x = section->units[4].y = -1;
  section->units[5].load_store.ag = SAMBA_NO_INDEX;
  sambaTextClear(&text);
  sambaPlacementPrint(section, sampleMachine(), &text);
  expectPart(&text, "\n  .M..\n  ..M.\n");
  expectPart(&text, "\n  not placed: compute ct of fc1\n  not placed: store cs\n");
  sambaTextFree(&text);
  sambaArenaDestroy(&arena);
}

static void routes(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaText text = {0};
  SambaSection *section = sampleMatmul(&arena);
  static const SambaHop hops[] = {
      {1, 0, {SAMBA_SWITCH_AG, 0, 0, 0}, {SAMBA_SWITCH_UNIT, 0, 0, 0}},
      {1, 0, {SAMBA_SWITCH_AG, 0, 0, 0}, {SAMBA_SWITCH_SOUTH, 0, 0, 0}},
      {1, 1, {SAMBA_SWITCH_NORTH, 0, 0, 0}, {SAMBA_SWITCH_AG, 0, 0, 2}}};

  section->streams[0].hops = hops;
  section->streams[0].hop_count = 3;
  section->streams[1].hop_count = 0;
  sambaRoutesPrint(section, sampleMachine(), &text);
  expectPart(&text, "routes of matmul");
  expectPart(&text, "\n  0: vector at.0 -> ab.0: 3 hops, (1, 0) unit south (1, 1) ag 2\n");
  expectPart(&text, "\n  1: vector bt.0 -> bb.0: not routed\n");

  SambaMachine ideal = *sampleMachine();
  ideal.network = SAMBA_NETWORK_IDEAL;
  sambaRoutesPrint(section, &ideal, &text);
  expectPart(&text, "\n  1: vector bt.0 -> bb.0: a wire\n");
  sambaTextFree(&text);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(placement), cmocka_unit_test(routes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
