/* See sample_pef.h. */
#include "test/backend/pef/sample_pef.h"
#include "backend/machine/shipped.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

const float sampleWeights[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static void addSymbol(SambaPef *pef, uint32_t index, const char *name, SambaPefSymbolKind kind,
                      uint64_t rows, uint64_t columns) {
  SambaPefSymbol *symbol = &pef->symbols[index];
  sambaPefSymbolInitialize(symbol);
  symbol->name = sambaStringRef(name);
  symbol->kind = kind;
  symbol->dims_count = 2;
  symbol->dims = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefDim, 2);
  symbol->dims[0].size = rows;
  symbol->dims[1].size = columns;
  symbol->bytes = rows * columns * 4;
  symbol->region = index;
  symbol->address = 4096 * index;
  symbol->first_call = symbol->last_call = 0;
  SambaPefRegion *region = &pef->regions[index];

  sambaPefRegionInitialize(region);
  region->name = symbol->name;
  region->memory = SAMBA_PEF_MEMORY_HBM;
  region->address = symbol->address;
  region->bytes = symbol->bytes;
  region->alignment = 64;
  region->owners_count = 1;
  region->owners = SAMBA_ARENA_NEW(&pef->arena, SambaPefOwner);
  region->owners[0].symbol = index;
}

static void addCall(SambaPef *pef) {
  static const uint8_t code[24] = {1, 2, 3, 4, 5};
  static SambaPefFormal formals[3];
  static SambaPefUnit units[2];
  SambaArena *arena = &pef->arena;

  pef->images_count = pef->sections_count = pef->calls_count = 1;
  pef->images = SAMBA_ARENA_NEW(arena, SambaPefImage);
  const char *const names[] = {"x", "w", "y"};
  for (int i = 0; i < 3; ++i)
    formals[i].name = sambaStringRef(names[i]);
  units[0] = (SambaPefUnit){sambaStringRef("load0"), sambaStringRef("fc1")};
  units[1] = (SambaPefUnit){sambaStringRef("store0"), sambaStringRef("fc1")};
  pef->images[0] = (SambaPefImage){.name = sambaStringRef("s0"),
                                   .code = {code, sizeof code},
                                   .formals_count = 3,
                                   .formals = formals,
                                   .units_count = 2,
                                   .units = units};
  pef->sections = SAMBA_ARENA_NEW(arena, SambaPefSection);
  pef->sections[0] = (SambaPefSection){.name = sambaStringRef("s0"),
                                       .type = SAMBA_PEF_SECTION_FWD,
                                       .flags = SAMBA_PEF_SPLIT_K,
                                       .pcus = 2,
                                       .pmus = 4,
                                       .ags = 3,
                                       .estimated_cycles = 1234,
                                       .estimated_read_bytes = 72,
                                       .estimated_write_bytes = 32};
  pef->calls = SAMBA_ARENA_NEW(arena, SambaPefCall);
  sambaPefCallInitialize(&pef->calls[0]);
  pef->calls[0].bindings_count = 4;
  pef->calls[0].bindings = SAMBA_ARENA_ARRAY(arena, SambaPefBinding, 4);
  for (uint32_t i = 0; i < 3; ++i)
    pef->calls[0].bindings[i] =
        (SambaPefBinding){.formal = i, .symbol = i, .argin = SAMBA_PEF_NONE};
  pef->calls[0].bindings[3] =
      (SambaPefBinding){.kind = SAMBA_PEF_BINDING_ARGIN, .symbol = SAMBA_PEF_NONE};
  pef->calls[0].layers_count = 2;
  pef->calls[0].layers = SAMBA_ARENA_ARRAY(arena, SambaPefLayer, 2);
  pef->calls[0].layers[0].name = pef->calls[0].layers[1].name = sambaStringRef("encoder.0.fc1");
}

SambaPef *samplePefCreate(void) {
  SambaPef *pef = sambaPefCreate();
  SambaArena *arena = &pef->arena;

  sambaPefSetMachine(pef, sambaMachineFind(sambaStringRef("tiny")));
  pef->symbols_count = pef->regions_count = SAMPLE_SYMBOLS;
  pef->symbols = SAMBA_ARENA_ARRAY(arena, SambaPefSymbol, SAMPLE_SYMBOLS);
  pef->regions = SAMBA_ARENA_ARRAY(arena, SambaPefRegion, SAMPLE_SYMBOLS);
  addSymbol(pef, SAMPLE_X, "x", SAMBA_PEF_SYMBOL_INPUT, 2, 3);
  addSymbol(pef, SAMPLE_W, "fc1.weight \xff\"", SAMBA_PEF_SYMBOL_WEIGHT, 4, 3);
  addSymbol(pef, SAMPLE_Y, "y", SAMBA_PEF_SYMBOL_OUTPUT, 2, 4);
  addSymbol(pef, SAMPLE_STATE, "state", SAMBA_PEF_SYMBOL_BUFFER, 8, 8);
  pef->symbols[SAMPLE_STATE].first_call = pef->symbols[SAMPLE_STATE].last_call = SAMBA_PEF_NONE;
  pef->symbols[SAMPLE_W].init = SAMBA_PEF_INIT_BLOB;
  pef->symbols[SAMPLE_W].init_bytes = sizeof sampleWeights;
  pef->symbols[SAMPLE_W].source.data = sampleWeights;
  pef->symbols[SAMPLE_W].flags = SAMBA_PEF_PERSISTENT;
  pef->symbols[SAMPLE_STATE].init = SAMBA_PEF_INIT_FILL;
  pef->symbols[SAMPLE_STATE].init_value = 0x3f800000;
  addCall(pef);
  pef->argins_count = pef->graphs_count = pef->options_count = 1;
  pef->argins = SAMBA_ARENA_NEW(arena, SambaPefArgin);
  sambaPefArginInitialize(pef->argins);
  pef->argins[0].name = sambaStringRef("lr");
  pef->argins[0].kind = SAMBA_PEF_ARGIN_LR;
  pef->argins[0].flags = SAMBA_PEF_HAS_DEFAULT;
  pef->argins[0].default_value = 0x3dcccccd;
  pef->graphs = SAMBA_ARENA_NEW(arena, SambaPefGraph);
  pef->graphs[0] = (SambaPefGraph){.name = sambaStringRef("main"),
                                   .trace = {(const uint8_t *)"trace record", 12},
                                   .inputs_count = 1,
                                   .outputs_count = 1,
                                   .call_count = 1};
  pef->graphs[0].inputs = SAMBA_ARENA_NEW(arena, SambaPefInput);
  pef->graphs[0].inputs[0].symbol = SAMPLE_X;
  pef->graphs[0].outputs = SAMBA_ARENA_NEW(arena, SambaPefOutput);
  pef->graphs[0].outputs[0].symbol = SAMPLE_Y;
  pef->options = SAMBA_ARENA_NEW(arena, SambaPefOption);
  pef->options[0] = (SambaPefOption){sambaStringRef("precision"), sambaStringRef("mp0")};

  return pef;
}

void expectOk(SambaStatus status) {
  if (status)
    fail_msg("unexpected error: %s", sambaStatusGetMessage(status));
}

void expectError(SambaStatus status, const char *text) {
  if (!status)
    fail_msg("no error, expected one with: %s", text);
  if (!strstr(sambaStatusGetMessage(status), text))
    fail_msg("the error is: %s\nexpected in it: %s", sambaStatusGetMessage(status), text);
  sambaStatusFree(status);
}

static char folder[64];

static void removeFolder(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  if (system(command))
    perror(folder);
}

const char *samplePath(int slot, const char *name) {
  static char paths[4][256];
  if (!folder[0]) {
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/samba-pef-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(folder));
    atexit(removeFolder);
  }
  snprintf(paths[slot], sizeof paths[slot], "%s/%s", folder, name);
  return paths[slot];
}

char *sampleReadFile(const char *path, size_t *out_size) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  fseek(file, 0, SEEK_END);
  *out_size = (size_t)ftell(file);
  rewind(file);
  char *data = malloc(*out_size + 1);
  assert_int_equal(fread(data, 1, *out_size, file), *out_size);
  fclose(file);
  return data;
}

void sampleWriteFile(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  fclose(file);
}

uint64_t samplePatch(const char *path, const char *section, uint64_t at, const void *data,
                     size_t size) {
  size_t bytes;
  char *file = sampleReadFile(path, &bytes);

  assert_non_null(file);
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (strcmp(file + sections[header->e_shstrndx].sh_offset + sections[i].sh_name, section) != 0)
      continue;
    uint64_t offset = sections[i].sh_offset;
    assert_true(at + size <= sections[i].sh_size);
    memcpy(file + offset + at, data, size);
    sampleWriteFile(path, file, bytes);
    free(file);
    return offset;
  }

  fail_msg("no section %s", section);
  return 0;
}
