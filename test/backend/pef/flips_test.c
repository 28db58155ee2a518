/* Robustness: 1,000 seeded byte flips of a PEF, each as it is and with its checksums repaired, and
 * every truncation. Whatever the bytes, there is an error or a PEF that can be asked; run under
 * ASan and UBSan by the sanitizer build. */
#include "test/backend/pef/sample_pef.h"

#include "backend/pef/container/fix.h"
#include "backend/pef/container/initial_data.h"
#include "backend/pef/container/reader.h"
#include "backend/pef/container/writer.h"
#include "backend/pef/image/image.h"
#include "backend/pef/image/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { flips = 1000, seed = 20240601, weightsOffset = 65536 };

static uint64_t nextRandom(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Opens and, if that succeeds, asks everything that a loader asks. Returns whether it opened. */
static bool exercise(const char *path) {
  SambaPef *pef;
  SambaStatus status = sambaPefOpen(path, &pef);

  if (status) {
    assert_true(strlen(sambaStatusGetMessage(status)) > 10);
    sambaStatusFree(status);
    return false;
  }

  SambaMachine machine;
  expectOk(sambaPefGetMachine(pef, &machine));
  for (uint32_t i = 0; i < pef->symbols_count; ++i)
    if (pef->symbols[i].init == SAMBA_PEF_INIT_BLOB || pef->symbols[i].init == SAMBA_PEF_INIT_FILE)
      sambaStatusFree(sambaPefVerifyInit(pef, &pef->symbols[i]));

  for (uint32_t i = 0; i < pef->images_count; ++i) {
    SambaArena arena = {0};
    SambaSection *section;
    sambaStatusFree(sambaPefDecodeImage(pef, i, &machine, &arena, &section));
    sambaArenaDestroy(&arena);
  }

  for (uint32_t i = 0; i < pef->calls_count; ++i)
    sambaPefCallLayer(pef, i, 1);
  expectOk(sambaPefWriteLog(pef, samplePath(3, "flip.log"), ""));
  sambaPefDestroy(pef);

  return true;
}

/* The bytes of a PEF as it is written. */
static char *writtenSample(size_t *out_size) {
  const char *path = samplePath(0, "a.pef");
  SambaPef *pef = samplePefCreate();
  expectOk(sambaPefWrite(pef, path));
  sambaPefDestroy(pef);
  return sampleReadFile(path, out_size);
}

static void testFlips(void **state) {
  (void)state;
  const char *bad = samplePath(1, "b.pef");
  const char *fixed = samplePath(2, "c.pef");
  size_t size;
  char *bytes = writtenSample(&size);
  size_t tables = 0; /* end of headers and tables; the rest is a gap and the weights */
  for (size_t i = 0; i < weightsOffset; ++i)
    tables = bytes[i] ? i + 1 : tables;
  uint64_t random = seed;
  int opened = 0, repaired = 0;

  for (int i = 0; i < flips; ++i) {
    size_t at = nextRandom(&random) % 10
                    ? nextRandom(&random) % tables
                    : weightsOffset + nextRandom(&random) % (size - weightsOffset);
    char was = bytes[at];
    bytes[at] ^= (char)(1 << nextRandom(&random) % 8);
    sampleWriteFile(bad, bytes, size);
    opened += exercise(bad);
    SambaStatus status = sambaPefFixChecksums(bad, fixed);
    if (!status) {
      ++repaired;
      exercise(fixed);
    }
    sambaStatusFree(status);
    bytes[at] = was;
  }

  /* Checksums cover all but padding, ELF bookkeeping and the weights, whose checksums are verified
   * when they are read. */
  assert_true(opened < flips / 3);
  assert_true(repaired > flips / 2);
  free(bytes);
}

static void testTruncations(void **state) {
  (void)state;
  const char *bad = samplePath(1, "b.pef");
  size_t size;
  char *bytes = writtenSample(&size);

  for (size_t length = 0; length < size; length += length < 9000 ? 61 : 4093) {
    sampleWriteFile(bad, bytes, length);
    assert_false(exercise(bad));
  }

  sampleWriteFile(bad, bytes, size - 1);
  assert_false(exercise(bad));
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testFlips),
                                     cmocka_unit_test(testTruncations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
