/* Bookings of what flows share; see booking.h.
 *
 * Flows with vectors and room take turns. So a flow that asks for less than its part of the cycles
 * gets what it asks for, and the others divide what is left by the lengths of their turns.
 *
 * A lane may have many flows of which few are under way, so these are in a list: who has ended
 * leaves it when the share is brought forward. */
#include "backend/sim/timing/engine/booking.h"

#include <math.h>
#include <stdlib.h>

/* So many meet on the stack. */
enum { fewFlows = 32 };

static double smaller(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

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

/* Is it among those that may not have ended? */
static bool isListed(const SambaShare *share, const SambaFlow *flow) {
  return flow->list == share->list + 1;
}

static void list(SambaShare *share, uint32_t index) {
  SambaFlow *flow = &share->flows[index];
  noteEnd(share, flow);
  if (isListed(share, flow))
    return;
  flow->list = share->list + 1;
  flow->next = share->first;
  share->first = index + 1;
}

/* What is left at `now` of what a flow has booked. */
static double leftOf(const SambaFlow *flow, uint64_t now) {
  uint64_t end = endOf(flow);
  now = sambaTimeMax(flow->begin, now);
  return end > now ? smaller(flow->cycles, flow->even * sambaNumberOf(end - now)) : 0;
}

/* What is left at `now` of what it had left at `from`, if it is done evenly until the flow ends. */
static double leftSince(const SambaFlow *flow, uint64_t from, uint64_t now) {
  uint64_t end = endOf(flow), begin = sambaTimeMax(flow->begin, from);
  now = sambaTimeMax(begin, now);
  return end > now ? flow->left * sambaNumberOf(end - now) / sambaNumberOf(end - begin) : 0;
}

/* A flow that is under way, or begins, while another one that books is. Cycles count from when that
 * one begins. */
typedef struct Meeting {
  SambaFlow *flow;      /* NULL: the one that books */
  double begins;        /* its vectors come no earlier; 0: they are there */
  double asks, rate;    /* what it has to do; per cycle, when others let it */
  double turn;          /* how long its turns are */
  double left, gets;    /* of it by now; per cycle, with the others */
  double alone, done;   /* it is done: without the one that books; with it */
  struct Meeting *next; /* that is under way; NULL: no more */
} Meeting;

/* What others ask for while a flow books, from `from` on. */
typedef struct Asking {
  const SambaFlow *own;
  uint64_t from, until; /* until: the flow that books is done if it meets nobody */
  Meeting *meetings;
  uint32_t count;
  double rates, met; /* of all; of those that begin before `until` */
  uint64_t end;      /* of the last of them */
} Asking;

static void ask(Asking *asking, SambaFlow *flow) {
  if (flow == asking->own)
    return;
  asking->end = sambaTimeMax(asking->end, endOf(flow));
  double asks = leftOf(flow, asking->from);
  if (asks <= 0)
    return;
  /* What others took has made its end later, but not what it does as soon as they let it. Results
   * of a reduction are booked long before they come: until then others have the lane. */
  uint64_t begin = sambaTimeMax(flow->begin, asking->from);
  double rate = smaller(1, larger(flow->even, flow->pace));
  asking->rates += rate;
  asking->met += begin < asking->until ? rate : 0;
  asking->meetings[asking->count++] = (Meeting){.flow = flow,
                                                .begins = sambaNumberOf(begin - asking->from),
                                                .asks = asks,
                                                .rate = rate,
                                                .turn = flow->turn};
}

/* Takes what was done by `now` from what flows have left: evenly, but in all no more than a cycle
 * per cycle. Who should have ended has, the others are asked. Returns what is left in all. */
static double bringForward(SambaShare *share, uint64_t now, Asking *asking) {
  double done = 0, left = 0, could = sambaNumberOf(now - share->at);
  Meeting *meeting = asking->meetings; /* as many have room, and none is asked yet */
  for (SambaFlow *flow = firstOf(share); flow; flow = nextOf(share, flow)) {
    meeting->done = flow->left - leftSince(flow, share->at, now);
    done += meeting++->done;
  }

  double part = done > could ? could / done : 1;
  SambaFlow *before = NULL;
  meeting = asking->meetings;
  for (uint32_t number = share->first; number;) {
    double own = part * meeting++->done;
    SambaFlow *flow = &share->flows[number - 1];
    number = flow->next;
    if (endOf(flow) <= now) {
      flow->list = 0;
      if (before)
        before->next = number;
      else
        share->first = number;
      continue;
    }
    flow->left -= own;
    left += flow->left;
    before = flow;
    ask(asking, flow);
  }
  share->at = now;
  return left;
}

/* What is less counts as nothing: numbers are rounded. */
static const double little = 1e-6;

/* Those under way are a list, in the order in which they stand: who is done leaves it. */
static Meeting *listAll(Meeting *meetings, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    meetings[i].left = meetings[i].asks;
    meetings[i].next = i + 1 < count ? &meetings[i + 1] : NULL;
  }
  return meetings;
}

/* What each gets of the cycles. Who asks for less than its part gets that (it stands in `gets`),
 * the others divide what is left by the lengths of their turns. */
static void divide(Meeting *first) {
  double part = 0; /* of a turn of unit length */
  for (;;) {
    double turns = 0, left = 1;
    for (const Meeting *meeting = first; meeting; meeting = meeting->next) {
      double less = meeting->gets <= part * meeting->turn; /* hosts foresee no such branch */
      turns += (1 - less) * meeting->turn;
      left -= less * meeting->gets;
    }
    if (turns == 0)
      return;
    if (left / turns <= part + 1e-9)
      break;
    part = left / turns;
  }
  for (Meeting *meeting = first; meeting; meeting = meeting->next)
    meeting->gets = smaller(meeting->gets, part * meeting->turn);
}

/* What it is behind what it has asked for by now. */
static double isBehindBy(const Meeting *meeting, double now) {
  return meeting->left - (meeting->asks - meeting->rate * now);
}

/* What one asks for per cycle. Who books makes up for what it was held up. */
static double wants(const Meeting *meeting, double now) {
  if (meeting->begins > now)
    return 0;
  bool is_behind = meeting->left > meeting->asks - meeting->rate * now + little;
  return !meeting->flow && is_behind ? 1 : meeting->rate;
}

/* How long it goes on like this: until it begins, is done, or has made up. */
static double steadyFor(const Meeting *meeting, double now) {
  if (meeting->begins > now)
    return meeting->begins - now;
  double cycles = meeting->left / meeting->gets;
  if (meeting->flow || meeting->gets <= meeting->rate)
    return cycles;
  double behind = isBehindBy(meeting, now);
  return behind > little ? smaller(cycles, behind / (meeting->gets - meeting->rate)) : cycles;
}

/* What each gets is known: goes on until one is done, or has made up. Returns those that are still
 * under way. */
static Meeting *goOn(Meeting *first, double cycles, double *now) {
  *now += cycles;
  for (Meeting **at = &first; *at;) {
    Meeting *meeting = *at;
    meeting->left -= meeting->gets * cycles;
    meeting->done = *now;
    if (meeting->left > little)
      at = &meeting->next;
    else
      *at = meeting->next;
  }
  return first;
}

/* Mostly two flows meet, both from the beginning. Nobody has been held up then. */
static Meeting *beginWithTwo(Meeting *first, double *now) {
  Meeting *second = first->next;
  double part = 1 / (first->turn + second->turn);
  first->gets = first->rate;
  second->gets = second->rate;
  bool less = first->rate <= part * first->turn || second->rate <= part * second->turn;
  if (first->rate + second->rate > 1) {
    if (less || part <= 1e-9) {
      divide(first);
    } else {
      first->gets = part * first->turn;
      second->gets = part * second->turn;
    }
  }
  double cycles = smaller(first->left / first->gets, second->left / second->gets);
  return goOn(first, cycles, now);
}

/* The last one under way passes alone. */
static void passAlone(Meeting *meeting, double now) {
  now = larger(now, meeting->begins);
  do {
    meeting->gets = wants(meeting, now);
    double cycles = steadyFor(meeting, now);
    now += cycles;
    meeting->left -= meeting->gets * cycles;
  } while (meeting->left > little);
  meeting->done = now;
}

/* All pass, taking turns. */
static void pass(Meeting *meetings, uint32_t count) {
  double now = 0;
  Meeting *first = listAll(meetings, count);
  if (count == 2 && meetings[0].begins == 0 && meetings[1].begins == 0)
    first = beginWithTwo(first, &now);
  while (first && first->next) {
    double sum = 0, cycles = INFINITY;
    for (Meeting *meeting = first; meeting; meeting = meeting->next)
      sum += meeting->gets = wants(meeting, now);
    if (sum > 1)
      divide(first);
    for (Meeting *meeting = first; meeting; meeting = meeting->next)
      cycles = smaller(cycles, steadyFor(meeting, now));
    first = goOn(first, cycles, &now);
  }
  if (first)
    passAlone(first, now);
}

/* A flow that books meets others: they are owed by how much later they are done. Returns the cycles
 * until it is done itself. */
static uint64_t meet(SambaShare *share, Asking *asking, double cycles, double rate, double turn) {
  Meeting *meetings = asking->meetings;
  uint32_t others = asking->count;
  if (asking->rates > 1 + little) {
    pass(meetings, others);
    for (uint32_t i = 0; i < others; ++i)
      meetings[i].alone = meetings[i].done;
  } else {
    for (uint32_t i = 0; i < others; ++i)
      meetings[i].alone = meetings[i].begins + meetings[i].asks / meetings[i].rate;
  }

  meetings[others] = (Meeting){.asks = cycles, .rate = rate, .turn = turn};
  pass(meetings, others + 1);
  for (uint32_t i = 0; i < others; ++i) {
    if (meetings[i].done <= meetings[i].alone)
      continue;
    meetings[i].flow->owed += sambaCyclesOf(meetings[i].done - meetings[i].alone + 1e-3);
    noteEnd(share, meetings[i].flow);
  }
  return sambaCyclesOf(meetings[others].done + 0.5);
}

/* Who ends last ends no earlier than all can be done. */
static void endLast(SambaShare *share, uint32_t index, const Asking *asking, uint64_t all_done) {
  SambaFlow *last = &share->flows[index];
  bool others_may = asking->count || asking->end > endOf(last);
  for (SambaFlow *flow = firstOf(share); flow && others_may; flow = nextOf(share, flow))
    if (endOf(flow) > endOf(last))
      last = flow;
  if (endOf(last) < all_done)
    last->owed += all_done - endOf(last);
  noteEnd(share, last);
}

/* Nobody is in the list any more. */
static void beginList(SambaShare *share) {
  share->first = 0;
  if (++share->list < UINT32_MAX)
    return;
  for (uint32_t f = 0; f < share->flow_count; ++f)
    share->flows[f].list = 0;
  share->list = 0;
}

/* What a booking is when all flows have ended: nobody else asks for anything. */
static const SambaFlow *bookAlone(SambaShare *share, uint32_t index, uint64_t now, uint64_t cycles,
                                  uint64_t least, float turn) {
  beginList(share);
  SambaFlow *flow = &share->flows[index];
  double number = sambaNumberOf(cycles);
  uint64_t window = sambaTimeMax(cycles, least);
  *flow = (SambaFlow){.begin = now,
                      .end = now + window,
                      .cycles = number,
                      .even = window ? number / sambaNumberOf(window) : 0,
                      .left = number,
                      .list = share->list + 1,
                      .turn = turn,
                      .pace = window ? (float)(number / sambaNumberOf(window)) : 0};
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
  Meeting few[fewFlows];
  Meeting *many = NULL;
  if (share->flow_count > fewFlows)
    many = sambaAllocate(sambaArraySize(share->flow_count, sizeof *many));
  Asking asking = {
      .own = flow, .from = from, .until = from + window, .meetings = many ? many : few};
  if (in_order)
    all = bringForward(share, sambaTimeMax(share->at, now), &asking) + sambaNumberOf(cycles);
  else
    for (SambaFlow *other = firstOf(share); other; other = nextOf(share, other))
      ask(&asking, other);

  double rate = cycles ? sambaNumberOf(cycles) / sambaNumberOf(window) : 0;
  if (cycles && asking.met + rate > 1 + little) {
    uint64_t done = meet(share, &asking, sambaNumberOf(cycles), rate, turn);
    held_up |= done > window;
    window = sambaTimeMax(window, done);
    window -= share->lets_in && comes && window > sambaTimeMax(cycles, least);
  }
  free(many);
  double left = leftOf(flow, now) + sambaNumberOf(cycles);
  uint64_t end = from + window;
  double before = isListed(share, flow) ? flow->left : 0;
  *flow = (SambaFlow){.begin = now,
                      .end = end,
                      .cycles = left,
                      .even = end > now ? left / sambaNumberOf(end - now) : 0,
                      .left = in_order ? before + sambaNumberOf(cycles) : 0,
                      .held_up = held_up,
                      .list = flow->list,
                      .next = flow->next,
                      .turn = turn,
                      .pace = (float)rate};
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
                      .even = 1,
                      .list = flow->list,
                      .next = flow->next,
                      .turn = turn};
  list(share, index);
}

void sambaShareStretch(SambaShare *share, uint32_t index, uint64_t now, uint64_t end) {
  SambaFlow *flow = &share->flows[index];
  if (endOf(flow) <= now || end <= endOf(flow))
    return;
  sambaFlowSpread(flow, end - flow->owed);
  flow->pace = 0;
  noteEnd(share, flow);
}
