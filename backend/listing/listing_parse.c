/* Listings back to sections; see listing.h. Lines fill the same records that the encoder writes,
 * through the same table. */
#include "backend/listing/listing_parser.h"

#include "backend/section/access.h"
#include "backend/section/check/section_check.h"

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
static SambaStatus parseList(SambaListingParser *parser, int64_t minimum, int64_t maximum,
                             const char *what) {
  parser->list.size = parser->bars.size = 0;
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "["));
  bool separated = true;

  while (!sambaListingTake(&parser->cursor, ']')) {
    if (sambaListingTake(&parser->cursor, '|')) {
      sambaArrayAppend(&parser->bars, (uint32_t)parser->list.size);
      separated = true;
      continue;
    }
    if (!separated)
      SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, ","));
    int64_t value;
    SAMBA_RETURN_IF_ERROR(sambaListingInteger(&parser->cursor, minimum, maximum, what, &value));
    if (parser->list.size == SAMBA_MAX_COUNTERS)
      return sambaListingError(&parser->cursor, parser->cursor.at, "a list of more than %d numbers",
                               SAMBA_MAX_COUNTERS);
    sambaArrayAppend(&parser->list, value);
    separated = false;
  }

  return NULL;
}

static SambaStatus parseTrips(SambaListingParser *parser, const SambaRecordRow *row,
                              SambaRecordId id, void *structure) {
  size_t at = parser->cursor.at;
  SAMBA_RETURN_IF_ERROR(parseList(parser, 1, UINT32_MAX, "a trip count"));
  uint32_t *trips = SAMBA_ARENA_ARRAY(parser->arena, uint32_t, parser->list.size);

  for (size_t i = 0; i < parser->list.size; ++i)
    trips[i] = (uint32_t)parser->list.data[i];
  sambaMemberSetPointer(structure, row->member, trips);
  sambaMemberSet(structure, row->count, parser->list.size);
  bool buffer = id == SAMBA_RECORD_buffer_port;
  if (parser->bars.size < 1 || parser->bars.size > 1u + buffer)
    return sambaListingError(
        &parser->cursor, at, "expected %s between the trip counts, found %zu",
        buffer ? "one or two bars (slots | tokens | elements, or slots | elements)"
               : "one bar (tokens | elements)",
        parser->bars.size);
  if (id == SAMBA_RECORD_compute) {
    ((SambaUnitRecord *)structure)->unit.compute.token_level = parser->bars.data[0];
    return NULL;
  }

  SambaAccess *access = &((SambaPortRecord *)structure)->port.access;
  access->slot_level = buffer ? parser->bars.data[0] : 0;
  access->token_level = parser->bars.data[parser->bars.size - 1];
  return NULL;
}

static SambaStatus parseStrides(SambaListingParser *parser, const SambaRecordRow *row,
                                void *structure, uint32_t counters) {
  size_t at = parser->cursor.at;
  SAMBA_RETURN_IF_ERROR(parseList(parser, INT64_MIN, INT64_MAX, "a stride"));
  if (parser->list.size != counters)
    return sambaListingError(&parser->cursor, at,
                             "%zu strides, but the chain has %u counters (trips come first)",
                             parser->list.size, counters);
  sambaMemberSetPointer(structure, row->member,
                        sambaArenaCopy(parser->arena, parser->list.data,
                                       parser->list.size * sizeof *parser->list.data));
  return NULL;
}

static SambaStatus parseDType(SambaListingParser *parser, SambaDType *out_dtype) {
  size_t at = parser->cursor.at;
  SambaStringRef word = sambaListingWord(&parser->cursor);
  *out_dtype = sambaDTypeFromName(word.data, word.size);
  if (*out_dtype != SAMBA_DTYPE_COUNT)
    return NULL;
  return sambaListingError(
      &parser->cursor, at,
      "expected an element type (f32, bf16, f16, i1, i8, ui8, i16, i32 or i64)");
}

static SambaStatus parseBits(SambaListingParser *parser, SambaDType dtype, uint64_t *out_bits) {
  sambaListingAtLineEnd(&parser->cursor);
  size_t start = parser->cursor.at;

  if (!sambaListingTake(&parser->cursor, '-'))
    sambaListingTake(&parser->cursor, '+');
  sambaListingWord(&parser->cursor);

  /* An exponent's sign splits the word: 1e-05. */
  const char *at = parser->cursor.text.data + parser->cursor.at;
  if (parser->cursor.at > start && parser->cursor.at < parser->cursor.text.size &&
      (*at == '+' || *at == '-') && (at[-1] == 'e' || at[-1] == 'E')) {
    ++parser->cursor.at;
    sambaListingWord(&parser->cursor);
  }

  SambaStringRef text = {parser->cursor.text.data + start, parser->cursor.at - start};
  if (sambaListingParseBits(dtype, text, out_bits))
    return NULL;
  return sambaListingError(&parser->cursor, start,
                           "expected a value of type %s, or its bits as 0x..., found '%.*s'",
                           sambaDTypeName(dtype), SAMBA_STRING_ARGS(text));
}

static SambaStatus parseFieldValue(SambaListingParser *parser, const SambaRecordRow *row,
                                   void *structure) {
  const char *label = sambaRecordRowLabel(row);
  size_t at = parser->cursor.at;
  int64_t number;
  uint64_t bits;
  SambaDType dtype;

  switch (row->kind) {
  case 'B': {
    SambaStringRef word = sambaListingWord(&parser->cursor);
    bool yes = sambaStringRefEqualC(word, "yes");
    if (!yes && !sambaStringRefEqualC(word, "no"))
      return sambaListingError(&parser->cursor, at, "%s is yes or no", label);
    sambaMemberSet(structure, row->member, yes);
    return NULL;
  }
  case 'G': {
    SambaBanking banking = sambaBankingFromName(sambaListingWord(&parser->cursor));
    if (banking == SAMBA_BANKING_COUNT)
      return sambaListingError(&parser->cursor, at, "%s is column, row or diagonal", label);
    sambaMemberSet(structure, row->member, banking);
    return NULL;
  }
  case 'D':
    SAMBA_RETURN_IF_ERROR(parseDType(parser, &dtype));
    sambaMemberSet(structure, row->member, dtype);
    parser->dtype = dtype;
    return NULL;
  case 'X':
    SAMBA_RETURN_IF_ERROR(parseBits(parser, parser->dtype, &bits));
    sambaMemberSet(structure, row->member, bits);
    return NULL;
  case 'S':
    SAMBA_RETURN_IF_ERROR(sambaListingInteger(&parser->cursor, -(INT64_C(1) << (row->bits - 1)),
                                              (INT64_C(1) << (row->bits - 1)) - 1, label, &number));
    sambaMemberSet(structure, row->member, (uint64_t)number);
    return NULL;
  default:
    SAMBA_RETURN_IF_ERROR(
        sambaListingInteger(&parser->cursor, 0, (INT64_C(1) << row->bits) - 1, label, &number));
    sambaMemberSet(structure, row->member, (uint64_t)number);
    return NULL;
  }
}

/* What follows label=, in the form of its row. */
static SambaStatus parseRow(SambaListingParser *parser, const SambaRecordRow *row, SambaRecordId id,
                            void *structure, uint32_t counters) {
  switch (row->form) {
  case SAMBA_ROW_TRIPS:
    return parseTrips(parser, row, id, structure);
  case SAMBA_ROW_STRIDES:
    if (id == SAMBA_RECORD_dram_port || id == SAMBA_RECORD_buffer_port)
      counters = ((SambaPortRecord *)structure)->port.access.counter_count;
    return parseStrides(parser, row, structure, counters);
  default:
    return parseFieldValue(parser, row, structure);
  }
}

/* The rest of a line, up to `stop` if that is not NUL: name=value ... */
static SambaStatus parseFields(SambaListingParser *parser, SambaRecordId id, void *structure,
                               uint32_t counters, SpecialField special, char stop) {
  while (!sambaListingAtLineEnd(&parser->cursor) &&
         !(stop && parser->cursor.text.data[parser->cursor.at] == stop)) {
    size_t at = parser->cursor.at;
    SambaStringRef label = sambaListingWord(&parser->cursor);
    bool known = false;
    if (label.size) {
      const SambaRecordRow *row = findRow(id, label);
      known = row != NULL;
      if (row) {
        SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "="));
        sambaListingAtLineEnd(&parser->cursor);
        if (sambaStringRefEqualC(label, "token_elements"))
          parser->has_tokens = true;
        if (sambaStringRefEqualC(label, "level"))
          parser->has_level = true;
        SAMBA_RETURN_IF_ERROR(parseRow(parser, row, id, structure, counters));
      } else if (special) {
        SAMBA_RETURN_IF_ERROR(special(parser, label, &known));
      }
    }
    if (!known)
      return sambaListingError(&parser->cursor, at, "unknown field '%.*s' of %s",
                               SAMBA_STRING_ARGS(label), sambaRecordGet(id)->name);
  }

  return NULL;
}

static SambaStatus parseSymbolLine(SambaListingParser *parser) {
  SambaFormal formal = {0};
  SambaStringRef name;
  SAMBA_RETURN_IF_ERROR(sambaListingName(&parser->cursor, parser->arena, &name));
  formal.name = name.data;
  SAMBA_RETURN_IF_ERROR(parseFields(parser, SAMBA_RECORD_symbol, &formal, 0, NULL, '\0'));
  sambaArrayAppend(&parser->symbols, formal);
  return NULL;
}

/* By name or number. */
static SambaStatus parseSymbolReference(SambaListingParser *parser, uint32_t *out_symbol) {
  sambaListingAtLineEnd(&parser->cursor);
  size_t at = parser->cursor.at;

  if (at < parser->cursor.text.size && parser->cursor.text.data[at] >= '0' &&
      parser->cursor.text.data[at] <= '9') {
    int64_t number;
    SAMBA_RETURN_IF_ERROR(sambaListingInteger(&parser->cursor, 0, UINT32_MAX, "a symbol", &number));
    *out_symbol = (uint32_t)number;
    return NULL;
  }

  SambaStringRef name;
  SAMBA_RETURN_IF_ERROR(sambaListingName(&parser->cursor, parser->arena, &name));
  for (size_t i = 0; i < parser->symbols.size; ++i)
    if (sambaStringRefEqualC(name, parser->symbols.data[i].name)) {
      *out_symbol = (uint32_t)i;
      return NULL;
    }
  return sambaListingError(&parser->cursor, at, "no symbol '%.*s' above", SAMBA_STRING_ARGS(name));
}

static SambaStatus parseUnitSpecial(SambaListingParser *parser, SambaStringRef label,
                                    bool *out_known) {
  SambaUnit *unit = &parser->units.data[parser->units.size - 1].unit;
  bool memory = sambaUnitIsAddressGenerator(unit);
  bool symbol = memory && sambaStringRefEqualC(label, "symbol"),
       layer = sambaStringRefEqualC(label, "layer");
  bool reduce = unit->kind == SAMBA_UNIT_COMPUTE && sambaStringRefEqualC(label, "reduce");

  *out_known = symbol || layer || reduce;
  if (!*out_known)
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "="));
  if (symbol)
    return parseSymbolReference(parser, &unit->load_store.symbol);
  if (reduce) {
    SAMBA_RETURN_IF_ERROR(parseList(parser, 0, SAMBA_MAX_COUNTERS - 1, "a counter"));
    for (size_t i = 0; i < parser->list.size; ++i)
      unit->compute.program.reduce_mask |= UINT64_C(1) << parser->list.data[i];
    return NULL;
  }

  SambaStringRef name;
  SAMBA_RETURN_IF_ERROR(sambaListingName(&parser->cursor, parser->arena, &name));
  unit->layer = name.data;
  return NULL;
}

static SambaStatus parseUnitLine(SambaListingParser *parser, SambaUnitKind kind) {
  SambaStringRef name;
  SAMBA_RETURN_IF_ERROR(sambaListingName(&parser->cursor, parser->arena, &name));
  SambaListingUnit line = {.unit = sambaUnitMake(kind, name.data, "")};
  sambaArrayAppend(&parser->units, line);
  SambaUnitRecord record = {0};
  SambaListingUnit *unit = &parser->units.data[parser->units.size - 1];

  record.unit = unit->unit;
  parser->dtype = SAMBA_DTYPE_I64;
  parser->port = NULL;
  SambaStatus status = parseFields(parser, (SambaRecordId)(SAMBA_RECORD_load + kind), &record, 0,
                                   parseUnitSpecial, '\0');
  record.unit.layer = unit->unit.layer;
  if (kind == SAMBA_UNIT_COMPUTE)
    record.unit.compute.program.reduce_mask = unit->unit.compute.program.reduce_mask;
  else if (kind != SAMBA_UNIT_BUFFER)
    record.unit.load_store.symbol = unit->unit.load_store.symbol;
  unit->unit = record.unit;

  return status;
}

static SambaStatus parsePortSpecial(SambaListingParser *parser, SambaStringRef label,
                                    bool *out_known) {
  SambaListingPort *port = parser->port;
  bool streams = sambaStringRefEqualC(label, "streams"),
       value = parser->value_allowed && sambaStringRefEqualC(label, "value");
  *out_known = streams || value;
  if (!*out_known)
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "="));
  int64_t number;

  if (value) {
    SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "%"));
    SAMBA_RETURN_IF_ERROR(sambaListingInteger(&parser->cursor, 0, UINT16_MAX, "a value", &number));
    port->port.compute.value = (uint32_t)number;
    port->has_value = true;
    return NULL;
  }

  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "["));
  while (!sambaListingTake(&parser->cursor, ']')) {
    SambaListingMention mention = {.port = 0, .at = parser->cursor.at};
    if (port->streams.size)
      SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, ","));
    SAMBA_RETURN_IF_ERROR(sambaListingName(&parser->cursor, parser->arena, &mention.name));
    sambaArrayAppend(&port->streams, mention);
  }

  return NULL;
}

static SambaStatus parsePortLine(SambaListingParser *parser, bool output, size_t at) {
  if (parser->units.size == 0)
    return sambaListingError(&parser->cursor, at, "a port before any unit");
  SambaListingUnit *unit = &parser->units.data[parser->units.size - 1];

  if (!output && unit->ops.size)
    return sambaListingError(&parser->cursor, at,
                             "inputs come before lane operations, whose numbers follow theirs");
  SambaListingPort line = {.port = {.block = 1}, .at = at};
  uint32_t index = (uint32_t)(output ? unit->outputs.size : unit->inputs.size);
  SambaRecordId id = sambaListingPortRecord(unit->unit.kind, output, index);
  line.has_access = id == SAMBA_RECORD_dram_port || id == SAMBA_RECORD_buffer_port;
  if (output)
    sambaArrayAppend(&unit->outputs, line);
  else
    sambaArrayAppend(&unit->inputs, line);
  parser->port = output ? &unit->outputs.data[index] : &unit->inputs.data[index];
  parser->guards_allowed = line.has_access;
  parser->value_allowed = id == SAMBA_RECORD_compute_output;
  parser->dtype = SAMBA_DTYPE_F32;
  parser->has_tokens = parser->has_level = false;
  SambaPortRecord record = {.port = line.port};
  bool compute = unit->unit.kind == SAMBA_UNIT_COMPUTE;
  uint32_t counters = compute ? unit->unit.compute.counter_count : 0;
  SAMBA_RETURN_IF_ERROR(parseFields(parser, id, &record, counters, parsePortSpecial, '\0'));
  if (parser->guards_allowed && !record.port.access.strides && record.port.access.counter_count)
    return sambaListingError(&parser->cursor, at, "this port needs strides");
  if (parser->guards_allowed && !record.port.access.trips)
    return sambaListingError(&parser->cursor, at, "this port needs trips");
  if (compute && !record.port.compute.strides) {
    if (counters)
      return sambaListingError(&parser->cursor, at, "this port needs strides");
    record.port.compute.strides = SAMBA_ARENA_ARRAY(parser->arena, int64_t, 0);
  }

  if (compute)
    record.port.compute.value = parser->port->port.compute.value;
  parser->port->port = record.port;
  parser->port->has_tokens = parser->has_tokens;
  parser->port->has_level = parser->has_level;

  return NULL;
}

static SambaStatus parseGuardLine(SambaListingParser *parser, size_t at) {
  if (!parser->port || !parser->guards_allowed)
    return sambaListingError(&parser->cursor, at,
                             "a guard belongs behind a port with trips and strides");
  SambaGuard guard = {0};
  uint32_t counters = parser->port->port.access.counter_count;
  SAMBA_RETURN_IF_ERROR(parseFields(parser, SAMBA_RECORD_guard, &guard, counters, NULL, '\0'));
  if (!guard.strides && counters)
    return sambaListingError(&parser->cursor, at, "this guard needs strides");
  sambaArrayAppend(&parser->port->guards, guard);
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
static SambaStatus parseOpLine(SambaListingParser *parser, size_t at) {
  if (parser->units.size == 0 ||
      parser->units.data[parser->units.size - 1].unit.kind != SAMBA_UNIT_COMPUTE)
    return sambaListingError(&parser->cursor, at, "a lane operation outside a compute unit");
  SambaListingUnit *unit = &parser->units.data[parser->units.size - 1];
  int64_t number;
  int64_t expected = (int64_t)(unit->inputs.size + unit->ops.size);

  SAMBA_RETURN_IF_ERROR(sambaListingInteger(&parser->cursor, 0, UINT16_MAX, "a value", &number));
  if (number != expected)
    return sambaListingError(
        &parser->cursor, at,
        "value %%%lld, expected %%%lld: inputs and operations are numbered in order",
        (long long)number, (long long)expected);
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "="));
  sambaListingAtLineEnd(&parser->cursor);
  size_t op_at = parser->cursor.at;
  SambaStringRef name = sambaListingWord(&parser->cursor);
  int opcode = findOpcode(name);
  if (opcode < 0)
    return sambaListingError(&parser->cursor, op_at, "unknown lane operation '%.*s'",
                             SAMBA_STRING_ARGS(name));
  SambaDType type, wrapped;
  sambaListingAtLineEnd(&parser->cursor);
  SAMBA_RETURN_IF_ERROR(parseDType(parser, &type));
  SambaLaneOp op = {.opcode = (uint8_t)opcode, .type = (uint8_t)type};

  for (int i = 0; i < sambaLaneOpOperands(op.opcode); ++i) {
    if (i)
      SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, ","));
    SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "%"));
    SAMBA_RETURN_IF_ERROR(sambaListingInteger(&parser->cursor, 0, UINT16_MAX, "a value", &number));
    op.operands[i] = (uint16_t)number;
  }

  if (opcode == SAMBA_LANE_CONSTANT) {
    SAMBA_RETURN_IF_ERROR(parseBits(parser, type, &op.immediate));
  } else if (opcode == SAMBA_LANE_COUNTER || opcode == SAMBA_LANE_ARGIN) {
    SAMBA_RETURN_IF_ERROR(
        sambaListingInteger(&parser->cursor, 0, UINT16_MAX, "its number", &number));
    op.immediate = (uint64_t)number;
  } else if (opcode == SAMBA_LANE_WRAP) {
    SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "to"));
    sambaListingAtLineEnd(&parser->cursor);
    SAMBA_RETURN_IF_ERROR(parseDType(parser, &wrapped));
    op.immediate = wrapped;
  }

  sambaArrayAppend(&unit->ops, op);
  if (!sambaListingAtLineEnd(&parser->cursor))
    return sambaListingError(&parser->cursor, parser->cursor.at, "expected the end of the line");
  return NULL;
}

static SambaStatus parseLine(SambaListingParser *parser) {
  size_t at = parser->cursor.at;
  if (sambaListingTake(&parser->cursor, '%'))
    return parseOpLine(parser, at);
  SambaStringRef word = sambaListingWord(&parser->cursor);

  for (int kind = SAMBA_UNIT_LOAD; kind <= SAMBA_UNIT_COMPUTE; ++kind)
    if (sambaStringRefEqualC(word, sambaUnitKindName((SambaUnitKind)kind)))
      return parseUnitLine(parser, (SambaUnitKind)kind);
  if (sambaStringRefEqualC(word, "symbol"))
    return parseSymbolLine(parser);
  if (sambaStringRefEqualC(word, "input") || sambaStringRefEqualC(word, "output"))
    return parsePortLine(parser, word.data[0] == 'o', at);
  if (sambaStringRefEqualC(word, "guard"))
    return parseGuardLine(parser, at);
  if (sambaStringRefEqualC(word, "stream"))
    return sambaListingParseStream(parser, at);
  if (sambaStringRefEqualC(word, "hop"))
    return sambaListingParseHop(parser, at);
  return sambaListingError(
      &parser->cursor, at,
      "expected symbol, load, store, buffer, compute, input, output, guard, %%value, "
      "stream, hop or }");
}

static SambaStatus parseSection(SambaListingParser *parser, SambaSection **out_section) {
  SambaImage image = {0};
  SambaStringRef name;

  sambaListingSkipLines(&parser->cursor);
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "section"));
  SAMBA_RETURN_IF_ERROR(sambaListingName(&parser->cursor, parser->arena, &name));
  SAMBA_RETURN_IF_ERROR(parseFields(parser, SAMBA_RECORD_section, &image, 0, NULL, '{'));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "{"));

  for (;;) {
    sambaListingSkipLines(&parser->cursor);
    if (parser->cursor.at == parser->cursor.text.size)
      return sambaListingError(&parser->cursor, parser->cursor.at,
                               "the text ends before the section's }");
    if (sambaListingTake(&parser->cursor, '}'))
      break;
    SAMBA_RETURN_IF_ERROR(parseLine(parser));
  }

  SAMBA_RETURN_IF_ERROR(sambaListingFinish(parser, out_section));
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
