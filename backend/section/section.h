/* The section: one configuration of the chip as plain structs - what the planner emits, rdu IR
 * mirrors, placer and router complete, the encoder turns into bits and the decoder makes again for
 * the simulator. It speaks only hardware.
 *
 * Execution model (docs/execution-model.md tells it at length):
 *  - A section is a Kahn network of units. Units exchange *tokens*: dense row-major arrays of
 * elements of one type.
 *  - Every unit walks a chain of counters, outermost first. Counters [0, token_level) step from
 * token to token
 * ("firings"), the rest walk the elements inside a token.
 *  - LOAD reads a token from DRAM per firing; STORE writes one; BUFFER (PMU) keeps slots that
 * writers fill and readers read, each by its own chain; COMPUTE (PCU) consumes tokens and makes
 * tokens.
 *  - Tokens travel on *streams*: one source port to one or more destination ports (multicast). An
 * output port with several streams deals its tokens out in turn (`block` consecutive tokens each):
 * split. An input port with several streams takes tokens in turn the same way: merge.
 *
 * All arrays belong to one arena (SambaSection.arena). Indices are dense and in program order; the
 * order is deterministic. */
#ifndef SAMBA_BACKEND_SECTION_SECTION_H
#define SAMBA_BACKEND_SECTION_SECTION_H

#include "backend/section/lane_ops.h"
#include "support/base/index.h"
#include "support/base/memory.h"
#include "support/base/status.h"
#include "support/number/dtype.h"
#include "support/text/string_ref.h"

#include <stdint.h>

typedef enum {
  SAMBA_UNIT_LOAD,
  SAMBA_UNIT_STORE,
  SAMBA_UNIT_BUFFER,
  SAMBA_UNIT_COMPUTE
} SambaUnitKind;
enum { SAMBA_MAX_LANES = 256 }; /* that a unit may say it uses */
typedef enum { SAMBA_STREAM_VECTOR, SAMBA_STREAM_SCALAR, SAMBA_STREAM_CONTROL } SambaStreamKind;

/* One affine guard ("address predication"): an element is enabled while 0 <= constant +
 * sum(strides[c]*counter[c]) < limit. strides has one entry per counter of the chain it
 * belongs to. */
typedef struct SambaGuard {
  int64_t constant;
  int64_t limit;
  const int64_t *strides;
} SambaGuard;

/* What one port touches, in order: element address = base + sum(strides[c] * counter[c]), counters
 * outermost first. LOAD and STORE: addresses count elements of the symbol. BUFFER: elements within
 * one slot. Elements that a guard disables: a read gives `fill`, a write is skipped. */
typedef struct SambaAccess {
  uint32_t counter_count;
  const uint32_t *trips; /* each >= 1; the product is < 2^48 */
  uint32_t slot_level;   /* BUFFER: counters [0, slot_level) step from slot to slot; else 0 */
  uint32_t token_level;  /* counters [slot_level, token_level) step tokens (within a slot), the rest
                            elements */
  int64_t base;
  const int64_t *strides;
  uint32_t guard_count;
  const SambaGuard *guards;
  uint64_t fill; /* bits of the fill value in the port's dtype */
  /* LOAD and STORE with an index stream (input port 1 of a STORE, 0 of a LOAD): each element of the
   * index token, which spans the counters [token_level, token_level + index_counters), adds value *
   * index_stride to the address; values outside [0, index_limit) are the fault `address out of
   * range`. index_counters 0 with has_index: one value per token. */
  bool has_index;
  uint32_t index_counters;
  int64_t index_stride;
  int64_t index_limit;
} SambaAccess;

/* How a COMPUTE port's tokens follow the unit's chain. Input: a token is taken when counters
 * [0, level) step and held while [level, token_level) run; element index within the token =
 * sum(strides[c]*counter[c]) over the unit's inner counters (zero for the outer ones; zero also
 * broadcasts). Output: a token is made per step of [0, level); the token's elements are indexed by
 * the strides in the same way (reduced counters have stride 0). */
typedef struct SambaComputePort {
  uint32_t level;
  uint32_t value;         /* output: the program value that is written */
  const int64_t *strides; /* one per counter of the unit */
} SambaComputePort;

/* A counter of a walk: over addresses, or over the places of data. */
typedef struct SambaAccessStep {
  uint64_t trips;
  int64_t stride;
} SambaAccessStep;

/* What a step of a counter adds to the place of an element: in its tensor, and in the tensor of
 * indices that says where in the first it lies (gathers and scatters; else 0). */
typedef struct SambaPlaceStep {
  int64_t place, index;
} SambaPlaceStep;

/* A counter of the order of a stream. A copy takes elements from places of one tensor to places of
 * another; in all other streams both are the same. */
typedef struct SambaOrderStep {
  uint64_t trips;
  SambaPlaceStep from, to;
} SambaOrderStep;

typedef enum {
  SAMBA_ORDER_NONE,   /* nothing is stated */
  SAMBA_ORDER_SHAPE,  /* the trips alone: which elements these are is not stated */
  SAMBA_ORDER_PLACES, /* places of one tensor: from == to */
  SAMBA_ORDER_MOVES   /* a copy */
} SambaOrderKind;

/* A port of a unit. The unit's kind and the port's place among its ports say what the union holds:
 * `compute` for COMPUTE, `access` where sambaPortHasAccess (access.h) says so, and nothing (zero)
 * for the ports that only pass tokens: indices of a LOAD or STORE, control. */
typedef struct SambaPort {
  SambaDType dtype;
  uint32_t stream_count;
  const uint32_t *streams; /* into SambaSection.streams, in round-robin order of `block` tokens */
  uint32_t block;          /* >= 1 */
  uint64_t token_elements; /* elements of one token; 0 for control */
  /* In which order the elements of a token pass, as counters over their places in the tensor that
   * the stream carries, outermost first (stated_order.h). What it says is checked against the
   * records; no bits have it. */
  SambaOrderKind order_kind;
  uint32_t order_count;
  const SambaOrderStep *order;
  union {
    SambaAccess access;
    SambaComputePort compute;
  };
} SambaPort;

/* One lane operation; its result is the program value input_count + index. Values [0, input_count)
 * are the inputs. */
typedef struct SambaLaneOp {
  uint8_t opcode; /* SambaLaneOpcode */
  uint8_t type;   /* SambaDType: F32, I32, I64 or I1 */
  uint16_t operands[3];
  uint64_t immediate;
} SambaLaneOp;

/* A PCU's program. Values that depend on no reduction are computed at every step of the whole
 * chain; a reduction accumulates over the counters in `reduce_mask`, in chain order; what depends
 * on one is computed when those have wrapped. Outer reduced counters are the last ones before
 * token_level, so one set of accumulators suffices. */
typedef struct SambaProgram {
  bool systolic;    /* body is one MAC on the systolic array; all else is its tail */
  bool lane_reduce; /* reductions: lane l takes elements l, l+L, ...; lanes then fold by halves.
                       Else: in order */
  uint32_t op_count;
  const SambaLaneOp *ops;
  uint64_t reduce_mask; /* bit c: counter c is reduced */
} SambaProgram;

/* LOAD and STORE: an address generator and the memory it walks. */
typedef struct SambaLoadStore {
  uint32_t ag;     /* index of the address generator, SAMBA_NO_INDEX before placement */
  uint32_t symbol; /* index into SambaSection.symbols */
} SambaLoadStore;

/* Which bank holds word w of a slot (pmu_word_bytes each, pmu_banks banks;
 * backend/section/banks.h): COLUMN w, ROW w / row_words, DIAGONAL w + skew * (w / row_words), all
 * modulo the banks. */
typedef enum {
  SAMBA_BANKING_COLUMN,
  SAMBA_BANKING_ROW,
  SAMBA_BANKING_DIAGONAL,
  SAMBA_BANKING_COUNT
} SambaBanking;

/* BUFFER: the slots that a PMU keeps. */
typedef struct SambaBuffer {
  uint32_t slot_count; /* depth; slots are used round-robin, counted by credits */
  uint64_t slot_elements;
  SambaBanking banking;
  uint32_t row_words; /* ROW and DIAGONAL: words of a row, else 0 */
  uint32_t skew;      /* DIAGONAL: banks that a row is shifted by, else 0 */
  bool in_place;      /* a write follows the reads of its slot element by element, and does not wait
                         until the slot is released */
  bool loop_carried;  /* slots start full of `initial` for the first reads */
  uint64_t initial;
} SambaBuffer;

/* COMPUTE: one chain for all ports; the outer counters [0, token_level) are firings. */
typedef struct SambaCompute {
  uint32_t counter_count;
  uint32_t token_level;
  const uint32_t *trips;
  SambaProgram program;
} SambaCompute;

typedef struct SambaUnit {
  SambaUnitKind kind; /* says which member of the union is valid */
  const char *name;   /* deterministic, unique in the section */
  const char *layer;  /* the user's layer this unit works for ("" when none) */
  uint32_t lanes; /* SIMD lanes in use, 0: all; a vector at its ports has so many words (width.h) */
  int32_t x, y;   /* grid site of a BUFFER or COMPUTE, -1 before placement */
  uint32_t input_count, output_count;
  SambaPort *inputs, *outputs;
  union {
    SambaLoadStore load_store;
    SambaBuffer buffer;
    SambaCompute compute;
  };
} SambaUnit;

/* LOAD and STORE are address generators beside the grid; BUFFER and COMPUTE have a site on it. */
static inline bool sambaUnitIsAddressGenerator(const SambaUnit *unit) {
  return unit->kind == SAMBA_UNIT_LOAD || unit->kind == SAMBA_UNIT_STORE;
}
/* A load that takes nothing, or a store that hands on nothing: what flows between the network and
 * its address generator flows in one direction. One of each may have the same generator. */
static inline bool sambaUnitIsOneWay(const SambaUnit *unit) {
  return unit->kind == SAMBA_UNIT_LOAD ? !unit->input_count : !unit->output_count;
}
/* A unit of this kind that has no place and no ports yet. */
SambaUnit sambaUnitMake(SambaUnitKind kind, const char *name, const char *layer);
bool sambaUnitIsPlaced(const SambaUnit *unit);
const char *sambaUnitKindName(SambaUnitKind kind);      /* "load", "store", "buffer", "compute" */
const char *sambaBankingName(SambaBanking banking);     /* "column", "row", "diagonal", else NULL */
SambaBanking sambaBankingFromName(SambaStringRef name); /* SAMBA_BANKING_COUNT: none of them */

/* A formal argument of the section: memory that a call binds to a symbol plus offset. */
typedef struct SambaFormal {
  const char *name;
  SambaDType dtype; /* device dtype */
  uint64_t elements;
  bool written;
} SambaFormal;

typedef struct SambaEndpoint {
  uint32_t unit, port;
} SambaEndpoint;

/* One hop of a route: at switch (x, y), a flow enters at (in_port, in_lane, in_flow) and leaves at
 * each of the outs. */
typedef enum {
  SAMBA_SWITCH_NORTH,
  SAMBA_SWITCH_EAST,
  SAMBA_SWITCH_SOUTH,
  SAMBA_SWITCH_WEST,
  SAMBA_SWITCH_UNIT,
  SAMBA_SWITCH_AG
} SambaSwitchPort;
typedef struct SambaSwitchLane {
  uint8_t port; /* SambaSwitchPort. NORTH is y-1, SOUTH y+1. */
  uint8_t lane; /* of the stream kind's lanes; for UNIT and AG: the unit's physical port number */
  uint16_t flow;
  uint16_t ag; /* SAMBA_SWITCH_AG: which address generator */
} SambaSwitchLane;
typedef struct SambaHop {
  int32_t x, y;
  SambaSwitchLane in;
  SambaSwitchLane out; /* multicast: several hops with the same (x, y, in) */
} SambaHop;

typedef struct SambaStream {
  SambaStreamKind kind;
  SambaEndpoint source;
  uint32_t destination_count;
  const SambaEndpoint *destinations;
  uint32_t
      hop_count; /* 0 before routing; hops in order from the source (a tree in depth-first order) */
  const SambaHop *hops;
} SambaStream;

typedef struct SambaSection {
  SambaArena *arena;
  const char *name;
  uint32_t symbol_count, unit_count, stream_count;
  SambaFormal *symbols;
  SambaUnit *units;
  SambaStream *streams;
  bool split_k; /* partial sums are added across units (changes bits against the unsplit order) */
} SambaSection;

/* Units that the section uses. */
typedef struct SambaSectionNeeds {
  uint32_t pcus, pmus;
  uint32_t ags; /* those of placed units, and one for each of the others */
  uint32_t
      fewest_ags; /* that will do: loads and stores share them, unless one is no one-way unit */
} SambaSectionNeeds;
SambaSectionNeeds sambaSectionCount(const SambaSection *section);

#endif
