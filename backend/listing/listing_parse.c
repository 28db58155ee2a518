/* Listings back to sections; see listing.h. Lines fill the same records that the encoder writes,
 * through the same table. */
#include "backend/listing/listing_parser.h"

#include "backend/section/access.h"
#include "backend/section/check/section_check.h"

#include <inttypes.h>
#include <stdlib.h>

/* One name=value that is no row of the record's table: sets *out_known and takes the value, or
 * leaves it to the table. */
typedef SambaStatus (*SpecialField)(SambaListingParser *parser, SambaStringRef label,
                                    bool *out_known);

static const SambaRecordRow *findRow(SambaRecordId id, SambaStringRef label) {
  const SambaRecord *record = sambaRecordGet(id);
  for (uint32_t i = 0; i < record->row_count; ++i) {
    const SambaRecordRow *row = &record->rows[i];
    bool text = row->form == SAMBA_ROW_TRIPS || row->form == SAMBA_ROW_STRIDES ||
                (row->form == SAMBA_ROW_FIELD && !sambaListingFieldIsImplied(row));
    if (text && sambaStringRefEqualC(label, sambaRecordRowLabel(row)))
      return row;
  }
  return NULL;
}

/* [1, 2 | 3]: numbers in parser->list, in front of which of them bars stand in parser->bars. */
static SambaStatus parseList(SambaListingParser *p, int64_t minimum, int64_t maximum,
                             const char *what) {
  p->list.size = p->bars.size = 0;
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "["));
  bool separated = true;

  while (!sambaListingTake(&p->cursor, ']')) {
    if (sambaListingTake(&p->cursor, '|')) {
      sambaArrayAppend(&p->bars, (uint32_t)p->list.size);
      separated = true;
      continue;
    }
    if (!separated)
      SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, ","));
    int64_t value;
    SAMBA_RETURN_IF_ERROR(sambaListingInteger(&p->cursor, minimum, maximum, what, &value));
    if (p->list.size == SAMBA_MAX_COUNTERS)
      return sambaListingError(&p->cursor, p->cursor.at, "a list of more than %d numbers",
                               SAMBA_MAX_COUNTERS);
    sambaArrayAppend(&p->list, value);
    separated = false;
  }

  return NULL;
}

static SambaStatus parseTrips(SambaListingParser *p, const SambaRecordRow *row, SambaRecordId id,
                              void *structure) {
  size_t at = p->cursor.at;
  SAMBA_RETURN_IF_ERROR(parseList(p, 1, UINT32_MAX, "a trip count"));
  uint32_t *trips = SAMBA_ARENA_ARRAY(p->arena, uint32_t, p->list.size);

  for (size_t i = 0; i < p->list.size; ++i)
    trips[i] = (uint32_t)p->list.data[i];
  sambaMemberSetPointer(structure, row->member, trips);
  sambaMemberSet(structure, row->count, p->list.size);
  bool buffer = id == SAMBA_RECORD_buffer_port;
  if (p->bars.size < 1 || p->bars.size > 1u + buffer)
    return sambaListingError(
        &p->cursor, at, "expected %s between the trip counts, found %zu",
        buffer ? "one or two bars (slots | tokens | elements, or slots | elements)"
               : "one bar (tokens | elements)",
        p->bars.size);
  if (id == SAMBA_RECORD_compute) {
    ((SambaUnitRecord *)structure)->unit.compute.token_level = p->bars.data[0];
    return NULL;
  }

  SambaAccess *access = &((SambaPortRecord *)structure)->port.access;
  access->slot_level = buffer ? p->bars.data[0] : 0;
  access->token_level = p->bars.data[p->bars.size - 1];
  return NULL;
}

static SambaStatus parseStrides(SambaListingParser *p, const SambaRecordRow *row, void *structure,
                                uint32_t counters) {
  size_t at = p->cursor.at;
  SAMBA_RETURN_IF_ERROR(parseList(p, INT64_MIN, INT64_MAX, "a stride"));
  if (p->list.size != counters)
    return sambaListingError(&p->cursor, at,
                             "%zu strides, but the chain has %u counters (trips come first)",
                             p->list.size, counters);
  sambaMemberSetPointer(
      structure, row->member,
      sambaArenaCopy(p->arena, p->list.data, p->list.size * sizeof *p->list.data));
  return NULL;
}

static SambaStatus parseDType(SambaListingParser *p, SambaDType *out_dtype) {
  size_t at = p->cursor.at;
  SambaStringRef word = sambaListingWord(&p->cursor);
  *out_dtype = sambaDTypeFromName(word.data, word.size);
  if (*out_dtype != SAMBA_DTYPE_COUNT)
    return NULL;
  return sambaListingError(
      &p->cursor, at, "expected an element type (f32, bf16, f16, i1, i8, ui8, i16, i32 or i64)");
}

static SambaStatus parseBits(SambaListingParser *p, SambaDType dtype, uint64_t *out_bits) {
  sambaListingAtLineEnd(&p->cursor);
  size_t start = p->cursor.at;

  if (!sambaListingTake(&p->cursor, '-'))
    sambaListingTake(&p->cursor, '+');
  sambaListingWord(&p->cursor);

  /* An exponent's sign splits the word: 1e-05. */
  const char *at = p->cursor.text.data + p->cursor.at;
  if (p->cursor.at > start && p->cursor.at < p->cursor.text.size && (*at == '+' || *at == '-') &&
      (at[-1] == 'e' || at[-1] == 'E')) {
    ++p->cursor.at;
    sambaListingWord(&p->cursor);
  }

  SambaStringRef text = {p->cursor.text.data + start, p->cursor.at - start};
  if (sambaListingParseBits(dtype, text, out_bits))
    return NULL;
  return sambaListingError(&p->cursor, start,
                           "expected a value of type %s, or its bits as 0x..., found '%.*s'",
                           sambaDTypeName(dtype), SAMBA_STRING_ARGS(text));
}

static SambaStatus parseFieldValue(SambaListingParser *p, const SambaRecordRow *row,
                                   void *structure) {
  const char *label = sambaRecordRowLabel(row);
  size_t at = p->cursor.at;
  int64_t number;
  uint64_t bits;
  SambaDType dtype;

  switch (row->kind) {
  case 'B': {
    SambaStringRef word = sambaListingWord(&p->cursor);
    bool yes = sambaStringRefEqualC(word, "yes");
    if (!yes && !sambaStringRefEqualC(word, "no"))
      return sambaListingError(&p->cursor, at, "%s is yes or no", label);
    sambaMemberSet(structure, row->member, yes);
    return NULL;
  }
  case 'D':
    SAMBA_RETURN_IF_ERROR(parseDType(p, &dtype));
    sambaMemberSet(structure, row->member, dtype);
    p->dtype = dtype;
    return NULL;
  case 'X':
    SAMBA_RETURN_IF_ERROR(parseBits(p, p->dtype, &bits));
    sambaMemberSet(structure, row->member, bits);
    return NULL;
  case 'S':
    SAMBA_RETURN_IF_ERROR(sambaListingInteger(&p->cursor, -(INT64_C(1) << (row->bits - 1)),
                                              (INT64_C(1) << (row->bits - 1)) - 1, label, &number));
    sambaMemberSet(structure, row->member, (uint64_t)number);
    return NULL;
  default:
    SAMBA_RETURN_IF_ERROR(
        sambaListingInteger(&p->cursor, 0, (INT64_C(1) << row->bits) - 1, label, &number));
    sambaMemberSet(structure, row->member, (uint64_t)number);
    return NULL;
  }
}

/* What follows label=, in the form of its row. */
static SambaStatus parseRow(SambaListingParser *p, const SambaRecordRow *row, SambaRecordId id,
                            void *structure, uint32_t counters) {
  switch (row->form) {
  case SAMBA_ROW_TRIPS:
    return parseTrips(p, row, id, structure);
  case SAMBA_ROW_STRIDES:
    if (id == SAMBA_RECORD_dram_port || id == SAMBA_RECORD_buffer_port)
      counters = ((SambaPortRecord *)structure)->port.access.counter_count;
    return parseStrides(p, row, structure, counters);
  default:
    return parseFieldValue(p, row, structure);
  }
}

/* The rest of a line, up to `stop` if that is not NUL: name=value ... */
static SambaStatus parseFields(SambaListingParser *p, SambaRecordId id, void *structure,
                               uint32_t counters, SpecialField special, char stop) {
  while (!sambaListingAtLineEnd(&p->cursor) &&
         !(stop && p->cursor.text.data[p->cursor.at] == stop)) {
    size_t at = p->cursor.at;
    SambaStringRef label = sambaListingWord(&p->cursor);
    bool known = false;
    if (label.size) {
      const SambaRecordRow *row = findRow(id, label);
      known = row != NULL;
      if (row) {
        SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "="));
        sambaListingAtLineEnd(&p->cursor);
        if (sambaStringRefEqualC(label, "token_elements"))
          p->has_tokens = true;
        if (sambaStringRefEqualC(label, "level"))
          p->has_level = true;
        SAMBA_RETURN_IF_ERROR(parseRow(p, row, id, structure, counters));
      } else if (special) {
        SAMBA_RETURN_IF_ERROR(special(p, label, &known));
      }
    }
    if (!known)
      return sambaListingError(&p->cursor, at, "unknown field '%.*s' of %s",
                               SAMBA_STRING_ARGS(label), sambaRecordGet(id)->name);
  }

  return NULL;
}

static SambaStatus parseSymbolLine(SambaListingParser *p) {
  SambaFormal formal = {0};
  SambaStringRef name;
  SAMBA_RETURN_IF_ERROR(sambaListingName(&p->cursor, p->arena, &name));
  formal.name = name.data;
  SAMBA_RETURN_IF_ERROR(parseFields(p, SAMBA_RECORD_symbol, &formal, 0, NULL, '\0'));
  sambaArrayAppend(&p->symbols, formal);
  return NULL;
}

/* By name or number. */
static SambaStatus parseSymbolReference(SambaListingParser *p, uint32_t *out_symbol) {
  sambaListingAtLineEnd(&p->cursor);
  size_t at = p->cursor.at;

  if (at < p->cursor.text.size && p->cursor.text.data[at] >= '0' &&
      p->cursor.text.data[at] <= '9') {
    int64_t number;
    SAMBA_RETURN_IF_ERROR(sambaListingInteger(&p->cursor, 0, UINT32_MAX, "a symbol", &number));
    *out_symbol = (uint32_t)number;
    return NULL;
  }

  SambaStringRef name;
  SAMBA_RETURN_IF_ERROR(sambaListingName(&p->cursor, p->arena, &name));
  for (size_t i = 0; i < p->symbols.size; ++i)
    if (sambaStringRefEqualC(name, p->symbols.data[i].name)) {
      *out_symbol = (uint32_t)i;
      return NULL;
    }
  return sambaListingError(&p->cursor, at, "no symbol '%.*s' above", SAMBA_STRING_ARGS(name));
}

static SambaStatus parseUnitSpecial(SambaListingParser *p, SambaStringRef label, bool *out_known) {
  SambaUnit *unit = &p->units.data[p->units.size - 1].unit;
  bool memory = sambaUnitIsAddressGenerator(unit);
  bool symbol = memory && sambaStringRefEqualC(label, "symbol"),
       layer = sambaStringRefEqualC(label, "layer");
  bool reduce = unit->kind == SAMBA_UNIT_COMPUTE && sambaStringRefEqualC(label, "reduce");

  *out_known = symbol || layer || reduce;
  if (!*out_known)
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "="));
  if (symbol)
    return parseSymbolReference(p, &unit->load_store.symbol);
  if (reduce) {
    SAMBA_RETURN_IF_ERROR(parseList(p, 0, SAMBA_MAX_COUNTERS - 1, "a counter"));
    for (size_t i = 0; i < p->list.size; ++i)
      unit->compute.program.reduce_mask |= UINT64_C(1) << p->list.data[i];
    return NULL;
  }

  SambaStringRef name;
  SAMBA_RETURN_IF_ERROR(sambaListingName(&p->cursor, p->arena, &name));
  unit->layer = name.data;
  return NULL;
}

static SambaStatus parseUnitLine(SambaListingParser *p, SambaUnitKind kind) {
  SambaStringRef name;
  SAMBA_RETURN_IF_ERROR(sambaListingName(&p->cursor, p->arena, &name));
  SambaListingUnit line = {.unit = sambaUnitMake(kind, name.data, "")};
  sambaArrayAppend(&p->units, line);
  SambaUnitRecord record = {0};
  SambaListingUnit *unit = &p->units.data[p->units.size - 1];

  record.unit = unit->unit;
  p->dtype = SAMBA_DTYPE_I64;
  p->port = NULL;
  SambaStatus status =
      parseFields(p, (SambaRecordId)(SAMBA_RECORD_load + kind), &record, 0, parseUnitSpecial, '\0');
  record.unit.layer = unit->unit.layer;
  if (kind == SAMBA_UNIT_COMPUTE)
    record.unit.compute.program.reduce_mask = unit->unit.compute.program.reduce_mask;
  else if (kind != SAMBA_UNIT_BUFFER)
    record.unit.load_store.symbol = unit->unit.load_store.symbol;
  unit->unit = record.unit;

  return status;
}

static SambaStatus parsePortSpecial(SambaListingParser *p, SambaStringRef label, bool *out_known) {
  SambaListingPort *port = p->port;
  bool streams = sambaStringRefEqualC(label, "streams"),
       value = p->value_allowed && sambaStringRefEqualC(label, "value");
  *out_known = streams || value;
  if (!*out_known)
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "="));
  int64_t number;

  if (value) {
    SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "%"));
    SAMBA_RETURN_IF_ERROR(sambaListingInteger(&p->cursor, 0, UINT16_MAX, "a value", &number));
    port->port.compute.value = (uint32_t)number;
    port->has_value = true;
    return NULL;
  }

  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "["));
  while (!sambaListingTake(&p->cursor, ']')) {
    SambaListingMention mention = {.port = 0, .at = p->cursor.at};
    if (port->streams.size)
      SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, ","));
    SAMBA_RETURN_IF_ERROR(sambaListingName(&p->cursor, p->arena, &mention.name));
    sambaArrayAppend(&port->streams, mention);
  }

  return NULL;
}

static SambaStatus parsePortLine(SambaListingParser *p, bool output, size_t at) {
  if (p->units.size == 0)
    return sambaListingError(&p->cursor, at, "a port before any unit");
  SambaListingUnit *unit = &p->units.data[p->units.size - 1];

  if (!output && unit->ops.size)
    return sambaListingError(&p->cursor, at,
                             "inputs come before lane operations, whose numbers follow theirs");
  SambaListingPort line = {.port = {.block = 1}, .at = at};
  uint32_t index = (uint32_t)(output ? unit->outputs.size : unit->inputs.size);
  SambaRecordId id = sambaListingPortRecord(unit->unit.kind, output, index);
  line.has_access = id == SAMBA_RECORD_dram_port || id == SAMBA_RECORD_buffer_port;
  if (line.has_access)
    line.port.access.replay = 1;
  if (output)
    sambaArrayAppend(&unit->outputs, line);
  else
    sambaArrayAppend(&unit->inputs, line);
  p->port = output ? &unit->outputs.data[index] : &unit->inputs.data[index];
  p->guards_allowed = line.has_access;
  p->value_allowed = id == SAMBA_RECORD_compute_output;
  p->dtype = SAMBA_DTYPE_F32;
  p->has_tokens = p->has_level = false;
  SambaPortRecord record = {.port = line.port};
  bool compute = unit->unit.kind == SAMBA_UNIT_COMPUTE;
  uint32_t counters = compute ? unit->unit.compute.counter_count : 0;
  SAMBA_RETURN_IF_ERROR(parseFields(p, id, &record, counters, parsePortSpecial, '\0'));
  if (p->guards_allowed && !record.port.access.strides && record.port.access.counter_count)
    return sambaListingError(&p->cursor, at, "this port needs strides");
  if (p->guards_allowed && !record.port.access.trips)
    return sambaListingError(&p->cursor, at, "this port needs trips");
  if (compute && !record.port.compute.strides) {
    if (counters)
      return sambaListingError(&p->cursor, at, "this port needs strides");
    record.port.compute.strides = SAMBA_ARENA_ARRAY(p->arena, int64_t, 0);
  }

  if (compute)
    record.port.compute.value = p->port->port.compute.value;
  p->port->port = record.port;
  p->port->has_tokens = p->has_tokens;
  p->port->has_level = p->has_level;

  return NULL;
}

static SambaStatus parseGuardLine(SambaListingParser *p, size_t at) {
  if (!p->port || !p->guards_allowed)
    return sambaListingError(&p->cursor, at,
                             "a guard belongs behind a port with trips and strides");
  SambaGuard guard = {0};
  uint32_t counters = p->port->port.access.counter_count;
  SAMBA_RETURN_IF_ERROR(parseFields(p, SAMBA_RECORD_guard, &guard, counters, NULL, '\0'));
  if (!guard.strides && counters)
    return sambaListingError(&p->cursor, at, "this guard needs strides");
  sambaArrayAppend(&p->port->guards, guard);
  return NULL;
}

static int findOpcode(SambaStringRef name) {
  for (int opcode = 0; opcode < 256; ++opcode)
    if (sambaLaneOpName((uint8_t)opcode) &&
        sambaStringRefEqualC(name, sambaLaneOpName((uint8_t)opcode)))
      return opcode;
  return -1;
}

/* %3 = mul f32 %0, %1 */
static SambaStatus parseOpLine(SambaListingParser *p, size_t at) {
  if (p->units.size == 0 || p->units.data[p->units.size - 1].unit.kind != SAMBA_UNIT_COMPUTE)
    return sambaListingError(&p->cursor, at, "a lane operation outside a compute unit");
  SambaListingUnit *unit = &p->units.data[p->units.size - 1];
  int64_t number;
  int64_t expected = (int64_t)(unit->inputs.size + unit->ops.size);

  SAMBA_RETURN_IF_ERROR(sambaListingInteger(&p->cursor, 0, UINT16_MAX, "a value", &number));
  if (number != expected)
    return sambaListingError(&p->cursor, at,
                             "value %%%" PRId64 ", expected %%%" PRId64
                             ": inputs and operations are numbered in order",
                             number, expected);
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "="));
  sambaListingAtLineEnd(&p->cursor);
  size_t op_at = p->cursor.at;
  SambaStringRef name = sambaListingWord(&p->cursor);
  int opcode = findOpcode(name);
  if (opcode < 0)
    return sambaListingError(&p->cursor, op_at, "unknown lane operation '%.*s'",
                             SAMBA_STRING_ARGS(name));
  SambaDType type, wrapped;
  sambaListingAtLineEnd(&p->cursor);
  SAMBA_RETURN_IF_ERROR(parseDType(p, &type));
  SambaLaneOp op = {.opcode = (uint8_t)opcode, .type = (uint8_t)type};

  for (int i = 0; i < sambaLaneOpOperands(op.opcode); ++i) {
    if (i)
      SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, ","));
    SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "%"));
    SAMBA_RETURN_IF_ERROR(sambaListingInteger(&p->cursor, 0, UINT16_MAX, "a value", &number));
    op.operands[i] = (uint16_t)number;
  }

  if (opcode == SAMBA_LANE_CONSTANT) {
    SAMBA_RETURN_IF_ERROR(parseBits(p, type, &op.immediate));
  } else if (opcode == SAMBA_LANE_COUNTER || opcode == SAMBA_LANE_ARGIN) {
    SAMBA_RETURN_IF_ERROR(sambaListingInteger(&p->cursor, 0, UINT16_MAX, "its number", &number));
    op.immediate = (uint64_t)number;
  } else if (opcode == SAMBA_LANE_WRAP) {
    SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "to"));
    sambaListingAtLineEnd(&p->cursor);
    SAMBA_RETURN_IF_ERROR(parseDType(p, &wrapped));
    op.immediate = wrapped;
  }

  sambaArrayAppend(&unit->ops, op);
  if (!sambaListingAtLineEnd(&p->cursor))
    return sambaListingError(&p->cursor, p->cursor.at, "expected the end of the line");
  return NULL;
}

static SambaStatus parseLine(SambaListingParser *p) {
  size_t at = p->cursor.at;
  if (sambaListingTake(&p->cursor, '%'))
    return parseOpLine(p, at);
  SambaStringRef word = sambaListingWord(&p->cursor);

  for (int kind = SAMBA_UNIT_LOAD; kind <= SAMBA_UNIT_COMPUTE; ++kind)
    if (sambaStringRefEqualC(word, sambaUnitKindName((SambaUnitKind)kind)))
      return parseUnitLine(p, (SambaUnitKind)kind);
  if (sambaStringRefEqualC(word, "symbol"))
    return parseSymbolLine(p);
  if (sambaStringRefEqualC(word, "input") || sambaStringRefEqualC(word, "output"))
    return parsePortLine(p, word.data[0] == 'o', at);
  if (sambaStringRefEqualC(word, "guard"))
    return parseGuardLine(p, at);
  if (sambaStringRefEqualC(word, "stream"))
    return sambaListingParseStream(p, at);
  if (sambaStringRefEqualC(word, "hop"))
    return sambaListingParseHop(p, at);
  return sambaListingError(
      &p->cursor, at,
      "expected symbol, load, store, buffer, compute, input, output, guard, %%value, "
      "stream, hop or }");
}

static SambaStatus parseSection(SambaListingParser *p, SambaSection **out_section) {
  SambaImage image = {0};
  SambaStringRef name;

  sambaListingSkipLines(&p->cursor);
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "section"));
  SAMBA_RETURN_IF_ERROR(sambaListingName(&p->cursor, p->arena, &name));
  SAMBA_RETURN_IF_ERROR(parseFields(p, SAMBA_RECORD_section, &image, 0, NULL, '{'));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "{"));

  for (;;) {
    sambaListingSkipLines(&p->cursor);
    if (p->cursor.at == p->cursor.text.size)
      return sambaListingError(&p->cursor, p->cursor.at, "the text ends before the section's }");
    if (sambaListingTake(&p->cursor, '}'))
      break;
    SAMBA_RETURN_IF_ERROR(parseLine(p));
  }

  SAMBA_RETURN_IF_ERROR(sambaListingFinish(p, out_section));
  (*out_section)->name = name.data;
  (*out_section)->split_k = image.split_k;
  return sambaSectionCheck(*out_section);
}

SambaStatus sambaSectionParse(SambaStringRef text, size_t *position, SambaArena *arena,
                              SambaSection **out_section) {
  SambaListingParser parser = {.cursor = {text, *position}, .arena = arena};
  SambaStatus status = parseSection(&parser, out_section);

  if (!status)
    *position = parser.cursor.at;
  for (size_t i = 0; i < parser.units.size; ++i) {
    SambaListingUnit *unit = &parser.units.data[i];
    for (size_t p = 0; p < unit->inputs.size + unit->outputs.size; ++p) {
      SambaListingPort *port = p < unit->inputs.size ? &unit->inputs.data[p]
                                                     : &unit->outputs.data[p - unit->inputs.size];
      sambaArrayFree(&port->streams);
      sambaArrayFree(&port->guards);
      sambaArrayFree(&port->listed);
    }
    sambaArrayFree(&unit->inputs);
    sambaArrayFree(&unit->outputs);
    sambaArrayFree(&unit->ops);
  }

  sambaArrayFree(&parser.units);
  sambaArrayFree(&parser.symbols);
  sambaArrayFree(&parser.streams);
  sambaArrayFree(&parser.hops);
  sambaArrayFree(&parser.list);
  sambaArrayFree(&parser.bars);

  return status;
}
