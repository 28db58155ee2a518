/* A section as text; see listing.h. Fields are printed by their rows in the record table, so a new
 * field prints itself. */
#include "backend/listing/listing_internal.h"

#include "support/text/text.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Printer {
  const SambaSection *section;
  void (*write)(const char *data, size_t size, void *user);
  void *user;
  SambaText line;
} Printer;

#define put(printer, ...) sambaTextFormat(&(printer)->line, __VA_ARGS__)

static void endLine(Printer *printer) {
  put(printer, "\n");
  printer->write(printer->line.data, printer->line.size, printer->user);
  sambaTextClear(&printer->line);
}

static void putName(Printer *printer, const char *name) {
  if (sambaListingNameIsBare(sambaStringRef(name))) {
    put(printer, "%s", name);
    return;
  }
  put(printer, "\"");
  for (const unsigned char *c = (const unsigned char *)name; *c; ++c)
    if (*c == '"' || *c == '\\')
      put(printer, "\\%c", *c);
    else if (*c < 0x20 || *c >= 0x7f)
      put(printer, "\\x%02x", *c);
    else
      put(printer, "%c", *c);
  put(printer, "\"");
}

static bool symbolNameIsUnique(const SambaSection *section, uint32_t symbol) {
  uint32_t same = 0;
  for (uint32_t i = 0; i < section->symbol_count; ++i)
    same += strcmp(section->symbols[i].name, section->symbols[symbol].name) == 0;
  return same == 1;
}

static void putField(Printer *printer, const SambaRecordRow *row, const void *structure,
                     SambaDType dtype) {
  const char *label = sambaRecordRowLabel(row);
  uint64_t value = sambaMemberGet(structure, row->member, row->kind == 'S' || row->kind == 'U');
  char text[40];
  bool is_one = strcmp(label, "block") == 0;
  bool always = row->kind == 'D' || strcmp(label, "token_elements") == 0 ||
                strcmp(label, "level") == 0 || strcmp(label, "x") == 0 || strcmp(label, "y") == 0 ||
                strcmp(label, "ag") == 0;
  if ((!always && value == is_one) || (is_one && value == 0))
    return;

  switch (row->kind) {
  case 'D':
    put(printer, " %s=%s", label, sambaDTypeName((SambaDType)value));
    break;
  case 'B':
    put(printer, " %s=yes", label);
    break;
  case 'G':
    put(printer, " %s=%s", label, sambaBankingName((SambaBanking)value));
    break;
  case 'X':
    if (dtype < SAMBA_DTYPE_COUNT)
      sambaListingFormatBits(dtype, value, text);
    else
      snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    put(printer, " %s=%s", label, text);
    break;
  default:
    if (always && (int64_t)value < 0) /* not placed */
      return;
    put(printer, " %s=%lld", label, (long long)value);
    break;
  }
}

/* levels: after how many numbers a bar stands, ascending. */
static void putList(Printer *printer, const char *label, uint32_t count, const uint32_t *trips,
                    const int64_t *strides, const uint32_t *levels, uint32_t level_count) {
  put(printer, " %s=[", label);
  for (uint32_t c = 0, level = 0; c <= count; ++c) {
    const char *separator = c && c < count ? ", " : "";
    for (; level < level_count && levels[level] == c; ++level, separator = c < count ? " " : "")
      put(printer, c ? " |" : "|");
    put(printer, "%s", separator);
    if (c < count && trips)
      put(printer, "%u", trips[c]);
    else if (c < count)
      put(printer, "%lld", (long long)strides[c]);
  }
  put(printer, "]");
}

/* All fields, lists included, of one record on the current line. */
static void putRecord(Printer *printer, SambaRecordId id, const void *structure, SambaDType dtype,
                      uint32_t counters, const uint32_t *levels, uint32_t level_count) {
  const SambaRecord *record = sambaRecordGet(id);
  for (uint32_t i = 0; i < record->row_count; ++i) {
    const SambaRecordRow *row = &record->rows[i];
    if (row->form == SAMBA_ROW_FIELD && !sambaListingFieldIsImplied(row))
      putField(printer, row, structure, dtype);
    else if (row->form == SAMBA_ROW_TRIPS || row->form == SAMBA_ROW_STRIDES)
      putList(printer, sambaRecordRowLabel(row), counters,
              row->form == SAMBA_ROW_TRIPS ? sambaMemberGetPointer(structure, row->member) : NULL,
              row->form == SAMBA_ROW_STRIDES ? sambaMemberGetPointer(structure, row->member) : NULL,
              levels, level_count);
  }
}

static void putStreams(Printer *printer, const SambaPort *port) {
  bool ascending = true;
  for (uint32_t i = 1; i < port->stream_count; ++i)
    ascending &= port->streams[i - 1] < port->streams[i];
  if (ascending)
    return;
  put(printer, " streams=[");
  for (uint32_t i = 0; i < port->stream_count; ++i)
    put(printer, "%ss%u", i ? ", " : "", port->streams[i]);
  put(printer, "]");
}

static void printPort(Printer *printer, const SambaUnit *unit, bool output, uint32_t index) {
  const SambaPort *port = output ? &unit->outputs[index] : &unit->inputs[index];
  SambaRecordId id = sambaListingPortRecord(unit->kind, output, index);
  SambaPortRecord record = {.port = *port};
  bool compute = unit->kind == SAMBA_UNIT_COMPUTE;
  const SambaAccess *access = &port->access;
  uint32_t levels[2] = {compute ? unit->compute.token_level : access->token_level, 0};
  uint32_t levelCount = 1;
  uint32_t counters = compute ? unit->compute.counter_count : access->counter_count;

  if (unit->kind == SAMBA_UNIT_BUFFER) {
    levels[0] = access->slot_level;
    levels[1] = access->token_level;
    levelCount = 2;
  }

  put(printer, "    %s", output ? "output" : "input");
  if (id == SAMBA_RECORD_compute_output)
    put(printer, " value=%%%u", port->compute.value);
  putRecord(printer, id, &record, port->dtype, counters, levels, levelCount);
  putStreams(printer, port);
  endLine(printer);

  for (uint32_t g = 0; !compute && id != SAMBA_RECORD_plain_port && g < access->guard_count; ++g) {
    put(printer, "      guard");
    putRecord(printer, SAMBA_RECORD_guard, &access->guards[g], port->dtype, counters, levels,
              levelCount);
    endLine(printer);
  }
}

static void printOp(Printer *printer, uint32_t value, const SambaLaneOp *op) {
  char text[40];
  put(printer, "    %%%u = %s %s", value, sambaLaneOpName(op->opcode),
      sambaDTypeName((SambaDType)op->type));
  for (int i = 0; i < sambaLaneOpOperands(op->opcode); ++i)
    put(printer, "%s %%%u", i ? "," : "", op->operands[i]);
  if (op->opcode == SAMBA_LANE_CONSTANT) {
    sambaListingFormatBits((SambaDType)op->type, op->immediate, text);
    put(printer, " %s", text);
  } else if (op->opcode == SAMBA_LANE_COUNTER || op->opcode == SAMBA_LANE_ARGIN) {
    put(printer, " %llu", (unsigned long long)op->immediate);
  } else if (op->opcode == SAMBA_LANE_WRAP) {
    put(printer, " to %s", sambaDTypeName((SambaDType)op->immediate));
  }

  endLine(printer);
}

static void putReduce(Printer *printer, uint64_t mask) {
  if (!mask)
    return;
  const char *separator = "";
  put(printer, " reduce=[");
  for (uint32_t c = 0; c < 64; ++c)
    if (mask >> c & 1) {
      put(printer, "%s%u", separator, c);
      separator = ", ";
    }
  put(printer, "]");
}

static void printUnit(Printer *printer, const SambaUnit *unit) {
  put(printer, "  %s ", sambaUnitKindName(unit->kind));
  putName(printer, unit->name);
  if (sambaUnitIsAddressGenerator(unit)) {
    put(printer, " symbol=");
    if (symbolNameIsUnique(printer->section, unit->load_store.symbol))
      putName(printer, printer->section->symbols[unit->load_store.symbol].name);
    else
      put(printer, "%u", unit->load_store.symbol);
  }

  SambaUnitRecord record = {.unit = *unit};
  putRecord(printer, (SambaRecordId)(SAMBA_RECORD_load + unit->kind), &record, SAMBA_DTYPE_COUNT,
            unit->compute.counter_count, &unit->compute.token_level, 1);
  if (unit->kind == SAMBA_UNIT_COMPUTE)
    putReduce(printer, unit->compute.program.reduce_mask);
  if (unit->layer[0]) {
    put(printer, " layer=");
    putName(printer, unit->layer);
  }

  endLine(printer);
  for (uint32_t p = 0; p < unit->input_count; ++p)
    printPort(printer, unit, false, p);
  for (uint32_t i = 0; unit->kind == SAMBA_UNIT_COMPUTE && i < unit->compute.program.op_count; ++i)
    printOp(printer, unit->input_count + i, &unit->compute.program.ops[i]);
  for (uint32_t p = 0; p < unit->output_count; ++p)
    printPort(printer, unit, true, p);
}

/* Endpoints name units by name when that is unique, else by number. */
static void putEndpoint(Printer *printer, SambaEndpoint endpoint, bool output, const bool *unique) {
  if (unique[endpoint.unit])
    putName(printer, printer->section->units[endpoint.unit].name);
  else
    put(printer, "%u", endpoint.unit);
  put(printer, ".%s%u", output ? "out" : "in", endpoint.port);
}

static void putSwitchLane(Printer *printer, const SambaSwitchLane *lane) {
  put(printer, " %s",
      sambaSwitchPortName(lane->port) ? sambaSwitchPortName(lane->port) : "invalid");
  if (lane->port == SAMBA_SWITCH_AG)
    put(printer, " %u", lane->ag);
  put(printer, " lane %u flow %u", lane->lane, lane->flow);
}

static void printStream(Printer *printer, uint32_t index, const bool *unique) {
  const SambaStream *stream = &printer->section->streams[index];
  put(printer, "  stream s%u %s ", index, sambaStreamKindName(stream->kind));
  putEndpoint(printer, stream->source, true, unique);

  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    put(printer, d ? ", " : " -> ");
    putEndpoint(printer, stream->destinations[d], false, unique);
  }

  endLine(printer);
  for (uint32_t h = 0; h < stream->hop_count; ++h) {
    put(printer, "    hop (%d, %d)", stream->hops[h].x, stream->hops[h].y);
    putSwitchLane(printer, &stream->hops[h].in);
    put(printer, " ->");
    putSwitchLane(printer, &stream->hops[h].out);
    endLine(printer);
  }
}

typedef struct NamedUnit {
  const char *name;
  uint32_t unit;
} NamedUnit;

static int compareNames(const void *a, const void *b) {
  return strcmp(((const NamedUnit *)a)->name, ((const NamedUnit *)b)->name);
}

static bool *findUniqueNames(const SambaSection *section) {
  bool *unique = sambaAllocateZeroed(section->unit_count, sizeof *unique);
  NamedUnit *names = sambaAllocateZeroed(section->unit_count, sizeof *names);
  for (uint32_t i = 0; i < section->unit_count; ++i)
    names[i] = (NamedUnit){section->units[i].name, i};
  if (section->unit_count)
    qsort(names, section->unit_count, sizeof *names, compareNames);
  for (uint32_t i = 0; i < section->unit_count; ++i)
    unique[names[i].unit] =
        !(i > 0 && compareNames(&names[i], &names[i - 1]) == 0) &&
        !(i + 1 < section->unit_count && compareNames(&names[i], &names[i + 1]) == 0);
  free(names);
  return unique;
}

void sambaSectionPrint(const SambaSection *section,
                       void (*write)(const char *data, size_t size, void *user), void *user) {
  Printer printer = {.section = section, .write = write, .user = user};
  bool *unique = findUniqueNames(section);

  put(&printer, "section ");
  putName(&printer, section->name);
  if (section->split_k)
    put(&printer, " split_k=yes");
  put(&printer, " {");
  endLine(&printer);

  for (uint32_t i = 0; i < section->symbol_count; ++i) {
    put(&printer, "  symbol ");
    putName(&printer, section->symbols[i].name);
    putRecord(&printer, SAMBA_RECORD_symbol, &section->symbols[i], SAMBA_DTYPE_COUNT, 0, NULL, 0);
    endLine(&printer);
  }

  for (uint32_t i = 0; i < section->unit_count; ++i)
    printUnit(&printer, &section->units[i]);
  for (uint32_t i = 0; i < section->stream_count; ++i)
    printStream(&printer, i, unique);
  put(&printer, "}");
  endLine(&printer);
  free(unique);
  sambaTextFree(&printer.line);
}
