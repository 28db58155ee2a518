/* What ports state of the order of their streams; see stated_order.h. */
#include "backend/section/stated_order.h"

#include <stdlib.h>

/*===-- Counters ------------------------------------------------------------------------------===*/

/* A counter of `trips` steps ends where the one around it steps. */
static bool goesOn(int64_t outer, int64_t step, uint64_t trips) {
  int64_t reach;
  return !__builtin_mul_overflow(step, trips, &reach) && reach == outer;
}

static bool joins(const SambaOrderStep *outer, const SambaOrderStep *step) {
  return goesOn(outer->from.place, step->from.place, step->trips) &&
         goesOn(outer->from.index, step->from.index, step->trips) &&
         goesOn(outer->to.place, step->to.place, step->trips) &&
         goesOn(outer->to.index, step->to.index, step->trips);
}

void sambaStatedOrderAppend(SambaStatedOrder *order, SambaOrderStep step) {
  SambaOrderStep *outer = order->count ? &order->steps[order->count - 1] : NULL;
  if (step.trips == 1)
    return;
  if (outer && order->kind != SAMBA_ORDER_SHAPE && joins(outer, &step)) {
    step.trips *= outer->trips;
    *outer = step;
    return;
  }
  order->steps[order->count++] = step;
}

SambaStatedOrder sambaPortStates(const SambaPort *port) {
  SambaStatedOrder order;
  sambaStatedOrderStart(&order, port->order_kind);
  for (uint32_t c = 0; c < port->order_count; ++c)
    sambaStatedOrderAppend(&order, port->order[c]);
  return order;
}

void sambaPortState(SambaPort *port, const SambaStatedOrder *order, SambaArena *arena) {
  port->order_kind = order->count ? order->kind : SAMBA_ORDER_NONE;
  port->order_count = order->count;
  port->order = sambaArenaCopy(arena, order->steps, order->count * sizeof *order->steps);
}

bool sambaPortStatesPlaces(const SambaPort *port) {
  return port->token_elements <= 1 || port->order_kind >= SAMBA_ORDER_PLACES;
}

static bool sameStep(SambaPlaceStep a, SambaPlaceStep b) {
  return a.place == b.place && a.index == b.index;
}

bool sambaStatedOrdersEqual(const SambaStatedOrder *a, const SambaStatedOrder *b) {
  if (a->kind != b->kind || a->count != b->count)
    return false;
  for (uint32_t c = 0; c < a->count; ++c)
    if (a->steps[c].trips != b->steps[c].trips || !sameStep(a->steps[c].from, b->steps[c].from) ||
        !sameStep(a->steps[c].to, b->steps[c].to))
      return false;
  return true;
}

/*===-- Text ----------------------------------------------------------------------------------===*/

static const char *stepText(SambaArena *arena, SambaPlaceStep step) {
  if (!step.index)
    return sambaArenaFormat(arena, "%lld", (long long)step.place);
  if (!step.place)
    return sambaArenaFormat(arena, "%lld : index", (long long)step.index);
  return sambaArenaFormat(arena, "[%lld : index, %lld]", (long long)step.index,
                          (long long)step.place);
}

static const char *listText(SambaArena *arena, uint32_t count, const SambaOrderStep *steps,
                            SambaPlaces places) {
  const char *text = "";
  for (uint32_t c = 0; c < count; ++c) {
    SambaPlaceStep step = places == SAMBA_PLACES_FROM ? steps[c].from : steps[c].to;
    text = sambaArenaFormat(arena, "%s%s%s", text, c ? ", " : "", stepText(arena, step));
  }
  return text;
}

const char *sambaOrderStepsText(SambaArena *arena, SambaOrderKind kind, uint32_t count,
                                const SambaOrderStep *steps) {
  const char *from = listText(arena, count, steps, SAMBA_PLACES_FROM);
  if (kind != SAMBA_ORDER_MOVES)
    return sambaArenaFormat(arena, "[%s]", from);
  return sambaArenaFormat(arena, "{from = [%s], to = [%s]}", from,
                          listText(arena, count, steps, SAMBA_PLACES_TO));
}

const char *sambaStatedOrderText(SambaArena *arena, const SambaStatedOrder *order) {
  const char *trips = order->count ? "" : "1";
  for (uint32_t c = 0; c < order->count; ++c)
    trips = sambaArenaFormat(arena, "%s%s%llu", trips, c ? "x" : "",
                             (unsigned long long)order->steps[c].trips);
  if (order->kind < SAMBA_ORDER_PLACES)
    return trips;
  return sambaArenaFormat(arena, "%s by %s", trips,
                          sambaOrderStepsText(arena, order->kind, order->count, order->steps));
}

/*===-- Places and indices --------------------------------------------------------------------===*/

static SambaPlaceStep stepOf(const SambaOrderStep *step, SambaPlaces places) {
  return places == SAMBA_PLACES_FROM ? step->from : step->to;
}

bool sambaStatedOrderIsIndexed(const SambaStatedOrder *order, SambaPlaces places) {
  for (uint32_t c = 0; c < order->count; ++c)
    if (stepOf(&order->steps[c], places).index)
      return true;
  return false;
}

SambaStreamOrder sambaStatedOrderOffsets(const SambaStatedOrder *order, SambaPlaces places) {
  SambaStreamOrder offsets = {0};
  for (uint32_t c = 0; c < order->count; ++c)
    sambaOrderAppend(&offsets, order->steps[c].trips, stepOf(&order->steps[c], places).place);
  return offsets;
}

bool sambaStatedOrderIndices(const SambaStatedOrder *order, SambaPlaces places, uint64_t elements,
                             SambaStreamOrder *out_order) {
  uint64_t seen = 1;
  *out_order = (SambaStreamOrder){0};
  for (uint32_t c = 0; c < order->count; ++c) {
    int64_t step = stepOf(&order->steps[c], places).index;
    if (seen < elements)
      sambaOrderAppend(out_order, order->steps[c].trips, step);
    else if (step)
      return false;
    seen *= order->steps[c].trips;
  }
  return true;
}

/* Adds how far the counters of an order reach in its tensor; false where that does not fit. */
static bool addReach(const SambaStatedOrder *order, SambaPlaces places, int64_t *reach) {
  for (uint32_t c = 0; c < order->count; ++c) {
    int64_t span, step = llabs(stepOf(&order->steps[c], places).place);
    if (__builtin_mul_overflow(step, order->steps[c].trips - 1, &span) ||
        __builtin_add_overflow(*reach, span, reach))
      return false;
  }
  return true;
}

/* Places as numbers: `apart` lies between those of neighbouring indices. */
static bool numberPlaces(const SambaStatedOrder *order, SambaPlaces places, int64_t apart,
                         SambaStreamOrder *out) {
  *out = (SambaStreamOrder){0};
  for (uint32_t c = 0; c < order->count; ++c) {
    SambaPlaceStep step = stepOf(&order->steps[c], places);
    int64_t number;
    if (__builtin_mul_overflow(step.index, apart, &number) ||
        __builtin_add_overflow(number, step.place, &number))
      return false;
    sambaOrderAppend(out, order->steps[c].trips, number);
  }
  return true;
}

bool sambaStatedOrdersAsPlaces(const SambaStatedOrder *made, const SambaStatedOrder *taken,
                               SambaStreamOrder *out_made, SambaStreamOrder *out_taken) {
  int64_t apart = 1;
  if (made->kind < SAMBA_ORDER_PLACES || taken->kind < SAMBA_ORDER_PLACES)
    return false;
  return addReach(made, SAMBA_PLACES_TO, &apart) && addReach(taken, SAMBA_PLACES_FROM, &apart) &&
         numberPlaces(made, SAMBA_PLACES_TO, apart, out_made) &&
         numberPlaces(taken, SAMBA_PLACES_FROM, apart, out_taken);
}
