/* Decisions: what the compiler learned from attempts that could not be placed or routed, per
 * section.
 *
 * A decisions file has a line per decision: `SECTION parallel N`, N = the share 1/N of the parallel
 * units that the planner may use. */
#ifndef SAMBA_DIALECT_RDU_DECISIONS_H
#define SAMBA_DIALECT_RDU_DECISIONS_H

#include "support/base/memory.h"
#include "support/base/status.h"

#include "dialect/rdu/rdu_attribute_names.h"

#include "mlir-c/IR.h"

typedef struct SambaDecision {
  char section[64];
  uint32_t divisor; /* the planner uses at most 1/divisor of the parallel copies */
} SambaDecision;
typedef SAMBA_ARRAY(SambaDecision) SambaDecisions;

/* Marks a section operation as the one that failed; the name of the first marked section of a
 * module. */
void sambaMarkFailedSection(MlirOperation section);
bool sambaFailedSection(MlirOperation module, char *out_name, size_t size);

/* Doubles the section's divisor; false when it is 4096 already. */
bool sambaDecisionsHalve(SambaDecisions *decisions, const char *section);
uint32_t sambaDecisionsDivisor(const SambaDecisions *decisions, const char *section);
SambaStatus sambaDecisionsRead(const char *path, SambaDecisions *decisions);
SambaStatus sambaDecisionsWrite(const SambaDecisions *decisions, const char *path);
void sambaDecisionsFree(SambaDecisions *decisions);

/* In IR: a module attribute "rdu.decisions", one string per decision; it wins over no file and
 * loses to nothing. */
void sambaDecisionsToModule(const SambaDecisions *decisions, MlirOperation module);
SambaStatus sambaDecisionsFromModule(MlirOperation module, SambaDecisions *decisions);

#endif
