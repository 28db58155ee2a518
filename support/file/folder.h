/* Folders of files that appear whole or not at all.
 *
 * The files are written into a folder beside the final one, which then takes its place in one step.
 * A program that fails or is killed before leaves the old folder as it was; when it was killed, the
 * unfinished one stays beside it. */
#ifndef SAMBA_SUPPORT_FILE_FOLDER_H
#define SAMBA_SUPPORT_FILE_FOLDER_H

#include "support/base/status.h"

typedef struct SambaFolderDraft {
  char *path;      /* the final name, links resolved, without a slash at its end; owned */
  char *temporary; /* the folder to write into; owned; NULL after commit and discard */
} SambaFolderDraft;

/* Makes an empty folder beside `path`. */
SambaStatus sambaFolderDraftCreate(const char *path, SambaFolderDraft *out_draft);
/* Puts the folder into its place; the files of the one that was there are deleted. On failure the
 * draft is discarded. */
SambaStatus sambaFolderDraftCommit(SambaFolderDraft *draft);
/* Throws the folder and its files away; does nothing after a commit. */
void sambaFolderDraftDiscard(SambaFolderDraft *draft);

/* Calls `visit` with the name of each entry of a folder, in no order, until one fails. */
SambaStatus sambaFolderVisit(const char *path, SambaStatus (*visit)(void *user, const char *name),
                             void *user);

#endif
