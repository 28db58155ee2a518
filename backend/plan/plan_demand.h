/* What operands and results ask of the address generators, and how these are shared among them. */
#ifndef SAMBA_BACKEND_PLAN_PLAN_DEMAND_H
#define SAMBA_BACKEND_PLAN_PLAN_DEMAND_H

#include "backend/machine/machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an operand or a result asks of the address generators. */
typedef struct SambaDemand {
  double first_bytes, bytes; /* before the first firing; in all */
  double sources;            /* copies that may have generators of their own */
  double staged;             /* copies whose rows are joined */
  uint32_t ways;             /* generators that may fill one buffer together */
  double least_ags;          /* that it takes, however little it moves */
  double most_ags;           /* that it can use, however many there are */
  bool stores;
  double due; /* share of the firings before which all bytes must be there */
} SambaDemand;

/* Generators out of `share` that an operand can use: equal runs of copies (whole groups of `staged`
 * copies), up to `ways` for each run. */
double sambaDemandUsableAgs(const SambaDemand *demand, double share);
/* Generators with which an operand has `wanted` of them at work, `most` at most: the fewest, which
 * are looked for in steps. */
double sambaDemandAgs(const SambaDemand *demand, double wanted, double most);
/* The cycles in which `ags` generators meet all demands when they are shared as well as can be. */
double sambaPlanGeneratorCycles(const SambaMachine *machine, SambaDemand *demands, size_t count,
                                uint32_t ags);

#endif
