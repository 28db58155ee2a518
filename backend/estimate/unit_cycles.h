/* How long units and memory take, from the machine's parameters alone: the cycles that a firing
 * occupies a PCU, the latency until its first result, the latency and the rate of memory. Planner,
 * codegen and estimator ask here. The simulator has laws of its own on purpose
 * (docs/timing-model.md); these are the same laws without what only a run knows. */
#ifndef SAMBA_BACKEND_ESTIMATE_UNIT_CYCLES_H
#define SAMBA_BACKEND_ESTIMATE_UNIT_CYCLES_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* What the static model assumes of memory traffic. These are no parameters of the machine: the
 * timing engine has channels, banks and queues instead and knows none of them. They only rank
 * plans. */
#define SAMBA_DRAM_SHARE 0.85 /* of the DRAM's rate, while first slots arrive from everywhere */
#define SAMBA_LOAD_SHARE 0.8  /* of a generator's rate, beside the others that load */
#define SAMBA_STORE_SHARE 0.6 /* of a generator's rate when it stores: tokens come in bursts */
#define SAMBA_STAGING_CYCLES 256.0 /* of a staging buffer, which stores before it forwards */
#define SAMBA_SHORT_ROWS_COST 1.3  /* of rows below two bursts: each activates a DRAM row */

/* Writes that a channel serves between reads wait for their age (these windows of bursts) or a full
 * queue. A turn serves those that came in such a time, from a full queue down to the low mark or
 * for a window of bursts at most; at least these many where writes are few. */
#define SAMBA_WRITES_PER_TURN 2.6
#define SAMBA_WRITE_AGE_WINDOWS 4

/* Hops from a unit to the next before they are placed. Placed sections of seven test models (2274
 * streams with one end; `samba-objdump --placement`) have 6 in the mean, and nine in ten at most
 * 12; the slowest path decides. */
#define SAMBA_ASSUMED_HOPS 10

/* And of the streams with one end, where the shortest path decides, because its FIFOs hold the
 * fewest vectors: half of those from a PMU to a PCU have no more (5,900 of a step of GPT-2). */
#define SAMBA_NEAR_HOPS 2

/* Switch entries before there are routes, for each destination of a stream and for each unit of a
 * section. Seven test models have 4.7 to 8.2 and 6 to 18 (400,000 entries); the largest five have
 * 14.5 for each unit in the mean (1,200,000 entries). */
#define SAMBA_ENTRIES_PER_DESTINATION 6
#define SAMBA_ENTRIES_PER_UNIT 14
/* Entries that a switch has for a kind of streams, once it has one: those five have 8 to 12. */
#define SAMBA_ENTRIES_PER_SWITCH 10

/* A firing on the systolic array: points of the rows (only the first operand of the MAC walks
 * them), of the columns (only the second), of the sums, and of all else. */
typedef struct SambaArrayFiring {
  int64_t rows, columns, depth, batch;
  bool wide; /* an operand has more than 16 bits */
} SambaArrayFiring;

/* Cycles that the array is occupied. */
double sambaArrayCycles(const SambaMachine *machine, const SambaArrayFiring *firing);

/* A firing of a SIMD program: `rows` times the lanes walk `innermost` points. */
typedef struct SambaSimdFiring {
  int64_t lanes; /* in use, 0: all */
  int64_t rows, innermost;
  uint32_t stages;          /* that the program takes of its PCU */
  uint32_t transcendentals; /* operations of the tail */
  bool wide;                /* a 64-bit type occurs: half the lanes */
  bool moves_only;          /* moves elements of at most 16 bits: twice the lanes */
} SambaSimdFiring;

/* Counts the program's stages and transcendental operations, and sets `wide` and `moves_only` by
 * its operations. sambaSimdFiringPort does the rest for each input and output. */
void sambaSimdFiringProgram(SambaSimdFiring *firing, const SambaLaneOp *ops, uint32_t op_count);
void sambaSimdFiringPort(SambaSimdFiring *firing, SambaDType dtype);

/* Points that the PCU works on at once. */
int64_t sambaSimdLanes(const SambaMachine *machine, const SambaSimdFiring *firing);
/* Cycles that the PCU is occupied. */
double sambaSimdCycles(const SambaMachine *machine, const SambaSimdFiring *firing);

/* Cycles from the last operand of a result to the result: through the stages and the tail, or out
 * of the array. */
double sambaSimdLatency(const SambaMachine *machine, bool has_tail);
double sambaArrayLatency(const SambaMachine *machine, bool has_tail);

/* Bytes of switch entries before there are routes, with their part of their switches' records. */
uint64_t sambaAssumedEntriesBytes(uint64_t entries);
/* Cycles by which bytes of a configuration, and one more typical PCU or PMU with its share of the
 * switch entries, lengthen a program load. */
double sambaMachineLoadCycles(const SambaMachine *machine, uint64_t bytes);
double sambaMachinePcuLoadCycles(const SambaMachine *machine);
double sambaMachinePmuLoadCycles(const SambaMachine *machine);

/* Bytes per cycle that the DRAM gives at most. */
double sambaMachineDramBytesPerCycle(const SambaMachine *machine);
/* Cycles from the request of a burst to its data when other bursts are under way: on chip there and
 * back, a DRAM row closed and opened, the bursts that share its place in a channel, and what it
 * waits for a refresh on average. */
double sambaMachineLoadLatency(const SambaMachine *machine);
/* The same while a generator asks for one place after the other: most find their row open. */
double sambaMachineStreamLatency(const SambaMachine *machine);
/* Cycles by which a write lengthens the work of the whole memory beyond its bytes, when there are
 * reads beside it: its channel turns to it and back. */
double sambaMachineTurnCycles(const SambaMachine *machine, double writes_per_byte,
                              double bytes_per_write);
/* Bytes per cycle that one address generator reads at most: its outstanding bursts over their
 * latency. */
double sambaMachineAgBytesPerCycle(const SambaMachine *machine);
/* Bytes that the DRAM moves for `bytes` in rows of row_bytes: whole bursts. */
double sambaMachineBurstBytes(const SambaMachine *machine, double bytes, double row_bytes);

#endif
