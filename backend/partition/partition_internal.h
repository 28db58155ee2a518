/* What the files of this folder share. */
#ifndef SAMBA_BACKEND_PARTITION_PARTITION_INTERNAL_H
#define SAMBA_BACKEND_PARTITION_PARTITION_INTERNAL_H

#include "backend/partition/partition.h"
#include "support/base/index.h"
#include "support/container/string_map.h"

/* Groups one after the other, and the operators in them. */
typedef struct SambaGroupOrder {
  uint32_t group_count;
  uint32_t *groups;    /* by number, in the order */
  uint32_t *first;     /* group_count + 1: where the operators of each begin */
  uint32_t *operators; /* all of them */
  /* Of each value: the place of the group that makes it, and of the last one that reads it;
   * SAMBA_NO_INDEX: none. */
  uint32_t *maker, *last_reader;
} SambaGroupOrder;

/* groups: NULL for the order of the problem. Memory from the arena. */
SambaGroupOrder sambaGroupOrderCreate(const SambaPartitionProblem *problem, const uint32_t *groups,
                                      SambaArena *arena);
/* Groups stand as near before their readers as their stretch allows, and what was made last is read
 * first. False: that is the order as it is, or its values need too much memory at once. */
bool sambaLateOrder(const SambaPartitionProblem *problem, const SambaGroupOrder *given,
                    SambaArena *arena, SambaGroupOrder *out_order);

/* The most bytes that values between groups take at once. */
uint64_t sambaOrderMemory(const SambaPartitionProblem *problem, const SambaGroupOrder *order);

/* Who reads each value, the last operator first. */
typedef struct SambaValueReaders {
  uint32_t *start; /* value_count + 1 */
  uint32_t *operators;
} SambaValueReaders;

/* Sections of one structure. */
typedef struct SambaSectionClass {
  const uint32_t *operators; /* of one of them, in the order of the problem */
  uint32_t count;
  uint32_t intervals; /* that have it */
  bool priced, fits, careful;
  double cycles, load;
} SambaSectionClass;

typedef struct SambaSectionClasses {
  const SambaPartitionProblem *problem;
  SambaValueReaders readers;
  SAMBA_ARRAY(SambaSectionClass) list;
  SambaStringMap by_key;
  SambaArena arena;
  /* Scratch: operators that are in the present section, and the number of each value in its key,
   * both valid where the mark is `stamp`. */
  uint32_t *member, *seen, *number, stamp;
  SAMBA_ARRAY(uint32_t) key, sorted;
} SambaSectionClasses;

SambaSectionClasses sambaSectionClassesCreate(const SambaPartitionProblem *problem);
void sambaSectionClassesFree(SambaSectionClasses *classes);
/* The class of a section of these operators, which it has in the order of the problem. A new one
 * has no price. */
uint32_t sambaSectionClassOf(SambaSectionClasses *classes, const uint32_t *operators,
                             uint32_t count);

typedef enum { CELL_NEW, CELL_PRICED, CELL_NO_ROOM, CELL_SKIPPED } SambaCellState;

/* An interval of an order. */
typedef struct SambaCell {
  SambaCellState state;
  bool seed;              /* of the partition that is known: it is priced in any case */
  uint32_t class;         /* SAMBA_NO_INDEX: not found so far */
  uint32_t reads, leaves; /* values */
  double read_bytes, left_bytes;
  double floor; /* cycles that arithmetic and memory take at least, with a launch */
  double bound; /* cycles of the dearest section in it that was priced */
  double best;  /* of the ways through it that are known */
  double guess; /* cycles of its section: the price, or what those of its parts lead to expect */
} SambaCell;

/* The intervals of an order: those that begin with a group follow each other by their length. */
typedef struct SambaIntervals {
  const SambaGroupOrder *order;
  size_t *row; /* group_count + 1 */
  uint32_t longest;
  SambaCell *cells;
} SambaIntervals;

SambaIntervals sambaIntervalsCreate(const SambaPartitionProblem *problem,
                                    const SambaGroupOrder *order);
void sambaIntervalsFree(SambaIntervals *intervals);

static inline uint32_t sambaRowLength(const SambaIntervals *intervals, uint32_t first) {
  return (uint32_t)(intervals->row[first + 1] - intervals->row[first]);
}
static inline SambaCell *sambaCellAt(const SambaIntervals *intervals, uint32_t first,
                                     uint32_t length) {
  return &intervals->cells[intervals->row[first] + length - 1];
}

/* The search: what is known of sections, and what has been done. */
typedef struct SambaSearch {
  const SambaPartitionProblem *problem;
  SambaSectionClasses classes;
  SambaPartition *result; /* its counts */
} SambaSearch;

/* Cycles of a group that is no section by itself: more than any graph takes. */
#define SAMBA_HOPELESS_CYCLES 1e15

/* Whether time is over: for first prices, or for careful ones, which have what is left. */
bool sambaSearchIsOver(SambaSearch *search);
bool sambaSearchIsOverForCareful(SambaSearch *search);
/* Asks for the price of a few classes; `careful`: for that of the plans that they would get. */
enum { SAMBA_TRIALS_AT_ONCE = 4 };
void sambaSearchPrice(SambaSearch *search, const uint32_t *classes, uint32_t count, bool careful);

/* Moves groups and whole sections to other sections while that takes fewer cycles. sizes: the
 * groups of each section of the order; writes those of the new order, which is returned in
 * out_order. False: there is no such move. */
bool sambaMoveGroups(SambaSearch *search, const SambaGroupOrder *order, uint32_t *section_count,
                     uint32_t *sizes, SambaArena *arena, SambaGroupOrder *out_order);

/* In which order the sections that were found run; writes `runs` of the result. */
void sambaGatherRepeats(SambaSearch *search, SambaArena *arena);

#endif
