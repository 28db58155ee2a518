/* LOAD and STORE: tokens from and to the formals' memory, run by run, with every range checked. */
#include "backend/sim/value/unit/load_store_unit.h"

#include "backend/section/access.h"
#include "backend/sim/value/storage/convert_elements.h"
#include "backend/sim/value/storage/pattern.h"
#include "support/number/shape.h"

#include <stdlib.h>
#include <string.h>

enum { lineBytes = SAMBA_MEMORY_LINE };

typedef struct MemoryState {
  SambaPattern *pattern;
  SambaDType dtype;
  uint32_t element_bytes;
  uint64_t elements; /* that the binding holds */
  uint64_t fill;
  SambaOrigin origin;
  int64_t *addends; /* one per index value */
  SambaIndexTrace *trace;
  uint32_t control_first; /* inputs from here on are control */
} MemoryState;

/* One firing: what the row functions need. */
typedef struct Transfer {
  const SambaSectionRun *run;
  SambaUnitRun *unit;
  const SambaBinding *binding;
  MemoryState *state;
  uint8_t *host; /* element 0 of the token */
  SambaStorage storage;
} Transfer;

static const char *formalName(const SambaSectionRun *run, const SambaUnitRun *unit) {
  return run->section->symbols[unit->unit->load_store.symbol].name;
}

void sambaLoadStorePrepare(SambaSectionRun *run, SambaUnitRun *unit) {
  const SambaAccess *access = sambaMemoryAccess(unit->unit);
  const SambaPort *port =
      unit->unit->kind == SAMBA_UNIT_LOAD ? &unit->unit->outputs[0] : &unit->unit->inputs[0];
  const SambaBinding *binding = &run->bindings[unit->unit->load_store.symbol];

  MemoryState *state = SAMBA_ARENA_NEW(&run->arena, MemoryState);
  unit->state = state;
  state->pattern = sambaPatternCreate(&run->arena, access);
  state->dtype = port->dtype;
  state->element_bytes = sambaDTypeBytes(port->dtype);
  uint64_t bound = binding->bytes / state->element_bytes;
  uint64_t formal = run->section->symbols[unit->unit->load_store.symbol].elements;
  state->elements = bound < formal ? bound : formal;
  state->fill = sambaStorageBits(port->dtype, access->fill);
  state->origin.guards = SAMBA_ARENA_ARRAY(&run->arena, int64_t, access->guard_count);
  state->addends = access->has_index
                       ? SAMBA_ARENA_ARRAY(&run->arena, int64_t, state->pattern->index_count)
                       : NULL;
  state->control_first =
      unit->unit->kind == SAMBA_UNIT_LOAD ? access->has_index : unit->unit->input_count;
  unit->outer_trips = access->trips;
  unit->outer_count = access->token_level;
  unit->counters = SAMBA_ARENA_ARRAY(&run->arena, uint32_t, access->token_level);
  unit->firings = sambaTripProduct(access->trips, 0, access->token_level);
  if (access->has_index && run->traces)
    for (size_t i = 0; i < run->traces->size; ++i)
      if (run->traces->data[i].unit == unit->index)
        state->trace = &run->traces->data[i];
}

/* A test of the elements [low, high) of a row. */
typedef bool RowTest(const Transfer *transfer, const SambaRow *row);

/* A row of a joined token spans several firings of the original section. Narrows one that fails a
 * test to the elements of the first firing that do, and returns that firing. */
static uint64_t findFiring(const Transfer *transfer, RowTest *test, SambaRow *row) {
  const SambaUnit *unit = transfer->unit->unit;
  const bool load = unit->kind == SAMBA_UNIT_LOAD;
  const SambaPort *port = load ? &unit->outputs[0] : &unit->inputs[0];
  const SambaUnit *original = &transfer->run->original->units[transfer->unit->index];
  const uint64_t size = (load ? &original->outputs[0] : &original->inputs[0])->token_elements;
  const uint64_t end = row->high;

  for (;;) {
    uint64_t boundary = ((row->token + row->low) / size + 1) * size - row->token;
    row->high = boundary < end ? boundary : end;
    if (row->high == end || !test(transfer, row))
      return sambaOriginalFiring(transfer->run, transfer->unit, port, transfer->unit->fired,
                                 row->token + row->low);
    row->low = row->high;
  }
}

static bool isInRange(const Transfer *transfer, const SambaRow *row) {
  __int128 first = (__int128)row->address + (__int128)row->stride * (int64_t)row->low;
  __int128 last = (__int128)row->address + (__int128)row->stride * (int64_t)(row->high - 1);
  __int128 low = first < last ? first : last;
  __int128 high = first < last ? last : first;
  return low >= 0 && high < (__int128)transfer->state->elements;
}

static SambaStatus checkRange(const Transfer *transfer, const SambaRow *row) {
  if (isInRange(transfer, row))
    return NULL;
  SambaRow part = *row;
  uint64_t firing = findFiring(transfer, isInRange, &part);
  int64_t first = part.address + part.stride * (int64_t)part.low;
  int64_t last = part.address + part.stride * (int64_t)(part.high - 1);
  return sambaUnitFault(
      transfer->run, transfer->unit, firing, "address out of range",
      "elements %lld to %lld of formal '%s', which has %llu",
      (long long)(first < last ? first : last), (long long)(first < last ? last : first),
      formalName(transfer->run, transfer->unit), (unsigned long long)transfer->state->elements);
}

static bool linesAreWritten(const uint8_t *written, uint64_t first_line, uint64_t last_line) {
  for (uint64_t line = first_line; line <= last_line;) {
    if (line % 8 == 0 && line + 7 <= last_line) {
      if (__atomic_load_n(&written[line / 8], __ATOMIC_RELAXED) != 0xFF)
        return false;
      line += 8;
    } else {
      if (!(__atomic_load_n(&written[line / 8], __ATOMIC_RELAXED) >> line % 8 & 1))
        return false;
      ++line;
    }
  }
  return true;
}

static void markLines(uint8_t *written, uint64_t first_line, uint64_t last_line) {
  for (uint64_t line = first_line; line <= last_line;) {
    uint64_t end = line / 8 * 8 + 8;
    end = end > last_line + 1 ? last_line + 1 : end;
    uint8_t bits = (uint8_t)(((1u << (end - line)) - 1) << line % 8);
    /* Other units may share the byte, and often all its bits are set already. */
    if ((__atomic_load_n(&written[line / 8], __ATOMIC_RELAXED) & bits) != bits)
      __atomic_fetch_or(&written[line / 8], bits, __ATOMIC_RELAXED);
    line = end;
  }
}

/* The lines of elements [low, high) of a row, as one range when they are dense, else element by
 * element. */
static bool eachLineRange(const Transfer *transfer, const SambaRow *row, bool mark) {
  uint8_t *written = transfer->binding->written;
  const uint64_t bytes = transfer->state->element_bytes;

  if (row->stride == 1) {
    uint64_t first = ((uint64_t)row->address + row->low) * bytes / lineBytes;
    uint64_t last = (((uint64_t)row->address + row->high) * bytes - 1) / lineBytes;
    if (mark)
      markLines(written, first, last);
    return mark || linesAreWritten(written, first, last);
  }

  for (uint64_t i = row->low; i < row->high; ++i) {
    uint64_t line = (uint64_t)(row->address + row->stride * (int64_t)i) * bytes / lineBytes;
    if (mark)
      markLines(written, line, line);
    else if (!linesAreWritten(written, line, line))
      return false;
  }

  return true;
}

static bool isWritten(const Transfer *transfer, const SambaRow *row) {
  return !transfer->binding->written || eachLineRange(transfer, row, false);
}

static SambaStatus neverWritten(const Transfer *transfer, SambaRow row) {
  uint64_t firing = findFiring(transfer, isWritten, &row);
  return sambaUnitFault(transfer->run, transfer->unit, firing, "read of never-written memory",
                        "elements from %lld on of formal '%s' hold nothing that anybody wrote",
                        (long long)(row.address + row.stride * (int64_t)row.low),
                        formalName(transfer->run, transfer->unit));
}

static SambaStatus loadRow(void *user, const SambaRow *row) {
  const Transfer *transfer = user;
  const MemoryState *state = transfer->state;
  const uint32_t size = sambaStorageBytes(transfer->storage);
  uint8_t *host = transfer->host + row->token * size;

  if (row->low)
    sambaStorageFill(transfer->storage, host, row->low, state->fill);
  if (row->high < row->count)
    sambaStorageFill(transfer->storage, host + row->high * size, row->count - row->high,
                     state->fill);
  if (row->low == row->high)
    return NULL;
  SAMBA_RETURN_IF_ERROR(checkRange(transfer, row));
  if (!isWritten(transfer, row))
    return neverWritten(transfer, *row);
  const int64_t first = row->address + row->stride * (int64_t)row->low;
  sambaConvertLoad(state->dtype, host + row->low * size,
                   transfer->binding->data + first * (int64_t)state->element_bytes, row->stride,
                   row->high - row->low);
  return NULL;
}

/* Writes the elements; false when one of them is a NaN. */
static bool storeElements(const Transfer *transfer, const SambaRow *row) {
  const MemoryState *state = transfer->state;
  const int64_t first = row->address + row->stride * (int64_t)row->low;
  const uint8_t *host =
      transfer->host + (row->token + row->low) * sambaStorageBytes(transfer->storage);
  return !sambaConvertStore(state->dtype,
                            transfer->binding->data + first * (int64_t)state->element_bytes, host,
                            row->stride, row->high - row->low);
}

static SambaStatus notANumber(const Transfer *transfer, SambaRow row) {
  uint64_t firing = findFiring(transfer, storeElements, &row);
  const int64_t first = row.address + row.stride * (int64_t)row.low;
  return sambaUnitFault(transfer->run, transfer->unit, firing, "not a number",
                        "among elements %lld to %lld of formal '%s'", (long long)first,
                        (long long)(first + row.stride * (int64_t)(row.high - row.low - 1)),
                        formalName(transfer->run, transfer->unit));
}

static SambaStatus storeRow(void *user, const SambaRow *row) {
  const Transfer *transfer = user;
  if (row->low == row->high)
    return NULL;
  SAMBA_RETURN_IF_ERROR(checkRange(transfer, row));
  bool numbers = storeElements(transfer, row);
  if (transfer->binding->written)
    eachLineRange(transfer, row, true);
  return !numbers && transfer->run->context.trap_nan ? notANumber(transfer, *row) : NULL;
}

/* Takes the index token of a firing and makes the addends of it. */
static SambaStatus takeIndices(SambaSectionRun *run, SambaUnitRun *unit, SambaPortRun *port) {
  MemoryState *state = unit->state;
  const SambaAccess *access = state->pattern->access;
  SambaToken token = sambaPortTake(port);
  SambaStatus status = NULL;

  for (uint64_t i = 0; i < state->pattern->index_count && !status; ++i) {
    int64_t value;
    if (port->storage == SAMBA_STORAGE_I64) {
      memcpy(&value, token.block->data + 8 * (token.offset + (int64_t)i), 8);
    } else {
      int32_t narrow;
      memcpy(&narrow, token.block->data + 4 * (token.offset + (int64_t)i), 4);
      value = narrow;
    }
    uint64_t firing = sambaOriginalFiring(run, unit, port->port, unit->fired, i);
    if (value < SAMBA_NO_PLACE / 2)
      status = sambaUnitFault(run, unit, firing, "address out of range",
                              "an index is outside of its dimension of formal '%s', expected a "
                              "place from 0 to %lld",
                              formalName(run, unit), (long long)access->index_limit - 1);
    else if (value < 0 || value >= access->index_limit)
      status = sambaUnitFault(run, unit, firing, "address out of range",
                              "index %lld into formal '%s', expected 0 to %lld", (long long)value,
                              formalName(run, unit), (long long)access->index_limit - 1);
    else
      state->addends[i] = value * access->index_stride;
  }

  sambaBlockRelease(run->context.pool, token.block);
  if (!status && state->trace)
    for (uint64_t i = 0; i < state->pattern->index_count; ++i)
      sambaArrayAppend(state->trace, state->addends[i]);
  return status;
}

SambaStatus sambaLoadFire(SambaSectionRun *run, SambaUnitRun *unit) {
  MemoryState *state = unit->state;
  SambaPortRun *output = &unit->outputs[0];

  while (unit->fired < unit->firings) {
    bool ready = sambaPortHasSpace(output);
    for (uint32_t i = 0; i < unit->unit->input_count; ++i)
      ready = ready && sambaPortHasToken(&unit->inputs[i]);
    if (!ready)
      return NULL;
    if (state->addends)
      SAMBA_RETURN_IF_ERROR(takeIndices(run, unit, &unit->inputs[0]));
    for (uint32_t i = state->control_first; i < unit->unit->input_count; ++i)
      sambaPortTake(&unit->inputs[i]);
    SambaBlock *block = sambaBlockCreate(run->context.pool, state->pattern->elements *
                                                                sambaStorageBytes(output->storage));
    Transfer transfer = {run,   unit,        &run->bindings[unit->unit->load_store.symbol],
                         state, block->data, output->storage};
    sambaPatternOrigin(state->pattern, unit->counters, &state->origin);
    SambaStatus status =
        sambaPatternRows(state->pattern, &state->origin, state->addends, loadRow, &transfer);
    if (status) {
      sambaBlockRelease(run->context.pool, block);
      return status;
    }
    sambaPortPut(output, (SambaToken){block, 0});
    sambaCountersStep(unit->counters, unit->outer_trips, unit->outer_count);
    ++unit->fired;
  }

  return NULL;
}

SambaStatus sambaStoreFire(SambaSectionRun *run, SambaUnitRun *unit) {
  MemoryState *state = unit->state;
  SambaPortRun *input = &unit->inputs[0];

  while (unit->fired < unit->firings) {
    bool ready = true;
    for (uint32_t i = 0; i < unit->unit->input_count; ++i)
      ready = ready && sambaPortHasToken(&unit->inputs[i]);
    for (uint32_t i = 0; i < unit->unit->output_count; ++i)
      ready = ready && sambaPortHasSpace(&unit->outputs[i]);
    if (!ready)
      return NULL;
    if (state->addends)
      SAMBA_RETURN_IF_ERROR(takeIndices(run, unit, &unit->inputs[1]));
    SambaToken token = sambaPortTake(input);
    Transfer transfer = {run,
                         unit,
                         &run->bindings[unit->unit->load_store.symbol],
                         state,
                         token.block->data + token.offset * sambaStorageBytes(input->storage),
                         input->storage};
    sambaPatternOrigin(state->pattern, unit->counters, &state->origin);
    SambaStatus status =
        sambaPatternRows(state->pattern, &state->origin, state->addends, storeRow, &transfer);
    sambaBlockRelease(run->context.pool, token.block);
    SAMBA_RETURN_IF_ERROR(status);
    for (uint32_t i = 0; i < unit->unit->output_count; ++i)
      sambaPortPut(&unit->outputs[i], (SambaToken){NULL, 0});
    sambaCountersStep(unit->counters, unit->outer_trips, unit->outer_count);
    ++unit->fired;
  }

  return NULL;
}
