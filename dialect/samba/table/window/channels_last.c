/* Operators on channels last as those on channels first; see channels_last.h. */
#include "dialect/samba/table/window/channels_last.h"

#include <string.h>

SambaStatus sambaDecomposeChannelsLast(const SambaOperatorCall *call, SambaExpansion *expansion,
                                       const uint32_t *operands, uint32_t *out_results) {
  static const int64_t first[] = {0, 3, 1, 2}, last[] = {0, 2, 3, 1};
  const char *name = call->operator->name;
  size_t length = strlen(name) - strlen("_channels_last");
  uint32_t moved[3];

  memcpy(moved, operands, call->operand_count * sizeof *moved);
  moved[0] = sambaExpandPermute(expansion, moved[0], first);
  uint32_t result =
      sambaExpandCall(expansion, sambaArenaFormat(expansion->arena, "%.*s", (int)length, name),
                      call->operand_count, moved, call->attribute_count, call->attributes);
  out_results[0] = sambaExpandPermute(expansion, result, last);
  return expansion->status;
}
