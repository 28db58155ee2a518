/* The simulated RDU; see simulator.h. Memory is one allocation per region; every 64-byte line of a
 * region carries the symbol that owns its bytes, every symbol the lines that hold data. Symbols
 * that keep their bytes and start at one address are names of the same memory: the first of them
 * owns the lines of all. A part of another symbol is one more name of some of its lines. */
#include "backend/sim/simulator.h"

#include "backend/config/encoding.h"
#include "backend/pef/container/initial_data.h"
#include "backend/pef/image/image.h"
#include "backend/section/check/order_check.h"
#include "backend/sim/call_timer.h"
#include "support/number/dtype.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { lineBytes = SAMBA_MEMORY_LINE };

typedef struct {
  uint8_t *data;    /* mapped; NULL for regions of no bytes */
  uint64_t bytes;   /* mapped size */
  uint32_t *owners; /* per line: 1 + symbol, 0: none yet */
} Region;

typedef struct {
  uint32_t owner;   /* the first symbol that is another name of this one; itself: none is */
  uint64_t first;   /* of its lines, among those of the owner */
  uint64_t lines;   /* of the largest of those that this one owns */
  uint8_t *written; /* one bit per line */
  bool whole;       /* everything written: the bitmap is not needed */
} SymbolState;

/* What an image reads of the argument block: the dtype of each slot, COUNT where it reads none. */
typedef struct {
  uint32_t count;
  SambaDType *dtypes;
} ArgumentBlock;

struct SambaSimulator {
  SambaMachine machine;
  SambaSimulatorOptions options;
  const SambaPef *pef;
  SambaArena arena;
  SambaValues *values;
  SambaSection **sections;  /* per image */
  ArgumentBlock *arguments; /* per image */
  SambaSectionLoad *loads;  /* per image */
  Region *regions;
  SymbolState *symbols;
  SambaCallTimer *timer;
  uint32_t looked_ahead; /* calls before this one have been given to it, or need not be */
  SambaLaunchBefore before;
  uint64_t now;
};

SambaStatus sambaSimulatorCreate(const SambaMachine *machine, const SambaSimulatorOptions *options,
                                 SambaSimulator **out_simulator) {
  SambaSimulator *simulator = sambaAllocateZeroed(1, sizeof *simulator);
  simulator->machine = *machine;
  simulator->options = *options;
  SambaStatus status = NULL;
  if (!options->no_values)
    status = sambaValuesCreate(&simulator->machine, &options->values, &simulator->values);
  if (status)
    sambaSimulatorDestroy(simulator);
  else
    *out_simulator = simulator;
  return status;
}

void sambaSimulatorDestroy(SambaSimulator *simulator) {
  if (!simulator)
    return;
  sambaCallTimerDestroy(simulator->timer); /* its threads read the sections */
  for (uint32_t r = 0; simulator->regions && r < simulator->pef->regions_count; ++r) {
    if (simulator->regions[r].data)
      munmap(simulator->regions[r].data, simulator->regions[r].bytes);
    free(simulator->regions[r].owners);
  }

  for (uint32_t s = 0; simulator->symbols && s < simulator->pef->symbols_count; ++s)
    free(simulator->symbols[s].written);
  free(simulator->regions);
  free(simulator->symbols);
  sambaValuesDestroy(simulator->values);
  sambaArenaDestroy(&simulator->arena);
  free(simulator);
}

static uint64_t linesOf(uint64_t bytes) { return (bytes + lineBytes - 1) / lineBytes; }

static uint8_t *dataOf(const SambaSimulator *simulator, uint32_t symbol) {
  const SambaPefSymbol *record = &simulator->pef->symbols[symbol];
  return simulator->regions[record->region].data +
         (record->address - simulator->pef->regions[record->region].address);
}

static SambaStatus mapRegion(const SambaPefRegion *record, Region *region) {
  region->bytes = record->bytes ? record->bytes + lineBytes
                                : 0; /* vector kernels may look a little past the end */
  if (!region->bytes)
    return NULL;
  region->data = mmap(NULL, region->bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region->data == MAP_FAILED) {
    region->data = NULL;
    return sambaStatusMake(SAMBA_EXHAUSTED,
                           "region '%.*s' needs %llu bytes of host memory, which the system "
                           "refuses; use --timing-only or a smaller model",
                           SAMBA_STRING_ARGS(record->name), (unsigned long long)record->bytes);
  }

  region->owners = sambaAllocateZeroed(linesOf(record->bytes), sizeof *region->owners);
  return NULL;
}

static int compareAddresses(const void *a, const void *b, void *pef) {
  const SambaPefSymbol *symbols = ((const SambaPef *)pef)->symbols;
  uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
  if (symbols[first].address != symbols[second].address)
    return symbols[first].address < symbols[second].address ? -1 : 1;
  return first < second ? -1 : first > second;
}

/* Names of the same memory keep their bytes and start at one address. */
static void findOwners(SambaSimulator *simulator) {
  const SambaPef *pef = simulator->pef;
  uint32_t count = 0;
  uint32_t *kept = sambaAllocate(sambaArraySize(pef->symbols_count, sizeof *kept));
  for (uint32_t s = 0; s < pef->symbols_count; ++s) {
    simulator->symbols[s].owner = s;
    simulator->symbols[s].lines = linesOf(sambaPefSymbolSpan(&pef->symbols[s]));
    if (pef->symbols[s].flags & SAMBA_PEF_PERSISTENT && pef->symbols[s].part_of == SAMBA_PEF_NONE)
      kept[count++] = s;
  }

  qsort_r(kept, count, sizeof *kept, compareAddresses, (void *)pef);
  for (uint32_t i = 1; i < count; ++i) {
    const SambaPefSymbol *symbol = &pef->symbols[kept[i]], *before = &pef->symbols[kept[i - 1]];
    if (symbol->region != before->region || symbol->address != before->address)
      continue;
    SymbolState *state = &simulator->symbols[kept[i]];
    state->owner = simulator->symbols[kept[i - 1]].owner;
    SymbolState *owner = &simulator->symbols[state->owner];
    owner->lines = state->lines > owner->lines ? state->lines : owner->lines;
  }
  free(kept);

  for (uint32_t s = 0; s < pef->symbols_count; ++s) {
    uint32_t whole = pef->symbols[s].part_of;
    if (whole == SAMBA_PEF_NONE)
      continue;
    SymbolState *state = &simulator->symbols[s];
    state->owner = simulator->symbols[whole].owner;
    state->first = (pef->symbols[s].address - pef->symbols[whole].address) / lineBytes;
  }
}

static SymbolState *stateOf(const SambaSimulator *simulator, uint32_t symbol) {
  return &simulator->symbols[simulator->symbols[symbol].owner];
}

static uint32_t *lineOwners(const SambaSimulator *simulator, uint32_t symbol) {
  const SambaPefSymbol *record = &simulator->pef->symbols[symbol];
  return simulator->regions[record->region].owners +
         (record->address - simulator->pef->regions[record->region].address) / lineBytes;
}

/* Marks the symbol's lines as its own, also those between its blocks; lines that belonged to
 * another lose their data. */
static void takeLines(SambaSimulator *simulator, uint32_t symbol) {
  uint32_t owner = simulator->symbols[symbol].owner;
  SymbolState *state = &simulator->symbols[owner];
  uint32_t *owners = lineOwners(simulator, symbol);
  uint64_t first = simulator->symbols[symbol].first;
  uint64_t lines = linesOf(sambaPefSymbolSpan(&simulator->pef->symbols[symbol]));

  if (!state->written)
    state->written = sambaAllocateZeroed(state->lines / 8 + 1, 1);
  for (uint64_t i = 0; i < lines; ++i)
    if (owners[i] != owner + 1) {
      owners[i] = owner + 1;
      if (state->whole) /* the other lines still hold data */
        memset(state->written, 0xff, state->lines / 8 + 1);
      state->written[(first + i) / 8] &= (uint8_t)~(1u << (i % 8));
      state->whole = false;
    }
}

static SambaStatus checkOwner(const SambaSimulator *simulator, uint32_t symbol) {
  const SambaPefSymbol *record = &simulator->pef->symbols[symbol];
  const uint32_t *owners = lineOwners(simulator, symbol);
  uint32_t owner = simulator->symbols[symbol].owner;
  for (uint64_t i = 0; i < linesOf(sambaPefSymbolSpan(record)); ++i)
    if (owners[i] != owner + 1)
      return owners[i] == 0
                 ? sambaStatusMake(
                       SAMBA_FAULT,
                       "read of never-written memory: symbol '%.*s' holds no data at byte %llu; "
                       "give it a value (--input) or run what writes it first",
                       SAMBA_STRING_ARGS(record->name), (unsigned long long)(i * lineBytes))
                 : sambaStatusMake(
                       SAMBA_FAULT,
                       "region read under another owner: bytes at %llu of symbol '%.*s' were "
                       "last written as symbol '%.*s'",
                       (unsigned long long)(i * lineBytes), SAMBA_STRING_ARGS(record->name),
                       SAMBA_STRING_ARGS(simulator->pef->symbols[owners[i] - 1].name));
  return NULL;
}

/* All bytes of the symbol hold data; so does its whole memory when no other name of it is larger.
 */
static void setWhole(SambaSimulator *simulator, uint32_t symbol) {
  SymbolState *state = stateOf(simulator, symbol);
  const SambaPefSymbol *record = &simulator->pef->symbols[symbol];
  uint64_t first = simulator->symbols[symbol].first;
  uint64_t lines = linesOf(record->bytes), block, step;
  takeLines(simulator, symbol);
  state->whole |= record->layout == SAMBA_PEF_LAYOUT_ROW_MAJOR && lines == state->lines;

  sambaPefSymbolBlocks(record, &block, &step);
  for (uint64_t at = 0; at < sambaPefSymbolSpan(record) && !state->whole; at += step)
    for (uint64_t i = at / lineBytes; i < linesOf(at + block); ++i)
      state->written[(first + i) / 8] |= (uint8_t)(1u << (i % 8));
}

static SambaStatus initialize(SambaSimulator *simulator, uint32_t index) {
  const SambaPefSymbol *symbol = &simulator->pef->symbols[index];
  uint8_t *data = dataOf(simulator, index);
  uint64_t elements = sambaPefSymbolElements(symbol);

  switch (symbol->init) {
  case SAMBA_PEF_INIT_BLOB:
  case SAMBA_PEF_INIT_FILE:
    if (symbol->init_dtype == symbol->device_dtype) {
      SAMBA_RETURN_IF_ERROR(sambaPefReadInit(simulator->pef, symbol, data));
    } else if (sambaDTypeIsFloat(symbol->init_dtype) && sambaDTypeIsFloat(symbol->device_dtype)) {
      uint8_t *raw = sambaAllocate(symbol->init_bytes);
      SambaStatus status = sambaPefReadInit(simulator->pef, symbol, raw);
      if (!status)
        sambaConvertFloats(symbol->init_dtype, raw, symbol->device_dtype, data, elements);
      free(raw);
      SAMBA_RETURN_IF_ERROR(status);
    } else {
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "symbol '%.*s': initial data of type %s cannot become %s",
                             SAMBA_STRING_ARGS(symbol->name), sambaDTypeName(symbol->init_dtype),
                             sambaDTypeName(symbol->device_dtype));
    }
    break;
  case SAMBA_PEF_INIT_FILL: {
    uint32_t bytes = sambaDTypeBytes(symbol->device_dtype);
    for (uint64_t i = 0; i < elements; ++i)
      memcpy(data + i * bytes, &symbol->init_value, bytes);
    break;
  }
  case SAMBA_PEF_INIT_RNG:
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "symbol '%.*s': random initial data is reserved in format version 1; "
                           "write the symbol instead",
                           SAMBA_STRING_ARGS(symbol->name));
  case SAMBA_PEF_INIT_NONE:
    return NULL;
  }

  setWhole(simulator, index);
  return NULL;
}

/* Takes the slots that a unit reads into the block, which has room for them unless out_count asks
 * how many there are. Slots beyond the PEF's argins are refused by whoever runs them. */
static SambaStatus readSlots(const SambaUnit *unit, uint32_t argin_count, ArgumentBlock *block,
                             uint32_t *out_count) {
  for (uint32_t i = 0; unit->kind == SAMBA_UNIT_COMPUTE && i < unit->compute.program.op_count;
       ++i) {
    const SambaLaneOp *op = &unit->compute.program.ops[i];
    if (op->opcode != SAMBA_LANE_ARGIN || op->immediate >= argin_count)
      continue;
    if (out_count) {
      *out_count = op->immediate >= *out_count ? (uint32_t)op->immediate + 1 : *out_count;
      continue;
    }
    SambaDType *dtype = &block->dtypes[op->immediate];
    if (*dtype != SAMBA_DTYPE_COUNT && *dtype != (SambaDType)op->type)
      return sambaStatusMake(SAMBA_INVALID, "slot %llu of the argument block is read as %s and %s",
                             (unsigned long long)op->immediate, sambaDTypeName(*dtype),
                             sambaDTypeName((SambaDType)op->type));
    *dtype = (SambaDType)op->type;
  }
  return NULL;
}

static SambaStatus findArguments(const SambaSection *section, uint32_t argin_count,
                                 SambaArena *arena, ArgumentBlock *out) {
  uint32_t count = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    SAMBA_RETURN_IF_ERROR(readSlots(&section->units[u], argin_count, NULL, &count));
  *out = (ArgumentBlock){count, SAMBA_ARENA_ARRAY(arena, SambaDType, count + 1)};
  for (uint32_t slot = 0; slot < count; ++slot)
    out->dtypes[slot] = SAMBA_DTYPE_COUNT;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    SAMBA_RETURN_IF_ERROR(readSlots(&section->units[u], argin_count, out, NULL));
  return NULL;
}

static SambaStatus decodeImages(SambaSimulator *simulator) {
  const SambaPef *pef = simulator->pef;
  simulator->sections = SAMBA_ARENA_ARRAY(&simulator->arena, SambaSection *, pef->images_count + 1);
  simulator->arguments = SAMBA_ARENA_ARRAY(&simulator->arena, ArgumentBlock, pef->images_count + 1);
  simulator->loads = SAMBA_ARENA_ARRAY(&simulator->arena, SambaSectionLoad, pef->images_count + 1);
  for (uint32_t i = 0; i < pef->images_count; ++i) {
    const SambaPefImage *image = &pef->images[i];
    SambaStatus status = sambaSectionDecode(image->code.data, image->code.size, &simulator->machine,
                                            &simulator->arena, &simulator->sections[i]);
    if (!status)
      status = findArguments(simulator->sections[i], pef->argins_count, &simulator->arena,
                             &simulator->arguments[i]);
    if (status)
      return sambaStatusAnnotate(status, "image %u ('%.*s')", i, SAMBA_STRING_ARGS(image->name));
    sambaPefImageName(image, simulator->sections[i]);
    simulator->loads[i] =
        sambaSectionLoadMake(simulator->sections[i], &simulator->machine, &simulator->arena);
  }

  return NULL;
}

/* What the sections say that they use is what their configurations use. */
static SambaStatus checkUnits(const SambaSimulator *simulator) {
  const SambaPef *pef = simulator->pef;
  SambaSectionNeeds *needs = sambaAllocateZeroed(pef->images_count + 1, sizeof *needs);
  SambaStatus status = NULL;
  for (uint32_t i = 0; i < pef->images_count; ++i)
    needs[i] = sambaSectionCount(simulator->sections[i]);

  for (uint32_t s = 0; s < pef->sections_count && !status; ++s) {
    const SambaPefSection *section = &pef->sections[s];
    const SambaSectionNeeds *own = &needs[section->image];
    if (section->pcus != own->pcus || section->pmus != own->pmus || section->ags != own->ags)
      status = sambaStatusMake(SAMBA_INVALID,
                               "section %u ('%.*s'): it says that it uses %u PCUs, %u PMUs and %u "
                               "AGs, but its image has %u, %u and %u",
                               s, SAMBA_STRING_ARGS(section->name), section->pcus, section->pmus,
                               section->ags, own->pcus, own->pmus, own->ags);
  }
  free(needs);
  return status;
}

static void makeTimer(SambaSimulator *simulator) {
  const SambaSimulatorOptions *options = &simulator->options;
  SambaCallTimerOptions own = {.timing = options->timing,
                               .untimed = options->no_timing,
                               .no_memo = options->no_memo,
                               .cycle_engine = options->cycle_engine,
                               /* With values, data may decide about addresses, and the threads have
                                * other work. */
                               .ahead = options->no_values};
  simulator->timer = sambaCallTimerCreate(&simulator->machine, &own, simulator->pef->images_count);
}

SambaStatus sambaSimulatorLoad(SambaSimulator *simulator, const SambaPef *pef) {
  if (simulator->pef)
    return sambaStatusMake(SAMBA_INVALID, "this device holds a PEF already; create another device");
  simulator->pef = pef;
  simulator->regions = sambaAllocateZeroed(pef->regions_count, sizeof *simulator->regions);
  simulator->symbols = sambaAllocateZeroed(pef->symbols_count, sizeof *simulator->symbols);
  findOwners(simulator);
  SAMBA_RETURN_IF_ERROR(decodeImages(simulator));
  SAMBA_RETURN_IF_ERROR(checkUnits(simulator));
  makeTimer(simulator);
  if (simulator->options.no_values)
    return NULL;
  for (uint32_t s = 0; s < pef->symbols_count; ++s)
    if ((pef->symbols[s].address - pef->regions[pef->symbols[s].region].address) % lineBytes)
      return sambaStatusMake(SAMBA_INVALID,
                             "symbol '%.*s' is not aligned to %d bytes in its region",
                             SAMBA_STRING_ARGS(pef->symbols[s].name), lineBytes);
  for (uint32_t r = 0; r < pef->regions_count; ++r)
    SAMBA_RETURN_IF_ERROR(mapRegion(&pef->regions[r], &simulator->regions[r]));
  for (uint32_t s = 0; s < pef->symbols_count; ++s)
    SAMBA_RETURN_IF_ERROR(initialize(simulator, s));
  return NULL;
}

SambaStatus sambaSimulatorWrite(SambaSimulator *simulator, uint32_t symbol, const void *data) {
  if (simulator->options.no_values)
    return NULL;
  const SambaPefSymbol *record = &simulator->pef->symbols[symbol];
  uint64_t block, step;
  sambaPefSymbolBlocks(record, &block, &step);
  for (uint64_t at = 0, to = 0; at < record->bytes; at += block, to += step)
    memcpy(dataOf(simulator, symbol) + to, (const uint8_t *)data + at, block);
  setWhole(simulator, symbol);
  return NULL;
}

SambaStatus sambaSimulatorRead(SambaSimulator *simulator, uint32_t symbol, void *data) {
  const SambaPefSymbol *record = &simulator->pef->symbols[symbol];
  if (simulator->options.no_values)
    return sambaStatusMake(SAMBA_INVALID, "symbol '%.*s' has no values: the device ran timing only",
                           SAMBA_STRING_ARGS(record->name));
  SAMBA_RETURN_IF_ERROR(checkOwner(simulator, symbol));
  const SymbolState *state = stateOf(simulator, symbol);
  uint64_t first = simulator->symbols[symbol].first, block, step;
  sambaPefSymbolBlocks(record, &block, &step);

  for (uint64_t at = 0, from = 0; at < record->bytes; at += block, from += step) {
    for (uint64_t i = from / lineBytes; !state->whole && i < linesOf(from + block); ++i)
      if (!(state->written[(first + i) / 8] & (1u << (i % 8))))
        return sambaStatusMake(
            SAMBA_FAULT, "read of never-written memory: symbol '%.*s' holds no data at byte %llu",
            SAMBA_STRING_ARGS(record->name), (unsigned long long)(i * lineBytes));
    memcpy((uint8_t *)data + at, dataOf(simulator, symbol) + from, block);
  }
  return NULL;
}

bool sambaSimulatorIsWritten(const SambaSimulator *simulator, uint32_t symbol) {
  return stateOf(simulator, symbol)->written != NULL;
}

/* Does the symbol's memory from the binding's offset on hold the formal? */
static SambaStatus checkMemory(const SambaPefBinding *binding, const SambaPefSymbol *symbol,
                               const SambaFormal *formal, uint64_t *out_bytes) {
  uint64_t offset = binding->offset;
  bool overflows =
      __builtin_mul_overflow(formal->elements, (uint64_t)sambaDTypeBytes(formal->dtype), out_bytes);
  if (overflows || offset > symbol->bytes || *out_bytes > symbol->bytes - offset ||
      formal->dtype != symbol->device_dtype)
    return sambaStatusMake(SAMBA_INVALID,
                           "formal '%s' wants %llu elements of %s, but symbol '%.*s' has %llu "
                           "bytes of %s from byte %llu on",
                           formal->name, (unsigned long long)formal->elements,
                           sambaDTypeName(formal->dtype), SAMBA_STRING_ARGS(symbol->name),
                           (unsigned long long)symbol->bytes, sambaDTypeName(symbol->device_dtype),
                           (unsigned long long)offset);
  if (offset % SAMBA_MEMORY_PART)
    return sambaStatusMake(
        SAMBA_INVALID,
        "formal '%s' starts at byte %llu of symbol '%.*s', which is no multiple of %d",
        formal->name, (unsigned long long)offset, SAMBA_STRING_ARGS(symbol->name),
        SAMBA_MEMORY_PART);
  return NULL;
}

/* The argument block of a call: every slot that its image reads is bound to an argin of that
 * dtype. */
static SambaStatus bindArguments(const SambaPef *pef, const SambaPefCall *call,
                                 const ArgumentBlock *block, const uint64_t *argins,
                                 SambaArena *scratch, uint64_t *out_block) {
  bool *bound = SAMBA_ARENA_ARRAY(scratch, bool, block->count + 1);
  for (uint32_t i = 0; i < call->bindings_count; ++i) {
    const SambaPefBinding *binding = &call->bindings[i];
    if (binding->kind != SAMBA_PEF_BINDING_ARGIN || binding->formal >= block->count)
      continue;
    const SambaPefArgin *argin = &pef->argins[binding->argin];
    SambaDType wanted = block->dtypes[binding->formal];
    if (wanted != SAMBA_DTYPE_COUNT && wanted != argin->dtype)
      return sambaStatusMake(SAMBA_INVALID,
                             "slot %u of the argument block is read as %s, but argin '%.*s' is %s",
                             binding->formal, sambaDTypeName(wanted),
                             SAMBA_STRING_ARGS(argin->name), sambaDTypeName(argin->dtype));
    bound[binding->formal] = true;
    out_block[binding->formal] = argins[binding->argin];
  }

  for (uint32_t slot = 0; slot < block->count; ++slot)
    if (block->dtypes[slot] != SAMBA_DTYPE_COUNT && !bound[slot])
      return sambaStatusMake(SAMBA_INVALID, "slot %u of the argument block is not bound", slot);
  return NULL;
}

/* The memory behind each formal. */
static SambaStatus bind(SambaSimulator *simulator, const SambaPefCall *call,
                        const SambaSection *section, SambaArena *scratch, SambaBinding *bindings) {
  const SambaPef *pef = simulator->pef;
  bool *bound = SAMBA_ARENA_ARRAY(scratch, bool, section->symbol_count + 1);

  for (uint32_t i = 0; i < call->bindings_count; ++i) {
    const SambaPefBinding *binding = &call->bindings[i];
    if (binding->kind == SAMBA_PEF_BINDING_ARGIN)
      continue;

    if (binding->formal >= section->symbol_count)
      return sambaStatusMake(SAMBA_INVALID, "binding %u names formal %u, but the section has %u", i,
                             binding->formal, section->symbol_count);
    const SambaPefSymbol *symbol = &pef->symbols[binding->symbol];
    const SambaFormal *formal = &section->symbols[binding->formal];
    uint64_t bytes;
    SAMBA_RETURN_IF_ERROR(checkMemory(binding, symbol, formal, &bytes));

    bound[binding->formal] = true;
    bindings[binding->formal] =
        (SambaBinding){.bytes = bytes, .address = symbol->address + binding->offset};
  }

  for (uint32_t f = 0; f < section->symbol_count; ++f)
    if (!bound[f])
      return sambaStatusMake(SAMBA_INVALID, "formal '%s' is not bound", section->symbols[f].name);
  return NULL;
}

/* The data behind the formals that are bound. What is read belongs to its symbol before the call
 * takes what it writes, which may be the same memory. */
static SambaStatus bindData(SambaSimulator *simulator, const SambaPefCall *call,
                            const SambaSection *section, SambaBinding *bindings) {
  for (int written = 0; written < 2; ++written)
    for (uint32_t i = 0; i < call->bindings_count; ++i) {
      const SambaPefBinding *binding = &call->bindings[i];
      if (binding->kind != SAMBA_PEF_BINDING_SYMBOL ||
          section->symbols[binding->formal].written != (bool)written)
        continue;
      if (written)
        takeLines(simulator, binding->symbol);
      else
        SAMBA_RETURN_IF_ERROR(checkOwner(simulator, binding->symbol));
    }

  for (uint32_t i = 0; i < call->bindings_count; ++i) {
    const SambaPefBinding *binding = &call->bindings[i];
    if (binding->kind != SAMBA_PEF_BINDING_SYMBOL)
      continue;
    const SymbolState *state = stateOf(simulator, binding->symbol);
    bindings[binding->formal].data = dataOf(simulator, binding->symbol) + binding->offset;
    uint64_t line = simulator->symbols[binding->symbol].first + binding->offset / lineBytes;
    if (!state->whole)
      bindings[binding->formal].written = state->written + line / 8;
  }
  return NULL;
}

/* With values their engine checks this. */
static SambaStatus checkMemoryOrder(const SambaSection *section, const SambaBinding *bindings,
                                    SambaArena *scratch) {
  uint64_t *addresses = SAMBA_ARENA_ARRAY(scratch, uint64_t, section->symbol_count + 1);
  for (uint32_t f = 0; f < section->symbol_count; ++f)
    addresses[f] = bindings[f].address;
  return sambaSectionCheckOrder(section, addresses);
}

/* Takes note of which configuration is on the chip from now on. */
static SambaLaunchCost launch(SambaSimulator *simulator, uint32_t image) {
  const SambaSectionLoad *load = &simulator->loads[image];
  SambaLaunchCost cost =
      sambaLaunchCost(&simulator->machine, simulator->options.launch, &simulator->before, load);
  simulator->before = (SambaLaunchBefore){.load = load};
  return cost;
}

static SambaTimedCall timedCall(const SambaSimulator *simulator, const SambaPefCall *call,
                                const SambaBinding *bindings) {
  const SambaPefSection *record = &simulator->pef->sections[call->section];
  return (SambaTimedCall){record->image, simulator->sections[record->image], bindings,
                          record->estimated_cycles};
}

/* Gives the timer calls behind this one, as long as it has threads for them. */
static void lookAhead(SambaSimulator *simulator, uint32_t index, SambaArena *scratch) {
  const SambaPef *pef = simulator->pef;
  if (simulator->looked_ahead <= index)
    simulator->looked_ahead = index + 1;
  while (sambaCallTimerWantsMore(simulator->timer, pef->calls_count - simulator->looked_ahead)) {
    const SambaPefCall *call = &pef->calls[simulator->looked_ahead++];
    const SambaSection *section = simulator->sections[pef->sections[call->section].image];
    SambaBinding *bindings = SAMBA_ARENA_ARRAY(scratch, SambaBinding, section->symbol_count + 1);
    SambaStatus status = bind(simulator, call, section, scratch, bindings);
    SambaTimedCall timed = timedCall(simulator, call, bindings);
    if (!status)
      sambaCallTimerAdd(simulator->timer, &timed);
    sambaStatusFree(status); /* the call says it at its turn */
  }
}

SambaStatus sambaSimulatorLaunch(SambaSimulator *simulator, uint32_t index, const uint64_t *argins,
                                 SambaCallReport *out_report) {
  const SambaPefCall *call = &simulator->pef->calls[index];
  uint32_t image = simulator->pef->sections[call->section].image;
  const SambaSection *section = simulator->sections[image];
  SambaArena scratch = {0};
  SambaBinding *bindings = SAMBA_ARENA_ARRAY(&scratch, SambaBinding, section->symbol_count + 1);
  uint32_t argument_count = simulator->pef->argins_count;
  uint64_t *argument_block = SAMBA_ARENA_ARRAY(&scratch, uint64_t, argument_count + 1);
  SambaCallReport report = {0};
  SambaIndexTraces traces = {0};
  SambaStatus status = bindArguments(simulator->pef, call, &simulator->arguments[image], argins,
                                     &scratch, argument_block);
  if (!status)
    status = bind(simulator, call, section, &scratch, bindings);
  if (!status)
    status = simulator->options.no_values ? checkMemoryOrder(section, bindings, &scratch)
                                          : bindData(simulator, call, section, bindings);
  if (!status)
    report.launch = launch(simulator, image);
  const SambaTimingResult *result = NULL;
  if (!status)
    lookAhead(simulator, index, &scratch);
  const SambaTimedCall timed = timedCall(simulator, call, bindings);
  bool taken = !status && sambaCallTimerTake(simulator->timer, &timed, &status, &result);
  bool steps = simulator->options.cycle_engine && !simulator->options.no_timing;
  SambaStatus stuck =
      status || taken || steps ? NULL : sambaCallTimerCheckEnd(simulator->timer, &timed);
  if (stuck && simulator->options.no_timing)
    status = stuck;
  else if (!status && !stuck && !simulator->options.no_values)
    status = sambaValuesExecute(simulator->values, section, bindings, argument_block,
                                argument_count, simulator->options.no_timing ? NULL : &traces);
  if (stuck && stuck != status)
    sambaStatusFree(stuck); /* timing says it with the cycle */
  if (!status && !taken && !simulator->options.no_timing)
    status = sambaCallTimerTime(simulator->timer, &timed, &traces, &result);
  if (result)
    report = (SambaCallReport){.cycles = result->cycles,
                               .launch = report.launch,
                               .dram_read_bytes = result->dram_read_bytes,
                               .dram_write_bytes = result->dram_write_bytes,
                               .host_read_bytes = result->host_read_bytes,
                               .host_write_bytes = result->host_write_bytes,
                               .flops = result->flops,
                               .multiply_adds = result->multiply_adds,
                               .events = result->events,
                               .link_busy_max = result->link_busy_max,
                               .units = result->units};

  sambaIndexTracesFree(&traces);
  sambaArenaDestroy(&scratch);
  simulator->before.cycles = report.cycles;
  simulator->now += report.cycles + report.launch.cycles;
  if (out_report)
    *out_report = report;
  return status;
}

uint64_t sambaSimulatorNow(const SambaSimulator *simulator) { return simulator->now; }

void sambaSimulatorGetStatistics(const SambaSimulator *simulator,
                                 SambaValuesStatistics *out_statistics) {
  memset(out_statistics, 0, sizeof *out_statistics);
  if (simulator->values)
    sambaValuesGetStatistics(simulator->values, out_statistics);
}

const SambaSectionLoad *sambaSimulatorGetLoad(const SambaSimulator *simulator, uint32_t section) {
  return &simulator->loads[simulator->pef->sections[section].image];
}

const SambaSection *sambaSimulatorGetSection(const SambaSimulator *simulator, uint32_t section) {
  return simulator->sections[simulator->pef->sections[section].image];
}
