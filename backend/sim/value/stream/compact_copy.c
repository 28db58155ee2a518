/* Copies of tokens without their repeats; see compact_copy.h. */
#include "backend/sim/value/stream/compact_copy.h"

#include "backend/section/access.h"

static uint64_t magnitude(int64_t value) { return value < 0 ? -(uint64_t)value : (uint64_t)value; }

static bool isRepeat(const SambaAccess *access, uint32_t counter) {
  bool repeat = access->strides[counter] == 0;
  for (uint32_t g = 0; g < access->guard_count; ++g)
    repeat &= access->guards[g].strides[counter] == 0;
  return repeat;
}

/* An axis of the copy: the steps of `counter`, further than that counter goes where others walk on
 * along it. */
typedef struct CopyAxis {
  uint32_t counter, trips;
} CopyAxis;

/* A copy without repeats: its axes, outermost first, and for each inner counter of the access the
 * axis along which it steps and by how much. Repeats step along none (SAMBA_NO_INDEX). */
typedef struct CopyAxes {
  uint32_t count;
  CopyAxis axes[SAMBA_MAX_COUNTERS];
  uint32_t axis_of[SAMBA_MAX_COUNTERS];
  int64_t steps[SAMBA_MAX_COUNTERS];
} CopyAxes;

/* Whether `whole` is a positive multiple of `part`, the same as found before (0: none yet). */
static bool isMultiple(int64_t whole, int64_t part, int64_t *multiple) {
  if (part == 0 || whole == 0)
    return part == whole;
  if (whole % part || whole / part < 0 || (*multiple && whole / part != *multiple))
    return false;
  *multiple = whole / part;
  return true;
}

/* Steps of the axis that one step of the counter is, for the address and for all guards; 0: the
 * counter goes another way, or would leave gaps. */
static int64_t stepsAlong(const SambaAccess *access, const CopyAxis *axis, uint32_t counter) {
  int64_t steps = 0;
  bool along = isMultiple(access->strides[counter], access->strides[axis->counter], &steps);
  for (uint32_t g = 0; g < access->guard_count && along; ++g)
    along = isMultiple(access->guards[g].strides[counter], access->guards[g].strides[axis->counter],
                       &steps);
  return along && steps <= (int64_t)axis->trips ? steps : 0;
}

/* Windows overlap: what several counters reach together is copied once. */
static void addToAxes(const SambaAccess *access, uint32_t counter, CopyAxes *axes) {
  uint32_t trips = access->trips[counter];
  for (uint32_t a = 0; a < axes->count; ++a) {
    int64_t steps = stepsAlong(access, &axes->axes[a], counter), reach;
    if (!steps || sambaMulOverflows(steps, trips - 1, &reach) ||
        reach > (int64_t)(UINT32_MAX - axes->axes[a].trips))
      continue;
    axes->axes[a].trips += (uint32_t)reach;
    axes->axis_of[counter] = a;
    axes->steps[counter] = steps;
    return;
  }
  axes->axis_of[counter] = axes->count;
  axes->steps[counter] = 1;
  axes->axes[axes->count++] = (CopyAxis){counter, trips};
}

/* Host time per element of copying rows along this axis: a row costs as much as some tens of
 * elements. */
static double rowCost(const SambaAccess *access, const CopyAxis *axis) {
  double element = magnitude(access->strides[axis->counter]) == 1 ? 0.25 : 1;
  return element + 25.0 / (double)axis->trips;
}

/* Counters with smaller strides come first. */
static uint32_t sortCounters(const SambaAccess *access, uint32_t *out_order) {
  uint32_t count = 0;
  for (uint32_t c = access->counter_count; c-- > access->token_level;) {
    if (isRepeat(access, c) || access->trips[c] == 1)
      continue;
    uint32_t at = count++;
    for (; at > 0 && magnitude(access->strides[out_order[at - 1]]) > magnitude(access->strides[c]);
         --at)
      out_order[at] = out_order[at - 1];
    out_order[at] = c;
  }
  return count;
}

/* Axes in the order in which elements are best copied: larger strides outside, but for the
 * innermost, which makes the rows. */
static void findAxes(const SambaAccess *access, CopyAxes *out_axes) {
  uint32_t order[SAMBA_MAX_COUNTERS], place[SAMBA_MAX_COUNTERS], rows = 0;
  uint32_t counters = sortCounters(access, order);
  CopyAxes found = {.count = 0};

  for (uint32_t c = access->token_level; c < access->counter_count; ++c)
    found.axis_of[c] = SAMBA_NO_INDEX;
  for (uint32_t i = 0; i < counters; ++i)
    addToAxes(access, order[i], &found);
  for (uint32_t a = 1; a < found.count; ++a)
    if (rowCost(access, &found.axes[a]) < rowCost(access, &found.axes[rows]))
      rows = a;

  *out_axes = found;
  uint32_t at = found.count;
  for (uint32_t a = 0; a < found.count; ++a) {
    place[a] = a == rows ? found.count - 1 : --at - 1;
    out_axes->axes[place[a]] = found.axes[a];
  }
  for (uint32_t i = 0; i < counters; ++i)
    out_axes->axis_of[order[i]] = place[found.axis_of[order[i]]];
}

SambaAccess *sambaCompactAccess(SambaArena *arena, const SambaAccess *access) {
  CopyAxes axes;
  findAxes(access, &axes);
  SambaAccess *copy = sambaArenaCopy(arena, access, sizeof *access);
  copy->counter_count = access->token_level + axes.count;
  uint32_t *from = SAMBA_ARENA_ARRAY(arena, uint32_t, copy->counter_count);
  for (uint32_t c = 0; c < copy->counter_count; ++c)
    from[c] = c < access->token_level ? c : axes.axes[c - access->token_level].counter;

  uint32_t *trips = SAMBA_ARENA_ARRAY(arena, uint32_t, copy->counter_count);
  int64_t *strides = SAMBA_ARENA_ARRAY(arena, int64_t, copy->counter_count);
  SambaGuard *guards = SAMBA_ARENA_ARRAY(arena, SambaGuard, copy->guard_count);
  for (uint32_t c = 0; c < copy->counter_count; ++c) {
    trips[c] =
        c < access->token_level ? access->trips[c] : axes.axes[c - access->token_level].trips;
    strides[c] = access->strides[from[c]];
  }
  for (uint32_t g = 0; g < copy->guard_count; ++g) {
    int64_t *steps = SAMBA_ARENA_ARRAY(arena, int64_t, copy->counter_count);
    for (uint32_t c = 0; c < copy->counter_count; ++c)
      steps[c] = access->guards[g].strides[from[c]];
    guards[g] = access->guards[g];
    guards[g].strides = steps;
  }
  copy->trips = trips, copy->strides = strides, copy->guards = guards;
  return copy;
}

bool sambaCompactLayout(SambaArena *arena, const SambaAccess *access,
                        SambaBlockLayout *out_layout) {
  CopyAxes axes;
  int64_t along[SAMBA_MAX_COUNTERS], stride = 1;
  findAxes(access, &axes);
  for (uint32_t a = axes.count; a-- > 0; stride *= (int64_t)axes.axes[a].trips)
    along[a] = stride;

  uint32_t inner = access->counter_count - access->token_level;
  *out_layout = (SambaBlockLayout){0, SAMBA_ARENA_ARRAY(arena, uint64_t, inner),
                                   SAMBA_ARENA_ARRAY(arena, int64_t, inner)};
  for (uint32_t c = access->token_level; c < access->counter_count; ++c) {
    if (access->trips[c] == 1)
      continue;
    uint32_t at = out_layout->rank, axis = axes.axis_of[c];
    int64_t step = axis == SAMBA_NO_INDEX ? 0 : axes.steps[c] * along[axis];
    if (at && out_layout->strides[at - 1] == step * (int64_t)access->trips[c])
      out_layout->trips[--at] *= access->trips[c];
    else
      out_layout->trips[at] = access->trips[c], ++out_layout->rank;
    out_layout->strides[at] = step;
  }
  return out_layout->rank > 1 || (out_layout->rank == 1 && out_layout->strides[0] != 1);
}
