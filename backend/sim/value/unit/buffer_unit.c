/* BUFFER: a ring of slots with credits: a port reaches iteration i of a slot only when every port
 * of the other side has finished with it, so a slot of another iteration is never read and none
 * with readers is overwritten. Read tokens are views of the slot where their elements lie on affine
 * strides, so that computing units read slot memory in place. A slot whose views are still on their
 * way is not overwritten either: the next iteration gets another block. */
#include "backend/sim/value/unit/buffer_unit.h"

#include "backend/section/access.h"
#include "backend/sim/value/storage/pattern.h"
#include "backend/sim/value/stream/compact_copy.h"

#include <stdlib.h>
#include <string.h>

typedef struct BufferPort {
  SambaPattern *pattern;
  SambaPattern *copied; /* read ports: of what is copied, if not of the token as it is */
  SambaOrigin origin;
  uint32_t *counters;
  uint64_t fired, firings, tokens_per_slot;
  /* Read ports: the copy that was sent last. */
  SambaBlock *copy;
  uint64_t copy_iteration;
  SambaOrigin copy_origin;
} BufferPort;

typedef struct BufferState {
  SambaBlock **slots; /* NULL: never written */
  /* Per slot one byte per element: the write port, plus one, that wrote it in the present
   * iteration. NULL when every port writes what is its own and all of them cover the slots. */
  uint8_t **written;
  uint64_t *recorded; /* per slot the iteration that `written` is about, plus one */
  BufferPort *writes, *reads;
  SambaStorage storage;
  uint32_t element_bytes;
  bool covered; /* the write ports fill every element of a slot */
} BufferState;

static uint64_t iterationOf(const BufferPort *port) { return port->fired / port->tokens_per_slot; }

static void preparePort(SambaSectionRun *run, const SambaPort *port, BufferPort *out_port) {
  const SambaAccess *access = &port->access;
  out_port->pattern = sambaPatternCreate(&run->arena, access);
  out_port->origin.guards = SAMBA_ARENA_ARRAY(&run->arena, int64_t, access->guard_count);
  out_port->copy_origin.guards = SAMBA_ARENA_ARRAY(&run->arena, int64_t, access->guard_count);
  out_port->counters = SAMBA_ARENA_ARRAY(&run->arena, uint32_t, access->token_level);
  out_port->firings = sambaTripProduct(access->trips, 0, access->token_level);
  out_port->tokens_per_slot =
      sambaTripProduct(access->trips, access->slot_level, access->token_level);
}

/* As many elements as a slot has, no address twice, all inside the slot: that is every one. Only
 * counters that count are looked at. */
static bool onePortCovers(const SambaUnit *unit) {
  const SambaAccess *access = &unit->inputs[0].access;
  SambaAccessStep steps[SAMBA_MAX_COUNTERS];
  uint32_t count = 0;
  for (uint32_t c = access->slot_level; c < access->counter_count; ++c)
    if (access->trips[c] > 1)
      steps[count++] = (SambaAccessStep){access->trips[c], access->strides[c]};
  return unit->input_count == 1 && !access->guard_count &&
         sambaTripProduct(access->trips, access->slot_level, access->counter_count) ==
             unit->buffer.slot_elements &&
         sambaStepsVisitOnce(steps, count);
}

/* Which write port, plus one, writes each element. */
typedef struct Writers {
  uint8_t *port;
  uint8_t now;       /* whose rows are walked */
  int64_t contested; /* first element of two ports, or -1 */
  uint64_t element;  /* the same within the token */
  uint8_t other;     /* who wrote it before */
} Writers;

static uint8_t writerNumber(uint32_t port) { return (uint8_t)(port + 1); }

static SambaStatus markElements(void *user, const SambaRow *row) {
  Writers *writers = user;
  for (uint64_t i = row->low; i < row->high; ++i) {
    int64_t at = row->address + row->stride * (int64_t)i;
    if (writers->port[at] && writers->port[at] != writers->now && writers->contested < 0)
      writers->contested = at, writers->element = row->token + i,
      writers->other = writers->port[at];
    writers->port[at] = writers->now;
  }
  return NULL;
}

/* Walks the first slot's tokens of every write port: whether they write every element, and none
 * that another port writes. (Which elements a slot gets may in principle differ from slot to slot;
 * a port whose guards or base move with the slot is taken as not covering.) */
static bool coversSlots(const SambaUnitRun *unit) {
  const BufferState *state = unit->state;
  const SambaUnit *config = unit->unit;
  Writers writers = {sambaAllocateZeroed(config->buffer.slot_elements + 1, 1), 0, -1, 0, 0};
  bool covers = true;

  for (uint32_t i = 0; i < config->input_count && covers; ++i) {
    const SambaAccess *access = &config->inputs[i].access;
    writers.now = writerNumber(i);
    for (uint32_t c = 0; c < access->slot_level; ++c) {
      covers &= access->strides[c] == 0 || access->trips[c] == 1;
      for (uint32_t g = 0; g < access->guard_count; ++g)
        covers &= access->guards[g].strides[c] == 0 || access->trips[c] == 1;
    }
    SambaOrigin origin = {0, sambaAllocate(access->guard_count * sizeof(int64_t))};
    uint32_t *counters = sambaAllocateZeroed(access->token_level, sizeof *counters);
    for (uint64_t t = 0; t < state->writes[i].tokens_per_slot; ++t) {
      sambaPatternOrigin(state->writes[i].pattern, counters, &origin);
      sambaStatusFree(
          sambaPatternRows(state->writes[i].pattern, &origin, NULL, markElements, &writers));
      sambaCountersStep(counters, access->trips, access->token_level);
    }
    free(counters);
    free(origin.guards);
  }

  covers &= writers.contested < 0;
  for (uint64_t at = 0; at < config->buffer.slot_elements && covers; ++at)
    covers = writers.port[at];
  free(writers.port);
  return covers;
}

void sambaBufferPrepare(SambaSectionRun *run, SambaUnitRun *unit) {
  const SambaUnit *config = unit->unit;
  BufferState *state = SAMBA_ARENA_NEW(&run->arena, BufferState);
  unit->state = state;
  state->slots = SAMBA_ARENA_ARRAY(&run->arena, SambaBlock *, config->buffer.slot_count);
  state->writes = SAMBA_ARENA_ARRAY(&run->arena, BufferPort, config->input_count);
  state->reads = SAMBA_ARENA_ARRAY(&run->arena, BufferPort, config->output_count);
  state->storage = sambaStorageOf(config->inputs[0].dtype);
  state->element_bytes = sambaStorageBytes(state->storage);
  for (uint32_t i = 0; i < config->input_count; ++i)
    preparePort(run, &config->inputs[i], &state->writes[i]);
  for (uint32_t i = 0; i < config->output_count; ++i) {
    const SambaAccess *access = &config->outputs[i].access;
    preparePort(run, &config->outputs[i], &state->reads[i]);
    if (access->guard_count && unit->outputs[i].layout.rank)
      state->reads[i].copied =
          sambaPatternCreate(&run->arena, sambaCompactAccess(&run->arena, access));
  }

  bool alone = config->buffer.loop_carried && config->input_count == 1; /* no holes, no others */
  state->covered = !alone && (onePortCovers(config) || coversSlots(unit));
  if (!state->covered && !alone) { /* writes are recorded and checked, element by element */
    state->written = SAMBA_ARENA_ARRAY(&run->arena, uint8_t *, config->buffer.slot_count);
    state->recorded = SAMBA_ARENA_ARRAY(&run->arena, uint64_t, config->buffer.slot_count);
  }
  state->covered &= !config->buffer.loop_carried;
  if (!config->buffer.loop_carried)
    return;

  for (uint32_t s = 0; s < config->buffer.slot_count; ++s) {
    SambaBlock *block =
        sambaBlockCreate(run->context.pool, config->buffer.slot_elements * state->element_bytes);
    sambaStorageFill(state->storage, block->data, config->buffer.slot_elements,
                     sambaStorageBits(config->inputs[0].dtype, config->buffer.initial));
    state->slots[s] = block;
  }
}

void sambaBufferFinish(SambaSectionRun *run, SambaUnitRun *unit) {
  BufferState *state = unit->state;
  for (uint32_t s = 0; s < unit->unit->buffer.slot_count; ++s) {
    sambaBlockRelease(run->context.pool, state->slots[s]);
    if (state->written)
      free(state->written[s]);
  }
  for (uint32_t i = 0; i < unit->unit->output_count; ++i)
    sambaBlockRelease(run->context.pool, state->reads[i].copy);
}

bool sambaBufferDone(const SambaUnitRun *unit) {
  const BufferState *state = unit->state;
  bool done = true;
  for (uint32_t i = 0; i < unit->unit->input_count; ++i)
    done &= state->writes[i].fired == state->writes[i].firings;
  for (uint32_t i = 0; i < unit->unit->output_count; ++i)
    done &= state->reads[i].fired == state->reads[i].firings;
  return done;
}

/* The read port that has not finished what the next token of the write port overwrites;
 * output_count: none. In place these are the same elements, which both ports walk alike, else it is
 * the slot. */
static uint32_t readerBehind(const SambaUnitRun *unit, const BufferPort *write) {
  const BufferState *state = unit->state;
  const SambaUnit *config = unit->unit;
  uint64_t ahead = config->buffer.loop_carried ? 0 : config->buffer.slot_count;
  for (uint32_t i = 0; i < config->output_count; ++i) {
    const BufferPort *read = &state->reads[i];
    bool behind = iterationOf(read) + ahead <= iterationOf(write);
    if (config->buffer.in_place)
      behind = (read->fired + ahead * read->tokens_per_slot) * read->pattern->elements <
               (write->fired + 1) * write->pattern->elements;
    if (behind)
      return i;
  }
  return config->output_count;
}

/* The write port that has not finished what iteration `iteration` reads; input_count: none. */
static uint32_t writerBehind(const SambaUnitRun *unit, uint64_t iteration) {
  const BufferState *state = unit->state;
  const SambaUnit *config = unit->unit;
  uint64_t ahead = config->buffer.loop_carried ? config->buffer.slot_count : 0;
  for (uint32_t i = 0; i < config->input_count; ++i)
    if (state->writes[i].fired / state->writes[i].tokens_per_slot + ahead <= iteration)
      return i;
  return config->input_count;
}

/* Gives the slot memory that no token shares. */
static void makeWritable(SambaSectionRun *run, SambaUnitRun *unit, SambaBlock **slot) {
  BufferState *state = unit->state;
  SambaPool *pool = run->context.pool;
  uint64_t bytes = unit->unit->buffer.slot_elements * state->element_bytes;

  if (*slot && atomic_load_explicit(&(*slot)->references, memory_order_acquire) == 1) {
    sambaBlockRelease(pool, atomic_exchange(&(*slot)->packed, NULL));
    return;
  }

  SambaBlock *fresh = sambaBlockCreate(pool, bytes);
  if (!state->covered || unit->unit->buffer.in_place) {
    if (*slot)
      memcpy(fresh->data, (*slot)->data, bytes);
    else
      memset(fresh->data, 0, bytes);
  }

  sambaBlockRelease(pool, *slot);
  *slot = fresh;
}

typedef struct Copy {
  uint8_t *slot, *token;
  uint32_t element_bytes;
  SambaStorage storage;
  uint64_t fill;
} Copy;

static void copyStrided(uint8_t *to, int64_t to_stride, const uint8_t *from, int64_t from_stride,
                        uint64_t count, uint32_t element_bytes) {
  if (to_stride == 1 && from_stride == 1) {
    memcpy(to, from, count * element_bytes);
  } else if (element_bytes == 4) {
    for (uint64_t i = 0; i < count; ++i)
      memcpy(to + (int64_t)i * to_stride * 4, from + (int64_t)i * from_stride * 4, 4);
  } else {
    for (uint64_t i = 0; i < count; ++i)
      memcpy(to + (int64_t)i * to_stride * 8, from + (int64_t)i * from_stride * 8, 8);
  }
}

static SambaStatus writeRow(void *user, const SambaRow *row) {
  const Copy *copy = user;
  int64_t bytes = copy->element_bytes;
  int64_t first = row->address + row->stride * (int64_t)row->low;
  copyStrided(copy->slot + first * bytes, row->stride,
              copy->token + (int64_t)(row->token + row->low) * bytes, 1, row->high - row->low,
              copy->element_bytes);
  return NULL;
}

static SambaStatus readRow(void *user, const SambaRow *row) {
  const Copy *copy = user;
  int64_t bytes = copy->element_bytes;
  int64_t first = row->address + row->stride * (int64_t)row->low;
  uint8_t *token = copy->token + (int64_t)row->token * bytes;
  if (row->low)
    sambaStorageFill(copy->storage, token, row->low, copy->fill);
  if (row->high > row->low)
    copyStrided(token + (int64_t)row->low * bytes, 1, copy->slot + first * bytes, row->stride,
                row->high - row->low, copy->element_bytes);
  if (row->high < row->count)
    sambaStorageFill(copy->storage, token + (int64_t)row->high * bytes, row->count - row->high,
                     copy->fill);
  return NULL;
}

typedef struct HoleSearch {
  const uint8_t *written;
  int64_t hole;     /* first unwritten element that is read, or -1 */
  uint64_t element; /* of the token */
} HoleSearch;

static SambaStatus findHole(void *user, const SambaRow *row) {
  HoleSearch *search = user;
  for (uint64_t i = row->low; i < row->high && search->hole < 0; ++i) {
    int64_t at = row->address + row->stride * (int64_t)i;
    if (!search->written[at])
      search->hole = at, search->element = row->token + i;
  }
  return NULL;
}

static SambaStatus checkHoles(const SambaSectionRun *run, const SambaUnitRun *unit, uint32_t index,
                              uint64_t slot) {
  const BufferState *state = unit->state;
  const BufferPort *port = &state->reads[index];
  HoleSearch search = {state->written[slot], -1, 0};
  sambaStatusFree(sambaPatternRows(port->pattern, &port->origin, NULL, findHole, &search));
  if (search.hole < 0)
    return NULL;
  uint64_t firing =
      sambaOriginalFiring(run, unit, &unit->unit->outputs[index], port->fired, search.element);
  return sambaUnitFault(run, unit, firing, "read of never-written memory",
                        "output %u reads element %lld of a slot, which no input wrote", index,
                        (long long)search.hole);
}

/* Notes which elements the token of a write port wrote. What was written in an earlier iteration is
 * gone by then, and what another port writes in this one has no order against it. */
static SambaStatus recordToken(SambaSectionRun *run, SambaUnitRun *unit, uint32_t index) {
  BufferState *state = unit->state;
  BufferPort *port = &state->writes[index];
  const SambaBuffer *buffer = &unit->unit->buffer;
  uint64_t iteration = iterationOf(port), slot = iteration % buffer->slot_count;

  if (!state->written[slot])
    state->written[slot] = sambaAllocateZeroed(buffer->slot_elements, 1);
  else if (state->recorded[slot] != iteration + 1 && !buffer->in_place)
    memset(state->written[slot], 0, buffer->slot_elements);
  state->recorded[slot] = iteration + 1;

  Writers writers = {state->written[slot], writerNumber(index), -1, 0, 0};
  sambaStatusFree(sambaPatternRows(port->pattern, &port->origin, NULL, markElements, &writers));
  if (writers.contested < 0)
    return NULL;
  uint64_t firing =
      sambaOriginalFiring(run, unit, &unit->unit->inputs[index], port->fired, writers.element);
  return sambaUnitFault(run, unit, firing, "missing synchronisation",
                        "inputs %u and %u write element %lld of the same slot", writers.other - 1u,
                        index, (long long)writers.contested);
}

static SambaStatus writeToken(SambaSectionRun *run, SambaUnitRun *unit, uint32_t index) {
  BufferState *state = unit->state;
  BufferPort *port = &state->writes[index];
  uint64_t iteration = iterationOf(port);
  SambaBlock **slot = &state->slots[iteration % unit->unit->buffer.slot_count];
  SambaToken token = sambaPortTake(&unit->inputs[index]);

  sambaPatternOrigin(port->pattern, port->counters, &port->origin);
  if (port->pattern->dense && port->pattern->elements == unit->unit->buffer.slot_elements &&
      token.offset == 0) {
    sambaBlockRelease(run->context.pool, *slot);
    *slot = token.block; /* the token is the slot */
  } else {
    makeWritable(run, unit, slot);
    Copy copy = {(*slot)->data, token.block->data + token.offset * state->element_bytes,
                 state->element_bytes, state->storage, 0};
    sambaStatusFree(sambaPatternRows(port->pattern, &port->origin, NULL, writeRow, &copy));
    sambaBlockRelease(run->context.pool, token.block);
  }

  if (state->written)
    SAMBA_RETURN_IF_ERROR(recordToken(run, unit, index));
  sambaCountersStep(port->counters, port->pattern->access->trips,
                    port->pattern->access->token_level);
  ++port->fired;

  return NULL;
}

static bool sameCopy(const BufferPort *port, uint64_t iteration) {
  return port->copy && port->copy_iteration == iteration &&
         port->copy_origin.address == port->origin.address &&
         memcmp(port->copy_origin.guards, port->origin.guards,
                port->pattern->access->guard_count * sizeof(int64_t)) == 0;
}

/* A token copied out of the slot; the last one again when it is the same. */
static SambaToken copyToken(SambaSectionRun *run, SambaUnitRun *unit, BufferPort *port,
                            SambaBlock *const *slot, uint64_t iteration) {
  BufferState *state = unit->state;
  if (!sameCopy(port, iteration)) {
    const SambaPattern *pattern = port->copied ? port->copied : port->pattern;
    SambaPool *pool = run->context.pool;
    sambaBlockRelease(pool, port->copy);
    port->copy = sambaBlockCreate(pool, pattern->elements * state->element_bytes);
    uint64_t fill = sambaStorageBits(unit->unit->inputs[0].dtype, port->pattern->access->fill);
    Copy copy = {(*slot)->data, port->copy->data, state->element_bytes, state->storage, fill};
    sambaStatusFree(sambaPatternRows(pattern, &port->origin, NULL, readRow, &copy));
    port->copy_iteration = iteration;
    port->copy_origin.address = port->origin.address;
    if (port->pattern->access->guard_count)
      memcpy(port->copy_origin.guards, port->origin.guards,
             port->pattern->access->guard_count * sizeof(int64_t));
  }

  return (SambaToken){sambaBlockRetain(port->copy), 0};
}

static SambaStatus readToken(SambaSectionRun *run, SambaUnitRun *unit, uint32_t index) {
  BufferState *state = unit->state;
  BufferPort *port = &state->reads[index];
  const SambaUnit *config = unit->unit;
  uint64_t iteration = iterationOf(port);
  SambaBlock **slot = &state->slots[iteration % config->buffer.slot_count];

  sambaPatternOrigin(port->pattern, port->counters, &port->origin);
  if (state->written && !config->buffer.loop_carried)
    SAMBA_RETURN_IF_ERROR(checkHoles(run, unit, index, iteration % config->buffer.slot_count));
  SambaPortRun *output = &unit->outputs[index];
  /* In place, a view of a part of the slot would make the next write copy all of the slot. */
  bool part = config->buffer.in_place && port->tokens_per_slot > 1;
  bool view = !port->copied && (output->layout.rank > 0 || (port->pattern->dense && !part));
  SambaToken token = view ? (SambaToken){sambaBlockRetain(*slot), port->origin.address}
                          : copyToken(run, unit, port, slot, iteration);
  sambaPortPut(output, token);
  sambaCountersStep(port->counters, port->pattern->access->trips,
                    port->pattern->access->token_level);
  ++port->fired;

  return NULL;
}

SambaStatus sambaBufferFire(SambaSectionRun *run, SambaUnitRun *unit) {
  BufferState *state = unit->state;
  const SambaUnit *config = unit->unit;

  for (bool progress = true; progress;) {
    progress = false;
    for (uint32_t i = 0; i < config->input_count; ++i) {
      BufferPort *port = &state->writes[i];
      while (port->fired < port->firings && sambaPortHasToken(&unit->inputs[i]) &&
             readerBehind(unit, port) == config->output_count) {
        SAMBA_RETURN_IF_ERROR(writeToken(run, unit, i));
        progress = true;
      }
    }
    for (uint32_t i = 0; i < config->output_count; ++i) {
      BufferPort *port = &state->reads[i];
      while (port->fired < port->firings && sambaPortHasSpace(&unit->outputs[i]) &&
             writerBehind(unit, iterationOf(port)) == config->input_count) {
        SAMBA_RETURN_IF_ERROR(readToken(run, unit, i));
        progress = true;
      }
    }
  }

  return NULL;
}

const SambaQueue *sambaBufferWaits(const SambaUnitRun *unit, bool output, uint32_t port,
                                   bool *out_other_is_output, uint32_t *out_other) {
  const BufferState *state = unit->state;
  const BufferPort *p = output ? &state->reads[port] : &state->writes[port];
  const SambaQueue *queue =
      sambaPortWaits(output ? &unit->outputs[port] : &unit->inputs[port], output);
  *out_other_is_output = !output;
  *out_other = output ? writerBehind(unit, iterationOf(p)) : readerBehind(unit, p);
  bool other = *out_other < (output ? unit->unit->input_count : unit->unit->output_count);
  return other ? NULL : queue;
}

void sambaBufferFirstWaiting(const SambaUnitRun *unit, bool *out_output, uint32_t *out_port) {
  const BufferState *state = unit->state;
  for (uint32_t i = 0; i < unit->unit->input_count; ++i)
    if (state->writes[i].fired < state->writes[i].firings) {
      *out_output = false, *out_port = i;
      return;
    }
  for (uint32_t i = 0; i < unit->unit->output_count; ++i)
    if (state->reads[i].fired < state->reads[i].firings) {
      *out_output = true, *out_port = i;
      return;
    }
}

bool sambaBufferViewLayout(SambaArena *arena, const SambaPort *port, SambaBlockLayout *out_layout) {
  SambaPattern *pattern = sambaPatternCreate(arena, &port->access);
  *out_layout = (SambaBlockLayout){0};
  if (port->access.guard_count)
    return sambaCompactLayout(arena, &port->access, out_layout);
  if (!pattern->dense)
    *out_layout = (SambaBlockLayout){pattern->rank, pattern->trips, pattern->strides};
  return true;
}
