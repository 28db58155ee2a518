/* Folders that appear whole; see folder.h. */
#include "support/file/folder.h"

#include "support/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { nameAttempts = 1000 };

static char *formatName(const char *path, const char *what, int attempt) {
  size_t size = strlen(path) + 64;
  char *name = sambaAllocate(size);
  snprintf(name, size, "%s.%s-%ld-%d", path, what, (long)getpid(), attempt);
  return name;
}

static SambaStatus describeFailure(const char *path, const char *what) {
  return sambaStatusMake(SAMBA_IO, "%s: %s: %s", path, what, strerror(errno));
}

/* Where links lead, without the slashes at the end. */
static char *resolve(const char *path) {
  char *real = realpath(path, NULL);
  if (real)
    return real;
  char *copy = strdup(path);
  size_t size = strlen(copy);
  while (size > 1 && copy[size - 1] == '/')
    copy[--size] = '\0';
  return copy;
}

SambaStatus sambaFolderDraftCreate(const char *path, SambaFolderDraft *out_draft) {
  *out_draft = (SambaFolderDraft){NULL, NULL};
  struct stat info;
  if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode))
    return sambaStatusMake(SAMBA_IO, "%s: cannot be written: it is no folder; give another name",
                           path);

  SambaFolderDraft draft = {.path = resolve(path)};
  for (int attempt = 0; attempt < nameAttempts; ++attempt) {
    free(draft.temporary);
    draft.temporary = formatName(draft.path, "unfinished", attempt);
    if (mkdir(draft.temporary, 0777) == 0) {
      *out_draft = draft;
      return NULL;
    }
    if (errno != EEXIST)
      break;
  }

  SambaStatus status = describeFailure(path, "cannot be written");
  free(draft.temporary);
  free(draft.path);
  return status;
}

SambaStatus sambaFolderVisit(const char *path, SambaStatus (*visit)(void *user, const char *name),
                             void *user) {
  DIR *folder = opendir(path);
  if (!folder)
    return describeFailure(path, "cannot be read");
  SambaStatus status = NULL;
  for (const struct dirent *entry; !status && (entry = readdir(folder));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      status = visit(user, entry->d_name);
  closedir(folder);
  return status;
}

static SambaStatus removeEntry(void *user, const char *name) {
  unlinkat(*(const int *)user, name, 0);
  return NULL;
}

/* What cannot be deleted stays. */
static void removeFolder(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    sambaStatusFree(sambaFolderVisit(path, removeEntry, &fd));
    close(fd);
  }
  rmdir(path);
}

/* The names in a folder reach the disk; that cannot fail in a way that anybody could mend. */
static void flushFolder(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  fsync(fd);
  close(fd);
}

/* Swaps the two, or moves the old one away first where the file system cannot swap. out_old: where
 * the old folder is now. */
static bool replaceFolder(const SambaFolderDraft *draft, char **out_old) {
  if (renameat2(AT_FDCWD, draft->temporary, AT_FDCWD, draft->path, RENAME_EXCHANGE) == 0) {
    *out_old = strdup(draft->temporary);
    return true;
  }
  if (errno == ENOENT)
    return rename(draft->temporary, draft->path) == 0;
  if (errno != EINVAL && errno != ENOSYS && errno != EXDEV)
    return false;

  char *old = formatName(draft->path, "replaced", 0);
  if (rename(draft->path, old) == 0) {
    *out_old = old;
    return rename(draft->temporary, draft->path) == 0;
  }
  free(old);
  return false;
}

SambaStatus sambaFolderDraftCommit(SambaFolderDraft *draft) {
  char *old = NULL;
  flushFolder(draft->temporary);
  if (!replaceFolder(draft, &old)) {
    SambaStatus status = describeFailure(draft->path, "cannot be renamed into place");
    free(old);
    sambaFolderDraftDiscard(draft);
    return status;
  }

  char *parent = formatName(draft->path, "", 0); /* long enough for "/.." */
  snprintf(parent, strlen(parent), "%s/..", draft->path);
  flushFolder(parent);
  free(parent);
  if (old)
    removeFolder(old);
  free(old);
  free(draft->temporary);
  free(draft->path);
  *draft = (SambaFolderDraft){NULL, NULL};
  return NULL;
}

void sambaFolderDraftDiscard(SambaFolderDraft *draft) {
  if (draft->temporary)
    removeFolder(draft->temporary);
  free(draft->temporary);
  free(draft->path);
  *draft = (SambaFolderDraft){NULL, NULL};
}
