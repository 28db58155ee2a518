/* Trace records of requested trainings; see requested_record.h. Every line of the tracer's stands
 * for one argument, operator or result of the graph, in the same order. */
#include "pipeline/requested_record.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/interface.h"
#include "dialect/samba/samba.h"
#include "dialect/samba/table/training/optimizer_kinds.h"
#include "support/container/pointer_map.h"
#include "support/text/escape.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

typedef struct Rewriting {
  SambaInterface interface;
  SambaArena arena;
  SambaPointerMap id_of;   /* SSA value -> its number in the record */
  MlirOperation operation; /* that the next line of an operator stands for */
  size_t argument, result; /* that the next lines of arguments and results stand for */
  SambaText *text;
} Rewriting;

static bool startsWith(SambaStringRef line, const char *start) {
  size_t size = strlen(start);
  return line.size >= size && memcmp(line.data, start, size) == 0;
}

/* The part of the line behind the first `mark`; empty: there is none. */
static SambaStringRef behind(SambaStringRef line, const char *mark) {
  size_t size = strlen(mark);
  for (size_t at = 0; at + size <= line.size; ++at)
    if (memcmp(line.data + at, mark, size) == 0)
      return (SambaStringRef){line.data + at + size, line.size - at - size};
  return (SambaStringRef){line.data + line.size, 0};
}

static void appendRegion(Rewriting *rewriting, SambaStringRef region) {
  SambaStringRef shown = sambaStringEscape(&rewriting->arena, region);
  sambaTextFormat(rewriting->text, " region %.*s", SAMBA_STRING_ARGS(shown));
}

/* Takes the numbers of the results of the next operator: "%7, %8 = ...". */
static void nameResults(Rewriting *rewriting, SambaStringRef line) {
  for (intptr_t r = 0; r < mlirOperationGetNumResults(rewriting->operation); ++r) {
    uint32_t id = 0;
    line = behind(line, "%");
    for (; line.size && *line.data >= '0' && *line.data <= '9'; ++line.data, --line.size)
      id = id * 10 + (uint32_t)(*line.data - '0');
    sambaPointerMapSet(&rewriting->id_of, mlirOperationGetResult(rewriting->operation, r).ptr, id);
  }
  rewriting->operation = mlirOperationGetNextInBlock(rewriting->operation);
}

/* `%3 = weight "w" : ...` is an argument; `%4 = relu(...) : ...` and `%5 = constant : ...` are
 * operators. */
static void rewriteValue(Rewriting *rewriting, SambaStringRef line) {
  SambaStringRef rest = behind(line, " = ");
  const char *space = memchr(rest.data, ' ', rest.size);
  bool is_argument = space && space + 1 < rest.data + rest.size && space[1] == '"' &&
                     !memchr(rest.data, '(', (size_t)(space - rest.data));
  if (!is_argument || rewriting->argument == rewriting->interface.arguments.size) {
    sambaTextAppend(rewriting->text, line.data, line.size);
    if (!mlirOperationIsNull(rewriting->operation))
      nameResults(rewriting, line);
    return;
  }

  MlirAttribute dictionary = rewriting->interface.arguments.data[rewriting->argument++];
  SambaStringRef kind = sambaInterfaceText(dictionary, SAMBA_KIND_ATTRIBUTE);
  MlirAttribute trained = sambaDictionaryFind(dictionary, SAMBA_REQUIRES_GRAD_ATTRIBUTE);
  sambaTextAppend(rewriting->text, line.data, (size_t)(rest.data - line.data));
  sambaTextAppend(rewriting->text, kind.data, kind.size);
  sambaTextAppend(rewriting->text, space, (size_t)(rest.data + rest.size - space));
  if (!mlirAttributeIsNull(trained) && mlirBoolAttrGetValue(trained))
    sambaTextAppendC(rewriting->text, " requires_grad");
}

static void rewriteResult(Rewriting *rewriting, SambaStringRef line) {
  MlirAttribute dictionary = rewriting->interface.results.data[rewriting->result++];
  SambaStringRef kind = sambaInterfaceText(dictionary, SAMBA_KIND_ATTRIBUTE);
  SambaStringRef region = sambaInterfaceText(dictionary, SAMBA_REGION_ATTRIBUTE);
  SambaStringRef rest = behind(line, " ");

  sambaTextFormat(rewriting->text, "%.*s %.*s", SAMBA_STRING_ARGS(kind), SAMBA_STRING_ARGS(rest));
  if (region.size && !behind(line, " region ").size)
    appendRegion(rewriting, region);
}

/* A result that the request has added: what a buffer holds from then on. */
static void appendResult(Rewriting *rewriting) {
  MlirAttribute dictionary = rewriting->interface.results.data[rewriting->result];
  MlirValue value = rewriting->interface.returned.data[rewriting->result++];
  SambaStringRef shown =
      sambaStringEscape(&rewriting->arena, sambaInterfaceText(dictionary, SAMBA_NAME_ATTRIBUTE));
  SambaStringRef kind = sambaInterfaceText(dictionary, SAMBA_KIND_ATTRIBUTE);
  uint32_t id = 0;

  sambaPointerMapGet(&rewriting->id_of, value.ptr, &id);
  sambaTextFormat(rewriting->text, "%.*s %.*s = %%%u", SAMBA_STRING_ARGS(kind),
                  SAMBA_STRING_ARGS(shown), id);
  appendRegion(rewriting, sambaInterfaceText(dictionary, SAMBA_REGION_ATTRIBUTE));
  sambaTextAppendC(rewriting->text, "\n");
}

SambaStatus sambaTraceRecordRequested(MlirOperation function, SambaStringRef traced,
                                      SambaStringRef optimizer, SambaText *out_record) {
  const SambaOptimizerKind *kind = NULL;
  double values[SAMBA_SETTING_COUNT];
  if (optimizer.size)
    SAMBA_RETURN_IF_ERROR(sambaOptimizerParse(optimizer, &kind, values));
  Rewriting rewriting = {.operation = mlirBlockGetFirstOperation(sambaBodyOf(function)),
                         .text = out_record};
  sambaInterfaceRead(function, &rewriting.interface);

  while (traced.size) {
    const char *end = memchr(traced.data, '\n', traced.size);
    SambaStringRef line = {traced.data, end ? (size_t)(end - traced.data) : traced.size};
    if (startsWith(line, "%"))
      rewriteValue(&rewriting, line);
    else if (rewriting.result < rewriting.interface.results.size)
      rewriteResult(&rewriting, line);
    sambaTextAppendC(out_record, "\n");
    size_t taken = line.size + (end != NULL);
    traced = (SambaStringRef){traced.data + taken, traced.size - taken};
  }

  while (rewriting.result < rewriting.interface.results.size)
    appendResult(&rewriting);
  if (kind) {
    sambaTextFormat(out_record, "optimizer \"\" = %s", kind->name);
    sambaOptimizerAppendSettings(out_record, kind, values);
    sambaTextAppendC(out_record, "\n");
  }

  sambaInterfaceFree(&rewriting.interface);
  sambaPointerMapFree(&rewriting.id_of);
  sambaArenaDestroy(&rewriting.arena);
  return NULL;
}
