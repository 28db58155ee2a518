/* The window of a pool; see pool_type.h. */
#include "dialect/samba/table/window/pool_type.h"

#include <string.h>

SambaStatus sambaPoolWindow(const SambaOperatorCall *call, SambaWindow *out) {
  uint32_t spatial = call->operator->spatial;
  int64_t padding[6];
  bool ceiling = sambaOperatorCallInt(call, "ceil_mode") != 0;

  out->spatial = spatial;
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "kernel_size", spatial, 1, out->kernel));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "stride", spatial, 1, out->stride));
  if (!sambaOperatorCallFind(call, "stride"))
    memcpy(out->stride, out->kernel, sizeof out->stride);
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "dilation", spatial, 1, out->dilation));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "padding", 2 * spatial, 0, padding));

  for (uint32_t i = 0; i < spatial; ++i) {
    out->begin[i] = padding[i];
    out->end[i] = padding[spatial + i];
    int64_t room, span;
    SAMBA_RETURN_IF_ERROR(
        sambaCheckWindowFits(4, out, i, sambaPoolInputSize(call, i), &room, &span));
    if (out->begin[i] > span || out->end[i] > span)
      return sambaStatusMake(SAMBA_INVALID,
                             "(C5) padding %lld and %lld along spatial dimension %u must be less "
                             "than the window's span %lld",
                             (long long)out->begin[i], (long long)out->end[i], i,
                             (long long)span + 1);
    int64_t steps = room - span - 1;
    out->out[i] = steps / out->stride[i] + 1;
    if (ceiling && steps % out->stride[i] &&
        out->out[i] * out->stride[i] < sambaPoolInputSize(call, i) + out->begin[i])
      ++out->out[i];
  }

  return NULL;
}

int64_t sambaPoolCount(const SambaOperatorCall *call, const SambaWindow *window, uint32_t i,
                       int64_t place) {
  bool padded = sambaOperatorCallInt(call, "count_include_pad") != 0;
  int64_t low = padded ? -window->begin[i] : 0;
  int64_t high = sambaPoolInputSize(call, i) + (padded ? window->end[i] : 0);
  int64_t count = 0;
  for (int64_t tap = 0; tap < window->kernel[i]; ++tap) {
    int64_t at = place * window->stride[i] - window->begin[i] + tap * window->dilation[i];
    count += at >= low && at < high;
  }
  return count;
}
