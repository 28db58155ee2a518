/* Why a network stands still; see stuck.h. */
#include "backend/sim/value/network/stuck.h"

#include "backend/sim/value/unit/buffer_unit.h"
#include "backend/sim/value/unit/compute_unit.h"

#include <stdlib.h>

static bool isDone(const SambaUnitRun *unit) {
  return unit->unit->kind == SAMBA_UNIT_BUFFER ? sambaBufferDone(unit)
                                               : unit->fired == unit->firings;
}

/* A place that waits: a unit, and for a buffer one of its ports. */
typedef struct Place {
  uint32_t unit;
  bool output;
  uint32_t port;
} Place;

/* What this place waits for: fills the queue (or NULL: another port of the same buffer), and
 * whether it is for space. */
static const SambaQueue *waitsFor(const SambaUnitRun *unit, Place place, bool *out_space,
                                  Place *out_next) {
  *out_next = place;
  if (unit->unit->kind == SAMBA_UNIT_BUFFER) {
    bool other_is_output;
    uint32_t other;
    const SambaQueue *queue =
        sambaBufferWaits(unit, place.output, place.port, &other_is_output, &other);
    *out_space = place.output;
    if (!queue)
      out_next->output = other_is_output, out_next->port = other;
    return queue;
  }

  for (uint32_t i = 0; i < unit->unit->input_count; ++i) {
    bool needed = unit->unit->kind != SAMBA_UNIT_COMPUTE || sambaComputeNeedsToken(unit, i);
    const SambaQueue *queue = needed ? sambaPortWaits(&unit->inputs[i], false) : NULL;
    *out_space = false;
    if (queue)
      return queue;
  }

  for (uint32_t i = 0; i < unit->unit->output_count; ++i) {
    const SambaQueue *queue = sambaPortWaits(&unit->outputs[i], true);
    *out_space = true;
    if (queue)
      return queue;
  }

  return NULL;
}

/* A unit that is not done: for a buffer, one of its ports that is not. */
static bool findStuck(const SambaSectionRun *run, Place *out_place) {
  for (uint32_t u = 0; u < run->section->unit_count; ++u) {
    const SambaUnitRun *unit = &run->units[u];
    if (isDone(unit))
      continue;
    *out_place = (Place){u, false, 0};
    if (unit->unit->kind == SAMBA_UNIT_BUFFER)
      sambaBufferFirstWaiting(unit, &out_place->output, &out_place->port);
    return true;
  }
  return false;
}

typedef SAMBA_ARRAY(Place) Places;

static bool contains(const Places *places, Place place) {
  for (size_t i = 0; i < places->size; ++i) {
    const Place *seen = &places->data[i];
    if (seen->unit == place.unit && seen->output == place.output && seen->port == place.port)
      return true;
  }
  return false;
}

/* Walks the waits from an unfinished unit until they come back to a place, or to a unit that has
 * ended. */
static SambaStatus explain(const SambaSectionRun *run, Place place) {
  const SambaUnitRun *first = &run->units[place.unit];
  Places seen = {0};
  SambaStatus status = sambaUnitFault(run, first, first->fired * sambaUnitJoinedFirings(run, first),
                                      "deadlock", "no unit can go on");

  while (!contains(&seen, place) && seen.size < 64) {
    sambaArrayAppend(&seen, place);
    const SambaUnitRun *unit = &run->units[place.unit];
    bool space = false;
    Place next;
    const SambaQueue *queue = waitsFor(unit, place, &space, &next);
    if (!queue) {
      if (contains(&seen, next))
        break;
      status = sambaStatusNote(status, "'%s': %s %u waits for %s %u", unit->unit->name,
                               place.output ? "output" : "input", place.port,
                               next.output ? "output" : "input", next.port);
      place = next;
      continue;
    }
    uint32_t other = space ? queue->destination : queue->source;
    const SambaUnitRun *peer = &run->units[other];
    if (!space && isDone(peer)) {
      sambaStatusFree(status);
      status = sambaUnitFault(run, unit, unit->fired * sambaUnitJoinedFirings(run, unit), "starved",
                              "input %u waits for a token of %s '%s', which has ended",
                              queue->destination_port, sambaUnitKindName(peer->unit->kind),
                              peer->unit->name);
      break;
    }
    status = sambaStatusNote(status, "'%s' waits for %s '%s'", unit->unit->name,
                             space ? "space in" : "a token of", peer->unit->name);
    place = (Place){other, false, 0};
    if (peer->unit->kind == SAMBA_UNIT_BUFFER)
      place = (Place){other, !space, space ? queue->destination_port : queue->source_port};
  }

  sambaArrayFree(&seen);
  return status;
}

SambaStatus sambaStuckExplain(const SambaSectionRun *run) {
  Place place;
  return findStuck(run, &place) ? explain(run, place) : NULL;
}
