/* Names of files: the folder of a path, a name in a folder, a path seen from another folder. */
#ifndef SAMBA_SUPPORT_FILE_PATH_H
#define SAMBA_SUPPORT_FILE_PATH_H

#include "support/base/status.h"
#include "support/text/string_ref.h"

/* The folder that a path names, with its slash: "a/b/" of "a/b/c", "/" of "/c", "" of "c". What
 * stands behind it is the name of the file. Borrowed from the path. */
SambaStringRef sambaPathFolder(const char *path);
/* `name` in `folder`, in the arena: the name alone when the folder is "" or the name begins with a
 * slash. The folder may end with a slash or not. */
const char *sambaPathJoin(SambaArena *arena, SambaStringRef folder, SambaStringRef name);
/* How `path` is called from `folder`: "model.onnx" from /a for /a/model.onnx, "../c/x" from /a/b
 * for /a/c/x. The folder ("" is the current one) and the file must exist; links are resolved. */
SambaStatus sambaPathRelative(SambaArena *arena, const char *folder, const char *path,
                              const char **out_path);

#endif
