/* What all kinds of units share; see unit_run.h. */
#include "backend/sim/value/unit/unit_run.h"

#include "backend/section/access.h"

#include <stdarg.h>
#include <stdio.h>

uint64_t sambaUnitJoinedFirings(const SambaSectionRun *run, const SambaUnitRun *unit) {
  const SambaUnit *original = &run->original->units[unit->index];
  if (original->kind == SAMBA_UNIT_BUFFER || !unit->firings)
    return 1;
  return sambaUnitFirings(original) / unit->firings;
}

uint64_t sambaOriginalFiring(const SambaSectionRun *run, const SambaUnitRun *unit,
                             const SambaPort *port, uint64_t fired, uint64_t element) {
  const SambaUnit *original = &run->original->units[unit->index];
  bool output =
      port >= unit->unit->outputs && port < unit->unit->outputs + unit->unit->output_count;
  const uint64_t number =
      (uint64_t)(output ? port - unit->unit->outputs : port - unit->unit->inputs);
  const SambaPort *before = output ? &original->outputs[number] : &original->inputs[number];
  uint64_t place = (fired * port->token_elements + element) / before->token_elements;
  if (!run->orders || !run->orders[unit->index])
    return place;

  const SambaTokenOrder *order =
      &run->orders[unit->index][number + (output ? original->input_count : 0)];
  uint64_t firing = order->count ? 0 : place;
  for (uint32_t c = order->count; c-- > 0;) {
    firing += place % order->trips[c] * order->firings[c];
    place /= order->trips[c];
  }
  return firing;
}

SambaStatus sambaUnitFault(const SambaSectionRun *run, const SambaUnitRun *unit, uint64_t firing,
                           const char *fault, const char *format, ...) {
  char detail[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(detail, sizeof detail, format, arguments);
  va_end(arguments);
  const char *layer = unit->unit->layer ? unit->unit->layer : "";
  return sambaStatusMake(SAMBA_FAULT, "%s: section '%s', %s '%s'%s%s%s, firing %llu: %s", fault,
                         run->section->name, sambaUnitKindName(unit->unit->kind), unit->unit->name,
                         *layer ? " of layer '" : "", layer, *layer ? "'" : "",
                         (unsigned long long)firing, detail);
}
