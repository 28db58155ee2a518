/* Bookings of what flows share; see booking.h.
 *
 * Flows with vectors and room take turns. So a flow that asks for less than its part of the cycles
 * gets what it asks for, and the others divide what is left by the lengths of their turns. */
#include "backend/sim/timing/engine/booking.h"

#include <math.h>

static double smaller(double a, double b) { return a < b ? a : b; }

static uint64_t endOf(const SambaFlow *flow) { return flow->end + flow->owed; }

/* What is left at `now` of so many cycles that are done evenly until a flow ends. */
static double leftOf(const SambaFlow *flow, double cycles, uint64_t from, uint64_t now) {
  uint64_t end = endOf(flow), begin = sambaTimeMax(flow->begin, from);
  now = sambaTimeMax(begin, now);
  return end > now ? cycles * (double)(end - now) / (double)(end - begin) : 0;
}

/* Takes what was done by `now` from what flows have left: evenly, but in all no more than a cycle
 * per cycle. Who should have ended has. Returns what is left in all. */
static double bringForward(SambaShare *share, uint64_t now) {
  double done = 0, left = 0, could = (double)(now - share->at);
  for (uint32_t f = 0; f < share->flow_count; ++f)
    done += share->flows[f].left - leftOf(&share->flows[f], share->flows[f].left, share->at, now);

  double part = done > could ? could / done : 1;
  for (uint32_t f = 0; f < share->flow_count; ++f) {
    SambaFlow *flow = &share->flows[f];
    double later = leftOf(flow, flow->left, share->at, now);
    flow->left = endOf(flow) <= now ? 0 : flow->left - part * (flow->left - later);
    left += flow->left;
  }
  share->at = now;
  return left;
}

/* What the others ask for from `from` on, in no less than `window` cycles. Is there any? */
static bool askOthers(SambaShare *share, uint32_t index, uint64_t from, uint64_t window) {
  bool any = false;
  for (uint32_t f = 0; f < share->flow_count; ++f) {
    SambaFlow *flow = &share->flows[f];
    flow->asks = f == index ? 0 : leftOf(flow, flow->cycles, flow->begin, from);
    if (flow->asks > 0)
      flow->rate = flow->asks / (double)sambaTimeMax(window, endOf(flow) - from);
    any |= flow->asks > 0;
  }
  return any;
}

/* What a turn of unit length gets of each cycle, when those that ask for less get that. No less
 * than any flow asks for when all get what they ask for. `own`: a flow that asks for `rate`, NULL:
 * the others alone. */
static double fairRate(const SambaShare *share, const SambaFlow *own, double rate) {
  double fair = 0;
  for (;;) {
    bool own_above = own && rate > fair * own->turn;
    double turns = own_above ? own->turn : 0, below = own && !own_above ? rate : 0;
    for (uint32_t f = 0; f < share->flow_count; ++f) {
      const SambaFlow *flow = &share->flows[f];
      if (flow->asks <= 0)
        continue;
      bool above = flow->rate > fair * flow->turn;
      turns += above ? flow->turn : 0;
      below += above ? 0 : flow->rate;
    }
    if (turns == 0)
      return INFINITY;
    double next = (1 - below) / turns;
    if (next <= fair + 1e-9)
      return fair;
    fair = next;
  }
}

/* Cycles until a flow that gets `rate` at first has had `own`: all that others leave to it, and
 * more when they are done. */
static uint64_t windowOf(const SambaShare *share, double own, double rate, double fair) {
  enum { passes = 3 };
  double window = own / rate;
  for (int pass = 0; pass < passes; ++pass) {
    double taken = 0;
    for (uint32_t f = 0; f < share->flow_count; ++f) {
      const SambaFlow *other = &share->flows[f];
      if (other->asks > 0)
        taken += smaller(other->asks, smaller(other->rate, fair * other->turn) * window);
    }
    window = own + taken;
  }
  return (uint64_t)(window + 0.5);
}

/* Others get less than before while a flow takes its turns for `window` cycles. */
static void oweOthers(SambaShare *share, uint64_t window, double before, double fair) {
  for (uint32_t f = 0; f < share->flow_count; ++f) {
    SambaFlow *other = &share->flows[f];
    double gets = fair * other->turn;
    if (other->asks <= 0 || other->rate <= gets)
      continue;
    double together = smaller((double)window, other->asks / gets);
    double less = smaller(other->rate, before * other->turn) - gets;
    if (less > 0)
      other->owed += (uint64_t)(together * less / other->rate + 1e-3);
  }
}

/* Who ends last ends no earlier than all can be done. */
static void endLast(SambaShare *share, uint32_t index, uint64_t all_done) {
  SambaFlow *last = &share->flows[index];
  for (uint32_t f = 0; f < share->flow_count; ++f)
    if (endOf(&share->flows[f]) > endOf(last))
      last = &share->flows[f];
  if (endOf(last) < all_done)
    last->owed += all_done - endOf(last);
}

const SambaFlow *sambaShareBook(SambaShare *share, uint32_t index, uint64_t now, uint64_t cycles,
                                uint64_t least, double turn) {
  SambaFlow *flow = &share->flows[index];
  bool in_order = now + cycles >= share->at; /* what was to come long before is not counted */
  double all = 0;
  if (in_order)
    all = bringForward(share, sambaTimeMax(share->at, now)) + (double)cycles;
  uint64_t from = sambaTimeMax(endOf(flow), now); /* what it has booked comes first */
  bool comes = endOf(flow) < now;
  bool held_up = from > now && (flow->held_up || flow->owed);
  uint64_t window = sambaTimeMax(cycles, now + least > from ? now + least - from : 0);
  flow->turn = turn;

  if (cycles && askOthers(share, index, from, window)) {
    double rate = (double)cycles / (double)window;
    double fair = fairRate(share, flow, rate);
    if (rate > fair * turn) {
      window = sambaTimeMax(window, windowOf(share, (double)cycles, fair * turn, fair));
      held_up = true;
    }
    if (fair < INFINITY)
      oweOthers(share, window, fairRate(share, NULL, 0), fair);
    window -= share->lets_in && comes && window > sambaTimeMax(cycles, least);
  }
  double left = leftOf(flow, flow->cycles, flow->begin, now) + (double)cycles;
  *flow = (SambaFlow){.begin = now,
                      .end = from + window,
                      .cycles = left,
                      .left = in_order ? flow->left + (double)cycles : 0,
                      .held_up = held_up,
                      .turn = turn};
  endLast(share, index, now + (uint64_t)(all + 0.5));
  sambaFlowPay(flow);
  return flow;
}

void sambaFlowPay(SambaFlow *flow) {
  if (!flow->owed)
    return;
  flow->held_up = true;
  flow->end += flow->owed;
  flow->owed = 0;
}
