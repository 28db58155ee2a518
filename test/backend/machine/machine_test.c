/* backend/machine: the shipped machines against published totals, geometry, every refusal of
 * sambaMachineCheck. */
#include "backend/machine/machine.h"
#include "backend/machine/shipped.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const SambaMachine *find(const char *name) {
  const SambaMachine *machine = sambaMachineFind(sambaStringRef(name));
  assert_non_null(machine);
  return machine;
}

static void shippedMachinesAreConsistent(void **state) {
  (void)state;
  static const char *const names[] = {"tiny", "plasticine", "sn10", "sn40l"};
  for (int i = 0; i < 4; ++i) {
    assert_string_equal(sambaMachineShipped(i)->name, names[i]);
    assert_ptr_equal(sambaMachineShipped(i), find(names[i]));
    SambaStatus status = sambaMachineCheck(sambaMachineShipped(i));
    assert_null(status);
  }
  assert_null(sambaMachineShipped(4));
  assert_null(sambaMachineShipped(-1));
  assert_null(sambaMachineFind(sambaStringRef("sn41")));
}

/* Multiply-accumulates per cycle of all systolic arrays. */
static int64_t peakMacs(const SambaMachine *m) {
  return sambaMachinePcuCount(m) * m->systolic_rows * m->systolic_columns;
}

/* Totals as published: arXiv 2405.07518, Table II; secondary notes on SN10; the Plasticine runs. */
static void totalsArePublished(void **state) {
  (void)state;
  const SambaMachine *m = find("sn40l");

  assert_int_equal(sambaMachinePcuCount(m), 1040);
  assert_int_equal(sambaMachinePmuCount(m), 1040);
  assert_int_equal(sambaMachinePmuCount(m) * m->pmu_bytes, INT64_C(520) << 20);
  int64_t flops = peakMacs(m) * 2 * m->clock_hz;
  assert_in_range(flops, INT64_C(637500000000000),
                  INT64_C(638999999999999)); /* 638 TFLOPS, to three digits */
  assert_int_equal(m->hbm_channels * m->hbm_channel_mbps, 1800000);
  assert_int_equal(m->hbm_bytes, INT64_C(64) << 30);
  assert_int_equal(m->ddr_channels * m->ddr_channel_mbps, 204800);
  m = find("sn10");
  assert_int_equal(sambaMachinePcuCount(m), 640);
  assert_int_equal(sambaMachinePmuCount(m), 640);
  assert_int_equal(m->ddr_channels * m->ddr_channel_mbps, 153600);
  assert_int_equal(m->hbm_bytes, 0);
  m = find("plasticine");
  assert_int_equal(sambaMachinePcuCount(m), 200);
  assert_int_equal(m->pmu_bytes, 65536 * 4);
  assert_int_equal(peakMacs(m), 200);
  m = find("tiny");
  assert_int_equal(sambaMachinePcuCount(m), 8);
  assert_int_equal(sambaMachinePmuCount(m), 8);
  assert_int_equal(sambaMachineSiteCount(m), 16);
}

static void sourcesAreNamedOrAssumed(void **state) {
  (void)state;
  const SambaMachine *m = find("sn40l");
  assert_string_equal(m->reasons[SAMBA_PARAMETER_pmu_bytes].text, "arXiv 2405.07518, Table II");
  assert_null(m->reasons[SAMBA_PARAMETER_hop_cycles].text);
  for (int i = 0; i < SAMBA_PARAMETER_COUNT; ++i)
    assert_int_equal(find("tiny")->reasons[i].kind, SAMBA_REASON_ASSUMED);

  SambaText reasons = {0};
  sambaMachineReasons(find("tiny"), &reasons);
  assert_string_equal(sambaTextGet(&reasons),
                      "0 parameters sourced, 0 derived, 0 by analogy, 75 assumed");
  sambaTextFree(&reasons);
}

/* What one can look up or work out is not assumed. */
static void mostOfSn40lHasAReason(void **state) {
  (void)state;
  const SambaMachine *m = find("sn40l");
  uint32_t assumed = 0;
  for (int i = 0; i < SAMBA_PARAMETER_COUNT; ++i) {
    const SambaReason *reason = &m->reasons[i];
    assert_int_equal(reason->text == NULL, reason->kind == SAMBA_REASON_ASSUMED);
    assumed += reason->kind == SAMBA_REASON_ASSUMED;
  }
  assert_int_equal(assumed, sambaMachineCountReasons(m, SAMBA_REASON_ASSUMED));
  assert_true(SAMBA_PARAMETER_COUNT - assumed >= 38);
}

/* The formulas of what is derived. */
static void derivedValuesFollowFromTheirFormulas(void **state) {
  (void)state;
  const SambaMachine *m = find("sn40l");
  assert_int_equal(m->grid_columns * m->grid_rows, 1040 + 1040);
  double peak = 1040.0 * (double)(m->systolic_rows * m->systolic_columns) * 2;
  assert_true(fabs(638e12 / peak - (double)m->clock_hz) < 0.005 * (double)m->clock_hz);
  assert_true(638e12 / (peak / 4) >
              2e9); /* an array of half the rows would need too high a clock */
  assert_int_equal(m->systolic_accumulators, m->systolic_rows * m->systolic_columns);
  assert_int_equal(m->hbm_channels * m->hbm_channel_mbps, 1800000);
  assert_int_equal(m->ddr_channels, (200000 + m->ddr_channel_mbps - 1) / m->ddr_channel_mbps);
  assert_int_equal(m->load_mbps, 200000);

  m = find("sn10");
  assert_int_equal(m->grid_columns * m->grid_rows, 4 * (160 + 160));
  assert_int_equal(m->tile_columns * m->tile_rows, 160 + 160);
  assert_int_equal(m->ddr_channels * m->ddr_channel_mbps, 153600);
}

/* Ten AGs at the outer, 13 wide edge of each of the eight tiles of 20 rows x 13 columns. */
static void agsOfSn40lSitAtTheOuterEdges(void **state) {
  (void)state;
  const SambaMachine *m = find("sn40l");
  int per_tile[2][4] = {{0}};
  bool taken[2][52] = {{0}};

  for (int32_t ag = 0; ag < m->ag_count; ++ag) {
    int32_t x, y;
    sambaMachineAgSite(m, ag, &x, &y);
    assert_true(y == 0 || y == 39);
    assert_in_range(x, 0, 51);
    assert_false(taken[y != 0][x]);
    taken[y != 0][x] = true;
    ++per_tile[y != 0][x / 13];
  }

  for (int tile = 0; tile < 8; ++tile)
    assert_int_equal(per_tile[tile / 4][tile % 4], 10);
}

static void agsSpreadOverSmallEdges(void **state) {
  (void)state;
  SambaMachine m = *find("tiny");
  static const int32_t sites[5][2] = {{0, 0}, {2, 0}, {3, 0}, {1, 3}, {3, 3}};

  m.ag_count = 5; /* three on top, two below: (2k+1) * 4 / 6 and (2k+1) * 4 / 4 */
  for (int32_t ag = 0; ag < 5; ++ag) {
    int32_t x, y;
    sambaMachineAgSite(&m, ag, &x, &y);
    assert_int_equal(x, sites[ag][0]);
    assert_int_equal(y, sites[ag][1]);
  }

  m.ag_count = 1;
  int32_t x, y;
  sambaMachineAgSite(&m, 0, &x, &y);
  assert_int_equal(x, 2);
  assert_int_equal(y, 0);
}

/* Where a tile's AGs are. */
static void assertAgs(const SambaMachine *m, int32_t first, int32_t count, const int32_t *columns,
                      int32_t row, uint32_t tile) {
  for (int32_t i = 0; i < count; ++i) {
    int32_t x, y;
    sambaMachineAgSite(m, first + i, &x, &y);
    assert_int_equal(x, columns[i]);
    assert_int_equal(y, row);
    assert_int_equal(sambaMachineTileAt(m, x, y), tile);
    assert_int_equal(sambaMachineAgIsAbove(m, first + i), row == 0);
  }
}

/* sn10: 2 x 2 tiles of 20 columns x 16 rows, 10 AGs each, one at every other column. */
static void agsOfSn10SitAtTheOuterEdges(void **state) {
  (void)state;
  const SambaMachine *m = find("sn10");
  static const int32_t left[] = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19};
  static const int32_t right[] = {21, 23, 25, 27, 29, 31, 33, 35, 37, 39};
  assert_int_equal(sambaMachineTileCount(m), 4);
  assertAgs(m, 0, 10, left, 0, 0);
  assertAgs(m, 10, 10, right, 0, 1);
  assertAgs(m, 20, 10, left, 31, 2);
  assertAgs(m, 30, 10, right, 31, 3);
}

/* 3 x 2 tiles of 2 x 2 sites with 7 AGs: four outer edges get 2, 2, 2 and 1; the middle row of
 * tiles gets none. */
static void agsAreDealtToTheEdges(void **state) {
  (void)state;
  SambaMachine m = *find("tiny");
  m.grid_rows = 6;
  m.tile_columns = m.tile_rows = 2;
  m.ag_count = 7;
  assert_null(sambaMachineCheck(&m));
  assert_int_equal(sambaMachineTileCount(&m), 6);
  assertAgs(&m, 0, 2, (const int32_t[]){0, 1}, 0, 0);
  assertAgs(&m, 2, 2, (const int32_t[]){2, 3}, 0, 1);
  assertAgs(&m, 4, 2, (const int32_t[]){0, 1}, 5, 4);
  assertAgs(&m, 6, 1, (const int32_t[]){3}, 5, 5);
}

static void tilesAreNumberedRowByRow(void **state) {
  (void)state;
  const SambaMachine *m = find("sn40l");
  assert_int_equal(sambaMachineTileCount(m), 8);
  assert_int_equal(sambaMachineTileAt(m, 0, 0), 0);
  assert_int_equal(sambaMachineTileAt(m, 12, 19), 0);
  assert_int_equal(sambaMachineTileAt(m, 13, 19), 1);
  assert_int_equal(sambaMachineTileAt(m, 51, 0), 3);
  assert_int_equal(sambaMachineTileAt(m, 0, 20), 4);
  assert_int_equal(sambaMachineTileAt(m, 51, 39), 7);
  assert_int_equal(sambaMachineTileCount(find("plasticine")), 1);
}

static void sitesAlternateAndDiesCostMore(void **state) {
  (void)state;
  const SambaMachine *m = find("sn40l");
  assert_int_equal(sambaMachineSiteKind(m, 0, 0), SAMBA_SITE_PCU);
  assert_int_equal(sambaMachineSiteKind(m, 1, 0), SAMBA_SITE_PMU);
  assert_int_equal(sambaMachineSiteKind(m, 0, 1), SAMBA_SITE_PMU);
  assert_int_equal(sambaMachineSiteKind(m, 51, 39), SAMBA_SITE_PCU);
  assert_int_equal(sambaMachineHopCycles(m, 24, 3, 25, 3), 2);
  assert_int_equal(sambaMachineHopCycles(m, 25, 3, 26, 3), 10);
  assert_int_equal(sambaMachineHopCycles(m, 26, 3, 25, 3), 10);
  assert_int_equal(sambaMachineHopCycles(m, 26, 3, 26, 4), 2);
}

static void parametersHaveNames(void **state) {
  (void)state;
  SambaMachine m = *find("tiny");

  for (int i = 0; i < SAMBA_PARAMETER_COUNT; ++i) {
    SambaParameter parameter = (SambaParameter)i;
    assert_int_equal(sambaParameterFromName(sambaStringRef(sambaParameterName(parameter))), i);
    assert_true(strlen(sambaParameterUnit(parameter)) > 0);
    assert_true(strlen(sambaParameterDescription(parameter)) > 0);
    sambaMachineSet(&m, parameter, 1000 + i, (SambaReason){SAMBA_REASON_SOURCED, "a book"});
  }

  int64_t value;
  SambaParameter network = SAMBA_PARAMETER_network;
  assert_true(sambaParameterFromWord(network, sambaStringRef("ideal"), &value));
  assert_int_equal(value, SAMBA_NETWORK_IDEAL);
  assert_false(sambaParameterFromWord(network, sambaStringRef("ide"), &value));
  assert_true(sambaStringRefEqualC(sambaParameterWord(network, SAMBA_NETWORK_MESH), "mesh"));
  assert_int_equal(sambaParameterWord(network, 2).size, 0);
  assert_int_equal(sambaParameterWord(SAMBA_PARAMETER_clock_hz, 0).size, 0);
  assert_int_equal(m.clock_hz, 1000);
  assert_int_equal(m.reserve_links_percent, 1000 + SAMBA_PARAMETER_COUNT - 1);
  assert_int_equal(sambaMachineGet(&m, SAMBA_PARAMETER_grid_rows),
                   1000 + SAMBA_PARAMETER_grid_rows);
  assert_string_equal(m.reasons[SAMBA_PARAMETER_grid_rows].text, "a book");
  assert_int_equal(sambaParameterFromName(sambaStringRef("clock")), SAMBA_PARAMETER_COUNT);
  assert_string_equal(sambaParameterName(SAMBA_PARAMETER_COUNT), "invalid");
  assert_int_equal(sambaMachineGet(&m, SAMBA_PARAMETER_COUNT), 0);
}

static void assertRefused(const SambaMachine *machine, const char *text) {
  SambaStatus status = sambaMachineCheck(machine);
  assert_non_null(status);
  if (!strstr(sambaStatusGetMessage(status), text))
    print_message("got:    %s\nwanted: %s\n", sambaStatusGetMessage(status), text);
  assert_non_null(strstr(sambaStatusGetMessage(status), text));
  sambaStatusFree(status);
}

static void inconsistentMachinesAreRefused(void **state) {
  (void)state;
#define REFUSED(parameter, value, text)                                                            \
  do {                                                                                             \
    SambaMachine m = *find("sn40l");                                                               \
    m.parameter = (value);                                                                         \
    assertRefused(&m, text);                                                                       \
  } while (0)
  REFUSED(
      hop_cycles, 0,
      "machine 'sn40l': hop_cycles (latency of one switch hop) is 0, expected 1 to 1000 cycles");
  REFUSED(flows_per_lane, 5000,
          "flows_per_lane (flow ids per lane) is 5000, expected 1 to 4096 flows");
  REFUSED(dies, 3, "grid_columns is 52, expected a multiple of dies, which is 3");
  REFUSED(tile_rows, 7, "grid_rows is 40, expected a multiple of tile_rows, which is 7");
  REFUSED(tile_columns, 52,
          "tile_columns is 52, expected a divisor of the 26 columns of a die: a "
          "tile lies on one die");
  REFUSED(launch_overlap, 2, "launch_overlap (");
  REFUSED(systolic_accumulators, 255,
          "systolic_accumulators is 255, expected at least one per MAC of the 16 x 16 array");
  REFUSED(simd_lanes, 12,
          "simd_lanes is 12, expected a power of two: lane reductions fold the lanes by halves");
  REFUSED(pmu_banks, 12, "pmu_banks is 12, expected a power of two: addresses are split");
  REFUSED(pmu_word_bytes, 3, "pmu_word_bytes is 3, expected a power of two: addresses are split");
  REFUSED(pmu_bank_arrays, 6, "pmu_bank_arrays is 6, expected a power of two: addresses are split");
  REFUSED(pmu_bytes, 524352,
          "pmu_bytes is 524352, expected a multiple of 128: a word in each array of each bank");
  REFUSED(hbm_channels, 0,
          "hbm_bytes is 68719476736 but hbm_channels is 0, expected both zero (no such memory) or "
          "both positive");
  REFUSED(ddr_channel_mbps, 0, "ddr_bytes is 1500000000000 but ddr_channel_mbps is 0");
  REFUSED(dram_burst_bytes, 48,
          "dram_burst_bytes is 48, expected a power of two: addresses are split");
  REFUSED(dram_burst_bytes, 2048,
          "dram_row_bytes is 1024, expected a multiple of dram_burst_bytes, which is 2048");
  REFUSED(dram_write_low, 24,
          "dram_write_low is 24, expected less than dram_write_high, which is 24");
  REFUSED(
      dram_refresh_ps, 4000000,
      "dram_refresh_ps is 4000000, expected less than dram_refresh_interval_ps, which is 3900000");
  REFUSED(name[0], '\0', "machine without a name, expected 1 to 63 bytes");
  SambaMachine none = *find("tiny");

  none.hbm_bytes = none.hbm_channels = none.hbm_channel_mbps = 0;
  assertRefused(&none,
                "machine 'tiny': hbm_bytes and ddr_bytes are both 0, expected at least one memory");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shippedMachinesAreConsistent),
      cmocka_unit_test(totalsArePublished),
      cmocka_unit_test(sourcesAreNamedOrAssumed),
      cmocka_unit_test(mostOfSn40lHasAReason),
      cmocka_unit_test(derivedValuesFollowFromTheirFormulas),
      cmocka_unit_test(agsOfSn40lSitAtTheOuterEdges),
      cmocka_unit_test(agsSpreadOverSmallEdges),
      cmocka_unit_test(agsOfSn10SitAtTheOuterEdges),
      cmocka_unit_test(agsAreDealtToTheEdges),
      cmocka_unit_test(tilesAreNumberedRowByRow),
      cmocka_unit_test(sitesAlternateAndDiesCostMore),
      cmocka_unit_test(parametersHaveNames),
      cmocka_unit_test(inconsistentMachinesAreRefused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
