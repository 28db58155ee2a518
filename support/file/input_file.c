/* Opening files that are read in place; see input_file.h. */
#include "support/file/input_file.h"

#include "support/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static SambaStatus openRegular(const char *path, int *out_fd, struct stat *out_info) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return sambaStatusMake(SAMBA_IO, "%s: cannot be read: %s", path, strerror(errno));
  if (fstat(fd, out_info) || !S_ISREG(out_info->st_mode)) {
    close(fd);
    return sambaStatusMake(SAMBA_IO, "%s: cannot be read: it is not a regular file; copy it to one",
                           path);
  }
  *out_fd = fd;
  return NULL;
}

SambaStatus sambaInputFileOpen(const char *path, int *out_fd, uint64_t *out_bytes) {
  struct stat info;
  SAMBA_RETURN_IF_ERROR(openRegular(path, out_fd, &info));
  *out_bytes = (uint64_t)info.st_size;
  return NULL;
}

/* Both paths are absolute and without links, as realpath gives them. */
static bool liesInside(const char *folder, const char *path) {
  size_t length = strlen(folder);
  while (length && folder[length - 1] == '/') /* the root folder */
    --length;
  return strncmp(folder, path, length) == 0 && path[length] == '/';
}

SambaStatus sambaInputFileOpenInside(const char *folder, const char *path, int *out_fd,
                                     uint64_t *out_bytes) {
  struct stat opened, found;
  int fd = -1; /* gcc does not see that openRegular sets it */
  SAMBA_RETURN_IF_ERROR(openRegular(path, &fd, &opened));

  /* The name is resolved after the file was opened, and must lead to the file that is open: who
   * changes a link in between gets nothing read that does not lie in the folder. */
  char *real_folder = realpath(*folder ? folder : ".", NULL);
  char *real_path = realpath(path, NULL);
  bool inside = real_folder && real_path && liesInside(real_folder, real_path) &&
                stat(real_path, &found) == 0 && found.st_dev == opened.st_dev &&
                found.st_ino == opened.st_ino;
  free(real_folder);
  free(real_path);

  if (!inside) {
    close(fd);
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: lies outside the folder '%s', where the model's data must be; "
                           "copy the file into that folder",
                           path, *folder ? folder : ".");
  }

  *out_fd = fd;
  *out_bytes = (uint64_t)opened.st_size;
  return NULL;
}

SambaStatus sambaInputFileRead(int fd, const char *path, uint64_t bytes, uint8_t **out_data) {
  uint8_t *data = sambaAllocate(bytes);
  uint64_t done = 0;
  while (done < bytes) {
    ssize_t count = read(fd, data + done, bytes - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    done += (uint64_t)count;
  }

  if (done == bytes) {
    *out_data = data;
    return NULL;
  }
  free(data);
  return sambaStatusMake(SAMBA_IO, "%s: could not be read to its end", path);
}
