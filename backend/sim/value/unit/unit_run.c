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
  const SambaPort *before = output ? &original->outputs[port - unit->unit->outputs]
                                   : &original->inputs[port - unit->unit->inputs];
  return (fired * port->token_elements + element) / before->token_elements;
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
