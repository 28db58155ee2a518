/* Comparison of trace records; see trace_record.h. */
#include "support/text/trace_record.h"

#include "support/text/text.h"

static const char optimizer[] = "optimizer ";
static const char loss[] = "loss ";
static const char gradient[] = " requires_grad";

static bool startsWith(SambaStringRef line, const char *start) {
  size_t size = strlen(start);
  return line.size >= size && memcmp(line.data, start, size) == 0;
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

/* The line as inference has it: a loss is an output, nothing wants a gradient. */
static SambaStringRef forwardLine(SambaArena *arena, SambaStringRef line) {
  SambaText text = {0};
  if (startsWith(line, loss)) {
    sambaTextAppendC(&text, "output ");
    line = (SambaStringRef){line.data + strlen(loss), line.size - strlen(loss)};
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

/* The next lines of both sides that count; false at the end of both. A side that has ended has an
 * empty line. */
static bool takeBoth(Comparison *comparison, SambaStringRef *expected, SambaStringRef *found) {
  *expected = *found = (SambaStringRef){0};
  bool has_more = takeLine(&comparison->rest, expected);
  while (has_more && comparison->forward_only && startsWith(*expected, optimizer)) {
    *expected = (SambaStringRef){0};
    has_more = takeLine(&comparison->rest, expected);
  }
  while (comparison->forward_only && comparison->at < comparison->traced->line_count &&
         startsWith(sambaStringRef(comparison->traced->lines[comparison->at]), optimizer))
    ++comparison->at;

  bool has_traced = comparison->at < comparison->traced->line_count;
  if (has_traced)
    *found = sambaStringRef(comparison->traced->lines[comparison->at]);
  return has_more || has_traced;
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

static SambaStatus compare(Comparison *comparison) {
  SambaStringRef expected, found;
  for (uint32_t line = 1; takeBoth(comparison, &expected, &found); ++line, ++comparison->at) {
    bool same = sambaStringRefEqual(expected, found);
    if (!same && comparison->forward_only)
      same = sambaStringRefEqual(forwardLine(&comparison->arena, expected),
                                 forwardLine(&comparison->arena, found));
    if (!same)
      return refuse(comparison, line, expected, found);
  }
  return NULL;
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
