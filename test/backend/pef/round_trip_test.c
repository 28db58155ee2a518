/* What is written is what is read, and equal contents are equal bytes. */
#include "test/backend/pef/sample_pef.h"

#include "backend/machine/shipped.h"
#include "backend/pef/container/initial_data.h"
#include "backend/pef/container/reader.h"
#include "backend/pef/container/weights.h"
#include "backend/pef/container/writer.h"
#include "backend/pef/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void assertText(SambaStringRef text, const char *expected) {
  assert_int_equal(text.size, strlen(expected));
  assert_memory_equal(text.data, expected, text.size);
}

static SambaPef *writeAndOpen(SambaPef *pef, const char *path) {
  SambaPef *back;
  expectOk(sambaPefWrite(pef, path));
  expectOk(sambaPefOpen(path, &back));
  return back;
}

static void testFields(void **state) {
  (void)state;
  SambaPef *pef = samplePefCreate();
  SambaPef *back = writeAndOpen(pef, samplePath(0, "a.pef"));

  assert_int_equal(back->header.major, 3);
  assert_int_equal(back->symbols_count, 4);
  const SambaPefSymbol *w = &back->symbols[SAMPLE_W];
  assertText(w->name, "fc1.weight \xff\"");
  assert_int_equal(w->kind, SAMBA_PEF_SYMBOL_WEIGHT);
  assert_int_equal(w->flags, SAMBA_PEF_PERSISTENT | SAMBA_PEF_HAS_DATA);
  assert_int_equal(w->dims_count, 2);
  assert_int_equal(w->dims[0].size, 4);
  assert_int_equal(w->dims[1].size, 3);
  assert_int_equal(w->grad_symbol, SAMBA_PEF_NONE);
  assert_int_equal(w->bytes, 48);
  assert_int_equal(back->symbols[SAMPLE_STATE].init_value, 0x3f800000);
  float data[12] = {0};
  expectOk(sambaPefReadInit(back, w, data));
  assert_memory_equal(data, sampleWeights, sizeof data);
  expectOk(sambaPefReadInitPart(back, w, 8, data, 8));
  assert_memory_equal(data, sampleWeights + 2, 8);
  expectOk(sambaPefVerifyInit(back, w));
  assert_int_equal(back->images[0].code.size, 24);
  assert_int_equal(back->images[0].code.data[4], 5);
  assertText(back->images[0].units[1].name, "store0");
  assert_int_equal(back->sections[0].estimated_cycles, 1234);
  assert_int_equal(back->calls[0].bindings_count, 4);
  assert_int_equal(back->calls[0].bindings[3].argin, 0);
  assertText(back->calls[0].layers[1].name, "encoder.0.fc1");
  assertText((SambaStringRef){(const char *)back->graphs[0].trace.data, back->graphs[0].trace.size},
             "trace record");
  assertText(back->options[0].value, "mp0");
  assert_int_equal(sambaPefFindSymbol(back, sambaStringRef("y")), SAMPLE_Y);
  assert_int_equal(sambaPefFindSymbol(back, sambaStringRef("z")), SAMBA_PEF_NONE);
  assert_int_equal(sambaPefFindSection(back, sambaStringRef("s0")), 0);
  sambaPefDestroy(back);
  sambaPefDestroy(pef);
}

static void assertSameFiles(const char *a, const char *b) {
  size_t sizes[2];
  char *first = sampleReadFile(a, &sizes[0]);
  char *second = sampleReadFile(b, &sizes[1]);
  assert_int_equal(sizes[0], sizes[1]);
  assert_memory_equal(first, second, sizes[0]);
  free(first);
  free(second);
}

/* A PEF in memory is the one of the file, its data included, and is written as that. */
static void testMemory(void **state) {
  (void)state;
  const char *a = samplePath(0, "a.pef");
  const char *b = samplePath(1, "b.pef");
  SambaPef *pef = samplePefCreate();
  SambaPef *back;
  size_t size;
  expectOk(sambaPefWrite(pef, a));
  char *bytes = sampleReadFile(a, &size);
  expectOk(sambaPefOpenMemory("memory", bytes, size, &back));

  float data[12] = {0};
  const SambaPefSymbol *w = &back->symbols[SAMPLE_W];
  expectOk(sambaPefReadInit(back, w, data));
  assert_memory_equal(data, sampleWeights, sizeof data);
  expectOk(sambaPefWrite(back, b));
  assertSameFiles(a, b);

  sambaPefReleaseFile(back);
  free(bytes);
  assertText(w->name, "fc1.weight \xff\"");
  expectError(sambaPefReadInit(back, w, data), "there is no data in a file");
  sambaPefDestroy(back);
  sambaPefDestroy(pef);
}

/* To memory: the bytes of the file. */
static void testWriteMemory(void **state) {
  (void)state;
  SambaPef *pef = samplePefCreate();
  void *data = NULL;
  size_t size = 0;
  expectOk(sambaPefWriteToMemory(pef, &data, &size));
  const char *path = samplePath(0, "memory.pef");
  expectOk(sambaPefWrite(pef, path));

  size_t written_size;
  char *written = sampleReadFile(path, &written_size);
  assert_int_equal(written_size, size);
  assert_memory_equal(written, data, size);
  free(written);
  free(data);
  sambaPefDestroy(pef);
}

/* What cannot be written is refused before anything is made. */
static void testMemoryRefuses(void **state) {
  (void)state;
  SambaPef *pef = samplePefCreate();
  void *data = pef;
  size_t size = 1;
  pef->calls[0].section = 77;
  SambaStatus status = sambaPefWriteToMemory(pef, &data, &size);
  assert_non_null(status);
  assert_non_null(strstr(sambaStatusGetMessage(status), "PEF in memory: cannot be made: "));
  assert_null(data);
  assert_int_equal(size, 0);
  sambaStatusFree(status);
  sambaPefDestroy(pef);
}

static void testMachine(void **state) {
  (void)state;
  SambaPef *pef = samplePefCreate();
  SambaPef *back = writeAndOpen(pef, samplePath(0, "a.pef"));
  SambaMachine machine;
  const SambaMachine *tiny = sambaMachineFind(sambaStringRef("tiny"));
  expectOk(sambaPefGetMachine(back, &machine));
  assert_string_equal(machine.name, "tiny");
  for (int i = 0; i < SAMBA_PARAMETER_COUNT; ++i) {
    assert_int_equal(sambaMachineGet(&machine, i), sambaMachineGet(tiny, i));
    assert_int_equal(machine.reasons[i].kind, tiny->reasons[i].kind);
  }
  sambaPefDestroy(back);
  sambaPefDestroy(pef);
}

static void testDeterministic(void **state) {
  (void)state;
  const char *a = samplePath(0, "a.pef");
  const char *b = samplePath(1, "b.pef");
  const char *c = samplePath(2, "c.pef");
  SambaPef *pef = samplePefCreate();
  SambaPef *again = samplePefCreate();
  SambaPef *back = writeAndOpen(pef, a);

  expectOk(sambaPefWrite(again, b));
  assertSameFiles(a, b);
  expectOk(sambaPefWrite(back, c)); /* an opened PEF, with its own data as source */
  assertSameFiles(a, c);
  sambaPefDestroy(back);
  sambaPefDestroy(again);
  sambaPefDestroy(pef);
}

static SambaStatus produceHalves(void *user, SambaPefSink *sink) {
  (void)user;
  SAMBA_RETURN_IF_ERROR(sambaPefSinkWrite(sink, sampleWeights, 20));
  return sambaPefSinkWrite(sink, sampleWeights + 5, 28);
}

static void testSources(void **state) {
  (void)state;
  const char *a = samplePath(0, "a.pef");
  const char *b = samplePath(1, "b.pef");
  const char *raw = samplePath(2, "raw.bin");
  SambaPef *pef = samplePefCreate();

  expectOk(sambaPefWrite(pef, a));
  char padded[100] = {0};
  memcpy(padded + 7, sampleWeights, sizeof sampleWeights);
  sampleWriteFile(raw, padded, sizeof padded);
  pef->symbols[SAMPLE_W].source = (SambaPefSource){.path = raw, .offset = 7};
  expectOk(sambaPefWrite(pef, b));
  assertSameFiles(a, b);
  pef->symbols[SAMPLE_W].source = (SambaPefSource){.produce = produceHalves};
  expectOk(sambaPefWrite(pef, b));
  assertSameFiles(a, b);
  sambaPefDestroy(pef);
}

static void testExternal(void **state) {
  (void)state;
  const char *a = samplePath(0, "a.pef");
  const char *raw = samplePath(1, "model.bin");
  char padded[100] = {0};

  memcpy(padded + 7, sampleWeights, sizeof sampleWeights);
  sampleWriteFile(raw, padded, sizeof padded);
  SambaPef *pef = samplePefCreate();
  SambaPefSymbol *w = &pef->symbols[SAMPLE_W];
  w->init = SAMBA_PEF_INIT_FILE;
  w->init_offset = 7;
  w->source = (SambaPefSource){.path = raw, .offset = 7};
  SambaPef *back = writeAndOpen(pef, a);
  assertText(back->symbols[SAMPLE_W].init_file, "model.bin");
  float data[12];
  expectOk(sambaPefReadInit(back, &back->symbols[SAMPLE_W], data));
  assert_memory_equal(data, sampleWeights, sizeof data);
  padded[30] ^= 1;
  sampleWriteFile(raw, padded, sizeof padded);
  expectError(sambaPefReadInit(back, &back->symbols[SAMPLE_W], data),
              "in model.bin is wrong: the file is damaged or another one");
  sampleWriteFile(raw, padded, 20);
  expectError(sambaPefReadInit(back, &back->symbols[SAMPLE_W], data),
              "bytes 7 to 55 are expected, but the file has 20; put the file that was compiled "
              "beside the PEF");
  SambaPefSymbol broken = back->symbols[SAMPLE_W];
  broken.init_file = (SambaStringRef){"a\0b", 3};
  expectError(sambaPefReadInit(back, &broken, data), "init_file contains a zero byte");
  unlink(raw);
  expectError(sambaPefReadInit(back, &back->symbols[SAMPLE_W], data),
              "cannot be read: No such file");
  sambaPefDestroy(back);
  sambaPefDestroy(pef);
}

/* A reader that is older than the container: readelf must understand it. */
static void testReadelf(void **state) {
  (void)state;
  SambaPef *pef = samplePefCreate();
  const char *path = samplePath(0, "a.pef");
  expectOk(sambaPefWrite(pef, path));
  char command[512];
  snprintf(command, sizeof command,
           "readelf -S %s 2>&1 | grep -q '\\.samba\\.weights *PROGBITS *0* *[0-9a-f]*0000$'", path);
  int status = system(command);
  if (WEXITSTATUS(status) == 127)
    skip();
  assert_int_equal(status, 0);
  sambaPefDestroy(pef);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testFields),      cmocka_unit_test(testMemory),
      cmocka_unit_test(testWriteMemory), cmocka_unit_test(testMemoryRefuses),
      cmocka_unit_test(testMachine),     cmocka_unit_test(testDeterministic),
      cmocka_unit_test(testSources),     cmocka_unit_test(testExternal),
      cmocka_unit_test(testReadelf)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
