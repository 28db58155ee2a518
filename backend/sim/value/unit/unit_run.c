/* What all kinds of units share; see unit_run.h. */
#include "backend/sim/value/unit/unit_run.h"

#include <stdarg.h>
#include <stdio.h>

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
