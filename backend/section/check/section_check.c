/* sambaSectionCheck: the promises of section.h. What passes is safe to simulate: every index,
 * level, address range inside a chip memory and token count has been checked here or is named as a
 * run-time fault in docs/execution-model.md. */
#include "backend/section/check/section_check.h"
#include "backend/section/check/check_internal.h"
#include "backend/section/stream_order.h"

static SambaStatus checkPort(const SambaPort *port) {
  if ((unsigned)port->dtype >= SAMBA_DTYPE_COUNT)
    return sambaStatusMake(SAMBA_INVALID, "element type number %d is undefined", (int)port->dtype);
  if (port->stream_count == 0)
    return sambaStatusMake(SAMBA_INVALID, "no stream is connected");
  if (port->block == 0)
    return sambaStatusMake(SAMBA_INVALID, "block is 0, expected at least 1");
  if (port->token_elements > (uint64_t)SAMBA_MAX_TOKEN_ELEMENTS)
    return sambaStatusMake(SAMBA_INVALID, "token_elements is %llu, expected at most %lld",
                           (unsigned long long)port->token_elements,
                           (long long)SAMBA_MAX_TOKEN_ELEMENTS);
  return NULL;
}

static SambaStatus checkControlPort(const SambaPort *port) {
  if (port->token_elements != 0)
    return sambaStatusMake(SAMBA_INVALID,
                           "token_elements is %llu, expected 0: this is a control port",
                           (unsigned long long)port->token_elements);
  return NULL;
}

/* The ports that a unit of this kind has, apart from what the section's other parts say
 * about them. */
static SambaStatus checkPortCounts(const SambaUnit *unit) {
  bool load = unit->kind == SAMBA_UNIT_LOAD, store = unit->kind == SAMBA_UNIT_STORE;
  if (load && unit->output_count != 1)
    return sambaStatusMake(SAMBA_INVALID, "%u outputs, expected one: the data", unit->output_count);
  if (store &&
      (unit->input_count < 1 || unit->input_count != 1u + unit->inputs[0].access.has_index))
    return sambaStatusMake(SAMBA_INVALID,
                           "%u inputs, expected the data and, with has_index, the indices",
                           unit->input_count);
  if (unit->kind == SAMBA_UNIT_BUFFER && (unit->input_count < 1 || unit->output_count < 1))
    return sambaStatusMake(SAMBA_INVALID, "%u inputs and %u outputs, expected at least one of each",
                           unit->input_count, unit->output_count);
  if (unit->kind == SAMBA_UNIT_COMPUTE && unit->output_count < 1)
    return sambaStatusMake(SAMBA_INVALID, "no output, expected at least one");
  return NULL;
}

static SambaStatus annotatePort(SambaStatus status, bool output, uint32_t port) {
  return sambaStatusAnnotate(status, "%s %u", output ? "output" : "input", port);
}

static SambaStatus checkMemoryUnit(const SambaSection *section, const SambaUnit *unit) {
  if (unit->load_store.symbol >= section->symbol_count)
    return sambaStatusMake(SAMBA_INVALID, "symbol %u does not exist, the section has %u symbols",
                           unit->load_store.symbol, section->symbol_count);
  bool store = unit->kind == SAMBA_UNIT_STORE;
  const SambaFormal *formal = &section->symbols[unit->load_store.symbol];
  const SambaPort *data = store ? &unit->inputs[0] : &unit->outputs[0];

  if (data->dtype != formal->dtype)
    return annotatePort(
        sambaStatusMake(SAMBA_INVALID, "element type %s, expected %s, which is that of symbol '%s'",
                        sambaDTypeName(data->dtype), sambaDTypeName(formal->dtype), formal->name),
        !store, 0);
  if (store && !formal->written)
    return sambaStatusMake(SAMBA_INVALID, "stores to symbol '%s', which is not marked as written",
                           formal->name);
  SambaStatus status = sambaAccessCheck(unit, data, formal->elements);
  if (status)
    return annotatePort(status, !store, 0);
  for (uint32_t i = data->access.has_index; i < unit->input_count && !store;
       ++i) /* after a load's indices, if any */
    if ((status = checkControlPort(&unit->inputs[i])))
      return annotatePort(status, false, i);
  for (uint32_t i = 0; i < unit->output_count && store; ++i)
    if ((status = checkControlPort(&unit->outputs[i])))
      return annotatePort(status, true, i);
  return NULL;
}

static SambaStatus checkBufferPort(const SambaUnit *unit, const SambaPort *port, uint64_t slots) {
  SAMBA_RETURN_IF_ERROR(sambaAccessCheck(unit, port, unit->buffer.slot_elements));
  if (port->dtype != unit->inputs[0].dtype)
    return sambaStatusMake(SAMBA_INVALID,
                           "element type %s, expected %s like input 0: the slots hold one type",
                           sambaDTypeName(port->dtype), sambaDTypeName(unit->inputs[0].dtype));
  uint64_t visited = sambaTripProduct(port->access.trips, 0, port->access.slot_level);
  if (visited != slots)
    return sambaStatusMake(SAMBA_INVALID, "visits %llu slots, expected %llu like input 0",
                           (unsigned long long)visited, (unsigned long long)slots);
  return NULL;
}

static SambaStatus checkBanking(const SambaBuffer *buffer) {
  const char *name = sambaBankingName(buffer->banking);
  bool rows = buffer->banking != SAMBA_BANKING_COLUMN;
  bool shifts = buffer->banking == SAMBA_BANKING_DIAGONAL;
  if (!name)
    return sambaStatusMake(SAMBA_INVALID, "banking number %d is undefined", (int)buffer->banking);
  if (rows != (buffer->row_words > 0))
    return sambaStatusMake(SAMBA_INVALID, "row_words is %u, expected %s: its banking is %s",
                           buffer->row_words, rows ? "at least 1" : "0", name);
  if (shifts != (buffer->skew > 0))
    return sambaStatusMake(SAMBA_INVALID, "skew is %u, expected %s: its banking is %s",
                           buffer->skew, shifts ? "at least 1" : "0", name);
  return NULL;
}

/* A slot that is used again in place: every port walks the same elements in the same order, each
 * once, and cuts them into the same tokens. So the write of an element can follow its reads, and a
 * write never hides an element that is still to be read. */
static SambaStatus checkInPlacePort(const SambaUnit *unit, const SambaPort *port) {
  const SambaAccess *access = &port->access;
  const SambaPort *write = &unit->inputs[0];
  if (access->guard_count)
    return sambaStatusMake(SAMBA_INVALID, "%u guards, expected none: the buffer is in place",
                           access->guard_count);
  for (uint32_t c = 0; c < access->slot_level; ++c)
    if (access->strides[c] && access->trips[c] > 1)
      return sambaStatusMake(SAMBA_INVALID,
                             "counter %u steps slots and has stride %lld, expected 0: the buffer "
                             "is in place",
                             c, (long long)access->strides[c]);

  SambaStreamOrder chain = sambaAccessOrder(access, access->slot_level);
  SambaStreamOrder first = sambaAccessOrder(&write->access, write->access.slot_level);
  if (access->base != write->access.base || !sambaOrdersEqual(&chain, &first) ||
      port->token_elements != write->token_elements)
    return sambaStatusMake(SAMBA_INVALID,
                           "walks a slot otherwise than input 0, expected the same elements in the "
                           "same order and tokens: the buffer is in place");
  if (!sambaOrderVisitsOnce(&chain))
    return sambaStatusMake(SAMBA_INVALID,
                           "comes to an element of a slot twice, expected once: the buffer is in "
                           "place");
  return NULL;
}

static SambaStatus checkInPlace(const SambaUnit *unit) {
  SambaStatus status;
  if (!unit->buffer.in_place)
    return NULL;
  if (unit->input_count != 1)
    return sambaStatusMake(SAMBA_INVALID, "%u inputs, expected one: the buffer is in place",
                           unit->input_count);
  if ((status = checkInPlacePort(unit, &unit->inputs[0])))
    return annotatePort(status, false, 0);
  for (uint32_t i = 0; i < unit->output_count; ++i)
    if ((status = checkInPlacePort(unit, &unit->outputs[i])))
      return annotatePort(status, true, i);
  return NULL;
}

static SambaStatus checkBuffer(const SambaUnit *unit) {
  if (unit->buffer.slot_count == 0)
    return sambaStatusMake(SAMBA_INVALID, "slot_count is 0, expected at least 1");
  if (unit->buffer.slot_elements == 0 || unit->buffer.slot_elements > (uint64_t)SAMBA_MAX_ELEMENTS)
    return sambaStatusMake(SAMBA_INVALID, "slot_elements is %llu, expected 1 to %lld",
                           (unsigned long long)unit->buffer.slot_elements,
                           (long long)SAMBA_MAX_ELEMENTS);
  SAMBA_RETURN_IF_ERROR(checkBanking(&unit->buffer));
  uint32_t bits = 8 * sambaDTypeBytes(unit->inputs[0].dtype);

  if (bits < 64 && unit->buffer.initial >> bits)
    return sambaStatusMake(SAMBA_INVALID, "initial 0x%llx does not fit in %s",
                           (unsigned long long)unit->buffer.initial,
                           sambaDTypeName(unit->inputs[0].dtype));
  SambaStatus status = annotatePort(
      sambaChainCheck(unit->inputs[0].access.trips, unit->inputs[0].access.counter_count), false,
      0);
  if (status)
    return status;
  if (unit->inputs[0].access.slot_level > unit->inputs[0].access.counter_count)
    return annotatePort(
        sambaStatusMake(SAMBA_INVALID,
                        "slot_level is %u, expected at most the %u counters of the chain",
                        unit->inputs[0].access.slot_level, unit->inputs[0].access.counter_count),
        false, 0);
  uint64_t slots = sambaUnitFirings(unit);
  for (uint32_t i = 0; i < unit->input_count; ++i)
    if ((status = checkBufferPort(unit, &unit->inputs[i], slots)))
      return annotatePort(status, false, i);
  for (uint32_t i = 0; i < unit->output_count; ++i)
    if ((status = checkBufferPort(unit, &unit->outputs[i], slots)))
      return annotatePort(status, true, i);
  return checkInPlace(unit);
}

static SambaStatus checkKind(const SambaSection *section, const SambaUnit *unit) {
  switch (unit->kind) {
  case SAMBA_UNIT_BUFFER:
    return checkBuffer(unit);
  case SAMBA_UNIT_COMPUTE:
    return sambaComputeCheck(unit);
  default:
    return checkMemoryUnit(section, unit);
  }
}

static SambaStatus checkUnit(const SambaSection *section, const SambaUnit *unit) {
  if ((unsigned)unit->kind > SAMBA_UNIT_COMPUTE)
    return sambaStatusMake(SAMBA_INVALID, "unit kind %d is undefined", (int)unit->kind);
  SAMBA_RETURN_IF_ERROR(checkPortCounts(unit));
  SambaStatus status;

  for (uint32_t i = 0; i < unit->input_count; ++i)
    if ((status = checkPort(&unit->inputs[i])))
      return annotatePort(status, false, i);
  for (uint32_t i = 0; i < unit->output_count; ++i)
    if ((status = checkPort(&unit->outputs[i])))
      return annotatePort(status, true, i);
  SAMBA_RETURN_IF_ERROR(checkKind(section, unit));
  for (uint32_t i = 0; i < unit->input_count; ++i)
    if ((status = sambaPortOrderCheck(unit, false, i)))
      return annotatePort(status, false, i);
  for (uint32_t i = 0; i < unit->output_count; ++i)
    if ((status = sambaPortOrderCheck(unit, true, i)))
      return annotatePort(status, true, i);
  return unit->kind == SAMBA_UNIT_BUFFER ? sambaBufferOrderCheck(unit) : NULL;
}

static SambaStatus checkSymbol(const SambaFormal *formal, uint32_t index) {
  if (!formal->name)
    return sambaStatusMake(SAMBA_INVALID, "symbol %u has no name", index);
  if ((unsigned)formal->dtype >= SAMBA_DTYPE_COUNT)
    return sambaStatusMake(SAMBA_INVALID, "symbol '%s': element type number %d is undefined",
                           formal->name, (int)formal->dtype);
  if (formal->elements == 0 || formal->elements > (uint64_t)SAMBA_MAX_ELEMENTS)
    return sambaStatusMake(SAMBA_INVALID, "symbol '%s': %llu elements, expected 1 to %lld",
                           formal->name, (unsigned long long)formal->elements,
                           (long long)SAMBA_MAX_ELEMENTS);
  return NULL;
}

static SambaStatus checkSection(const SambaSection *section) {
  for (uint32_t i = 0; i < section->symbol_count; ++i)
    SAMBA_RETURN_IF_ERROR(checkSymbol(&section->symbols[i], i));
  for (uint32_t i = 0; i < section->unit_count; ++i) {
    const SambaUnit *unit = &section->units[i];
    if (!unit->name || !unit->layer)
      return sambaStatusMake(SAMBA_INVALID, "unit %u has no %s", i, unit->name ? "layer" : "name");
    SambaStatus status = checkUnit(section, unit);
    if (status)
      return sambaStatusAnnotate(status, "unit '%s' (%s)", unit->name,
                                 sambaUnitKindName(unit->kind));
  }
  return sambaStreamsCheck(section);
}

SambaStatus sambaSectionCheck(const SambaSection *section) {
  return sambaStatusAnnotate(checkSection(section), "section '%s'",
                             section->name ? section->name : "");
}
