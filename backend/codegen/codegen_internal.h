/* What the files of codegen share. */
#ifndef SAMBA_BACKEND_CODEGEN_CODEGEN_INTERNAL_H
#define SAMBA_BACKEND_CODEGEN_CODEGEN_INTERNAL_H

#include "backend/codegen/assembly.h"
#include "backend/codegen/walk.h"
#include "backend/group/share.h"
#include "backend/group/tile_gather.h"

typedef struct SambaConsumer { /* one read port of a tensor that lives in buffers */
  uint32_t group, operand;
  uint32_t indexed; /* the port feeds the indices of this operand's loads; SAMBA_NO_INDEX: none */
  uint32_t part;    /* of the operand's ports */
} SambaConsumer;

typedef struct SambaTensorPlan {
  SAMBA_ARRAY(SambaConsumer) readers;
  SAMBA_ARRAY(uint32_t) writers; /* groups */
  bool accessed;                 /* by a reader or writer so far: `slices` is what they allow */
  SambaSlices slices;
  uint32_t replicas;     /* with buffers of their own: those along the loops that slice it */
  bool buffered;         /* read from buffers: made in the section, or shared */
  bool shared;           /* an argument that several groups read: loaded once, slice by slice */
  uint32_t loads, ways;  /* of a shared argument: ranges of replicas that are loaded apart, and the
                            address generators that load each range together */
  uint32_t ports;        /* read ports of a PMU */
  uint32_t buffers;      /* per replica, each with at most so many read ports */
  uint32_t ring;         /* PMUs of each buffer, which take the slices in turn */
  uint32_t first_buffer; /* unit of the first PMU; see sambaBufferUnit */
} SambaTensorPlan;

typedef struct SambaGroupPlan {
  SambaTileNest nest;
  const char *prefix;
  uint32_t *loads; /* per operand: ranges of copies that are loaded apart (0: not loaded) */
  uint32_t *ways;  /* per operand: address generators that load each range together */
  uint32_t stores;
  SambaEndpoints *sinks; /* per copy */
} SambaGroupPlan;

typedef struct SambaCodegen {
  const SambaStageGraph *graph;
  const SambaMachine *machine;
  SambaArena *arena, scratch;
  SambaAssembly assembly;
  SambaGroups groups;
  SambaGroupPlan *plans;
  SambaTensorPlan *tensors;
  uint32_t *symbols; /* of tensors */
  SambaPipeline pipeline;
  uint32_t pipeline_group; /* a group that has all loops of the pipeline */
  uint32_t phases;         /* rounds of loading and then storing; 0: both all the time */
  SambaEndpoints signals;  /* read ports of gathered results that tell when a phase's are there */
  SambaEndpoints gates;    /* write ports of the others, which wait for that */
} SambaCodegen;

/* address_generators.c: how many address generators each operand in memory, each shared argument
 * and each result gets. */
SambaStatus sambaCodegenAssignAgs(SambaCodegen *codegen);
/* Cycles that the slowest group works. */
double sambaCodegenWorkCycles(const SambaCodegen *codegen);
/* sources.c: loads, buffers and read ports behind one operand. consumers: the ports that take
 * the tokens of each source, in the order of the copies. */
SambaStatus sambaCodegenAddSource(SambaCodegen *codegen, uint32_t group, uint32_t operand,
                                  const SambaEndpoints *consumers);
/* Whether the sources of an operand whose loads were cut at `range` are loaded together: the
 * unrolled dimension whose copies' slots lie side by side in rows too short to be loaded one by
 * one; SAMBA_NO_INDEX: none. */
uint32_t sambaStagedSourceDim(const SambaTileNest *nest, uint32_t operand, const SambaTileBox *slot,
                              const SambaCopyRange *range);

/* sinks.c: where the tokens of each copy of a group go. */
SambaStatus sambaCodegenAddSinks(SambaCodegen *codegen, uint32_t group);
/* Joins an output with the sinks of a copy: all at once, or those of each PMU of a ring in turn.
 * The output of a tail sends the tokens of `copies` copies, from this one on: sinks that all of
 * them have take one of each; where each copy has its own, the tail deals. */
void sambaConnectSinks(SambaCodegen *codegen, uint32_t group, uint32_t copy, uint32_t copies,
                       SambaEndpoint output);
/* Whether `count` stores can merge the tokens of all copies without more streams into a port than a
 * lane has flow ids. */
bool sambaStoresFit(const SambaCodegen *codegen, const SambaTileNest *nest, uint32_t count);

/* Bytes that `count` stores of a result find side by side at least: what they move in a cycle is no
 * more. */
int64_t sambaStoredRowBytes(const SambaCodegen *codegen, const SambaTileNest *nest, uint32_t count);

/* phases.c, of a section that works in phases: the PMU that gathers what a store of a group takes.
 * What fed the store is to feed this unit. */
SambaStatus sambaCodegenAddGathering(SambaCodegen *codegen, uint32_t group, uint32_t store,
                                     uint32_t number, uint32_t *out_unit);
/* Joins what tells that results are gathered with what waits for it. */
void sambaCodegenAddGates(SambaCodegen *codegen);

/* carried_sums.c: the buffers through which the sums of a group's copies go. */
SambaStatus sambaCodegenAddSums(SambaCodegen *codegen, uint32_t group, const uint32_t *computes);

/* --- orders.c: what ports state of the order of their streams, where their walks do not tell ---
 */

/* The tokens of an operand as its PCU uses them; of a copy, as its sinks take them. */
void sambaStateToken(const SambaTileNest *nest, uint32_t operand, SambaArena *arena,
                     SambaPort *port);
/* The tokens of the result as PCUs, or the sources of a copy, make them. */
void sambaStateResult(const SambaTileNest *nest, SambaArena *arena, SambaPort *port);
/* What a load by index sends into PMUs: the first `count` dimensions of its tokens. */
void sambaStateGather(const SambaTileNest *nest, uint32_t operand, const SambaTileGather *gather,
                      uint32_t count, SambaArena *arena, SambaPort *port);
/* Tiles of the result in the order of these dimensions, with `copies` of staged_dim side by side,
 * each with the tiles of a run. */
void sambaStateStaged(const SambaTileNest *nest, uint32_t count, const uint32_t *dims,
                      uint32_t staged_dim, uint32_t copies, uint32_t run, SambaArena *arena,
                      SambaPort *port);

/* --- indexed_tensors.c --- */

/* The load of an indexed operand in one replica, and what brings its indices. */
SambaStatus sambaCodegenAddIndexedSource(SambaCodegen *codegen, uint32_t group, uint32_t operand,
                                         uint32_t replica, const SambaEndpoints *consumers);
/* The load of the indices of an indexed store, which has this number, and the access that they
 * complete. */
void sambaCodegenAddStoreIndices(SambaCodegen *codegen, uint32_t group, const SambaCopyRange *range,
                                 uint32_t number, uint32_t store);

/* --- buffered_tensors.c --- */

/* The buffers of a tensor, each with `writers` write ports; refuses slots that do not fit. */
SambaStatus sambaCodegenAddBuffers(SambaCodegen *codegen, uint32_t tensor, const char *prefix,
                                   const char *layer, uint32_t writers);
/* Buffers and loads of an argument that several groups read. */
SambaStatus sambaCodegenSharedArgument(SambaCodegen *codegen, uint32_t tensor);
/* A PMU of one buffer of a replica, by its place in the ring. */
uint32_t sambaBufferUnit(const SambaTensorPlan *plan, uint32_t replica, uint32_t buffer,
                         uint32_t at);
/* The read port that was reserved for this reader of a tensor in a replica, at the first PMU of the
 * ring. */
SambaEndpoint sambaBufferPort(const SambaCodegen *codegen, uint32_t tensor, uint32_t group,
                              uint32_t operand, uint32_t indexed, uint32_t part, uint32_t replica);
/* What a read port sends. */
void sambaSetBufferRead(SambaCodegen *codegen, uint32_t tensor, SambaEndpoint at,
                        const SambaWalk *walk, uint64_t fill);
/* Starts a walk within a replica's slices: the loops that slice the tensor step the slots of each
 * PMU. Returns the position of the first other loop. */
uint32_t sambaStartSlices(const SambaCodegen *codegen, const SambaTileNest *nest,
                          const SambaStageOperand *map, const SambaCopyRange *range,
                          SambaWalk *walk);

/* --- copies.c: small things that all of them need --- */

const char *sambaCodegenLayer(const SambaCodegen *codegen, const SambaGroup *group);
/* Dimensions with several copies on which the operand depends (SAMBA_NO_INDEX: all dimensions), as
 * bits. */
uint32_t sambaCopyMask(const SambaTileNest *nest, uint32_t operand);
/* The index of a copy among those of the dimensions in mask, row-major. */
uint32_t sambaCopyIndex(const SambaTileNest *nest, uint32_t mask, const uint32_t *copy);
/* Steps a copy through a range, last dimension fastest; false after the last. */
bool sambaCopyNext(const SambaTileNest *nest, const SambaCopyRange *range, uint32_t *copy);
uint32_t sambaCopyRangeSize(const SambaCopyRange *range, uint32_t dim_count);
/* Cuts the copies along the dimensions of `mask` into at most `wanted` rectangular ranges of
 * consecutive copies (never fewer than one); returns how many. With out_ranges NULL only counts.
 * Dimensions outside the mask: first 0, count 1. */
uint32_t sambaCutCopies(const SambaTileNest *nest, uint32_t mask, uint32_t wanted,
                        SambaCopyRange *out_ranges);
/* The copies of the largest of these ranges. */
uint32_t sambaLargestCut(const SambaTileNest *nest, uint32_t mask, uint32_t wanted);
/* Cuts all copies likewise, but leaves those together that share a tail. */
uint32_t sambaCutResults(const SambaTileNest *nest, uint32_t wanted, SambaCopyRange *out_ranges);
uint32_t sambaLargestResults(const SambaTileNest *nest, uint32_t wanted);
/* The copies in `mask` of one of the replicas along the first `loops` loops of the pipeline. */
void sambaReplicaRange(const SambaTileNest *nest, uint32_t mask, uint32_t loops, uint32_t replica,
                       SambaCopyRange *out_range);
/* The dimensions of the first `loops` loops of the pipeline with several copies, as bits. */
uint32_t sambaReplicaMask(const SambaTileNest *nest, uint32_t loops);
/* A buffered tensor's slot: a slice. */
SambaTileBox sambaSliceBox(const SambaCodegen *codegen, uint32_t tensor);
/* Its extents. */
void sambaSliceSizes(const SambaCodegen *codegen, uint32_t tensor, int64_t *out_sizes);
/* Slices of a buffered tensor that each replica has. */
int64_t sambaSlicesOf(const SambaCodegen *codegen, uint32_t tensor);
/* Clears the bounds, and what the walk begins with, along the axes that are sliced. */
void sambaClearSliced(const SambaSlices *slices, int64_t *axes);
SambaStatus sambaCheckBufferBytes(const SambaCodegen *codegen, const char *name, uint64_t elements,
                                  SambaDType dtype, uint32_t slots);
/* The first axis of a box with several elements: the one along which slots are cut. */
uint32_t sambaOutermostAxis(const SambaTileBox *box);
/* The part of a box along an axis that one of several takes. Parts differ by one point at most. */
SambaTileBox sambaBoxPart(const SambaTileBox *box, uint32_t axis, uint32_t parts, uint32_t index);
/* Where the part begins along the axis, from where the box begins. */
int64_t sambaBoxPartStart(const SambaTileBox *box, uint32_t axis, uint32_t parts, uint32_t index);
void sambaSetPort(SambaArena *arena, SambaPort *port, const SambaWalk *walk, SambaDType dtype,
                  SambaAccess access);
/* A tensor's dims: what guards of its reads compare with. */
void sambaMemoryBounds(const SambaCodegen *codegen, uint32_t tensor, SambaBounds *out_bounds);
/* A load unit with `inputs` input ports that reads a tensor in memory along a walk; returns the
 * unit. */
uint32_t sambaCodegenAddLoad(SambaCodegen *codegen, uint32_t tensor, const char *name,
                             const char *layer, uint32_t inputs, const SambaWalk *walk,
                             uint64_t fill);
/* Connects a source port to the consumers of each source in the range, in order. */
void sambaConnectRange(SambaCodegen *codegen, const SambaTileNest *nest, uint32_t mask,
                       const SambaCopyRange *range, SambaEndpoint source,
                       const SambaEndpoints *consumers);
/* The first `count` steps of a walk step slots, not addresses. */
void sambaWalkClearAddresses(SambaWalk *walk, uint32_t count);
/* Fewer bytes than this in a row and DRAM rows are worth assembling from several copies' tokens in
 * a staging buffer. */
int64_t sambaStagingRowBytes(const SambaMachine *machine);

/* --- compute_units.c --- */

/* What a COMPUTE unit does of a group. */
typedef enum {
  SAMBA_COMPUTE_ALL,
  SAMBA_COMPUTE_ARRAY, /* what the array's PCU does; its output is what it hands on */
  SAMBA_COMPUTE_TAIL   /* the rest, of all copies that share a tail; input 0 is what they hand on */
} SambaComputePart;

/* Adds the COMPUTE unit of one copy, or of those that share a tail. copies: their indices along
 * each dimension. Its ports are the operands that this part reads, in their order; the one output
 * is the group's. */
uint32_t sambaCodegenCompute(SambaAssembly *assembly, const SambaTileNest *nest, const char *name,
                             const char *layer, SambaComputePart part,
                             const SambaCopyRange *copies);

/* --- compute_copies.c --- */

/* The COMPUTE units of a group, of each copy. */
typedef struct SambaComputes {
  uint32_t *units; /* all it does, or what its array does */
  uint32_t *tails; /* the rest, for several copies in turn; NULL: nothing is left */
} SambaComputes;
/* Adds the units of all copies and joins them with the group's sinks. */
SambaComputes sambaCodegenComputes(SambaCodegen *codegen, uint32_t group);
/* Appends the port that takes an operand of a copy to what its source feeds. */
void sambaAppendTaker(const SambaCodegen *codegen, uint32_t group, const SambaComputes *computes,
                      uint32_t operand, uint32_t copy, SambaEndpoints *takers);

#endif
