/* Faults; see waits.h. */
#include "backend/sim/call/waits.h"

#include <stdio.h>
#include <stdlib.h>

enum { mostNotes = 16 };

static bool isFinished(const SambaWaitGraph *graph, uint32_t waiter) {
  return graph->describe(graph->engine, waiter).finished;
}

static void describe(const SambaWaitGraph *graph, uint32_t index, char *text, size_t size) {
  SambaWaiter waiter = graph->describe(graph->engine, index);
  const SambaUnit *unit = &graph->section->units[waiter.unit];
  snprintf(text, size, "'%s'%s (%s%s%s, firing %llu of %llu)", unit->name ? unit->name : "",
           waiter.port, sambaUnitKindName(unit->kind),
           unit->layer && *unit->layer ? ", layer " : "", unit->layer ? unit->layer : "",
           (unsigned long long)waiter.done, (unsigned long long)waiter.firings);
}

static SambaStatus noteWait(const SambaWaitGraph *graph, SambaStatus status, uint32_t waiter,
                            const SambaWaitFor *wait) {
  char text[256], other[256];
  describe(graph, waiter, text, sizeof text);
  if (wait->waiter == SAMBA_NO_INDEX)
    return sambaStatusNote(status, "%s is at work", text);
  describe(graph, wait->waiter, other, sizeof other);
  return sambaStatusNote(status, "%s waits %s %s", text, wait->what, other);
}

/* Notes that follow the waits from `waiter`: once around, or to the unit that has ended. */
static SambaStatus noteWaits(const SambaWaitGraph *graph, SambaStatus status, uint32_t waiter) {
  const uint32_t start = waiter;
  for (uint32_t notes = 0; notes < mostNotes; ++notes) {
    SambaWaitFor wait = graph->waits_for(graph->engine, waiter);
    if (wait.waiter == SAMBA_NO_INDEX)
      break;
    status = noteWait(graph, status, waiter, &wait);
    waiter = wait.waiter;
    if (waiter == start || isFinished(graph, waiter))
      break;
  }
  return status;
}

/* What each of those does that are not finished, the first of them. */
static SambaStatus noteUnfinished(const SambaWaitGraph *graph, SambaStatus status) {
  uint32_t notes = 0, others = 0;
  for (uint32_t waiter = 0; waiter < graph->waiter_count; ++waiter) {
    if (isFinished(graph, waiter))
      continue;
    if (notes++ >= mostNotes) {
      ++others;
      continue;
    }
    SambaWaitFor wait = graph->waits_for(graph->engine, waiter);
    status = noteWait(graph, status, waiter, &wait);
  }
  return others ? sambaStatusNote(status, "and %u more units or buffer ports", others) : status;
}

SambaStatus sambaWaitsDeadlock(const SambaWaitGraph *graph) {
  bool *seen = sambaAllocateZeroed(graph->waiter_count, sizeof *seen);
  uint32_t waiter = 0;
  while (isFinished(graph, waiter))
    ++waiter;

  /* Follow the waits until they come back, or reach a unit that ended early: what waits for it
   * starves. */
  SambaWaitFor wait = {waiter, ""};
  while (wait.waiter != SAMBA_NO_INDEX && !seen[wait.waiter] && !isFinished(graph, wait.waiter)) {
    waiter = wait.waiter;
    seen[waiter] = true;
    wait = graph->waits_for(graph->engine, waiter);
  }
  free(seen);

  bool stops = wait.waiter == SAMBA_NO_INDEX;
  bool starved = !stops && isFinished(graph, wait.waiter);
  const char *why = "is part of a circle of waits";
  if (starved)
    why = "waits for a unit that has ended";
  else if (stops)
    why = "cannot go on";

  char text[256], at[48] = "";
  describe(graph, waiter, text, sizeof text);
  if (!graph->untimed)
    snprintf(at, sizeof at, " at cycle %llu", (unsigned long long)graph->now);
  SambaStatus status = sambaStatusMake(
      SAMBA_FAULT, "%s: section '%s' stopped%s with %u units or buffer ports unfinished; %s %s",
      starved ? "starved" : "deadlock", graph->section->name, at, graph->unfinished, text, why);
  return noteWaits(graph, status, starved || stops ? waiter : wait.waiter);
}

SambaStatus sambaWaitsTooManyCycles(const SambaWaitGraph *graph, uint64_t limit) {
  SambaStatus status = sambaStatusMake(
      SAMBA_FAULT,
      "too many cycles: section '%s' was not finished after %llu cycles, with %u units or buffer "
      "ports unfinished; raise --max-cycles if this is expected",
      graph->section->name, (unsigned long long)limit, graph->unfinished);
  return noteUnfinished(graph, status);
}

SambaStatus sambaWaitsInterrupted(const SambaWaitGraph *graph) {
  SambaStatus status = sambaStatusMake(
      SAMBA_FAULT,
      "interrupted: section '%s' was at cycle %llu, with %u units or buffer ports unfinished",
      graph->section->name, (unsigned long long)graph->now, graph->unfinished);
  return noteUnfinished(graph, status);
}
