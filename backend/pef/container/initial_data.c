/* The initial data of symbols, read piece by piece from the PEF or the file it refers to. */
#include "backend/pef/container/initial_data.h"

#include "backend/pef/container/checksum.h"
#include "backend/pef/container/file.h"
#include "support/file/input_file.h"
#include "support/text/escape.h"
#include "support/text/text.h"

#include <stdlib.h>
#include <unistd.h>

enum { pieceBytes = 1 << 20 };

static SambaStatus annotate(SambaStatus status, const SambaPefSymbol *symbol) {
  SambaArena arena = {0};
  status = sambaStatusAnnotate(status, "data of symbol %s",
                               sambaStringEscape(&arena, symbol->name).data);
  sambaArenaDestroy(&arena);
  return status;
}

/* An external file is opened for each use: a PEF with a thousand weights does not hold a thousand
 * descriptors. */
static SambaStatus openExternal(const SambaPef *pef, const SambaPefSymbol *symbol, int *out_fd,
                                char **out_path) {
  SambaStringRef file = symbol->init_file;
  if (memchr(file.data, 0, file.size))
    return sambaStatusMake(SAMBA_INVALID, "init_file contains a zero byte");
  SambaText text = {0};
  if (file.data[0] != '/' && pef->file)
    sambaTextAppendC(&text, pef->file->folder);
  sambaTextAppend(&text, file.data, file.size);
  char *path = sambaTextTake(&text);
  uint64_t bytes;
  SambaStatus status = sambaInputFileOpen(path, out_fd, &bytes);
  if (!status &&
      (symbol->init_offset > bytes || symbol->init_bytes > bytes - symbol->init_offset)) {
    close(*out_fd);
    status = sambaStatusMake(
        SAMBA_INVALID,
        "%s: bytes %llu to %llu are expected, but the file has %llu; put the file "
        "that was compiled beside the PEF",
        path, (unsigned long long)symbol->init_offset,
        (unsigned long long)(symbol->init_offset + symbol->init_bytes), (unsigned long long)bytes);
  }

  if (status) {
    free(path);
    return status;
  }

  *out_path = path;
  return NULL;
}

/* Reads bytes [offset, offset + size) of the data, into `buffer` and `digest` where these are not
 * NULL. */
static SambaStatus readRange(const SambaPef *pef, const SambaPefSymbol *symbol, uint64_t offset,
                             uint64_t size, uint8_t *buffer, SambaDigest *digest) {
  if (!pef->file || (symbol->init != SAMBA_PEF_INIT_BLOB && symbol->init != SAMBA_PEF_INIT_FILE))
    return sambaStatusMake(SAMBA_INVALID, "there is no data in a file");
  if (offset > symbol->init_bytes || size > symbol->init_bytes - offset)
    return sambaStatusMake(SAMBA_INVALID, "bytes %llu to %llu of %llu do not exist",
                           (unsigned long long)offset, (unsigned long long)(offset + size),
                           (unsigned long long)symbol->init_bytes);
  bool external = symbol->init == SAMBA_PEF_INIT_FILE;
  int fd = -1;
  char *path = NULL;

  if (external)
    SAMBA_RETURN_IF_ERROR(openExternal(pef, symbol, &fd, &path));
  uint64_t base = symbol->init_offset + (external ? 0 : pef->file->weights_offset);
  uint8_t *piece = buffer ? NULL : sambaAllocate(pieceBytes);
  SambaStatus status = NULL;

  for (uint64_t done = 0; done < size && !status;) {
    uint64_t bytes = size - done < pieceBytes ? size - done : pieceBytes;
    uint8_t *to = buffer ? buffer + done : piece;
    status = external ? sambaPefFileRead(fd, path, "weights", base + offset + done, to, bytes)
                      : sambaPefFileReadAt(pef->file, "weights", base + offset + done, to, bytes);
    if (!status && digest)
      sambaDigestAppend(digest, to, bytes);
    done += bytes;
  }

  free(piece);
  free(path);
  if (external)
    close(fd);
  return status;
}

static SambaStatus readVerified(const SambaPef *pef, const SambaPefSymbol *symbol, void *buffer) {
  uint8_t checksum[SAMBA_PEF_DIGEST_BYTES];
  SambaDigest *digest = sambaDigestCreate();
  SambaStatus status = readRange(pef, symbol, 0, symbol->init_bytes, buffer, digest);
  sambaDigestFinish(digest, checksum);
  if (!status && memcmp(checksum, symbol->init_checksum, sizeof checksum) != 0)
    status = sambaStatusMake(
        SAMBA_INVALID,
        "the checksum of its %llu bytes%s%.*s is wrong: the file is damaged or another one",
        (unsigned long long)symbol->init_bytes, symbol->init == SAMBA_PEF_INIT_FILE ? " in " : "",
        symbol->init == SAMBA_PEF_INIT_FILE ? (int)symbol->init_file.size : 0,
        symbol->init_file.data);
  return annotate(status, symbol);
}

SambaStatus sambaPefReadInit(const SambaPef *pef, const SambaPefSymbol *symbol, void *buffer) {
  return readVerified(pef, symbol, buffer);
}

SambaStatus sambaPefVerifyInit(const SambaPef *pef, const SambaPefSymbol *symbol) {
  return readVerified(pef, symbol, NULL);
}

SambaStatus sambaPefReadInitPart(const SambaPef *pef, const SambaPefSymbol *symbol, uint64_t offset,
                                 void *buffer, uint64_t size) {
  return annotate(readRange(pef, symbol, offset, size, buffer, NULL), symbol);
}
