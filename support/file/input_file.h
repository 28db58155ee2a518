/* Files that are read in place: opened without ever blocking, and, where a model chooses their
 * names, only inside the folder that the user named. */
#ifndef SAMBA_SUPPORT_FILE_INPUT_FILE_H
#define SAMBA_SUPPORT_FILE_INPUT_FILE_H

#include "support/base/status.h"

/* Opens a regular file for reading. Pipes and devices are refused, since they could block.
 * SAMBA_IO when the file cannot be opened. The caller closes *out_fd. */
SambaStatus sambaInputFileOpen(const char *path, int *out_fd, uint64_t *out_bytes);

/* The same for a file whose name comes from a model: with every symbolic link resolved it must lie
 * in `folder` ("": the current one) or below, else SAMBA_INVALID. The file that is open is the file
 * that was checked: a link that changes in between is refused too. */
SambaStatus sambaInputFileOpenInside(const char *folder, const char *path, int *out_fd,
                                     uint64_t *out_bytes);

/* Reads all `bytes` of an open file, which is at its beginning. The caller frees *out_data. `path`
 * is for the message. */
SambaStatus sambaInputFileRead(int fd, const char *path, uint64_t bytes, uint8_t **out_data);

#endif
