/* TOSA's reductions: the reduced dimension stays with size 1, that of argmax goes. */
#include "lowering/tosa/tosa_rows.h"

#include "support/text/string_ref.h"

#include <math.h>
#include <string.h>

void sambaTosaReduce(SambaForeignCall *call) {
  uint32_t x = call->operands[0];
  int64_t axis = sambaForeignInt(call, "axis");
  if (sambaTosaIgnoresNan(call, x))
    x = sambaTosaReplaceNan(call, x, strcmp(call->row->operator, "amin") ? -INFINITY : INFINITY);
  call->results[0] =
      SAMBA_FOREIGN_CALL(call, call->row->operator, (uint32_t[]){x},
                         sambaIntsAttribute("dim", &axis, 1), sambaBoolAttribute("keepdim", true));
}

void sambaTosaArgmax(SambaForeignCall *call) {
  uint32_t x = call->operands[0];
  if (sambaTosaIgnoresNan(call, x))
    x = sambaTosaReplaceNan(call, x, -INFINITY);
  uint32_t index = SAMBA_FOREIGN_CALL(call, "argmax", (uint32_t[]){x},
                                      sambaIntAttribute("dim", sambaForeignInt(call, "axis")));
  call->results[0] = sambaExpandCast(&call->expansion, index, call->types[0].dtype);
}
