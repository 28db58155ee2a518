/* Writes a PEF: data first, then tables with the checksums of the data, all at offsets that depend
 * on sizes alone.
 *
 *   ELF header | tables in the order of tables.def | strings, code, traces | section names |
 * section headers | weights
 *
 * libelf writes headers and tables; the weights are a hole for it, filled here. */
#include "backend/pef/container/writer.h"

#include "backend/pef/container/checksum.h"
#include "backend/pef/container/file.h"
#include "backend/pef/container/record_writer.h"
#include "backend/pef/container/weights.h"
#include "backend/pef/pef_check.h"
#include "support/file/atomic_file.h"
#include "support/file/path.h"

#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>

enum { maxSections = SAMBA_PEF_TABLE_COUNT + SAMBA_PEF_BLOB_COUNT + 3 };

/* One ELF section to be. */
typedef struct Section {
  uint32_t name; /* offset in the section names */
  uint64_t offset, size, alignment;
  const void *data; /* NULL: the weights */
} Section;

typedef struct Layout {
  Section sections[maxSections];
  uint32_t count;
  char names[2048];
  uint32_t names_size;
  uint64_t headers_offset, weights_offset;
} Layout;

static uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/* Where each blob lies within the weights; returns the size of all. */
static uint64_t layOutWeights(SambaPef *pef) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < pef->symbols_count; ++i) {
    SambaPefSymbol *symbol = &pef->symbols[i];
    if (symbol->init != SAMBA_PEF_INIT_BLOB)
      continue;
    bool large = symbol->init_bytes >= SAMBA_PEF_WEIGHTS_ALIGNMENT;
    symbol->init_offset = alignTo(end, large ? SAMBA_PEF_PAGE_BYTES : SAMBA_PEF_LINE_BYTES);
    end = symbol->init_offset + symbol->init_bytes;
  }
  return end;
}

static void addSection(Layout *layout, const char *prefix, const char *name, const void *data,
                       uint64_t size, uint64_t alignment, uint64_t *offset) {
  *offset = alignTo(*offset, alignment);
  layout->sections[layout->count++] = (Section){layout->names_size, *offset, size, alignment, data};
  layout->names_size +=
      (uint32_t)snprintf(layout->names + layout->names_size,
                         sizeof layout->names - layout->names_size, "%s%s", prefix, name) +
      1;
  *offset += size;
}

static void layOut(const SambaPefRecords *records, uint64_t weights_bytes, Layout *out_layout) {
  *out_layout = (Layout){.names_size = 1};
  uint64_t offset = sizeof(Elf64_Ehdr);

  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t)
    addSection(out_layout, SAMBA_PEF_SECTION_PREFIX, sambaPefTable(t)->plural,
               records->tables[t].data, records->tables[t].size, 8, &offset);
  for (uint32_t b = 0; b < SAMBA_PEF_BLOB_COUNT; ++b)
    addSection(out_layout, "", sambaPefBlobName(b), records->blobs[b].data, records->blobs[b].size,
               8, &offset);

  /* The names of the two sections that follow are part of the names' own size. */
  uint64_t size = out_layout->names_size + sizeof ".shstrtab" +
                  (weights_bytes ? sizeof SAMBA_PEF_WEIGHTS_NAME : 0);
  addSection(out_layout, "", ".shstrtab", out_layout->names, size, 1, &offset);
  uint32_t count = out_layout->count + 1 + (weights_bytes ? 1 : 0);
  out_layout->headers_offset = alignTo(offset, 8);
  offset = out_layout->headers_offset + count * sizeof(Elf64_Shdr);
  if (weights_bytes)
    addSection(out_layout, "", SAMBA_PEF_WEIGHTS_NAME, NULL, weights_bytes,
               SAMBA_PEF_WEIGHTS_ALIGNMENT, &offset);
  out_layout->weights_offset =
      weights_bytes ? out_layout->sections[out_layout->count - 1].offset : 0;
}

static SambaStatus elfFailure(const char *path) {
  return sambaStatusMake(SAMBA_IO, "%s: writing failed: %s", path, elf_errmsg(-1));
}

static SambaStatus describeSections(Elf *elf, const Layout *layout, const char *path) {
  Elf64_Ehdr *header = elf64_newehdr(elf);
  if (!header)
    return elfFailure(path);
  header->e_ident[EI_DATA] = ELFDATA2LSB;
  header->e_type = ET_NONE;
  header->e_machine = EM_NONE;
  header->e_version = EV_CURRENT;
  header->e_shoff = layout->headers_offset;

  for (uint32_t i = 0; i < layout->count; ++i) {
    const Section *from = &layout->sections[i];
    Elf_Scn *section = elf_newscn(elf);
    Elf64_Shdr *to = section ? elf64_getshdr(section) : NULL;
    if (!to)
      return elfFailure(path);
    to->sh_name = from->name;
    to->sh_type = SHT_PROGBITS;
    to->sh_offset = from->offset;
    to->sh_size = from->size;
    to->sh_addralign = from->alignment;
    if (!from->data)
      continue;
    Elf_Data *data = elf_newdata(section);
    if (!data)
      return elfFailure(path);
    data->d_buf = (void *)(uintptr_t)from->data;
    data->d_size = from->size;
    data->d_align = from->alignment;
    data->d_type = ELF_T_BYTE;
    data->d_version = EV_CURRENT;
    if (from->data == layout->names) {
      to->sh_type = SHT_STRTAB;
      header->e_shstrndx = (uint16_t)elf_ndxscn(section);
    }
  }

  return NULL;
}

static SambaStatus writeContainer(int fd, const char *path, const Layout *layout) {
  if (elf_version(EV_CURRENT) == EV_NONE)
    return elfFailure(path);
  Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
  if (!elf)
    return elfFailure(path);
  elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
  SambaStatus status = describeSections(elf, layout, path);
  if (!status && elf_update(elf, ELF_C_WRITE) < 0)
    status = elfFailure(path);
  elf_end(elf);
  return status;
}

/* The data of a PEF that was opened. */
static SambaPefSource sourceOf(const SambaPefFile *file, const SambaPefSymbol *symbol) {
  uint64_t offset = file->weights_offset + symbol->init_offset;
  if (file->memory)
    return (SambaPefSource){.data = file->memory + offset};
  return (SambaPefSource){.path = file->path, .offset = offset};
}

/* What the writer itself derives, before sizes are known. */
static SambaStatus complete(SambaPef *pef, const char *path) {
  for (uint32_t i = 0; i < pef->symbols_count; ++i) {
    SambaPefSymbol *symbol = &pef->symbols[i];
    bool external = symbol->init == SAMBA_PEF_INIT_FILE,
         data = external || symbol->init == SAMBA_PEF_INIT_BLOB;
    SambaPefSource *source = &symbol->source;
    if (symbol->init == SAMBA_PEF_INIT_BLOB && pef->file && !source->produce && !source->data &&
        !source->path)
      *source = sourceOf(pef->file, symbol);
    symbol->flags =
        (symbol->flags & ~(uint32_t)SAMBA_PEF_HAS_DATA) | (data ? SAMBA_PEF_HAS_DATA : 0);
    if (external && !symbol->init_file.size) {
      const char *folder = sambaStringRefCopy(&pef->arena, sambaPathFolder(path)).data;
      const char *way;
      SAMBA_RETURN_IF_ERROR(sambaPathRelative(&pef->arena, folder, source->path, &way));
      symbol->init_file = sambaStringRef(way);
    }
    if (external && (source->path || source->data || source->produce))
      SAMBA_RETURN_IF_ERROR(sambaPefWriteData(symbol, -1, path, 0));
    else if (external && sambaDigestIsZero(symbol->init_checksum))
      return sambaStatusMake(
          SAMBA_INVALID, "symbol %u: init is a file without source and without init_checksum", i);
  }

  for (uint32_t i = 0; i < pef->graphs_count; ++i) {
    SambaPefGraph *graph = &pef->graphs[i];
    uint8_t digest[SAMBA_PEF_DIGEST_BYTES];
    if (!graph->trace.size)
      continue;
    sambaDigestCompute(graph->trace.data, graph->trace.size, digest);
    if (!sambaDigestIsZero(graph->trace_digest) &&
        memcmp(graph->trace_digest, digest, sizeof digest) != 0)
      return sambaStatusMake(SAMBA_INVALID,
                             "graph %u: its trace_digest is not that of its trace record", i);
    memcpy(graph->trace_digest, digest, sizeof digest);
  }

  return NULL;
}

static SambaStatus writeContents(SambaPef *pef, SambaAtomicFile *file, const char *path) {
  SAMBA_RETURN_IF_ERROR(complete(pef, path));
  uint64_t weights_bytes = layOutWeights(pef);
  SambaPefRecords records;

  Layout layout;
  SAMBA_RETURN_IF_ERROR(sambaPefRecordsEncode(pef, &records));
  layOut(&records, weights_bytes, &layout);
  SambaStatus status = NULL;
  for (uint32_t i = 0; i < pef->symbols_count && !status; ++i)
    if (pef->symbols[i].init == SAMBA_PEF_INIT_BLOB)
      status = sambaPefWriteData(&pef->symbols[i], file->fd, path,
                                 layout.weights_offset + pef->symbols[i].init_offset);
  sambaPefRecordsFree(&records);
  SAMBA_RETURN_IF_ERROR(status);

  /* Once more, now with the checksums of the data; nothing moves. */
  SAMBA_RETURN_IF_ERROR(sambaPefRecordsEncode(pef, &records));
  layOut(&records, weights_bytes, &layout);
  status = writeContainer(file->fd, path, &layout);
  sambaPefRecordsFree(&records);

  return status;
}

SambaStatus sambaPefWrite(SambaPef *pef, const char *path) {
  SAMBA_RETURN_IF_ERROR(sambaStatusAnnotate(sambaPefCheck(pef), "%s: cannot be written", path));
  SambaAtomicFile file;
  SAMBA_RETURN_IF_ERROR(sambaAtomicFileCreate(path, &file));
  SambaStatus status = writeContents(pef, &file, path);
  if (status) {
    sambaAtomicFileDiscard(&file);
    return status;
  }
  return sambaAtomicFileCommit(&file);
}

SambaStatus sambaPefWriteToMemory(SambaPef *pef, void **out_data, size_t *out_size) {
  const char *what = "PEF in memory";
  *out_data = NULL;
  *out_size = 0;
  SAMBA_RETURN_IF_ERROR(sambaStatusAnnotate(sambaPefCheck(pef), "%s: cannot be made", what));
  SambaAtomicFile file;
  SAMBA_RETURN_IF_ERROR(sambaAtomicFileCreateInMemory(what, &file));
  SambaStatus status = writeContents(pef, &file, what);
  if (status) {
    sambaAtomicFileDiscard(&file);
    return status;
  }
  return sambaAtomicFileTake(&file, out_data, out_size);
}
