/* Every way in which a PEF file can be refused, with the text that the user sees. */
#include "test/backend/pef/sample_pef.h"

#include "backend/pef/container/checksum.h"
#include "backend/pef/container/fix.h"
#include "backend/pef/container/initial_data.h"
#include "backend/pef/container/reader.h"
#include "backend/pef/container/writer.h"
#include "backend/pef/schema.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { records = SAMBA_PEF_TABLE_HEADER_BYTES };

static const char *writeSample(void) {
  const char *path = samplePath(0, "a.pef");
  SambaPef *pef = samplePefCreate();
  expectOk(sambaPefWrite(pef, path));
  sambaPefDestroy(pef);
  return path;
}

/* The file is refused, and so are its bytes in memory. */
static void expectOpenError(const char *path, const char *text) {
  SambaPef *pef;
  struct stat info;
  expectError(sambaPefOpen(path, &pef), text);
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
    return;

  size_t size;
  char *bytes = sampleReadFile(path, &size);
  expectError(sambaPefOpenMemory("memory", bytes, size, &pef), text);
  free(bytes);
}

/* Changes 4 bytes of a section and repairs the checksums. */
static const char *patched(const char *section, uint64_t at, uint32_t value) {
  const char *path = writeSample();
  const char *fixed = samplePath(1, "fixed.pef");
  samplePatch(path, section, at, &value, sizeof value);
  expectOk(sambaPefFixChecksums(path, fixed));
  return fixed;
}

static const char *patchedElf(size_t at, const void *data, size_t size) {
  size_t bytes;
  const char *path = writeSample();
  char *file = sampleReadFile(path, &bytes);
  memcpy(file + at, data, size);
  sampleWriteFile(path, file, bytes);
  free(file);
  return path;
}

/* Renames the ELF section `from` (same length or shorter). */
static const char *renamed(const char *from, const char *to) {
  size_t bytes;
  const char *path = writeSample();
  char *file = sampleReadFile(path, &bytes);
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    char *name = file + sections[header->e_shstrndx].sh_offset + sections[i].sh_name;
    if (strcmp(name, from) == 0)
      strcpy(name, to);
  }
  sampleWriteFile(path, file, bytes);
  free(file);
  return path;
}

static void testFiles(void **state) {
  (void)state;
  expectOpenError(samplePath(0, "missing.pef"), "cannot be read: No such file or directory");
  const char *fifo = samplePath(0, "fifo");
  assert_int_equal(mkfifo(fifo, 0600), 0);
  expectOpenError(fifo, "cannot be read: it is not a regular file; copy it to one");
  expectOpenError("/", "it is not a regular file");
  const char *path = samplePath(1, "short");
  sampleWriteFile(path, "\177ELF", 4);
  expectOpenError(path, "not a PEF: it is shorter than an ELF header (64 bytes)");
}

static void testContainer(void **state) {
  (void)state;
  uint16_t zero = 0, many = 2000, far = 0xfff0;
  uint64_t offset = UINT64_MAX - 3;

  expectOpenError(patchedElf(1, "elf", 3), "not a PEF: it does not start with the ELF magic bytes");
  expectOpenError(patchedElf(EI_CLASS, "\1", 1),
                  "the ELF container is not 64-bit, little-endian, version 1");
  expectOpenError(patchedElf(offsetof(Elf64_Ehdr, e_shentsize), &zero, 2),
                  "the ELF section headers do not have 64 bytes each");
  expectOpenError(patchedElf(offsetof(Elf64_Ehdr, e_shnum), &zero, 2),
                  "it has 0 ELF sections, expected 1 to 1024");
  expectOpenError(patchedElf(offsetof(Elf64_Ehdr, e_shnum), &many, 2),
                  "it has 2000 ELF sections, expected 1 to 1024");
  expectOpenError(patchedElf(offsetof(Elf64_Ehdr, e_shoff), &offset, 8),
                  "entries) do not lie within the file of 65584 bytes; it is truncated");
  expectOpenError(patchedElf(offsetof(Elf64_Ehdr, e_shstrndx), &far, 2),
                  "the ELF section with the names (e_shstrndx) does not exist");
  size_t bytes;
  const char *path = writeSample();
  char *file = sampleReadFile(path, &bytes);
  Elf64_Shdr *sections = (Elf64_Shdr *)(file + ((Elf64_Ehdr *)file)->e_shoff);
  sections[3].sh_size = 1 << 20;
  sampleWriteFile(path, file, bytes);
  expectOpenError(
      path,
      "ELF section 3 (offset 224, 1048576 bytes) does not lie within the file of 65584 bytes");
  sections[3].sh_name = 1 << 20;
  sampleWriteFile(path, file, bytes);
  expectOpenError(path, "the name of ELF section 3 lies outside the section names");
  sections[((Elf64_Ehdr *)file)->e_shstrndx].sh_size = 1 << 20;
  sampleWriteFile(path, file, bytes);
  expectOpenError(path, "the ELF section names do not lie within the file, or exceed 64 KiB");
  free(file);

  file = sampleReadFile(writeSample(), &bytes);
  file = realloc(file, bytes + 1);
  file[bytes] = 'x';
  sampleWriteFile(path, file, bytes + 1);
  free(file);
  expectOpenError(path, "the file has 65585 bytes, but what it holds ends at byte 65584; something "
                        "was appended to it");
}

static void testVersions(void **state) {
  (void)state;
  expectOpenError(patched(".samba.headers", records, 4),
                  "format version 4.1 is newer than 3.1, the newest this program reads; use a "
                  "newer Samba, or compile "
                  "again with this one");
  expectOpenError(patched(".samba.headers", records, 2),
                  "format version 2.1 is older than 3.0, the oldest this program reads; compile "
                  "again with this one");
  expectOpenError(patched(".samba.headers", records, 0), "format version 0.1 does not exist");
  expectOpenError(renamed(".samba.headers", ".samba.xxx"),
                  "not a PEF: it is an ELF file without a section .samba.headers");
  size_t bytes;
  const char *path = writeSample();
  char *file = sampleReadFile(path, &bytes);
  Elf64_Shdr *sections = (Elf64_Shdr *)(file + ((Elf64_Ehdr *)file)->e_shoff);

  sections[1].sh_size = 68;
  sampleWriteFile(path, file, bytes);
  free(file);
  expectOpenError(path, "section .samba.headers has 68 bytes, too few for a version");
  SambaPef *pef;
  expectOk(sambaPefOpen(patched(".samba.headers", records + 4, 7),
                        &pef)); /* a newer minor version is read */
  assert_int_equal(pef->header.minor, 7);
  sambaPefDestroy(pef);
}

static void testUnknownTables(void **state) {
  (void)state;
  expectOpenError(renamed(".samba.symbols", ".samba.planets"),
                  "section \".samba.planets\" is required to understand this file, but this "
                  "program does not know it; "
                  "use a newer Samba, or compile again with this one");
  SambaPef *pef;

  expectOk(sambaPefOpen(renamed(".samba.options", ".samba.planets"),
                        &pef)); /* an optional one is skipped */
  assert_int_equal(pef->options_count, 0);
  sambaPefDestroy(pef);
  const char *path = renamed(".samba.options", ".samba.planets");
  samplePatch(path, ".samba.planets", 0, "XXXX", 4);
  expectOpenError(path, "section \".samba.planets\" does not start with \"SPEF\"");
  expectOpenError(renamed(".samba.weights", ".samba.w"),
                  "section \".samba.w\" has 48 bytes, expected at least 64");
  expectOpenError(renamed(".samba.inputs", ".note"), "section \".samba.inputs\" is missing");
}

/* A newer minor version may append fields: what this reader does not know of a record is
 * skipped. */
static void testLargerRecords(void **state) {
  (void)state;
  const char *path = writeSample();
  const char *fixed = samplePath(1, "fixed.pef");
  size_t bytes;
  char *file = sampleReadFile(path, &bytes);
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
  Elf64_Shdr *sections = (Elf64_Shdr *)(file + header->e_shoff);

  for (int i = 0; i < header->e_shnum; ++i) {
    uint32_t larger = 8;
    if (strcmp(file + sections[header->e_shstrndx].sh_offset + sections[i].sh_name,
               ".samba.inputs") != 0)
      continue;
    assert_int_equal(sections[i].sh_size, records + 4);
    sections[i].sh_size = records + larger; /* into the padding behind it */
    memcpy(file + sections[i].sh_offset + offsetof(SambaPefTableHeader, record_bytes), &larger,
           sizeof larger);
  }

  sampleWriteFile(path, file, bytes);
  free(file);
  expectOk(sambaPefFixChecksums(path, fixed));
  SambaPef *pef;
  expectOk(sambaPefOpen(fixed, &pef));
  assert_int_equal(pef->graphs[0].inputs_count, 1);
  assert_int_equal(pef->graphs[0].inputs[0].symbol, SAMPLE_X);
  sambaPefDestroy(pef);
}

static void testTables(void **state) {
  (void)state;
  const char *path = writeSample();

  samplePatch(path, ".samba.symbols", records + 9, "\x80", 1);
  expectOpenError(path, "the checksum of section \".samba.symbols\" is wrong: the file is damaged; "
                        "copy or compile it again");
  expectOpenError(patched(".samba.symbols", 0, 0),
                  "section \".samba.symbols\" does not start with \"SPEF\"");
  expectOpenError(patched(".samba.symbols", 16, 5), "says 5 records of");
  expectOpenError(patched(".samba.symbols", 8, 16), "says 4 records of 16 bytes, but holds");
  expectOpenError(patched(".samba.symbols", 8, 16), "bytes, and a record has at least");
  expectOpenError(renamed(".samba.depends", ".samba.inputs"),
                  "section \".samba.inputs\" is there twice");
  expectOpenError(renamed(".samba.symbols", ".samba.weights"),
                  "section \".samba.weights\" is there twice");
  expectOpenError(patched(".samba.options", records, 0x7fffffff),
                  "option 0: key (offset 2147483647, 9 bytes and a zero) does not lie within the "
                  "string pool of");
  expectOpenError(patched(".samba.options", records + 4, 8),
                  "option 0: key (offset"); /* not terminated there */
  expectOpenError(patched(".samba.images", records + 8, 0x10000),
                  "image 0: code (offset 65536, 24 bytes) does not lie within .samba.code of");
  expectOpenError(patched(".samba.calls", records + 24, 1),
                  "call 0: layers are records 1 and the 2 from there, expected to start at 0");
  expectOpenError(patched(".samba.calls", records + 28, 1),
                  "2 layers, but only 1 of them belong to a record");
  const char *none = writeSample();
  const char *fixedNone = samplePath(1, "none.pef");
  uint64_t zero = 0;
  samplePatch(none, ".samba.machines", 16, &zero, sizeof zero);
  size_t none_size;
  char *none_file = sampleReadFile(none, &none_size);
  ((Elf64_Shdr *)(none_file + ((Elf64_Ehdr *)none_file)->e_shoff))[2].sh_size = records;
  sampleWriteFile(none, none_file, none_size);
  free(none_file);
  expectOk(sambaPefFixChecksums(none, fixedNone));
  expectOpenError(fixedNone, "section \".samba.machines\" has 0 records, expected exactly one");

  /* Repairs the table's checksum alone: the digest of the trace record stays. */
  const char *fixed = patched(".samba.traces", records, 0);
  const char zeros[SAMBA_PEF_DIGEST_BYTES] = {0};
  uint8_t digest[SAMBA_PEF_DIGEST_BYTES];
  const SambaPefTable *graphs = sambaPefTable(SAMBA_PEF_TABLE_Graph);
  samplePatch(fixed, ".samba.graphs", records + 24, "\1\2\3", 3);
  uint64_t offset = samplePatch(fixed, ".samba.graphs", offsetof(SambaPefTableHeader, checksum),
                                zeros, sizeof zeros);
  size_t bytes;
  char *file = sampleReadFile(fixed, &bytes);
  sambaDigestCompute(file + offset, records + graphs->record_bytes, digest);
  free(file);
  samplePatch(fixed, ".samba.graphs", offsetof(SambaPefTableHeader, checksum), digest,
              sizeof digest);
  expectOpenError(fixed, "graph 0 \"main\": trace_digest is not that of its trace record");
}

static void testData(void **state) {
  (void)state;
  uint64_t init_offset = 0;
  const SambaPefTable *symbols = sambaPefTable(SAMBA_PEF_TABLE_Symbol);

  for (uint32_t f = 0; strcmp(symbols->fields[f].name, "init_offset") != 0; ++f)
    init_offset += sambaPefFieldBytes(&symbols->fields[f]);
  expectOpenError(patched(".samba.symbols", records + symbols->record_bytes + init_offset, 64),
                  "its data (offset 64, 48 bytes) does not lie within the weights of 48 bytes");
  const char *path = writeSample();
  samplePatch(path, ".samba.weights", 3, "\x40", 1);
  SambaPef *pef;
  float data[12];
  expectOk(sambaPefOpen(path, &pef));
  expectError(sambaPefReadInit(pef, &pef->symbols[SAMPLE_W], data),
              "data of symbol \"fc1.weight \\FF\\\"\": the checksum of its 48 bytes is wrong: the "
              "file is damaged or "
              "another one");
  expectError(sambaPefReadInit(pef, &pef->symbols[SAMPLE_X], data),
              "data of symbol \"x\": there is no data in a file");
  expectError(sambaPefReadInitPart(pef, &pef->symbols[SAMPLE_W], 40, data, 9),
              "bytes 40 to 49 of 48 do not exist");
  assert_int_equal(truncate(path, 65550), 0); /* while it is open */
  expectError(sambaPefReadInit(pef, &pef->symbols[SAMPLE_W], data),
              "file shrank: weights needs 34 more bytes at offset 65550, where the file now ends; "
              "do not change a file "
              "while it is used");
  sambaPefDestroy(pef);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testFiles),    cmocka_unit_test(testContainer),
      cmocka_unit_test(testVersions), cmocka_unit_test(testUnknownTables),
      cmocka_unit_test(testTables),   cmocka_unit_test(testLargerRecords),
      cmocka_unit_test(testData)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
