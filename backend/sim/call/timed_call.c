/* Timed calls; see timed_call.h. */
#include "backend/sim/call/timed_call.h"

#include <stdlib.h>

void sambaTimingResultFree(SambaTimingResult *result) {
  free(result->units);
  *result = (SambaTimingResult){0};
}
