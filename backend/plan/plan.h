/* The planner: decides how the stages of one section are tiled, unrolled, buffered and
 * pipelined. */
#ifndef SAMBA_BACKEND_PLAN_PLAN_H
#define SAMBA_BACKEND_PLAN_PLAN_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"
#include "backend/stage/stage.h"

enum { SAMBA_MOST_PARALLEL_DIVISOR = 4096 };

typedef struct SambaPlanOptions {
  uint32_t parallel_divisor; /* use 1/n of the machine's units (0 or 1: all); raised when placing or
                                routing failed */
  uint32_t rank;      /* the plan of several groups that is wanted, by its estimate: 0 is the best.
                         Refused where there are fewer plans to make, and in phases */
  bool tries_beside;  /* numbers of replicas beside those of the best pipeline, too: takes longer */
  uint32_t sum_parts; /* a contraction that is a section of its own takes its sums in so many parts,
                         each with what is loaded for it (0 or 1: as the search likes) */
  bool carries_sums;  /* sums of a contraction that is a section of its own go through PMUs, so that
                         it begins when a part of its operands is there: refused where they cannot */
  bool loads_apart;   /* a pipeline loads while PMUs gather what it makes, then stores that, in
                         phases: refused where it cannot */
  struct SambaSearchMemo *searches; /* known results (search_memo.h); may be NULL */
  /* Grows by the work of all searches: choices that they look at, each price as several. What is
   * known counts like what is not, so it is the same on any host. May be NULL. */
  uint64_t *work;
} SambaPlanOptions;

/* Fills the mappings that are zero (mapping.dim_count == 0); mappings written by hand stay. The
 * graph is one section. options may be NULL. SAMBA_EXHAUSTED when the section cannot fit the
 * machine (an intermediate's slice exceeds a PMU, too few units or address generators): the
 * partitioner cuts there; SAMBA_INVALID for a graph that sambaStageGraphCheck refuses. */
SambaStatus sambaPlanTiles(SambaStageGraph *graph, const SambaMachine *machine,
                           const SambaPlanOptions *options);

/* The same, and the draft of a section that the planner has tried its plan with: emitted, programs
 * split, within the machine's units. out_section: NULL when codegen refuses the plan for another
 * reason than its size. arena: empty; the section's from then on. */
SambaStatus sambaPlanSection(SambaStageGraph *graph, const SambaMachine *machine,
                             const SambaPlanOptions *options, SambaArena *arena,
                             SambaSection **out_section);

#endif
