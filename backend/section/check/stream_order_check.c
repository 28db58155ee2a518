/* Legality of orders, part of sambaSectionCheck: both ends of a stream step through one sequence of
 * elements; what ports state of its order is what their address patterns do, and is the same at
 * both ends. */
#include "backend/section/check/check_internal.h"
#include "backend/section/stated_order.h"
#include "backend/section/token_shape.h"

/*===-- The ends of a stream ------------------------------------------------------------------===*/

/* Some counters are those of both ends. An address pattern may step in pieces of its own; between
 * two PCUs one end's counters are the other's, as far as it has any. */
static SambaStatus compareShapes(uint32_t index, SambaPortOf a, SambaPortOf b) {
  SambaTokenShape made = sambaTokenShape(a.unit, true, a.port);
  SambaTokenShape taken = sambaTokenShape(b.unit, false, b.port);
  bool strict = a.unit->kind == SAMBA_UNIT_COMPUTE && b.unit->kind == SAMBA_UNIT_COMPUTE;
  if (strict ? sambaTokenShapeRefines(&made, &taken) || sambaTokenShapeRefines(&taken, &made)
             : sambaTokenShapesAgree(&made, &taken))
    return NULL;
  SambaArena arena = {0};
  SambaStatus status = sambaStatusMake(
      SAMBA_INVALID,
      "stream %u: unit '%s' output %u sends tokens of %s, unit '%s' input %u takes tokens of %s: "
      "no counters step through both; let a buffer between them send what is taken",
      index, a.unit->name, a.port, sambaTokenShapeText(&arena, &made), b.unit->name, b.port,
      sambaTokenShapeText(&arena, &taken));
  sambaArenaDestroy(&arena);
  return status;
}

SambaStatus sambaStreamOrderCheck(uint32_t index, SambaPortOf a, SambaPortOf b) {
  SAMBA_RETURN_IF_ERROR(compareShapes(index, a, b));
  if (a.unit->outputs[a.port].order_kind < SAMBA_ORDER_PLACES ||
      b.unit->inputs[b.port].order_kind < SAMBA_ORDER_PLACES)
    return NULL;
  SambaStatedOrder made = sambaPortStates(&a.unit->outputs[a.port]);
  SambaStatedOrder taken = sambaPortStates(&b.unit->inputs[b.port]);
  if (sambaStatedOrdersEqual(&made, &taken))
    return NULL;

  SambaArena arena = {0};
  SambaStatus status = sambaStatusMake(
      SAMBA_INVALID,
      "stream %u: unit '%s' output %u sends %s, unit '%s' input %u takes %s: the orders differ, "
      "and a buffer between them must convert",
      index, a.unit->name, a.port, sambaStatedOrderText(&arena, &made), b.unit->name, b.port,
      sambaStatedOrderText(&arena, &taken));
  SambaStreamOrder from, to;
  SambaConversion conversion;
  if (sambaStatedOrdersAsPlaces(&made, &taken, &from, &to) &&
      sambaOrderConversion(&from, &to, &conversion))
    sambaStatusNote(status, "its slots need %llu elements", (unsigned long long)conversion.block);
  sambaArenaDestroy(&arena);
  return status;
}

/*===-- Ports ---------------------------------------------------------------------------------===*/

/* The trips of an order are the counters of its unit, up to cuts. A type that says nothing else
 * names the counters of both ends: those of each end are the type's, as far as it has any. */
static SambaStatus checkShape(const SambaUnit *unit, bool output, uint32_t index,
                              const SambaStatedOrder *order) {
  const SambaPort *port = output ? &unit->outputs[index] : &unit->inputs[index];
  SambaTokenShape stated = {0}, shape = sambaTokenShape(unit, output, index);
  uint64_t elements = 1;
  for (uint32_t c = 0; c < order->count; ++c) {
    stated.dims[stated.rank++] = order->steps[c].trips;
    if (__builtin_mul_overflow(elements, order->steps[c].trips, &elements))
      elements = UINT64_MAX;
  }

  bool agree = elements == port->token_elements && sambaTokenShapesAgree(&stated, &shape);
  if (agree && (order->kind != SAMBA_ORDER_SHAPE || sambaTokenShapeRefines(&stated, &shape) ||
                sambaTokenShapeRefines(&shape, &stated)))
    return NULL;

  SambaArena arena = {0};
  SambaStatus status;
  const char *text = sambaStatedOrderText(&arena, order);
  const char *steps = sambaTokenShapeText(&arena, &shape);
  if (!agree)
    status = sambaStatusMake(
        SAMBA_INVALID, "its order is %s, but the unit steps through tokens of %s", text, steps);
  else
    status = sambaStatusMake(SAMBA_INVALID,
                             "its type has tokens of %s, but the unit steps through tokens of %s: "
                             "state the order of the stream, or the counters that both ends have",
                             text, steps);
  sambaArenaDestroy(&arena);
  return status;
}

/* Where the indices of a load or store arrive. */
static const SambaPort *indexPort(const SambaUnit *unit) {
  return unit->kind == SAMBA_UNIT_LOAD ? &unit->inputs[0] : &unit->inputs[1];
}

/* The places of a tensor in memory are its addresses; what indices add to them depends on data, but
 * not in which order the indices arrive. */
static SambaStatus checkAddresses(const SambaUnit *unit, const SambaPort *port, SambaPlaces places,
                                  const SambaStatedOrder *order) {
  SambaArena arena = {0};
  SambaStatus status = NULL;
  SambaStreamOrder offsets = sambaStatedOrderOffsets(order, places), indices = {0}, arrive = {0};
  SambaStreamOrder walked = sambaAccessOrder(&port->access, port->access.token_level);
  if (!sambaOrdersEqual(&offsets, &walked))
    status = sambaStatusMake(SAMBA_INVALID, "its order is %s, but its pattern walks %s",
                             sambaStatedOrderText(&arena, order), sambaOrderText(&arena, &walked));

  const SambaPort *index = port->access.has_index ? indexPort(unit) : NULL;
  if (!status &&
      !sambaStatedOrderIndices(order, places, index ? index->token_elements : 0, &indices))
    status = sambaStatusMake(SAMBA_INVALID,
                             "its order is %s, but the unit takes %llu indices for a token",
                             sambaStatedOrderText(&arena, order),
                             (unsigned long long)(index ? index->token_elements : 0));
  if (!status && index && index->order_kind >= SAMBA_ORDER_PLACES) {
    SambaStatedOrder stated = sambaPortStates(index);
    arrive = sambaStatedOrderOffsets(&stated, SAMBA_PLACES_TO);
    if (!sambaOrdersEqual(&arrive, &indices))
      status =
          sambaStatusMake(SAMBA_INVALID, "its order is %s, but its indices arrive in the order %s",
                          sambaStatedOrderText(&arena, order), sambaOrderText(&arena, &arrive));
  }
  sambaArenaDestroy(&arena);
  return status;
}

SambaStatus sambaPortOrderCheck(const SambaUnit *unit, bool output, uint32_t index) {
  const SambaPort *port = output ? &unit->outputs[index] : &unit->inputs[index];
  if (port->order_kind == SAMBA_ORDER_NONE)
    return NULL;
  if (port->order_count > SAMBA_MAX_COUNTERS)
    return sambaStatusMake(SAMBA_INVALID, "its order has %u counters, expected at most %d",
                           port->order_count, SAMBA_MAX_COUNTERS);
  SambaStatedOrder order = sambaPortStates(port);
  SAMBA_RETURN_IF_ERROR(checkShape(unit, output, index, &order));
  if (order.kind < SAMBA_ORDER_PLACES || !sambaUnitIsAddressGenerator(unit) ||
      !sambaPortHasAccess(unit, output, index))
    return NULL;
  return checkAddresses(unit, port, output ? SAMBA_PLACES_FROM : SAMBA_PLACES_TO, &order);
}

/*===-- Buffers -------------------------------------------------------------------------------===*/

/* Counters that step both places of the tensor and words of the slot, innermost first. */
typedef struct Pairing {
  uint32_t count;
  struct {
    uint64_t trips;
    int64_t place, word;
  } steps[2 * SAMBA_MAX_COUNTERS];
} Pairing;

/* Both nests cut into the counters that they have in common; false when they have none. */
static bool pairUp(const SambaPort *port, SambaStreamOrder order, Pairing *out) {
  SambaStreamOrder walked = {0};
  for (uint32_t c = port->access.token_level; c < port->access.counter_count; ++c)
    if (port->access.trips[c] > 1)
      walked.steps[walked.count++] =
          (SambaAccessStep){port->access.trips[c], port->access.strides[c]};
  out->count = 0;

  for (uint32_t i = order.count, j = walked.count; i > 0 && j > 0;) {
    SambaAccessStep *place = &order.steps[i - 1], *word = &walked.steps[j - 1];
    uint64_t trips = place->trips < word->trips ? place->trips : word->trips;
    if (place->trips % trips || word->trips % trips)
      return false;
    out->steps[out->count].trips = trips;
    out->steps[out->count].place = place->stride;
    out->steps[out->count++].word = word->stride;
    place->trips /= trips;
    place->stride *= (int64_t)trips;
    word->trips /= trips;
    word->stride *= (int64_t)trips;
    i -= place->trips == 1;
    j -= word->trips == 1;
  }
  return out->count > 0;
}

/* Whether a read finds each place at the word where the write of the slot's token has put it. */
static bool readsWhatIsWritten(const Pairing *writes, const Pairing *reads) {
  for (uint32_t r = 0; r < reads->count; ++r) {
    uint64_t trips = reads->steps[r].trips;
    int64_t place = reads->steps[r].place, word = reads->steps[r].word;
    for (uint32_t w = 0; w < writes->count && trips > 1; ++w) {
      int64_t step = writes->steps[w].place;
      if (step == 0 || place == 0 || place % step || place / step < 1 ||
          (uint64_t)(place / step) >= writes->steps[w].trips)
        continue;
      uint64_t stride = (uint64_t)(place / step); /* in steps of that counter */
      uint64_t fit = (writes->steps[w].trips + stride - 1) / stride;
      if (word != (int64_t)stride * writes->steps[w].word)
        return false;
      if (trips > fit && (writes->steps[w].trips % stride || trips % fit))
        break;
      uint64_t done = trips < fit ? trips : fit;
      trips /= done;
      place *= (int64_t)done;
      word *= (int64_t)done;
    }
  }
  return true;
}

/* Tokens of one slot may overlap in their places where padding lies between them, so only slots
 * that one token fills are compared. */
static bool oneTokenFills(const SambaUnit *unit) {
  const SambaAccess *write = &unit->inputs[0].access;
  return unit->input_count == 1 &&
         sambaTripProduct(write->trips, write->slot_level, write->token_level) == 1;
}

SambaStatus sambaBufferOrderCheck(const SambaUnit *unit) {
  const SambaPort *input = &unit->inputs[0];
  if (input->order_kind < SAMBA_ORDER_PLACES || !oneTokenFills(unit))
    return NULL;

  SambaStatedOrder filled = sambaPortStates(input);
  for (uint32_t o = 0; o < unit->output_count; ++o) {
    const SambaPort *output = &unit->outputs[o];
    SambaStatedOrder sent = sambaPortStates(output);
    SambaStreamOrder made, taken;
    Pairing writes, reads;
    if (!sambaStatedOrdersAsPlaces(&filled, &sent, &made, &taken) || !sambaOrderVisitsOnce(&made) ||
        !pairUp(input, made, &writes) || !pairUp(output, taken, &reads) ||
        readsWhatIsWritten(&writes, &reads))
      continue;
    SambaArena arena = {0};
    SambaStatus status = sambaStatusMake(
        SAMBA_INVALID,
        "output %u: its order is %s, but slots are filled in the order %s, and the words that its "
        "pattern reads hold other elements",
        o, sambaStatedOrderText(&arena, &sent), sambaStatedOrderText(&arena, &filled));
    sambaArenaDestroy(&arena);
    return status;
  }
  return NULL;
}
