/* What a call brings to the engines; see call.h. */
#include "backend/sim/call/call.h"

#include "support/base/memory.h"

#include <stdlib.h>

void sambaIndexTracesFree(SambaIndexTraces *traces) {
  for (size_t i = 0; i < traces->size; ++i)
    sambaArrayFree(&traces->data[i]);
  sambaArrayFree(traces);
}
