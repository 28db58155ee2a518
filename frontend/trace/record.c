/* The record of a trace: one line per argument, operator, result and optimizer; see
 * support/text/trace_record.h. */
#include "frontend/trace/trace_state.h"
#include "support/base/index.h"
#include "support/text/escape.h"
#include "support/text/text.h"

#include <stdio.h>

uint32_t sambaTraceRecordLine(SambaTrace *trace, const char *line) {
  sambaArrayAppend(&trace->lines, line);
  sambaArrayAppend(&trace->line_layers, trace->layer.size ? trace->layer.data : "");
  return (uint32_t)trace->lines.size - 1;
}

void sambaTraceRecordSet(SambaTrace *trace, uint32_t *line, SambaText *text) {
  const char *content = sambaTextToArena(text, &trace->arena);
  if (*line == SAMBA_NO_INDEX)
    *line = sambaTraceRecordLine(trace, content);
  else
    trace->lines.data[*line] = content;
}

static void appendRegion(SambaTrace *trace, SambaText *text, SambaStringRef region) {
  SambaStringRef shown = sambaStringEscape(&trace->arena, region);
  sambaTextFormat(text, " region %.*s", SAMBA_STRING_ARGS(shown));
}

/* "%3 = weight "w" : 4x4xf32 region "shared" requires_grad"; a region of its own is not told. */
void sambaTraceRecordArgument(SambaTrace *trace, SambaTraceArgumentState *argument) {
  const SambaTraceValue *tensor = argument->tensor;
  SambaStringRef shown = sambaStringEscape(&trace->arena, tensor->name);
  SambaText text = {0};
  char type[160];

  sambaTextFormat(&text, "%%%u = %.*s %.*s : %s", tensor->id, SAMBA_STRING_ARGS(tensor->kind),
                  SAMBA_STRING_ARGS(shown), sambaTensorTypeFormat(&tensor->type, type));
  if (tensor->region.size && !sambaStringRefEqual(tensor->region, tensor->name))
    appendRegion(trace, &text, tensor->region);
  if (tensor->requires_grad)
    sambaTextAppendC(&text, " requires_grad");
  sambaTraceRecordSet(trace, &argument->line, &text);
}

void sambaTraceRecordResult(SambaTrace *trace, SambaTraceResultState *result) {
  SambaStringRef shown = sambaStringEscape(&trace->arena, result->name);
  SambaText text = {0};
  sambaTextFormat(&text, "%.*s %.*s = %%%u", SAMBA_STRING_ARGS(result->kind),
                  SAMBA_STRING_ARGS(shown), result->tensor->id);
  if (result->region.size)
    appendRegion(trace, &text, result->region);
  sambaTraceRecordSet(trace, &result->line, &text);
}

/* One number belongs to the graph: x * 2 is another model than x * 3. Tables are data. */
void sambaTraceRecordConstant(SambaTrace *trace, const SambaTraceValue *tensor, const void *data,
                              bool splat) {
  char type[160], number[40] = "";
  if (splat && sambaDTypeIsFloat(tensor->type.dtype)) {
    float value = sambaLoadFloat(tensor->type.dtype, data, 0);
    snprintf(number, sizeof number, " %.9g", (double)value);
  } else if (splat) {
    int64_t value = 0;
    memcpy(&value, data, sambaDTypeBytes(tensor->type.dtype));
    snprintf(number, sizeof number, " %lld", (long long)value);
  }
  sambaTraceRecordLine(trace, sambaArenaFormat(&trace->arena, "%%%u = constant%s : %s", tensor->id,
                                               number, sambaTensorTypeFormat(&tensor->type, type)));
}

static void appendAttribute(SambaText *text, const SambaAttribute *attribute) {
  sambaTextFormat(text, "%.*s = ", SAMBA_STRING_ARGS(attribute->name));
  switch (attribute->kind) {
  case SAMBA_ATTRIBUTE_INT:
  case SAMBA_ATTRIBUTE_BOOL:
    sambaTextFormat(text, "%lld", (long long)attribute->value.integer);
    break;
  case SAMBA_ATTRIBUTE_FLOAT:
    sambaTextFormat(text, "%.17g", attribute->value.real);
    break;
  case SAMBA_ATTRIBUTE_INTS:
    for (size_t i = 0; i < attribute->value.integers.size; ++i)
      sambaTextFormat(text, "%s%lld", i ? " " : "[", (long long)attribute->value.integers.data[i]);
    sambaTextAppendC(text, attribute->value.integers.size ? "]" : "[]");
    break;
  case SAMBA_ATTRIBUTE_FLOATS:
    for (size_t i = 0; i < attribute->value.reals.size; ++i)
      sambaTextFormat(text, "%s%.17g", i ? " " : "[", attribute->value.reals.data[i]);
    sambaTextAppendC(text, attribute->value.reals.size ? "]" : "[]");
    break;
  case SAMBA_ATTRIBUTE_STRING:
    sambaTextFormat(text, "'%.*s'", SAMBA_STRING_ARGS(attribute->value.string));
    break;
  case SAMBA_ATTRIBUTE_DTYPE:
    sambaTextAppendC(text, sambaDTypeName(attribute->value.dtype));
  }
}

/* "%7 = linear(%1, %2) {out_dtype = f32} : 1x128xf32" */
void sambaTraceRecordCall(SambaTrace *trace, const SambaOperatorCall *call,
                          SambaTraceValue *const *operands, SambaTraceValue *const *results) {
  SambaText text = {0};
  for (uint32_t i = 0; i < sambaOperatorResults(call->operator); ++i)
    sambaTextFormat(&text, "%s%%%u", i ? ", " : "", results[i]->id);
  sambaTextFormat(&text, " = %s(", call->operator->name);
  for (uint32_t i = 0; i < call->operand_count; ++i)
    sambaTextFormat(&text, "%s%%%u", i ? ", " : "", operands[i]->id);
  sambaTextAppendC(&text, ")");

  for (uint32_t i = 0; i < call->attribute_count; ++i) {
    sambaTextAppendC(&text, i ? ", " : " {");
    appendAttribute(&text, &call->attributes[i]);
  }

  char type[160];
  sambaTextFormat(&text, "%s : %s", call->attribute_count ? "}" : "",
                  sambaTensorTypeFormat(&results[0]->type, type));
  sambaTraceRecordLine(trace, sambaTextToArena(&text, &trace->arena));
}
