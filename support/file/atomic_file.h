/* Output files that appear whole or not at all.
 *
 * The file is written without a name (or beside its final name where the file system cannot do
 * that), flushed to the disk (up to 64 MiB) and renamed. A program that fails or is killed before
 * the commit leaves the old file as it was. Targets that are no regular files (a pipe, /dev/null)
 * receive the bytes at the commit. */
#ifndef SAMBA_SUPPORT_FILE_ATOMIC_FILE_H
#define SAMBA_SUPPORT_FILE_ATOMIC_FILE_H

#include "support/base/status.h"
#include "support/text/string_ref.h"

#include <stddef.h>

typedef struct SambaAtomicFile {
  int fd;          /* open for reading and writing, at position 0; -1 when closed */
  char *path;      /* the final name, symbolic links resolved; owned */
  char *temporary; /* the name it has until the commit; NULL: none; owned */
  bool special;    /* the target is no regular file */
  uint32_t mode;   /* permissions of the file that is replaced; 0: a new file */
} SambaAtomicFile;

/* Starts writing the file that will be called `path`. On failure nothing is left behind. */
SambaStatus sambaAtomicFileCreate(const char *path, SambaAtomicFile *out_file);
/* The same for a file that never gets a name: sambaAtomicFileTake has its contents. `what` stands
 * for the path in errors. */
SambaStatus sambaAtomicFileCreateInMemory(const char *what, SambaAtomicFile *out_file);
/* Appends at the file position. */
SambaStatus sambaAtomicFileWrite(SambaAtomicFile *file, const void *data, size_t size);
/* Flushes, names and closes the file; on failure it is discarded. */
SambaStatus sambaAtomicFileCommit(SambaAtomicFile *file);
/* The contents instead of a commit, and the file is closed. out_data: free it. */
SambaStatus sambaAtomicFileTake(SambaAtomicFile *file, void **out_data, size_t *out_size);
/* Throws the file away; does nothing after a commit. */
void sambaAtomicFileDiscard(SambaAtomicFile *file);
/* Creates, writes and commits a file in one call. */
SambaStatus sambaWriteFile(const char *path, const void *data, size_t size);
/* The same, or to standard output when the path is "-" or NULL. */
SambaStatus sambaWriteOutput(const char *path, const void *data, size_t size);

/* Checks the files of a command before it does anything. No output may be the same file as an input
 * or as another output, through whatever names and links: that slip would destroy one of them. A
 * folder is refused before the other outputs are written, and "-" because what is written as a
 * whole needs the name of a file. Entries may be NULL. */
SambaStatus sambaCheckOutputs(const SambaStrings *outputs, const SambaStrings *inputs);
/* The same for a command with one output and one input; both may be NULL. */
SambaStatus sambaCheckOutput(const char *output, const char *input);

#endif
