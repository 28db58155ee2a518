/* Splitting lane programs: a program longer than a PCU's pipeline becomes a chain of PCUs with
 * streams between.
 *
 * A PCU holds simd_stages simple operations (a conversion takes a stage too while stages are left),
 * then a tail with one transcendental function and any conversions. A systolic PCU holds its MAC
 * and such a tail; what is left goes to SIMD PCUs. Constants and counters are made again where they
 * are used; other values that later PCUs need are passed on or, when they are more than a PCU has
 * outputs, sent to all of them. What follows a reduction runs on PCUs whose chains no longer have
 * the reduced counters. */
#ifndef SAMBA_BACKEND_SPLIT_SPLIT_PROGRAMS_H
#define SAMBA_BACKEND_SPLIT_SPLIT_PROGRAMS_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* Splits every COMPUTE unit of an unrouted section that is too long; units and streams are
 * renumbered, the others keep their order. The first part keeps the unit's name, the others add
 * ".part1", ".part2". Idempotent. SAMBA_EXHAUSTED names the unit when one operation alone needs
 * more vector inputs or outputs than the machine's units have. */
SambaStatus sambaSplitPrograms(SambaSection *section, const SambaMachine *machine);

#endif
