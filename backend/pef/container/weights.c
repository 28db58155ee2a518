/* The data of symbols on its way into a PEF: from memory, from a file or from whoever computes it;
 * see weights.h.
 *
 * Data has to be read for its checksum anyway, so a file's range goes through one buffer: what was
 * hashed is what is written, even if the source changes meanwhile, and that costs no more than
 * copy_file_range and a second reading. */
#include "backend/pef/container/weights.h"

#include "backend/pef/container/checksum.h"
#include "backend/pef/container/file.h"
#include "support/file/input_file.h"
#include "support/text/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { pieceBytes = 1 << 20 };

struct SambaPefSink {
  int fd;
  const char *path;
  uint64_t offset; /* of the next byte in the output */
  uint64_t left;   /* bytes that must still come */
  SambaDigest *digest;
};

SambaStatus sambaPefSinkWrite(SambaPefSink *sink, const void *data, uint64_t size) {
  if (size > sink->left)
    return sambaStatusMake(SAMBA_INVALID, "its source gives more bytes than init_bytes says");
  sambaDigestAppend(sink->digest, data, size);
  sink->left -= size;
  const char *from = data;

  while (size && sink->fd >= 0) {
    ssize_t done = pwrite(sink->fd, from, size, (off_t)sink->offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return sambaStatusMake(SAMBA_IO, "%s: writing failed: %s", sink->path, strerror(errno));
    from += done;
    sink->offset += (uint64_t)done;
    size -= (uint64_t)done;
  }

  return NULL;
}

static SambaStatus copyFile(const SambaPefSource *source, SambaPefSink *sink) {
  int fd;
  uint64_t bytes;

  if (source->folder)
    SAMBA_RETURN_IF_ERROR(
        sambaStatusNote(sambaInputFileOpenInside(source->folder, source->path, &fd, &bytes),
                        "--data-folder names another folder that the data may be in"));
  else
    SAMBA_RETURN_IF_ERROR(sambaInputFileOpen(source->path, &fd, &bytes));
  uint8_t *piece = sambaAllocate(pieceBytes);
  SambaStatus status = NULL;
  if (source->offset > bytes || sink->left > bytes - source->offset)
    status = sambaStatusMake(
        SAMBA_INVALID, "%s: bytes %llu to %llu are expected, but the file has %llu", source->path,
        (unsigned long long)source->offset, (unsigned long long)(source->offset + sink->left),
        (unsigned long long)bytes);

  for (uint64_t offset = source->offset; sink->left && !status;) {
    uint64_t size = sink->left < pieceBytes ? sink->left : pieceBytes;
    status = sambaPefFileRead(fd, source->path, "weights", offset, piece, size);
    if (!status)
      status = sambaPefSinkWrite(sink, piece, size);
    offset += size;
  }

  free(piece);
  close(fd);
  return status;
}

static SambaStatus drain(const SambaPefSource *source, SambaPefSink *sink) {
  if (source->produce)
    return source->produce(source->user, sink);
  if (source->data)
    return sambaPefSinkWrite(sink, source->data, sink->left);
  if (source->path)
    return copyFile(source, sink);
  return sambaStatusMake(SAMBA_INVALID, "it has no source");
}

SambaStatus sambaPefWriteData(SambaPefSymbol *symbol, int fd, const char *path, uint64_t offset) {
  SambaPefSink sink = {.fd = fd,
                       .path = path,
                       .offset = offset,
                       .left = symbol->init_bytes,
                       .digest = sambaDigestCreate()};
  SambaStatus status = drain(&symbol->source, &sink);
  uint8_t checksum[SAMBA_PEF_DIGEST_BYTES];

  sambaDigestFinish(sink.digest, checksum);
  if (!status && sink.left)
    status = sambaStatusMake(SAMBA_INVALID, "its source gives %llu bytes, expected %llu",
                             (unsigned long long)(symbol->init_bytes - sink.left),
                             (unsigned long long)symbol->init_bytes);
  if (!status && !sambaDigestIsZero(symbol->init_checksum) &&
      memcmp(symbol->init_checksum, checksum, sizeof checksum) != 0)
    status = sambaStatusMake(
        SAMBA_INVALID,
        "its init_checksum is not that of the data; the source is damaged or has changed");
  if (!status)
    memcpy(symbol->init_checksum, checksum, sizeof checksum);
  SambaArena arena = {0};
  status = sambaStatusAnnotate(status, "data of symbol %s",
                               sambaStringEscape(&arena, symbol->name).data);
  sambaArenaDestroy(&arena);

  return status;
}
