/* Bookings of what flows share; see booking.h.
 *
 * Flows with vectors and room take turns. So a flow that asks for less than its part of the cycles
 * gets what it asks for, and the others divide what is left by the lengths of their turns.
 *
 * A lane may have many flows of which few are under way, so these are in a list: who has ended
 * leaves it when the share is brought forward. */
#include "backend/sim/timing/engine/booking.h"

#include <math.h>

static double smaller(double a, double b) { return a < b ? a : b; }

/* The list: the first flow that may not have ended, the one after another one; NULL: no more. */
static SambaFlow *firstOf(const SambaShare *share) {
  return share->first ? &share->flows[share->first - 1] : NULL;
}
static SambaFlow *nextOf(const SambaShare *share, const SambaFlow *flow) {
  return flow->next ? &share->flows[flow->next - 1] : NULL;
}

static uint64_t endOf(const SambaFlow *flow) { return flow->end + flow->owed; }

/* A flow ends later than it did. */
static void noteEnd(SambaShare *share, const SambaFlow *flow) {
  share->until = sambaTimeMax(share->until, endOf(flow));
}

static void list(SambaShare *share, uint32_t index) {
  SambaFlow *flow = &share->flows[index];
  noteEnd(share, flow);
  if (flow->listed)
    return;
  flow->listed = true;
  flow->next = share->first;
  share->first = index + 1;
}

/* What is left at `now` of so many cycles that are done evenly until a flow ends. */
static double leftOf(const SambaFlow *flow, double cycles, uint64_t from, uint64_t now) {
  uint64_t end = endOf(flow), begin = sambaTimeMax(flow->begin, from);
  now = sambaTimeMax(begin, now);
  return end > now ? cycles * sambaNumberOf(end - now) / sambaNumberOf(end - begin) : 0;
}

/* What others ask for while a flow books: from `from` on, in no less than `window` cycles. */
typedef struct Asking {
  const SambaFlow *own;
  uint64_t from, window;
  bool any;     /* of them ask for something */
  uint64_t end; /* of the last of them */
} Asking;

static void ask(Asking *asking, SambaFlow *flow) {
  flow->asks = 0;
  if (flow == asking->own)
    return;
  asking->end = sambaTimeMax(asking->end, endOf(flow));
  flow->asks = leftOf(flow, flow->cycles, flow->begin, asking->from);
  if (flow->asks <= 0)
    return;
  uint64_t window = sambaTimeMax(asking->window, endOf(flow) - asking->from);
  flow->rate = flow->asks / sambaNumberOf(window);
  asking->any = true;
}

/* Takes what was done by `now` from what flows have left: evenly, but in all no more than a cycle
 * per cycle. Who should have ended has, the others are asked. Returns what is left in all. */
static double bringForward(SambaShare *share, uint64_t now, Asking *asking) {
  double done = 0, left = 0, could = sambaNumberOf(now - share->at);
  for (SambaFlow *flow = firstOf(share); flow; flow = nextOf(share, flow)) {
    flow->rate = leftOf(flow, flow->left, share->at, now);
    done += flow->left - flow->rate;
  }

  double part = done > could ? could / done : 1;
  SambaFlow *before = NULL;
  for (uint32_t number = share->first; number;) {
    SambaFlow *flow = &share->flows[number - 1];
    number = flow->next;
    if (endOf(flow) <= now) {
      flow->left = 0;
      flow->listed = false;
      if (before)
        before->next = number;
      else
        share->first = number;
      continue;
    }
    flow->left -= part * (flow->left - flow->rate);
    left += flow->left;
    before = flow;
    ask(asking, flow);
  }
  share->at = now;
  return left;
}

/* What a turn of unit length gets of each cycle, when those that ask for less get that. No less
 * than any flow asks for when all get what they ask for. `own`: a flow that asks for `rate`, NULL:
 * the others alone. */
static double fairRate(const SambaShare *share, const SambaFlow *own, double rate) {
  double fair = 0;
  for (;;) {
    bool own_above = own && rate > fair * own->turn;
    double turns = own_above ? own->turn : 0, below = own && !own_above ? rate : 0;
    for (const SambaFlow *flow = firstOf(share); flow; flow = nextOf(share, flow)) {
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
    for (const SambaFlow *other = firstOf(share); other; other = nextOf(share, other)) {
      if (other->asks > 0)
        taken += smaller(other->asks, smaller(other->rate, fair * other->turn) * window);
    }
    window = own + taken;
  }
  return sambaCyclesOf(window + 0.5);
}

/* Others get less than before while a flow takes its turns for `window` cycles. */
static void oweOthers(SambaShare *share, uint64_t window, double fair) {
  double before = 0; /* what a turn got then, once somebody asks for it */
  for (SambaFlow *other = firstOf(share); other; other = nextOf(share, other)) {
    double gets = fair * other->turn;
    if (other->asks <= 0 || other->rate <= gets)
      continue;
    double together = smaller(sambaNumberOf(window), other->asks / gets);
    if (before == 0)
      before = fairRate(share, NULL, 0);
    double less = smaller(other->rate, before * other->turn) - gets;
    if (less > 0)
      other->owed += sambaCyclesOf(together * less / other->rate + 1e-3);
    noteEnd(share, other);
  }
}

/* Who ends last ends no earlier than all can be done. */
static void endLast(SambaShare *share, uint32_t index, const Asking *asking, uint64_t all_done) {
  SambaFlow *last = &share->flows[index];
  bool others_may = asking->any || asking->end > endOf(last);
  for (SambaFlow *flow = firstOf(share); flow && others_may; flow = nextOf(share, flow))
    if (endOf(flow) > endOf(last))
      last = flow;
  if (endOf(last) < all_done)
    last->owed += all_done - endOf(last);
  noteEnd(share, last);
}

/* What a booking is when all flows have ended: nobody else asks for anything. */
static const SambaFlow *bookAlone(SambaShare *share, uint32_t index, uint64_t now, uint64_t cycles,
                                  uint64_t least, float turn) {
  for (SambaFlow *ended = firstOf(share); ended; ended = nextOf(share, ended)) {
    ended->left = 0;
    ended->listed = false;
  }
  SambaFlow *flow = &share->flows[index];
  double number = sambaNumberOf(cycles);
  *flow = (SambaFlow){.begin = now,
                      .end = now + sambaTimeMax(cycles, least),
                      .cycles = number,
                      .left = number,
                      .listed = true,
                      .turn = turn};
  share->first = index + 1;
  share->at = now;
  share->until = flow->end;
  return flow;
}

const SambaFlow *sambaShareBook(SambaShare *share, uint32_t index, uint64_t now, uint64_t cycles,
                                uint64_t least, float turn) {
  if (share->at <= now && share->until <= now)
    return bookAlone(share, index, now, cycles, least, turn);
  SambaFlow *flow = &share->flows[index];
  bool in_order = now + cycles >= share->at; /* what was to come long before is not counted */
  double all = 0;
  uint64_t from = sambaTimeMax(endOf(flow), now); /* what it has booked comes first */
  bool comes = endOf(flow) < now;
  bool held_up = from > now && (flow->held_up || flow->owed);
  uint64_t window = sambaTimeMax(cycles, now + least > from ? now + least - from : 0);
  Asking asking = {.own = flow, .from = from, .window = window};
  flow->turn = turn;
  if (in_order)
    all = bringForward(share, sambaTimeMax(share->at, now), &asking) + sambaNumberOf(cycles);
  else
    for (SambaFlow *other = firstOf(share); other; other = nextOf(share, other))
      ask(&asking, other);

  if (cycles && asking.any) {
    double rate = sambaNumberOf(cycles) / sambaNumberOf(window);
    double fair = fairRate(share, flow, rate);
    if (rate > fair * turn) {
      window = sambaTimeMax(window, windowOf(share, sambaNumberOf(cycles), fair * turn, fair));
      held_up = true;
    }
    if (fair < INFINITY)
      oweOthers(share, window, fair);
    window -= share->lets_in && comes && window > sambaTimeMax(cycles, least);
  }
  double left = leftOf(flow, flow->cycles, flow->begin, now) + sambaNumberOf(cycles);
  *flow = (SambaFlow){.begin = now,
                      .end = from + window,
                      .cycles = left,
                      .left = in_order ? flow->left + sambaNumberOf(cycles) : 0,
                      .held_up = held_up,
                      .listed = flow->listed,
                      .next = flow->next,
                      .turn = turn};
  list(share, index);
  endLast(share, index, &asking, now + sambaCyclesOf(all + 0.5));
  sambaFlowPay(flow);
  return flow;
}

void sambaShareTake(SambaShare *share, uint32_t index, uint64_t begin, uint64_t end, float turn) {
  SambaFlow *flow = &share->flows[index];
  *flow = (SambaFlow){.begin = begin,
                      .end = end,
                      .cycles = sambaNumberOf(end - begin),
                      .listed = flow->listed,
                      .next = flow->next,
                      .turn = turn};
  list(share, index);
}

void sambaShareStretch(SambaShare *share, uint32_t index, uint64_t now, uint64_t end) {
  SambaFlow *flow = &share->flows[index];
  if (endOf(flow) <= now)
    return;
  flow->end = sambaTimeMax(flow->end, end);
  noteEnd(share, flow);
}
