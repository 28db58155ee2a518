/* Names of files; see path.h. */
#include "support/file/path.h"

#include "support/text/text.h"

#include <errno.h>
#include <stdlib.h>

SambaStringRef sambaPathFolder(const char *path) {
  const char *slash = strrchr(path, '/');
  return (SambaStringRef){path, slash ? (size_t)(slash - path) + 1 : 0};
}

const char *sambaPathJoin(SambaArena *arena, SambaStringRef folder, SambaStringRef name) {
  bool absolute = name.size && name.data[0] == '/';
  if (absolute || !folder.size)
    return sambaStringRefCopy(arena, name).data;
  const char *between = folder.data[folder.size - 1] == '/' ? "" : "/";
  return sambaArenaFormat(arena, "%.*s%s%.*s", SAMBA_STRING_ARGS(folder), between,
                          SAMBA_STRING_ARGS(name));
}

/* The way from one resolved folder to one resolved file. */
static const char *wayBetween(SambaArena *arena, const char *from, const char *to) {
  size_t common = 0; /* length of the common folders, with the slash after them */
  for (size_t i = 0; from[i] == to[i] && to[i]; ++i)
    if (to[i] == '/')
      common = i + 1;
  size_t length = strlen(from);
  if (strncmp(from, to, length) == 0 && to[length] == '/')
    common = length + 1;

  SambaText way = {0};
  for (size_t i = common; i < length; i += strcspn(from + i, "/") + 1)
    sambaTextAppendC(&way, "../");
  sambaTextAppendC(&way, to + common);
  return sambaTextToArena(&way, arena);
}

SambaStatus sambaPathRelative(SambaArena *arena, const char *folder, const char *path,
                              const char **out_path) {
  char *from = realpath(folder[0] ? folder : ".", NULL);
  char *to = from ? realpath(path, NULL) : NULL;
  SambaStatus status = NULL;

  if (!to)
    status = sambaStatusMake(SAMBA_IO, "%s: %s", from ? path : folder, strerror(errno));
  else
    *out_path = wayBetween(arena, from, to);

  free(from);
  free(to);
  return status;
}
