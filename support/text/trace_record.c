/* Trace records and their comparison; see trace_record.h. */
#include "support/text/trace_record.h"

#include "support/text/text.h"

uint32_t sambaTraceRecordGetLineCount(const SambaTraceRecord *record) { return record->line_count; }

const char *sambaTraceRecordGetLine(const SambaTraceRecord *record, uint32_t line) {
  return record->lines[line];
}

const char *sambaTraceRecordGetLayer(const SambaTraceRecord *record, uint32_t line) {
  return record->layers ? record->layers[line] : "";
}

const uint8_t *sambaTraceRecordGetDigest(const SambaTraceRecord *record) { return record->digest; }

/* ---- Comparison ---- */

static const char optimizer[] = "optimizer ";
static const char loss[] = "loss ";
static const char update[] = "update ";
static const char gradient[] = " requires_grad";
static const char buffer[] = " = buffer ", weight[] = " = weight ";
static const char region[] = " region ";

static bool startsWith(SambaStringRef line, const char *start) {
  size_t size = strlen(start);
  return line.size >= size && memcmp(line.data, start, size) == 0;
}

static SambaStringRef skip(SambaStringRef text, size_t size) {
  return (SambaStringRef){text.data + size, text.size - size};
}

/* The next line of the compiled record, without its newline; false at the end. */
static bool takeLine(SambaStringRef *rest, SambaStringRef *out_line) {
  if (!rest->size)
    return false;
  const char *end = memchr(rest->data, '\n', rest->size);
  size_t size = end ? (size_t)(end - rest->data) : rest->size;
  *out_line = (SambaStringRef){rest->data, size};
  size_t taken = size + (end != NULL);
  *rest = (SambaStringRef){rest->data + taken, rest->size - taken};
  return true;
}

static bool compiledHas(SambaStringRef compiled, const char *start) {
  SambaStringRef line;
  while (takeLine(&compiled, &line))
    if (startsWith(line, start))
      return true;
  return false;
}

static bool tracedHas(const SambaTraceRecord *traced, const char *start) {
  for (uint32_t i = 0; i < traced->line_count; ++i)
    if (startsWith(sambaStringRef(traced->lines[i]), start))
      return true;
  return false;
}

/* The line as inference has it: a loss is an output, nothing wants a gradient, a buffer is a weight
 * and its update an output. */
static SambaStringRef forwardLine(SambaArena *arena, SambaStringRef line) {
  static const struct {
    const char *training, *inference;
  } starts[] = {{loss, "output "}, {update, "output "}};
  SambaText text = {0};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; ++i)
    if (startsWith(line, starts[i].training)) {
      sambaTextAppendC(&text, starts[i].inference);
      line = skip(line, strlen(starts[i].training));
      for (size_t at = 0; at < line.size; ++at)
        if (startsWith(skip(line, at), region))
          line.size = at;
    }

  size_t equals = 0;
  while (equals < line.size && !startsWith(skip(line, equals), buffer))
    ++equals;
  if (equals < line.size) {
    sambaTextAppend(&text, line.data, equals);
    sambaTextAppendC(&text, weight);
    line = skip(line, equals + strlen(buffer));
  }
  size_t ending = strlen(gradient);
  bool wants = line.size > ending && memcmp(line.data + line.size - ending, gradient, ending) == 0;
  sambaTextAppend(&text, line.data, line.size - (wants ? ending : 0));
  size_t size = text.size;
  return (SambaStringRef){sambaTextToArena(&text, arena), size};
}

typedef struct {
  SambaStringRef rest; /* of the compiled record */
  const SambaTraceRecord *traced;
  uint32_t at; /* line of the trace */
  bool forward_only;
  SambaArena arena;
} Comparison;

/* The next line of the compiled record that counts; an empty one at the end. */
static SambaStringRef takeExpected(Comparison *comparison) {
  SambaStringRef line;
  while (takeLine(&comparison->rest, &line))
    if (!comparison->forward_only || !startsWith(line, optimizer))
      return line;
  return (SambaStringRef){0};
}

/* The next line of the trace, which stays the next one; an empty one at the end. */
static SambaStringRef nextFound(Comparison *comparison) {
  const SambaTraceRecord *traced = comparison->traced;
  while (comparison->forward_only && comparison->at < traced->line_count &&
         startsWith(sambaStringRef(traced->lines[comparison->at]), optimizer))
    ++comparison->at;
  return comparison->at < traced->line_count ? sambaStringRef(traced->lines[comparison->at])
                                             : (SambaStringRef){0};
}

static SambaStatus refuse(const Comparison *comparison, uint32_t line, SambaStringRef expected,
                          SambaStringRef found) {
  static const char nothing[] = "the end";
  const SambaTraceRecord *traced = comparison->traced;
  SambaStatus status = sambaStatusMake(
      SAMBA_INVALID,
      "the model is not the one that was compiled: line %u of its trace differs; compile it again",
      line);
  expected = expected.size ? expected : sambaStringRef(nothing);
  found = found.size ? found : sambaStringRef(nothing);
  status = sambaStatusNote(status, "expected %.*s", SAMBA_STRING_ARGS(expected));
  status = sambaStatusNote(status, "found    %.*s", SAMBA_STRING_ARGS(found));
  if (comparison->at < traced->line_count && traced->layers && traced->layers[comparison->at][0])
    status = sambaStatusNote(status, "in layer %s", traced->layers[comparison->at]);
  return status;
}

static bool isSame(Comparison *comparison, SambaStringRef expected, SambaStringRef found) {
  return sambaStringRefEqual(expected, found) ||
         (comparison->forward_only && sambaStringRefEqual(forwardLine(&comparison->arena, expected),
                                                          forwardLine(&comparison->arena, found)));
}

static SambaStatus compare(Comparison *comparison) {
  for (uint32_t line = 1;; ++line, ++comparison->at) {
    SambaStringRef expected = takeExpected(comparison);
    SambaStringRef found = nextFound(comparison);
    /* An importer tells of updates only when it is asked for a training. */
    while (comparison->forward_only && startsWith(expected, update) &&
           !isSame(comparison, expected, found))
      expected = takeExpected(comparison);
    if (!expected.size && !found.size)
      return NULL;
    if (!isSame(comparison, expected, found))
      return refuse(comparison, line, expected, found);
  }
}

SambaStatus sambaTraceRecordCompare(SambaStringRef compiled, const SambaTraceRecord *traced,
                                    bool *out_forward_only) {
  bool lacks_losses = compiledHas(compiled, loss) && !tracedHas(traced, loss);
  bool lacks_optimizers = compiledHas(compiled, optimizer) && !tracedHas(traced, optimizer);
  Comparison comparison = {
      .rest = compiled, .traced = traced, .forward_only = lacks_losses || lacks_optimizers};
  SambaStatus status = compare(&comparison);
  sambaArenaDestroy(&comparison.arena);
  *out_forward_only = !status && comparison.forward_only;
  return status;
}
