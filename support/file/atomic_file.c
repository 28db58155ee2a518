/* Atomic output files; see atomic_file.h. */
#include "support/file/atomic_file.h"

#include "support/base/memory.h"
#include "support/file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { nameAttempts = 1000, copyBytes = 1 << 20 };
/* Larger files are not waited for: that takes seconds on a slow disk, and only a power failure
 * could tell the difference (large files of ours carry checksums). */
#define MAX_FLUSHED_BYTES ((off_t)64 << 20)

static char *copyText(const char *text, size_t size) {
  char *copy = sambaAllocate(size + 1);
  memcpy(copy, text, size);
  copy[size] = '\0';
  return copy;
}

/* The n-th name to try beside the final one. */
static char *temporaryName(const char *path, int attempt) {
  size_t size = strlen(path) + 48;
  char *name = sambaAllocate(size);
  snprintf(name, size, "%s.unfinished-%ld-%d", path, (long)getpid(), attempt);
  return name;
}

static SambaStatus describeFailure(const char *path, const char *what) {
  int error = errno;
  return sambaStatusMake(SAMBA_IO, "%s: %s: %s", path, what, strerror(error));
}

/* Where links lead, so that the rename replaces the file and not the link. */
static char *resolveTarget(const char *path, struct stat *out_info, bool *out_exists) {
  *out_exists = stat(path, out_info) == 0;
  if (*out_exists) {
    char *real = realpath(path, NULL);
    if (real)
      return real;
  }
  return copyText(path, strlen(path));
}

static SambaStatus folderStatus(const char *path) {
  return sambaStatusMake(SAMBA_IO, "%s: cannot be written: it is a folder; give a file name", path);
}

SambaStatus sambaAtomicFileCreate(const char *path, SambaAtomicFile *out_file) {
  *out_file = (SambaAtomicFile){.fd = -1};
  if (!path[0])
    return sambaStatusMake(SAMBA_INVALID, "the name of an output file is empty; give a path");
  struct stat info;
  bool exists;
  SambaAtomicFile file = {.fd = -1};

  file.path = resolveTarget(path, &info, &exists);
  if (exists && S_ISDIR(info.st_mode)) {
    free(file.path);
    return folderStatus(path);
  }

  if (exists && !S_ISREG(info.st_mode)) {
    file.special = true;
    file.fd = memfd_create("samba-output", MFD_CLOEXEC);
  } else {
    file.mode = exists ? info.st_mode & 07777 : 0;
    SambaStringRef place = sambaPathFolder(file.path);
    char *folder = place.size ? copyText(place.data, place.size) : copyText(".", 1);
    file.fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    free(folder);

    /* EOPNOTSUPP, EISDIR, EINVAL, ENOENT: this file system or kernel has no unnamed files. */
    for (int attempt = 0; file.fd < 0 && attempt < nameAttempts; ++attempt) {
      free(file.temporary);
      file.temporary = temporaryName(file.path, attempt);
      file.fd = open(file.temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file.fd < 0 && errno != EEXIST)
        break;
    }
  }

  if (file.fd < 0) {
    SambaStatus status = describeFailure(path, "cannot be written");
    free(file.temporary);
    free(file.path);
    return status;
  }

  if (file.mode && fchmod(file.fd, file.mode))
    file.mode = 0; /* not ours to set: the new file has the usual permissions */
  *out_file = file;
  return NULL;
}

SambaStatus sambaAtomicFileCreateInMemory(const char *what, SambaAtomicFile *out_file) {
  *out_file = (SambaAtomicFile){.special = true};
  out_file->path = copyText(what, strlen(what));
  out_file->fd = memfd_create("samba-output", MFD_CLOEXEC);
  if (out_file->fd >= 0)
    return NULL;
  SambaStatus status = describeFailure(what, "cannot be written");
  sambaAtomicFileDiscard(out_file);
  return status;
}

static SambaStatus writeAll(int fd, const char *path, const void *data, size_t size) {
  const char *from = data;
  while (size) {
    ssize_t done = write(fd, from, size);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return describeFailure(path, "writing failed");
    from += done;
    size -= (size_t)done;
  }
  return NULL;
}

SambaStatus sambaAtomicFileWrite(SambaAtomicFile *file, const void *data, size_t size) {
  return writeAll(file->fd, file->path, data, size);
}

/* Copies everything into the pipe or device. */
static SambaStatus deliver(SambaAtomicFile *file) {
  int target = open(file->path, O_WRONLY | O_CLOEXEC);
  if (target < 0)
    return describeFailure(file->path, "cannot be written");
  SambaStatus status = NULL;
  char *buffer = sambaAllocate(copyBytes);

  for (off_t offset = 0; !status;) {
    ssize_t size = pread(file->fd, buffer, copyBytes, offset);
    if (size < 0 && errno == EINTR)
      continue;
    if (size < 0)
      status = describeFailure(file->path, "reading back failed");
    if (size <= 0)
      break;
    status = writeAll(target, file->path, buffer, (size_t)size);
    offset += size;
  }

  free(buffer);
  if (close(target) && !status)
    status = describeFailure(file->path, "writing failed");
  return status;
}

/* Gives an unnamed file a name beside the final one: linkat cannot replace, rename can. */
static SambaStatus nameFile(SambaAtomicFile *file) {
  char self[64];
  snprintf(self, sizeof self, "/proc/self/fd/%d", file->fd);
  for (int attempt = 0; attempt < nameAttempts; ++attempt) {
    char *name = temporaryName(file->path, attempt);
    if (linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
      file->temporary = name;
      return NULL;
    }
    free(name);
    if (errno != EEXIST)
      break;
  }
  return describeFailure(file->path, "cannot be named");
}

SambaStatus sambaAtomicFileCommit(SambaAtomicFile *file) {
  SambaStatus status = NULL;
  if (file->special) {
    status = deliver(file);
  } else {
    struct stat info;
    if (fstat(file->fd, &info) || (info.st_size <= MAX_FLUSHED_BYTES && fsync(file->fd)))
      status = describeFailure(file->path, "writing failed");
    if (!status && !file->temporary)
      status = nameFile(file);
    if (!status && rename(file->temporary, file->path))
      status = describeFailure(file->path, "cannot be renamed into place");
    if (!status) {
      free(file->temporary);
      file->temporary = NULL;
    }
  }

  sambaAtomicFileDiscard(file);
  return status;
}

static SambaStatus readBack(const SambaAtomicFile *file, void **out_data, size_t *out_size) {
  struct stat info;
  if (fstat(file->fd, &info))
    return describeFailure(file->path, "reading back failed");
  size_t size = (size_t)info.st_size;
  char *data = sambaAllocate(size);

  for (size_t at = 0; at < size;) {
    ssize_t done = pread(file->fd, data + at, size - at, (off_t)at);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      SambaStatus status = describeFailure(file->path, "reading back failed");
      free(data);
      return status;
    }
    at += (size_t)done;
  }
  *out_data = data;
  *out_size = size;
  return NULL;
}

SambaStatus sambaAtomicFileTake(SambaAtomicFile *file, void **out_data, size_t *out_size) {
  *out_data = NULL;
  *out_size = 0;
  SambaStatus status = readBack(file, out_data, out_size);
  sambaAtomicFileDiscard(file);
  return status;
}

void sambaAtomicFileDiscard(SambaAtomicFile *file) {
  if (file->temporary)
    unlink(file->temporary);
  if (file->fd >= 0)
    close(file->fd);
  free(file->temporary);
  free(file->path);
  *file = (SambaAtomicFile){.fd = -1};
}

SambaStatus sambaWriteFile(const char *path, const void *data, size_t size) {
  SambaAtomicFile file;
  SAMBA_RETURN_IF_ERROR(sambaAtomicFileCreate(path, &file));
  SambaStatus status = sambaAtomicFileWrite(&file, data, size);
  if (status) {
    sambaAtomicFileDiscard(&file);
    return status;
  }
  return sambaAtomicFileCommit(&file);
}

SambaStatus sambaWriteOutput(const char *path, const void *data, size_t size) {
  if (path && strcmp(path, "-") != 0)
    return sambaWriteFile(path, data, size);
  if (fwrite(data, 1, size, stdout) != size || fflush(stdout))
    return sambaStatusMake(SAMBA_IO, "standard output: cannot write");
  return NULL;
}

/* Is it one file? One that does not exist yet is known by its folder and name. */
static bool isSameFile(const char *a, const char *b) {
  struct stat one, two;
  bool exists = stat(a, &one) == 0;
  if (exists != (stat(b, &two) == 0))
    return false;
  if (exists)
    return S_ISREG(one.st_mode) && one.st_dev == two.st_dev && one.st_ino == two.st_ino;

  SambaArena arena = {0};
  SambaStringRef from = sambaPathFolder(a);
  SambaStringRef to = sambaPathFolder(b);
  const char *folder = from.size ? sambaStringRefCopy(&arena, from).data : ".";
  const char *other = to.size ? sambaStringRefCopy(&arena, to).data : ".";
  bool same = strcmp(a + from.size, b + to.size) == 0 && stat(folder, &one) == 0 &&
              stat(other, &two) == 0 && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
  sambaArenaDestroy(&arena);
  return same;
}

static SambaStatus checkOutputIsNotInput(const char *output, const char *input) {
  struct stat out, in;
  if (!input || stat(output, &out) != 0 || stat(input, &in) != 0)
    return NULL;
  if (!S_ISREG(out.st_mode) || out.st_dev != in.st_dev || out.st_ino != in.st_ino)
    return NULL;
  return sambaStatusMake(
      SAMBA_INVALID, "%s: would be overwritten, but it is an input; give the output another name",
      output);
}

static SambaStatus checkOutputIsNoFolder(const char *output) {
  struct stat out;
  return stat(output, &out) == 0 && S_ISDIR(out.st_mode) ? folderStatus(output) : NULL;
}

SambaStatus sambaCheckOutputs(const SambaStrings *outputs, const SambaStrings *inputs) {
  for (size_t i = 0; i < outputs->size; ++i) {
    const char *output = outputs->data[i];
    if (!output)
      continue;
    if (strcmp(output, "-") == 0)
      return sambaStatusMake(SAMBA_INVALID, "standard output ('-') cannot take this output, which "
                                            "is written as a whole; give a file name");
    SAMBA_RETURN_IF_ERROR(checkOutputIsNoFolder(output));
    for (size_t k = 0; k < inputs->size; ++k)
      SAMBA_RETURN_IF_ERROR(checkOutputIsNotInput(output, inputs->data[k]));
    for (size_t k = 0; k < i; ++k)
      if (outputs->data[k] && isSameFile(output, outputs->data[k]))
        return sambaStatusMake(SAMBA_INVALID,
                               "%s: two outputs would be written to this file; give each a name of "
                               "its own",
                               output);
  }
  return NULL;
}

SambaStatus sambaCheckOutput(const char *output, const char *input) {
  return sambaCheckOutputs(&(SambaStrings){.data = &output, .size = 1},
                           &(SambaStrings){.data = &input, .size = 1});
}
