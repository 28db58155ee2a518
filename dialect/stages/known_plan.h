/* Plans that are known already.
 *
 * The partitioner plans every section that it tries, and samba-tile-sections plans the ones that it
 * has chosen: the same stage graphs on the same machine, so the same plans. Each is made once per
 * context and found by the content of the graph. */
#ifndef SAMBA_DIALECT_STAGES_KNOWN_PLAN_H
#define SAMBA_DIALECT_STAGES_KNOWN_PLAN_H

#include "backend/plan/plan.h"
#include "backend/section/port_cycles.h"
#include "support/text/text.h"

#include "mlir-c/IR.h"

/* With which plans the planner's own is compared, besides: none; one with other numbers of
 * replicas; and those for less of the machine, with which a plan of one group is compared in any
 * case. The one that is predicted to take the fewest cycles is taken. */
typedef enum { SAMBA_COMPARE_NONE, SAMBA_COMPARE_REPLICAS, SAMBA_COMPARE_ALL } SambaPlanCompare;

/* A machine, and the #rdu.machine attribute that says the same. */
typedef struct SambaPlanTarget {
  const SambaMachine *machine;
  MlirAttribute attribute;
  SambaPlanCompare compares;
  SambaPortCounts *counts; /* of the machine's ports, for all plans of one thread; may be NULL */
} SambaPlanTarget;

/* What a section costs. */
typedef struct SambaPlanCost {
  double cycles; /* the prediction with its launch */
  double load;   /* of those, the program load: none when the same section ran just before */
  uint64_t work; /* that planning takes, also of a section that has no plan (plan.h) */
} SambaPlanCost;

/* Whether the graph has a plan whose section can be emitted within the machine's units, and what
 * that costs and takes. Fills the graph's mappings if so; else why, which may be NULL, gets the
 * reason. */
bool sambaPlanTry(const SambaPlanTarget *target, SambaStageGraph *graph, SambaPlanCost *out_cost,
                  SambaText *why);

/* sambaPlanTiles, unless the plan is known. */
SambaStatus sambaPlanOnce(const SambaPlanTarget *target, const SambaPlanOptions *options,
                          SambaStageGraph *graph);

/* Forgets all but a few hundred plans, once the sections have theirs: a long graph has thousands of
 * plans on the way to its sections. */
void sambaKnownPlansTrim(MlirContext context);

#endif
