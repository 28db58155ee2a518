/* Tensors of the host in a graph: each becomes an argument, once; see samba/trace.h. */
#include "frontend/trace/trace.h"
#include "frontend/trace/trace_state.h"
#include "samba/trace.h"
#include "support/text/escape.h"
#include "support/text/string_ref.h"

SambaTraceValue *sambaTraceFindTensor(const SambaTrace *trace, const SambaTensor *tensor) {
  uint32_t index;
  if (!tensor || !sambaPointerMapGet(&trace->tensor_values, tensor, &index))
    return NULL;
  return trace->tensors.data[index].value;
}

SambaTensor *sambaTraceValueGetTensor(const SambaTraceValue *value) {
  const SambaTrace *trace = value->trace;
  for (size_t i = 0; i < trace->tensors.size; ++i)
    if (trace->tensors.data[i].value == value)
      return trace->tensors.data[i].tensor;
  return NULL;
}

void sambaTraceForEachTensor(const SambaTrace *trace,
                             void (*visit)(void *user, SambaTraceValue *value, SambaTensor *tensor),
                             void *user) {
  for (size_t i = 0; i < trace->tensors.size; ++i)
    visit(user, trace->tensors.data[i].value, trace->tensors.data[i].tensor);
}

static const char *memoryOf(const SambaTensor *tensor) {
  switch (sambaTensorGetMemoryType(tensor)) {
  case SAMBA_MEMORY_DDR:
    return "ddr";
  case SAMBA_MEMORY_HBM:
    return "hbm";
  case SAMBA_MEMORY_HOST:
    return "host";
  case SAMBA_MEMORY_AUTO:
    break;
  }
  return NULL;
}

/* What the graph cannot hold, or holds already as something else. */
static SambaStatus checkTensor(SambaTrace *trace, const SambaTensor *tensor, const char *kind) {
  const SambaTraceValue *there = sambaTraceFindTensor(trace, tensor);
  SambaStringRef name = sambaTensorGetName(tensor);
  SambaStringRef shown = sambaStringEscape(&trace->arena, name);
  SambaDType dtype = sambaTensorGetDType(tensor);

  if (there && !sambaStringRefEqualC(there->kind, kind))
    return sambaStatusMake(SAMBA_INVALID,
                           "tensor %.*s is of kind %.*s in graph %s already; it cannot be of kind "
                           "%s too",
                           SAMBA_STRING_ARGS(shown), SAMBA_STRING_ARGS(there->kind), trace->name,
                           kind);
  if (dtype >= SAMBA_DTYPE_COUNT)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "tensor %.*s is %s, which no device has; cast it to f32 first",
                           SAMBA_STRING_ARGS(shown), sambaDTypeName(dtype));
  if (sambaTensorGetRank(tensor) > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "tensor %.*s has rank %u, but graphs hold tensors of rank %d at most",
                           SAMBA_STRING_ARGS(shown), sambaTensorGetRank(tensor), SAMBA_MAX_RANK);
  if (!there && name.size && sambaStringMapGet(&trace->names, name, &(uint32_t){0}))
    return sambaStatusMake(SAMBA_INVALID,
                           "graph %s has another tensor that is called %.*s; give one of them "
                           "another name",
                           trace->name, SAMBA_STRING_ARGS(shown));
  return NULL;
}

SambaTraceValue *sambaTraceTensor(SambaTrace *trace, SambaTensor *tensor, const char *kind) {
  if (trace->status || !tensor)
    return NULL;
  SambaStatus status = checkTensor(trace, tensor, kind);
  if (status) {
    sambaTraceFail(trace, status);
    return NULL;
  }
  SambaTraceValue *value = sambaTraceFindTensor(trace, tensor);
  if (value)
    return value;

  SambaStringRef name = sambaTensorGetName(tensor), region = sambaTensorGetRegionName(tensor);
  SambaArgument argument = {
      .name = name,
      .kind = kind,
      .type = {.dtype = sambaTensorGetDType(tensor), .rank = sambaTensorGetRank(tensor)},
      .region = sambaStringRefEqual(region, name) ? (SambaStringRef){0} : region,
      .memory = memoryOf(tensor),
      .requires_grad = sambaTensorGetRequiresGrad(tensor)};
  memcpy(argument.type.dims, sambaTensorGetDims(tensor),
         argument.type.rank * sizeof *argument.type.dims);
  value = sambaTraceArgument(trace, &argument);
  if (!value)
    return NULL;

  SambaTraceTensorState state = {.tensor = sambaTensorRetain(tensor), .value = value};
  sambaPointerMapSet(&trace->tensor_values, tensor, (uint32_t)trace->tensors.size);
  sambaArrayAppend(&trace->tensors, state);
  return value;
}
