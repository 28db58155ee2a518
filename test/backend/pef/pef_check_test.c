/* sambaPefCheck: each inconsistency of a PEF in memory has its text. */
#include "backend/pef/container/weights.h"
#include "backend/pef/container/writer.h"
#include "backend/pef/pef_check.h"
#include "test/backend/pef/sample_pef.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Changes a fresh sample by `change` and expects this error. */
#define EXPECT(change, text)                                                                       \
  do {                                                                                             \
    SambaPef *pef = samplePefCreate();                                                             \
    expectOk(sambaPefCheck(pef));                                                                  \
    change;                                                                                        \
    expectError(sambaPefCheck(pef), text);                                                         \
    sambaPefDestroy(pef);                                                                          \
  } while (0)

static void testFields(void **state) {
  (void)state;
  EXPECT(pef->header.major = 1, "header: major is 1, expected 3");
  EXPECT(pef->symbols[1].kind = 77, "symbol 1: kind is 77, which has no meaning");
  EXPECT(pef->symbols[1].flags = 0x101,
         "symbol 1: flags is 0x101, but only the bits 0x1f have a meaning");
  EXPECT(pef->symbols[1].host_dtype = 9, "symbol 1: host_dtype is 9, which is no dtype");
  EXPECT(pef->symbols[1].region = 4, "symbol 1: region is region 4, but there are 4");
  EXPECT(pef->symbols[1].grad_symbol = 9, "symbol 1: grad_symbol is symbol 9, but there are 4");
  EXPECT(pef->calls[0].bindings[2].symbol = 5,
         "call 0: binding 2: symbol is symbol 5, but there are 4");
}

static void testMachine(void **state) {
  (void)state;
  EXPECT(pef->machine.name.size = 0, "machine: the machine's name has 0 bytes, expected 1 to 63");
  EXPECT(pef->machine.parameters[0].name = sambaStringRef("flux"),
         "machine parameter \"flux\" is unknown; use the version of Samba that wrote this");
  EXPECT(pef->machine.parameters[1].name = pef->machine.parameters[0].name,
         "machine parameter \"clock_hz\" is given twice");
  EXPECT(pef->machine.parameters[0].unit = sambaStringRef("MHz"),
         "machine parameter \"clock_hz\" is in \"MHz\", expected \"Hz\"");
  EXPECT(--pef->machine.parameters_count, "is missing; compile again with this version");
  EXPECT(pef->machine.parameters[0].value = 3, "clock_hz");
}

static void testRegions(void **state) {
  (void)state;
  EXPECT(pef->regions[2].memory = SAMBA_PEF_MEMORY_ANY,
         "region 2 \"y\": memory is `any`, expected the one that was assigned");
  EXPECT(pef->regions[2].alignment = 96,
         "region 2 \"y\": alignment is 96, expected a power of two");
  EXPECT(pef->regions[2].address += 8,
         "region 2 \"y\": address 0x2008 is not a multiple of its alignment 64");
  EXPECT(pef->regions[2].bytes = UINT64_MAX, "bytes are not within [0x0, 0x");
  EXPECT(pef->regions[2].bytes = 0, "region 2 \"y\": address 0x2000 and 0 bytes are not within");
  EXPECT(pef->regions[2].memory = SAMBA_PEF_MEMORY_DDR, "the DDR of machine tiny");
  EXPECT(pef->regions[2].memory = SAMBA_PEF_MEMORY_HOST, "host memory of machine tiny");
  EXPECT(pef->regions[1].owners[0].symbol = 0,
         "region 1 \"fc1.weight \\FF\\\"\": owner 0 is symbol 0, which is in region 0");
  EXPECT(pef->regions[0].bytes = 4097, "region 1 \"fc1.weight \\FF\\\"\" overlaps region 0 \"x\"");
}

static void testSymbols(void **state) {
  (void)state;
  EXPECT(pef->symbols[0].name.size = 0, "symbol 0 \"\": it has no name");
  EXPECT(pef->symbols[2].name = sambaStringRef("x"), "symbol 2 \"x\": symbol 0 has the same name");
  EXPECT(pef->symbols[0].dims_count = 33;
         pef->symbols[0].dims = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefDim, 33),
         "it has 33 dimensions, expected at most 32");
  EXPECT(pef->symbols[0].dims[1].size = 0,
         "symbol 0 \"x\": bytes is 24, expected 0 elements of f32");
  EXPECT((pef->symbols[0].dims[0].size = 0, pef->symbols[0].dims[1].size = UINT64_C(1) << 48),
         "symbol 0 \"x\": its shape has 2^48 elements or more");
  EXPECT(pef->symbols[0].dims[0].size = UINT64_C(1) << 47, "its shape has 2^48 elements or more");
  EXPECT(pef->symbols[0].bytes = 20, "symbol 0 \"x\": bytes is 20, expected 6 elements of f32");
  EXPECT(pef->symbols[0].device_dtype = SAMBA_DTYPE_BF16,
         "bytes is 24, expected 6 elements of bf16");
  EXPECT(pef->symbols[1].init_dtype = SAMBA_DTYPE_F16,
         "init_bytes is 48, expected 12 elements of f16");
  EXPECT(pef->symbols[1].init_offset = UINT64_MAX,
         "init_offset 18446744073709551615 is beyond any file");
  EXPECT(pef->symbols[0].address += 4,
         "address 0x4 and 24 bytes are not within its region 0 [0x0, 0x18)");
  EXPECT(pef->symbols[2].region = 0; pef->regions[2].owners_count = 0,
                                     "address 0x2000 and 32 bytes are not within its region 0");
  EXPECT(pef->regions[3].bytes += 2;
         pef->symbols[3].address += 2, "address 0x3002 is not a multiple of the size of f32");
  EXPECT(pef->symbols[0].last_call = SAMBA_PEF_NONE,
         "first_call and last_call are not an interval");
  EXPECT(
      pef->symbols[3].first_call = pef->symbols[3].last_call = 0,
      "first_call and last_call are 0 and 0, but the calls that touch it are -1 to -1 (-1: none)");
  EXPECT(pef->symbols[1].init = SAMBA_PEF_INIT_FILE, "init is a file without init_file");
  EXPECT(pef->symbols[0].block_step = 8,
         "it is row_major, but block_bytes is 0 and block_step 8; expected 0");
}

static void layOut(SambaPefSymbol *symbol, uint64_t bytes, uint64_t step) {
  symbol->layout = SAMBA_PEF_LAYOUT_BLOCKS;
  symbol->block_bytes = bytes;
  symbol->block_step = step;
}

static void testLayouts(void **state) {
  (void)state;
  EXPECT(layOut(&pef->symbols[0], 16, 20),
         "24 bytes do not lie in blocks of 16 bytes, one every 20");
  EXPECT(layOut(&pef->symbols[0], 0, 20), "24 bytes do not lie in blocks of 0 bytes");
  EXPECT(layOut(&pef->symbols[0], 12, 8), "blocks of 12 bytes, one every 8");
  EXPECT(layOut(&pef->symbols[0], 12, 14), "blocks of 12 bytes, one every 14");
  EXPECT(layOut(&pef->symbols[0], 12, 16),
         "address 0x0 and 24 bytes are not within its region 0 [0x0, 0x18)");
  EXPECT(layOut(&pef->symbols[0], 4, UINT64_MAX / 2 - 3),
         "its 6 blocks, one every 9223372036854775804 bytes, lie beyond any memory");
  EXPECT(layOut(&pef->symbols[1], 4, 4),
         "it lies in blocks, and has init data; expected init none");
}

/* The weight in bf16, and the state as its copy. */
static SambaPefSymbol *giveMaster(SambaPef *pef) {
  SambaPefSymbol *weight = &pef->symbols[SAMPLE_W], *state = &pef->symbols[SAMPLE_STATE];
  weight->device_dtype = SAMBA_DTYPE_BF16;
  weight->bytes = 24;
  weight->master = SAMPLE_STATE;
  state->kind = SAMBA_PEF_SYMBOL_OPTIMIZER_STATE;
  state->flags = SAMBA_PEF_PERSISTENT;
  state->dims = weight->dims;
  state->bytes = 48;
  expectOk(sambaPefCheck(pef));
  return weight;
}

/* Into the middle of the region's first symbol. */
static void moveInto(SambaPef *pef, SambaPefSymbol *symbol, uint32_t region) {
  pef->regions[symbol->region].owners_count = 0;
  symbol->region = region;
  symbol->address = pef->regions[region].address + 24;
}

static void testRoles(void **state) {
  (void)state;
  SambaPefSymbolFlags trained = SAMBA_PEF_REQUIRES_GRAD;

  EXPECT(pef->symbols[SAMPLE_X].flags = SAMBA_PEF_HAS_DATA,
         "it has the flag has_data, but init is neither blob nor file");
  EXPECT(pef->symbols[SAMPLE_STATE].flags = SAMBA_PEF_PERSISTENT;
         pef->symbols[SAMPLE_STATE].kind = SAMBA_PEF_SYMBOL_ACTIVATION,
         "it is an activation, but has the flag persistent");
  EXPECT(pef->symbols[SAMPLE_X].flags = trained;
         pef->symbols[SAMPLE_X].device_dtype = SAMBA_DTYPE_I32,
         "it has the flag requires_grad, but its elements are i32");
  EXPECT(pef->symbols[SAMPLE_X].grad_symbol = SAMPLE_Y,
         "symbol 0 \"x\": it has a gradient, but not the flag requires_grad");
  EXPECT(pef->symbols[SAMPLE_X].grad_symbol = SAMPLE_Y;
         pef->symbols[SAMPLE_X].flags = trained,
         "grad_symbol is symbol 2, which is no gradient of its shape");
  EXPECT(pef->symbols[SAMPLE_X].grad_symbol = SAMPLE_Y; pef->symbols[SAMPLE_X].flags = trained;
         pef->symbols[SAMPLE_Y].kind = SAMBA_PEF_SYMBOL_GRADIENT,
         "grad_symbol is symbol 2, which is no gradient of its shape");
  EXPECT(pef->symbols[SAMPLE_Y].update_of = SAMPLE_X, "it has update_of, but is no update");
  EXPECT(pef->symbols[SAMPLE_Y].update_of = SAMPLE_X;
         pef->symbols[SAMPLE_Y].kind = SAMBA_PEF_SYMBOL_UPDATE,
         "update_of is symbol 0, which is no other one of its shape and dtype");
  EXPECT(giveMaster(pef)->device_dtype = SAMBA_DTYPE_F32;
         pef->symbols[SAMPLE_W].bytes = 48, "it has a master, but its elements are f32, expected "
                                            "bf16 or f16");
  EXPECT(giveMaster(pef)->master = SAMPLE_Y, "master is symbol 2, which is no f32 of its shape");
  EXPECT(giveMaster(pef); pef->symbols[SAMPLE_STATE].device_dtype = SAMBA_DTYPE_I32,
                          "master is symbol 3, which is no f32 of its shape");
  EXPECT(giveMaster(pef); pef->symbols[SAMPLE_STATE].kind = SAMBA_PEF_SYMBOL_BUFFER,
                          "master is symbol 3, which is no optimizer_state");
  EXPECT(giveMaster(pef)->flags = 0, "master is symbol 3; both must have the flag persistent");
  EXPECT(giveMaster(pef); pef->symbols[SAMPLE_STATE].flags = 0,
                          "master is symbol 3; both must have the flag persistent");
  EXPECT(moveInto(pef, giveMaster(pef), SAMPLE_STATE),
         "master is symbol 3, which has bytes in common with it");
  EXPECT(pef->symbols[SAMPLE_STATE].init_value = UINT64_C(1) << 32,
         "init_value is 0x100000000, which is no f32");
  EXPECT(pef->graphs[0].outputs[0].flags = SAMBA_PEF_OUTPUT_LOSS,
         "graph 0 \"main\": output 0 has the flag loss, but symbol 2 is no loss");
  EXPECT(pef->symbols[SAMPLE_Y].kind = SAMBA_PEF_SYMBOL_LOSS,
         "graph 0 \"main\": output 0 has no flag loss, but symbol 2 is a loss");
}

/* The state as the last bytes of y, which are as many as two. */
static SambaPefSymbol *makePart(SambaPef *pef) {
  SambaPefSymbol *whole = &pef->symbols[SAMPLE_Y], *part = &pef->symbols[SAMPLE_STATE];
  pef->regions[part->region].owners_count = 0;
  *part = (SambaPefSymbol){.name = part->name,
                           .kind = SAMBA_PEF_SYMBOL_GRADIENT,
                           .host_dtype = whole->device_dtype,
                           .device_dtype = whole->device_dtype,
                           .init_dtype = whole->device_dtype,
                           .region = whole->region,
                           .address = whole->address,
                           .bytes = sambaDTypeBytes(whole->device_dtype),
                           .grad_symbol = SAMBA_PEF_NONE,
                           .update_of = SAMBA_PEF_NONE,
                           .master = SAMBA_PEF_NONE,
                           .first_call = SAMBA_PEF_NONE,
                           .last_call = SAMBA_PEF_NONE,
                           .part_of = SAMPLE_Y};
  expectOk(sambaPefCheck(pef));
  return part;
}

static void testParts(void **state) {
  (void)state;

  EXPECT(makePart(pef); pef->symbols[SAMPLE_X].part_of = SAMPLE_STATE,
                        "symbol 0 \"x\": part_of is symbol 3, which is a part itself");
  EXPECT(makePart(pef)->device_dtype = SAMBA_DTYPE_I32,
         "part_of is symbol 2; both must have one dtype and the layout row_major");
  EXPECT(makePart(pef)->init = SAMBA_PEF_INIT_FILL,
         "part_of is symbol 2; neither may have initial values");
  EXPECT(makePart(pef)->region = SAMPLE_STATE;
         pef->symbols[SAMPLE_STATE].address = pef->regions[SAMPLE_STATE].address,
         "part_of is symbol 2, but not all of its bytes are among that one's");
  EXPECT(makePart(pef)->address += 4,
         "it begins at byte 4 of symbol 2, expected a multiple of 512");
}

static void nameTwice(SambaPef *pef) {
  SambaPefArgin *argins = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefArgin, 2);
  argins[0] = argins[1] = pef->argins[0];
  pef->argins = argins;
  pef->argins_count = 2;
}

static void testArgins(void **state) {
  (void)state;

  EXPECT(pef->argins[0].name.size = 0, "argin 0 \"\": it has no name");
  EXPECT(pef->argins[0].dtype = SAMBA_DTYPE_BF16,
         "argin 0 \"lr\": dtype is bf16, expected f32, i32 or i64");
  EXPECT(pef->argins[0].flags |= SAMBA_PEF_HAS_MAXIMUM, "default 0.1 is outside [-inf, 0]");
  EXPECT(pef->argins[0].default_value = 0x7fc00000, "default nan is outside [-inf, inf]");
  EXPECT(pef->argins[0].flags = SAMBA_PEF_HAS_MINIMUM | SAMBA_PEF_HAS_MAXIMUM;
         pef->argins[0].dtype = SAMBA_DTYPE_I32;
         pef->argins[0].maximum = 0xffffffff, "min 0 is above max -1");
  EXPECT(nameTwice(pef), "argin 1 \"lr\": argin 0 has the same name");
}

/* The first call as REDUCE, and again as BCKWD. */
static void callTwice(SambaPef *pef) {
  SambaPefCall *calls = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefCall, 2);
  SambaPefSection *sections = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefSection, 2);
  for (uint32_t i = 0; i < 2; ++i) {
    calls[i] = pef->calls[0];
    calls[i].section = i;
    sections[i] = pef->sections[0];
    sections[i].type = i ? SAMBA_PEF_SECTION_BCKWD : SAMBA_PEF_SECTION_REDUCE;
  }
  pef->graphs[0].mode = SAMBA_PEF_GRAPH_TRAINING;
  pef->graphs[0].call_count = pef->calls_count = pef->sections_count = 2;
  pef->calls = calls;
  pef->sections = sections;
}

static void testSchedule(void **state) {
  (void)state;
  static SambaPefDepend self = {0};

  EXPECT(pef->graphs[0].call_count = 2,
         "graph 0 \"main\": calls 0 and the 2 from there do not exist; there are 1");
  EXPECT(pef->graphs[0].call_count = 0, "call 0: it is not among the calls of its graph 0");
  EXPECT(pef->calls[0].depends_count = 1;
         pef->calls[0].depends = &self, "call 0: it depends on call 0, which is not earlier");
  EXPECT(pef->calls[0].layers_count = 1, "it names the layers of 1 units, but the image has 2");
  EXPECT(pef->sections[0].type = SAMBA_PEF_SECTION_BCKWD,
         "call 0: it is of type BCKWD, but its graph is for inference");
  EXPECT(callTwice(pef), "call 1: it is of type BCKWD, but the call before it is of type REDUCE, "
                         "which comes later in a step");
  EXPECT(pef->calls[0].bindings[3].argin = SAMBA_PEF_NONE, "call 0: binding 3 names no argin");
  EXPECT(pef->calls[0].bindings[0] = pef->calls[0].bindings[3],
         "binding 3 binds slot 0 of the argument block again");
  EXPECT(pef->calls[0].bindings[3].formal = 1,
         "binding 3 is slot 1 of the argument block, which has 1");
  EXPECT(pef->calls[0].bindings[0].symbol = SAMBA_PEF_NONE, "binding 0 names no symbol");
  EXPECT(pef->calls[0].bindings[0].formal = 3,
         "binding 0 is formal argument 3, but the image has 3");
  EXPECT(pef->calls[0].bindings[0].formal = 1, "binding 1 binds formal argument 1 again");
  EXPECT(pef->calls[0].bindings[0].offset = 24,
         "binding 0: offset 24 is beyond symbol 0 of 24 bytes");
  EXPECT(pef->calls[0].bindings_count = 2, "formal argument 2 \"y\" is not bound");
}

static SambaStatus produceLittle(void *user, SambaPefSink *sink) {
  return sambaPefSinkWrite(sink, user, 47);
}
static SambaStatus produceMuch(void *user, SambaPefSink *sink) {
  return sambaPefSinkWrite(sink, user, 49);
}

/* What only writing finds. */
static void expectWriteError(SambaPefSource source, const char *text) {
  const char *path = samplePath(0, "never.pef");
  size_t size;
  SambaPef *pef = samplePefCreate();
  pef->symbols[SAMPLE_W].source = source;
  expectError(sambaPefWrite(pef, path), text);
  assert_null(sampleReadFile(path, &size));
  sambaPefDestroy(pef);
}

static void testWriting(void **state) {
  (void)state;
  static char zeros[64];
  const char *raw = samplePath(1, "raw.bin");

  sampleWriteFile(raw, zeros, 40);
  expectWriteError((SambaPefSource){0}, "data of symbol \"fc1.weight \\FF\\\"\": it has no source");
  expectWriteError((SambaPefSource){.produce = produceLittle, .user = zeros},
                   "its source gives 47 bytes, expected 48");
  expectWriteError((SambaPefSource){.produce = produceMuch, .user = zeros},
                   "its source gives more bytes than init_bytes says");
  expectWriteError((SambaPefSource){.path = raw},
                   "bytes 0 to 48 are expected, but the file has 40");
  expectWriteError((SambaPefSource){.path = samplePath(2, "absent")},
                   "cannot be read: No such file or directory");
  SambaPef *pef = samplePefCreate();
  pef->symbols[SAMPLE_W].init_checksum[0] = 1;
  expectError(sambaPefWrite(pef, samplePath(0, "never.pef")),
              "its init_checksum is not that of the data; the source is damaged or has changed");
  pef->symbols[SAMPLE_W].init_checksum[0] = 0;
  pef->graphs[0].trace_digest[0] = 1;
  expectError(sambaPefWrite(pef, samplePath(0, "never.pef")),
              "graph 0: its trace_digest is not that of its trace record");
  pef->graphs[0].trace_digest[0] = 0;
  pef->symbols[SAMPLE_W].init = SAMBA_PEF_INIT_FILE;
  pef->symbols[SAMPLE_W].source = (SambaPefSource){0};
  pef->symbols[SAMPLE_W].init_file = sambaStringRef("model.bin");
  expectError(sambaPefWrite(pef, samplePath(0, "never.pef")),
              "symbol 1: init is a file without source and without init_checksum");
  pef->symbols[SAMPLE_W].init_file = (SambaStringRef){0};
  pef->symbols[SAMPLE_W].source.path = samplePath(2, "absent");
  expectError(sambaPefWrite(pef, samplePath(0, "never.pef")), "absent: No such file");
  pef->symbols[0].bytes = 1;
  expectError(sambaPefWrite(pef, samplePath(0, "never.pef")),
              "never.pef: cannot be written: symbol 0 \"x\": bytes is 1");
  sambaPefDestroy(pef);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testFields),   cmocka_unit_test(testMachine),
                                     cmocka_unit_test(testRegions),  cmocka_unit_test(testSymbols),
                                     cmocka_unit_test(testLayouts),  cmocka_unit_test(testRoles),
                                     cmocka_unit_test(testParts),    cmocka_unit_test(testArgins),
                                     cmocka_unit_test(testSchedule), cmocka_unit_test(testWriting)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
