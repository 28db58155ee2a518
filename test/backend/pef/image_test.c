/* Sections in and out of images, and 1,000 byte flips of a PEF whose image decodes, with checksums
 * repaired: damage must end in the decoder's hands and be found there, or leave a section that
 * passes every check. */
#include "test/backend/pef/sample_pef.h"

#include "backend/listing/listing.h"
#include "backend/machine/shipped.h"
#include "backend/pef/container/fix.h"
#include "backend/pef/container/reader.h"
#include "backend/pef/container/writer.h"
#include "backend/pef/image/image.h"
#include "backend/pef/image/log.h"
#include "backend/section/check/section_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* y = 2 * x on `tiny`, placed and routed by hand. */
static const char listing[] = "section twice {\n"
                              "  symbol x dtype=f32 elements=64\n"
                              "  symbol y dtype=f32 elements=64 written=yes\n"
                              "  load lx symbol=x ag=2 layer=\"a b\"\n"
                              "    output dtype=f32 trips=[4 | 16] strides=[16 | 1]\n"
                              "  compute c x=1 y=3 trips=[4 | 16] layer=fc1\n"
                              "    input dtype=f32 strides=[0 | 1]\n"
                              "    %1 = const f32 2.0\n"
                              "    %2 = mul f32 %0, %1\n"
                              "    output dtype=f32 strides=[0 | 1]\n"
                              "  store sy symbol=y ag=3\n"
                              "    input dtype=f32 trips=[4 | 16] strides=[16 | 1]\n"
                              "  stream s0 vector lx.out0 -> c.in0\n"
                              "    hop (1, 3) ag 2 lane 0 flow 0 -> unit lane 0 flow 0\n"
                              "  stream s1 vector c.out0 -> sy.in0\n"
                              "    hop (1, 3) unit lane 0 flow 0 -> east lane 0 flow 0\n"
                              "    hop (2, 3) west lane 0 flow 0 -> east lane 0 flow 0\n"
                              "    hop (3, 3) west lane 0 flow 0 -> ag 3 lane 0 flow 0\n"
                              "}\n";

static SambaPef *createWithSection(void) {
  SambaPef *pef = samplePefCreate();
  SambaSection *section;
  size_t position = 0;

  expectOk(sambaSectionParse(sambaStringRef(listing), &position, &pef->arena, &section));
  expectOk(
      sambaPefEncodeImage(pef, section, sambaMachineFind(sambaStringRef("tiny")), &pef->images[0]));
  pef->symbols[SAMPLE_X].dims[0].size = pef->symbols[SAMPLE_Y].dims[0].size = 16;
  pef->symbols[SAMPLE_X].dims[1].size = pef->symbols[SAMPLE_Y].dims[1].size = 4;
  pef->symbols[SAMPLE_X].bytes = pef->symbols[SAMPLE_Y].bytes = 256;
  pef->regions[SAMPLE_X].bytes = pef->regions[SAMPLE_Y].bytes = 256;
  pef->calls[0].bindings_count = 2;
  pef->calls[0].bindings[1].symbol = SAMPLE_Y;
  pef->symbols[SAMPLE_W].first_call = pef->symbols[SAMPLE_W].last_call = SAMBA_PEF_NONE;
  pef->calls[0].layers_count = 0;

  return pef;
}

static void testNames(void **state) {
  (void)state;
  const char *path = samplePath(0, "a.pef");
  SambaPef *pef = createWithSection();
  SambaPef *back;

  expectOk(sambaPefWrite(pef, path));
  expectOk(sambaPefOpen(path, &back));
  SambaMachine machine;
  expectOk(sambaPefGetMachine(back, &machine));
  SambaArena arena = {0};
  SambaSection *section;
  expectOk(sambaPefDecodeImage(back, 0, &machine, &arena, &section));
  assert_string_equal(section->name, "twice");
  assert_int_equal(section->unit_count, 3);
  assert_string_equal(section->units[0].name, "lx");
  assert_string_equal(section->units[0].layer, "a b");
  assert_string_equal(section->units[1].name, "c");
  assert_string_equal(section->symbols[1].name, "y");
  assert_int_equal(section->stream_count, 2);
  assert_true(sambaStringRefEqualC(sambaPefCallLayer(back, 0, 1), "fc1"));
  assert_true(sambaStringRefEqualC(sambaPefCallLayer(back, 0, 9), ""));
  sambaArenaDestroy(&arena);
  sambaPefDestroy(back);
  sambaPefDestroy(pef);
}

static void testMismatches(void **state) {
  (void)state;
  SambaPef *pef = createWithSection();
  SambaMachine machine;
  SambaArena arena = {0};
  SambaSection *section;

  expectOk(sambaPefGetMachine(pef, &machine));
  --pef->images[0].formals_count;
  expectError(sambaPefDecodeImage(pef, 0, &machine, &arena, &section),
              "image 0: it names 1 formal arguments, but its code has 2");
  ++pef->images[0].formals_count;
  --pef->images[0].units_count;
  expectError(sambaPefDecodeImage(pef, 0, &machine, &arena, &section),
              "image 0: it names 2 units, but its code has 3");
  ++pef->images[0].units_count;
  sambaArenaDestroy(&arena);
  sambaPefDestroy(pef);
}

static void testDamagedCode(void **state) {
  (void)state;
  enum { flips = 1000 };
  const char *good = samplePath(0, "a.pef");
  const char *bad = samplePath(1, "b.pef");
  const char *fixed = samplePath(2, "c.pef");
  SambaPef *pef = createWithSection();

  expectOk(sambaPefWrite(pef, good));
  uint64_t start = samplePatch(good, ".samba.code", 0, "SPEF", 4);
  uint64_t bytes = 64 + pef->images[0].code.size;
  sambaPefDestroy(pef);
  size_t size;
  char *file = sampleReadFile(good, &size);
  uint32_t random = 99;
  int decoded = 0, refused = 0;

  for (int i = 0; i < flips; ++i) {
    random = random * 1664525 + 1013904223;
    uint64_t at = start + 64 + (random >> 8) % (bytes - 64);
    uint64_t bit = random >> 4 & 7;
    file[at] ^= (char)(1 << bit);
    sampleWriteFile(bad, file, size);
    expectOk(sambaPefFixChecksums(bad, fixed));
    file[at] ^= (char)(1 << bit);
    expectOk(sambaPefOpen(fixed, &pef));
    SambaArena arena = {0};
    SambaMachine machine;
    SambaSection *section;
    expectOk(sambaPefGetMachine(pef, &machine));
    SambaStatus status = sambaPefDecodeImage(pef, 0, &machine, &arena, &section);
    if (status)
      ++refused;
    else
      expectOk(sambaSectionCheck(section));
    decoded += !status;
    sambaStatusFree(status);
    sambaArenaDestroy(&arena);
    sambaPefDestroy(pef);
  }

  assert_int_equal(decoded + refused, flips);
  assert_true(refused > flips / 4); /* bits of addresses and constants have many legal values */
  free(file);
}

static void testLog(void **state) {
  (void)state;
  const char *path = samplePath(0, "a.pef.log");
  SambaPef *pef = createWithSection();

  expectOk(sambaPefWriteLog(pef, path, "what is more\n"));
  size_t size;
  char *text = sampleReadFile(path, &size);
  text[size] = '\0';
  static const char *const expected[] = {"target: \"tiny\"",
                                         "option: \"precision\" = \"mp0\"",
                                         "graph 0: \"main\", calls [0, 1)",
                                         "sections: 1, configurations: 1, calls: 1",
                                         "data on load 48 B",
                                         "  72             32  \"s0\"",
                                         "layers \"a b\", \"fc1\"\n",
                                         "FWD",
                                         "25.0%",
                                         "50.0%",
                                         "1234",
                                         "what is more\n",
                                         "(split-k: partial sums are added across units)"};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; ++i)
    if (!strstr(text, expected[i]))
      fail_msg("the log lacks: %s\nit is:\n%s", expected[i], text);
  free(text);
  sambaPefDestroy(pef);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testNames), cmocka_unit_test(testMismatches),
                                     cmocka_unit_test(testDamagedCode), cmocka_unit_test(testLog)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
