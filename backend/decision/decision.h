/* Decisions about a graph, by the names of its layers: what the compiler decided, to be given to
 * another run, and what a user wants.
 *
 * A decisions file is JSON:
 *
 *   {"format": "samba-decisions", "version": 1,
 *    "layers": {"fc1": {"section": 0, "parallel": 2},
 *               "act": [{"section": 0, "mapping": ["#rdu.mapping<...>"]}]}}
 *
 * A layer has a list with an entry for each of its operators, in the graph's order, or one object
 * that holds for all of them. What an entry does not say is the compiler's to decide. */
#ifndef SAMBA_BACKEND_DECISION_DECISION_H
#define SAMBA_BACKEND_DECISION_DECISION_H

#include "backend/plan/plan.h"
#include "support/base/memory.h"
#include "support/base/status.h"
#include "support/text/text.h"

typedef struct SambaOperatorDecision {
  int64_t section;        /* operators with the same number are one section; -1: not said */
  uint32_t parallel;      /* 1/parallel of the units that copies may take; 0: not said */
  uint32_t mapping_count; /* 0: not said */
  const char **mappings;  /* of its stages, in order: #rdu.mapping<...> */
} SambaOperatorDecision;

typedef struct SambaLayerDecisions {
  const char *name;
  bool every; /* the only entry holds for every operator of the layer */
  uint32_t count;
  SambaOperatorDecision *operators;
} SambaLayerDecisions;

typedef struct SambaDecisions {
  uint32_t count;
  SambaLayerDecisions *layers;
} SambaDecisions;

/* Reads a decisions file; everything lives in the arena. `name` stands before the messages.
 * Mappings are texts: whether they are any is for who parses them. */
SambaStatus sambaDecisionsRead(const char *name, const char *data, size_t size, SambaArena *arena,
                               SambaDecisions *out_decisions);

/* Appends the file, which sambaDecisionsRead reads. */
void sambaDecisionsPrint(const SambaDecisions *decisions, SambaText *out);

#endif
