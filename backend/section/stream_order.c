/* Orders of streams; see stream_order.h.
 *
 * The window in closed form. Let a(p) be the position at which element p is made. Reading as early
 * as possible, all that is taken before p has been freed when p is made, as far as it will not be
 * read again; call the number of those f(p). At that moment the buffer holds a(p) + 1 - f(p)
 * elements, and no schedule can hold fewer: p must be there before it is read. So the window is the
 * largest a(p) + 1 - f(p).
 *
 * Both orders number the elements by digits: counter c of the first adds its weight to a, the trips
 * of all counters inside of it. f is the same for the second order, except that a repeat keeps all
 * that is inside of it: only digits outside of the outermost repeat count. Where the digits of both
 * orders are the same, up to splitting, the largest value is found digit by digit. Where they are
 * not (6 x 4 against 4 x 6), the digits between two cuts that both have are tried together. */
#include "backend/section/stream_order.h"

#include "support/number/integer.h"

#include <stdlib.h>
#include <string.h>

/*===-- Orders --------------------------------------------------------------------------------===*/

void sambaOrderAppend(SambaStreamOrder *order, uint64_t trips, int64_t step) {
  if (trips == 1)
    return;
  if (order->count) {
    SambaAccessStep *outer = &order->steps[order->count - 1];
    int64_t reach;
    if (!__builtin_mul_overflow(step, trips, &reach) && reach == outer->stride) {
      outer->trips *= trips;
      outer->stride = step;
      return;
    }
  }
  order->steps[order->count++] = (SambaAccessStep){trips, step};
}

SambaStreamOrder sambaOrderOf(const uint32_t *trips, const int64_t *strides, uint32_t from,
                              uint32_t until) {
  SambaStreamOrder order = {0};
  for (uint32_t c = from; c < until; ++c)
    sambaOrderAppend(&order, trips[c], strides[c]);
  return order;
}

SambaStreamOrder sambaAccessOrder(const SambaAccess *access, uint32_t from) {
  return sambaOrderOf(access->trips, access->strides, from, access->counter_count);
}

bool sambaOrdersEqual(const SambaStreamOrder *a, const SambaStreamOrder *b) {
  if (a->count != b->count)
    return false;
  for (uint32_t c = 0; c < a->count; ++c)
    if (a->steps[c].trips != b->steps[c].trips || a->steps[c].stride != b->steps[c].stride)
      return false;
  return true;
}

bool sambaOrderVisitsOnce(const SambaStreamOrder *order) {
  SambaStreamOrder steps = *order;
  return sambaStepsVisitOnce(steps.steps, steps.count);
}

uint64_t sambaOrderLength(const SambaStreamOrder *order) {
  uint64_t length = 1;
  for (uint32_t c = 0; c < order->count; ++c)
    if (__builtin_mul_overflow(length, order->steps[c].trips, &length))
      return UINT64_MAX;
  return length;
}

const char *sambaOrderText(SambaArena *arena, const SambaStreamOrder *order) {
  const char *trips = order->count ? "" : "1", *steps = "";
  for (uint32_t c = 0; c < order->count; ++c) {
    trips = sambaArenaFormat(arena, "%s%s%llu", trips, c ? "x" : "",
                             (unsigned long long)order->steps[c].trips);
    steps = sambaArenaFormat(arena, "%s%s%lld", steps, c ? ", " : "",
                             (long long)order->steps[c].stride);
  }
  return sambaArenaFormat(arena, "%s by [%s]", trips, steps);
}

/*===-- Digits --------------------------------------------------------------------------------===*/

/* A counter as a digit of the place: a step of it adds `step` (positive) to the place and `weight`
 * to the position; a counter that runs backwards has a negative weight. */
typedef struct Digit {
  uint64_t trips, step;
  int64_t weight;
} Digit;

typedef struct Digits {
  uint32_t count;
  Digit digits[SAMBA_MAX_COUNTERS]; /* by ascending step */
  int64_t start;                    /* the position of the lowest place */
} Digits;

static int compareDigits(const void *a, const void *b) {
  uint64_t x = ((const Digit *)a)->step, y = ((const Digit *)b)->step;
  return x < y ? -1 : x > y;
}

/* Positions of places. freed: of counters inside of the outermost repeat none counts. False when a
 * place comes twice, but for repeats. */
static bool makeDigits(const SambaStreamOrder *order, bool freed, Digits *out) {
  uint32_t repeat = order->count;
  for (uint32_t c = order->count; c-- > 0;)
    if (order->steps[c].stride == 0)
      repeat = c;
  *out = (Digits){0};
  int64_t weight = 1;

  for (uint32_t c = order->count; c-- > 0;) {
    SambaAccessStep step = order->steps[c];
    if (step.stride == 0)
      continue;
    int64_t own = freed && c > repeat ? 0 : weight;
    out->start += step.stride < 0 ? own * (int64_t)(step.trips - 1) : 0;
    out->digits[out->count++] =
        (Digit){step.trips, (uint64_t)llabs(step.stride), step.stride < 0 ? -own : own};
    weight *= (int64_t)step.trips;
  }

  qsort(out->digits, out->count, sizeof *out->digits, compareDigits);
  uint64_t reach = 0;
  for (uint32_t d = 0; d < out->count; ++d) {
    if (out->digits[d].step <= reach)
      return false;
    reach += out->digits[d].step * (out->digits[d].trips - 1);
  }
  return true;
}

/* Up to which digit the steps go on without a gap: one run of places. */
static uint32_t endOfRun(const Digits *digits, uint32_t from) {
  uint32_t until = from + 1;
  while (until < digits->count && digits->digits[until].step == digits->digits[until - 1].step *
                                                                    digits->digits[until - 1].trips)
    ++until;
  return until;
}

static bool sameRuns(const Digits *a, const Digits *b) {
  uint32_t i = 0, j = 0;
  while (i < a->count && j < b->count) {
    uint32_t to = endOfRun(a, i), other = endOfRun(b, j);
    if (a->digits[i].step != b->digits[j].step ||
        a->digits[to - 1].step * a->digits[to - 1].trips !=
            b->digits[other - 1].step * b->digits[other - 1].trips)
      return false;
    i = to;
    j = other;
  }
  return i == a->count && j == b->count;
}

/*===-- The window ----------------------------------------------------------------------------===*/

enum { mostTried = 1 << 22 };

/* The position that the digits [from, until) give to the number u of steps of the first. */
static int64_t positionOf(const Digits *digits, uint32_t from, uint32_t until, uint64_t u) {
  int64_t position = 0;
  for (uint32_t d = from; d < until; ++d) {
    position += digits->digits[d].weight * (int64_t)(u % digits->digits[d].trips);
    u /= digits->digits[d].trips;
  }
  return position;
}

/* The largest a - b over digits between two common cuts where one side has a single digit: those of
 * the other side split it. sign: of the side with many. */
static int64_t largestSplit(const Digits *many, uint32_t from, uint32_t until, Digit single,
                            int64_t sign) {
  int64_t largest = 0;
  for (uint32_t d = from; d < until; ++d) {
    Digit digit = many->digits[d];
    int64_t ratio = (int64_t)(digit.step / many->digits[from].step);
    int64_t slope = sign * (digit.weight - single.weight * ratio);
    largest += slope > 0 ? slope * (int64_t)(digit.trips - 1) : 0;
  }
  return largest;
}

/* Counters that run backwards start at their far ends. */
static uint64_t firstPlace(const SambaStreamOrder *order) {
  uint64_t place = 0;
  for (uint32_t c = 0; c < order->count; ++c)
    if (order->steps[c].stride < 0)
      place += (uint64_t)-order->steps[c].stride * (order->steps[c].trips - 1);
  return place;
}

static int64_t positionOfPlace(const Digits *digits, uint64_t place) {
  int64_t position = digits->start;
  for (uint32_t d = digits->count; d-- > 0; place %= digits->digits[d].step)
    position += digits->digits[d].weight * (int64_t)(place / digits->digits[d].step);
  return position;
}

/* The same where both sides have several digits that do not split each other. */
static int64_t largestTried(const Digits *a, uint32_t i, uint32_t to, const Digits *b, uint32_t j,
                            uint32_t other, bool *exact) {
  uint64_t range = 1;
  int64_t most = 0, least = 0;
  for (uint32_t d = i; d < to; ++d) {
    int64_t reach = a->digits[d].weight * (int64_t)(a->digits[d].trips - 1);
    range *= a->digits[d].trips;
    most += reach > 0 ? reach : 0;
  }
  for (uint32_t d = j; d < other; ++d) {
    int64_t reach = b->digits[d].weight * (int64_t)(b->digits[d].trips - 1);
    least += reach < 0 ? reach : 0;
  }
  if (range > mostTried) {
    *exact = false;
    return most - least;
  }

  int64_t largest = INT64_MIN;
  for (uint64_t u = 0; u < range; ++u) {
    int64_t difference = positionOf(a, i, to, u) - positionOf(b, j, other, u);
    largest = difference > largest ? difference : largest;
  }
  return largest;
}

/* The largest a - b over all places. */
static int64_t largestDifference(const Digits *a, const Digits *b, bool *exact) {
  int64_t largest = a->start - b->start;
  for (uint32_t i = 0, j = 0; i < a->count;) {
    /* Up to the next cut that both have. */
    uint32_t to = i + 1, other = j + 1;
    for (;;) {
      uint64_t end = a->digits[to - 1].step * a->digits[to - 1].trips;
      uint64_t end_b = b->digits[other - 1].step * b->digits[other - 1].trips;
      if (end == end_b)
        break;
      if (end < end_b)
        ++to;
      else
        ++other;
    }
    if (to == i + 1)
      largest += largestSplit(b, j, other, a->digits[i], -1);
    else if (other == j + 1)
      largest += largestSplit(a, i, to, b->digits[j], 1);
    else
      largest += largestTried(a, i, to, b, j, other, exact);
    i = to;
    j = other;
  }
  return largest;
}

/*===-- The block -----------------------------------------------------------------------------===*/

/* Both orders step the same outer counters as far as their outermost digits are the same. */
static uint64_t commonBlock(SambaStreamOrder made, SambaStreamOrder taken) {
  uint64_t block = sambaOrderLength(&made);
  uint32_t i = 0, j = 0;
  while (i < made.count && j < taken.count) {
    SambaAccessStep *a = &made.steps[i], *b = &taken.steps[j];
    if (a->stride * (int64_t)a->trips != b->stride * (int64_t)b->trips || b->stride == 0)
      break;
    uint64_t common = sambaGreatestDivisor(a->trips, b->trips);
    if (common == 1)
      break;
    block /= common;
    a->trips /= common;
    b->trips /= common;
    i += a->trips == 1;
    j += b->trips == 1;
  }
  return block;
}

/*===-- Sequences that pass an element again in other ways ------------------------------------===*/

typedef struct Sequence {
  uint64_t length;
  int64_t *places; /* from the lowest on */
} Sequence;

static Sequence walk(const SambaStreamOrder *order) {
  Sequence sequence = {.length = sambaOrderLength(order)};
  sequence.places = sambaAllocateZeroed(sequence.length, sizeof *sequence.places);
  for (uint64_t n = 0; n < sequence.length; ++n) {
    uint64_t rest = n;
    for (uint32_t c = order->count; c-- > 0; rest /= order->steps[c].trips) {
      int64_t counter = (int64_t)(rest % order->steps[c].trips);
      int64_t stride = order->steps[c].stride;
      sequence.places[n] +=
          stride < 0 ? -stride * ((int64_t)order->steps[c].trips - 1 - counter) : stride * counter;
    }
  }
  return sequence;
}

static uint64_t rangeOf(const SambaStreamOrder *order) {
  uint64_t reach = 1;
  for (uint32_t c = 0; c < order->count; ++c)
    reach += (uint64_t)llabs(order->steps[c].stride) * (order->steps[c].trips - 1);
  return reach;
}

/* Walks both sequences, reading as early as possible. */
static bool walkBoth(const SambaStreamOrder *made, const SambaStreamOrder *taken,
                     SambaConversion *out) {
  uint64_t range = rangeOf(made);
  bool same = rangeOf(taken) == range;
  if (!same || range > mostTried || sambaOrderLength(taken) > mostTried) {
    out->exact = false;
    return same;
  }

  Sequence writes = walk(made), reads = walk(taken);
  uint64_t *last = sambaAllocateZeroed(range, sizeof *last); /* read, counted from 1 */
  bool *there = sambaAllocateZeroed(range, sizeof *there);
  for (uint64_t n = 0; n < reads.length; ++n)
    last[reads.places[n]] = n + 1;
  for (uint64_t n = 0; n < writes.length; ++n)
    there[writes.places[n]] = true;
  for (uint64_t p = 0; p < range; ++p)
    same &= there[p] == (last[p] > 0);
  memset(there, 0, range * sizeof *there);

  uint64_t held = 0, read = 0;
  out->window = 0;
  for (uint64_t n = 0; n < writes.length && same; ++n) {
    there[writes.places[n]] = true;
    out->window = ++held > out->window ? held : out->window;
    for (; read < reads.length && there[reads.places[read]]; ++read) {
      held -= last[reads.places[read]] == read + 1;
      out->first = read ? out->first : n + 1;
    }
  }
  free(writes.places);
  free(reads.places);
  free(last);
  free(there);

  return same;
}

bool sambaOrderConversion(const SambaStreamOrder *made, const SambaStreamOrder *taken,
                          SambaConversion *out) {
  Digits a, b;
  uint64_t length = sambaOrderLength(made);
  *out = (SambaConversion){.window = length, .first = length, .block = length, .exact = true};
  if (length > INT64_MAX / 2 || sambaOrderLength(taken) > INT64_MAX / 2 ||
      !makeDigits(made, false, &a))
    return false;
  for (uint32_t c = 0; c < made->count; ++c)
    if (made->steps[c].stride == 0)
      return false; /* sends something twice */
  if (!makeDigits(taken, true, &b))
    return walkBoth(made, taken, out);
  if (!sameRuns(&a, &b))
    return false;

  out->window = (uint64_t)(largestDifference(&a, &b, &out->exact) + 1);
  out->block = commonBlock(*made, *taken);

  out->first = (uint64_t)positionOfPlace(&a, firstPlace(taken)) + 1;
  return true;
}
