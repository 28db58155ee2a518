/* Sections of a graph by search: which operators share a section, and in which order they run, so
 * that the graph takes the fewest predicted cycles, launches included.
 *
 * A section is an interval of an order of the operators. What an interval costs is asked of the
 * caller, once for each structure: equal intervals of equal layers are one. In one order the result
 * is the best partition, as long as prices are sane (see SambaPartitionTrial) and time is not
 * over. */
#ifndef SAMBA_BACKEND_PARTITION_PARTITION_H
#define SAMBA_BACKEND_PARTITION_PARTITION_H

#include "support/base/memory.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct SambaPartitionRead {
  uint32_t value;
  uint64_t bytes; /* that it reads at least */
} SambaPartitionRead;

typedef struct SambaPartitionOperator {
  uint32_t kind;  /* equal numbers: the same computation on tensors of the same types */
  uint32_t group; /* operators of a group share a section; groups are numbered from 0, in the order
                     of their first operators, and neighbours */
  uint32_t stretch; /* operators of different stretches share no section, and stretches stay in
                       order; numbered in that order */
  bool keeps_place; /* the operators of its stretch stay in order */
  bool follows; /* it does little to what the one before it makes, which nobody else reads: a cut
                   between the two is tried when all others are */
  uint32_t read_count, make_count;
  const SambaPartitionRead *reads; /* in the order of the operands */
  const uint32_t *makes;           /* values */
  double cycles;                   /* of its arithmetic at the machine's peak */
} SambaPartitionOperator;

typedef struct SambaPartitionValue {
  uint64_t bytes;
  bool leaves; /* the end of the graph reads it */
} SambaPartitionValue;

/* A section that is priced. Sane prices: a section with another one in it, which reads and leaves
 * as many values as that or more, does not fit when the other does not, and takes four fifths of
 * its cycles at least, but for bytes that it does not move any more. */
typedef struct SambaPartitionTrial {
  const uint32_t *operators; /* by number, in their order */
  uint32_t count;
  bool careful; /* asked for a price closer to that of the plan that the section gets in the end,
                   which takes about twice as long */
  bool fits;
  double cycles; /* predicted for the section with its launch */
  double load;   /* of those: what is saved when the same section ran just before */
} SambaPartitionTrial;

typedef struct SambaPartitionProblem {
  uint32_t operator_count; /* in an order in which they can run */
  const SambaPartitionOperator *operators;
  uint32_t value_count;
  const SambaPartitionValue *values;
  const uint32_t *most;   /* of each stretch: operators of a section; a larger group is one, too */
  double bytes_per_cycle; /* between memory and the chip */
  double launch, load;    /* cycles of a launch at least, of a program load at most */
  uint64_t memory;        /* bytes that values between sections may take in any order */
  /* A partition that is known: the operators of its sections one after the other. When time can be
   * over there must be one. */
  uint32_t seed_count;
  const uint32_t *seed;
  void (*price)(void *user, SambaPartitionTrial *trials, uint32_t count);
  /* Whether this share of the time is over: then the best of what is known is taken. */
  bool (*isOver)(void *user, double share);
  void *user;
} SambaPartitionProblem;

/* Why a section ends. */
typedef enum {
  SAMBA_PARTITION_GRAPH,  /* no operator is left */
  SAMBA_PARTITION_ORDER,  /* a stretch ends */
  SAMBA_PARTITION_NUMBER, /* it has as many operators as one may have */
  SAMBA_PARTITION_ROOM,   /* with the next group it does not fit */
  SAMBA_PARTITION_SEARCH, /* going on takes `more` cycles in all */
  SAMBA_PARTITION_TIME    /* time was over before that was known */
} SambaPartitionEnd;

typedef struct SambaPartitionSection {
  uint32_t first, count; /* in the order */
  double cycles;
  SambaPartitionEnd end;
  uint32_t next; /* operators of the group behind it */
  double more;
} SambaPartitionSection;

typedef struct SambaPartition {
  uint32_t *order; /* of the operators; all arrays lie in the arena */
  uint32_t section_count;
  SambaPartitionSection *sections;
  uint32_t *runs; /* the sections in the order in which they run: equal ones one after the other */
  double cycles, seed_cycles; /* of all sections, and of the seed's */
  bool over, reordered;
  uint32_t priced, reused; /* structures that were asked for; intervals that have such a one */
  uint32_t skipped;        /* intervals that cannot be better than what is known */
} SambaPartition;

SambaPartition sambaPartitionSearch(const SambaPartitionProblem *problem, SambaArena *arena);

#endif
