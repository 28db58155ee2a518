/* Files and the ELF container, read with pread or from memory; see file.h.
 *
 * libelf writes our files but does not read them: it would need the whole file mapped, and every
 * number in it has to be checked here anyway. What a PEF needs of ELF is three structs. */
#include "backend/pef/container/file.h"

#include "backend/pef/schema.h"

#include <elf.h>
#include <errno.h>
#include <unistd.h>

void sambaPefFileClose(SambaPefFile *file) {
  if (file->fd >= 0)
    close(file->fd);
}

SambaStatus sambaPefFileRead(int fd, const char *path, const char *what, uint64_t offset,
                             void *buffer, uint64_t size) {
  char *to = buffer;
  while (size) {
    ssize_t done =
        pread(fd, to, size < ((uint64_t)1 << 30) ? size : (uint64_t)1 << 30, (off_t)offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return sambaStatusMake(SAMBA_IO, "%s: reading %s failed: %s", path, what, strerror(errno));
    if (done == 0)
      return sambaStatusMake(SAMBA_FAULT,
                             "%s: file shrank: %s needs %llu more bytes at offset %llu, where the "
                             "file now ends; do not "
                             "change a file while it is used",
                             path, what, (unsigned long long)size, (unsigned long long)offset);
    to += done;
    offset += (uint64_t)done;
    size -= (uint64_t)done;
  }

  return NULL;
}

SambaStatus sambaPefFileReadAt(const SambaPefFile *file, const char *what, uint64_t offset,
                               void *buffer, uint64_t size) {
  if (!file->memory)
    return sambaPefFileRead(file->fd, file->path, what, offset, buffer, size);
  if (size)
    memcpy(buffer, file->memory + offset, size);
  return NULL;
}

static SambaStatus refuse(const char *path, const char *what) {
  return sambaStatusMake(SAMBA_INVALID, "%s: not a PEF: %s", path, what);
}

static bool liesWithin(uint64_t offset, uint64_t size, uint64_t end) {
  return offset <= end && size <= end - offset;
}

/* Reads the header of a 64-bit little-endian ELF file. */
static SambaStatus readHeader(const SambaPefFile *file, Elf64_Ehdr *header) {
  const char *path = file->path;
  if (file->bytes < sizeof *header)
    return refuse(path, "it is shorter than an ELF header (64 bytes)");
  SAMBA_RETURN_IF_ERROR(sambaPefFileReadAt(file, "the ELF header", 0, header, sizeof *header));
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return refuse(path, "it does not start with the ELF magic bytes");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_ident[EI_VERSION] != EV_CURRENT)
    return refuse(path, "the ELF container is not 64-bit, little-endian, version 1");
  if (header->e_shentsize != sizeof(Elf64_Shdr))
    return refuse(path, "the ELF section headers do not have 64 bytes each");
  return NULL;
}

SambaStatus sambaElfRead(const SambaPefFile *file, SambaArena *arena,
                         SambaElfSection **out_sections, uint32_t *out_count) {
  const char *path = file->path;
  uint64_t file_bytes = file->bytes;
  Elf64_Ehdr header;
  SAMBA_RETURN_IF_ERROR(readHeader(file, &header));
  uint32_t count = header.e_shnum;
  if (count == 0 || count > SAMBA_PEF_MAX_ELF_SECTIONS)
    return sambaStatusMake(SAMBA_INVALID, "%s: not a PEF: it has %u ELF sections, expected 1 to %d",
                           path, count, SAMBA_PEF_MAX_ELF_SECTIONS);
  if (!liesWithin(header.e_shoff, (uint64_t)count * sizeof(Elf64_Shdr), file_bytes))
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: the ELF section headers (offset %llu, %u entries) do not lie "
                           "within the file of %llu bytes; it "
                           "is truncated or damaged",
                           path, (unsigned long long)header.e_shoff, count,
                           (unsigned long long)file_bytes);
  Elf64_Shdr *headers = SAMBA_ARENA_ARRAY(arena, Elf64_Shdr, count);
  SAMBA_RETURN_IF_ERROR(sambaPefFileReadAt(file, "the ELF section headers", header.e_shoff, headers,
                                           count * sizeof *headers));
  if (header.e_shstrndx >= count)
    return refuse(path, "the ELF section with the names (e_shstrndx) does not exist");
  const Elf64_Shdr *names = &headers[header.e_shstrndx];
  if (names->sh_size > SAMBA_PEF_WEIGHTS_ALIGNMENT ||
      !liesWithin(names->sh_offset, names->sh_size, file_bytes))
    return refuse(path, "the ELF section names do not lie within the file, or exceed 64 KiB");
  char *texts = sambaArenaAllocate(arena, names->sh_size + 1); /* so the last name is terminated */
  SAMBA_RETURN_IF_ERROR(
      sambaPefFileReadAt(file, "the ELF section names", names->sh_offset, texts, names->sh_size));
  SambaElfSection *sections = SAMBA_ARENA_ARRAY(arena, SambaElfSection, count);
  uint64_t end = header.e_shoff + count * sizeof *headers; /* of what belongs to something */

  for (uint32_t i = 0; i < count; ++i) {
    if (headers[i].sh_name > names->sh_size)
      return sambaStatusMake(
          SAMBA_INVALID, "%s: the name of ELF section %u lies outside the section names", path, i);
    sections[i].name = sambaStringRef(texts + headers[i].sh_name);
    if (headers[i].sh_type == SHT_NULL || headers[i].sh_type == SHT_NOBITS)
      continue; /* no bytes in the file */
    if (!liesWithin(headers[i].sh_offset, headers[i].sh_size, file_bytes))
      return sambaStatusMake(SAMBA_INVALID,
                             "%s: ELF section %u (offset %llu, %llu bytes) does not lie within the "
                             "file of %llu bytes; it is "
                             "truncated or damaged",
                             path, i, (unsigned long long)headers[i].sh_offset,
                             (unsigned long long)headers[i].sh_size,
                             (unsigned long long)file_bytes);
    sections[i].offset = headers[i].sh_offset;
    sections[i].bytes = headers[i].sh_size;
    if (sections[i].offset + sections[i].bytes > end)
      end = sections[i].offset + sections[i].bytes;
  }
  if (end < file_bytes)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: the file has %llu bytes, but what it holds ends at byte %llu; "
                           "something was appended to it",
                           path, (unsigned long long)file_bytes, (unsigned long long)end);

  *out_sections = sections;
  *out_count = count;
  return NULL;
}
