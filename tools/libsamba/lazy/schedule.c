/* Computing lazy tensors: what several need becomes one graph, which is compiled and run. */
#include "support/text/string_ref.h"
#include "tools/libsamba/lazy/device.h"
#include "tools/libsamba/lazy/graph.h"

#include <stdio.h>
#include <stdlib.h>

/* A tensor that is computed: result `output` of the graph. */
typedef struct Computed {
  SambaTensor *tensor;  /* one reference */
  SambaLazyValue value; /* one reference */
  uint32_t output;
} Computed;

struct SambaSchedule {
  SambaContext *context; /* NULL: there is nothing to compute */
  SambaLazyProgram *program;
  SAMBA_ARRAY(SambaLazyInput) inputs;
  SAMBA_ARRAY(Computed) computed;
  uint32_t operators;
  bool has_run;
};

static SambaStringRef outputName(uint32_t output, char *buffer) {
  snprintf(buffer, SAMBA_LAZY_NAME_BYTES, "out%u", output);
  return sambaStringRef(buffer);
}

/* The tensor takes what its value was computed to before. */
static SambaStatus takeComputed(SambaTensor *tensor, SambaLazyValue value) {
  return sambaTensorSetData(tensor, value.node->values[value.result]);
}

/* What is to be computed of the tensor; no node: nothing. */
static SambaStatus wanted(const SambaSchedule *schedule, SambaTensor *tensor,
                          SambaLazyValue *out_value) {
  char text[SAMBA_LAZY_TEXT_BYTES];
  SambaLazyValue value = sambaLazyValueOf(tensor);
  *out_value = (SambaLazyValue){0};
  if (sambaTensorHasData(tensor))
    return NULL;
  if (!value.node)
    return sambaTensorMaterialize(tensor, NULL); /* or it says that it is empty */
  if (value.node->values[value.result])
    return takeComputed(tensor, value);
  if (value.node->scheduled)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s is already scheduled; run or destroy that schedule first",
                           sambaLazyDescribe(tensor, text));
  if (schedule->context && schedule->context != value.node->context)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s belongs to another context than the tensors before it",
                           sambaLazyDescribe(tensor, text));
  *out_value = value;
  return NULL;
}

/* The output of the value, one for each. */
static SambaStatus addOutput(SambaSchedule *schedule, SambaLazyGraph *graph, SambaTensor *tensor,
                             SambaLazyValue value) {
  Computed computed = {.tensor = tensor, .value = value};
  char name[SAMBA_LAZY_NAME_BYTES];
  uint32_t outputs = 0;
  for (size_t i = 0; i < schedule->computed.size; ++i) {
    const Computed *other = &schedule->computed.data[i];
    if (other->tensor == tensor)
      return NULL;
    if (other->value.node == value.node && other->value.result == value.result)
      break;
    outputs += 1;
  }
  computed.output = outputs;
  if (outputs == schedule->computed.size) {
    SambaTraceValue *traced;
    SAMBA_RETURN_IF_ERROR(sambaLazyTrace(graph, value, &traced));
    sambaTraceOutput(graph->trace, outputName(outputs, name).data, traced);
  }
  sambaTensorRetain(tensor);
  sambaLazyNodeRetain(value.node);
  sambaArrayAppend(&schedule->computed, computed);
  return NULL;
}

static SambaStatus fill(SambaSchedule *schedule, uint32_t count, SambaTensor *const *tensors,
                        SambaLazyGraph *graph) {
  for (uint32_t i = 0; i < count; ++i) {
    SambaLazyValue value;
    SAMBA_RETURN_IF_ERROR(wanted(schedule, tensors[i], &value));
    if (!value.node)
      continue;
    schedule->context = graph->context = value.node->context;
    SAMBA_RETURN_IF_ERROR(addOutput(schedule, graph, tensors[i], value));
  }
  if (!schedule->context)
    return NULL;

  SAMBA_RETURN_IF_ERROR(sambaLazyCompile(schedule->context, graph->trace, &schedule->program));
  schedule->operators = graph->operators;
  for (size_t i = 0; i < graph->inputs.size; ++i) {
    SambaLazyInput input = graph->inputs.data[i];
    sambaTensorRetain(input.data);
    sambaTensorRetain(input.owner);
    sambaArrayAppend(&schedule->inputs, input);
  }
  for (size_t i = 0; i < schedule->computed.size; ++i)
    schedule->computed.data[i].value.node->scheduled = true;
  return NULL;
}

SambaStatus sambaTensorSchedule(uint32_t count, SambaTensor *const *tensors,
                                SambaSchedule **out_schedule) {
  SambaSchedule *schedule = sambaAllocateZeroed(1, sizeof *schedule);
  SambaLazyGraph graph = {0};
  SambaStatus status = fill(schedule, count, tensors, &graph);
  sambaLazyGraphFree(&graph);
  if (status) {
    sambaScheduleDestroy(schedule);
    schedule = NULL;
  }
  *out_schedule = schedule;
  return status;
}

void sambaScheduleDestroy(SambaSchedule *schedule) {
  if (!schedule)
    return;
  for (size_t i = 0; i < schedule->inputs.size; ++i) {
    sambaTensorRelease(schedule->inputs.data[i].data);
    sambaTensorRelease(schedule->inputs.data[i].owner);
  }
  for (size_t i = 0; i < schedule->computed.size; ++i) {
    Computed *computed = &schedule->computed.data[i];
    if (schedule->program && !schedule->has_run)
      computed->value.node->scheduled = false;
    sambaTensorRelease(computed->tensor);
    sambaLazyNodeRelease(computed->value.node);
  }
  sambaArrayFree(&schedule->inputs);
  sambaArrayFree(&schedule->computed);
  sambaLazyProgramRelease(schedule->program);
  free(schedule);
}

uint32_t sambaScheduleGetOperatorCount(const SambaSchedule *schedule) {
  return schedule->operators;
}

uint32_t sambaScheduleGetCallCount(const SambaSchedule *schedule) {
  return schedule->program ? schedule->program->calls : 0;
}

void sambaScheduleGetMemory(const SambaSchedule *schedule, uint64_t *out_planned,
                            uint64_t *out_sum) {
  *out_planned = schedule->program ? schedule->program->planned_bytes : 0;
  *out_sum = schedule->program ? schedule->program->sum_bytes : 0;
}

/* Reads one output and gives it to all tensors that have this value. */
static SambaStatus takeOutput(SambaSchedule *schedule, SambaSession *session, Computed *computed) {
  char name[SAMBA_LAZY_NAME_BYTES];
  SambaLazyValue value = computed->value;
  if (!value.node->values[value.result]) {
    SambaTensor *data;
    SAMBA_RETURN_IF_ERROR(
        sambaSessionReadTensor(session, outputName(computed->output, name), &data));
    sambaLazySetComputed(value, data);
    sambaTensorRelease(data);
  }
  (void)schedule;
  return takeComputed(computed->tensor, value);
}

static SambaStatus runSchedule(SambaSchedule *schedule, bool counted) {
  if (schedule->has_run)
    return sambaStatusMake(SAMBA_INVALID, "the schedule has run already; make another one");
  if (!schedule->context)
    return NULL;
  SambaSession *session;
  char name[SAMBA_LAZY_NAME_BYTES];
  SAMBA_RETURN_IF_ERROR(
      sambaLazyMakeInputs(schedule->context, schedule->inputs.size, schedule->inputs.data));
  SAMBA_RETURN_IF_ERROR(sambaLazyLoad(schedule->context, schedule->program, &session));
  for (uint32_t i = 0; i < schedule->inputs.size; ++i)
    SAMBA_RETURN_IF_ERROR(sambaSessionWriteTensor(session, sambaLazyInputName(i, name),
                                                  schedule->inputs.data[i].data));
  SAMBA_RETURN_IF_ERROR(sambaLazyRun(schedule->context, session, counted));

  for (size_t i = 0; i < schedule->computed.size; ++i)
    SAMBA_RETURN_IF_ERROR(takeOutput(schedule, session, &schedule->computed.data[i]));
  for (size_t i = 0; i < schedule->computed.size; ++i)
    schedule->computed.data[i].value.node->scheduled = false;
  schedule->has_run = true;
  return NULL;
}

/* ---- Views of what is not computed yet ---- */

/* The materializer of a result: whoever needs the data computes it. */
static SambaStatus compute(void *user, const SambaMaterializeRequest *request) {
  const SambaLazyValue *value = user;
  SambaTensor *tensor;
  SAMBA_RETURN_IF_ERROR(sambaTensorCreateEmpty(request->dtype, request->rank, request->dims,
                                               (SambaStringRef){0}, &tensor));
  sambaLazyHang(tensor, *value);
  SambaStatus status = sambaTensorRealize(1, &tensor, NULL);
  if (!status)
    status = sambaTensorReadData(tensor, request->data, request->bytes);
  sambaTensorRelease(tensor);
  return status;
}

static void releaseValue(void *user) {
  SambaLazyValue *value = user;
  sambaLazyNodeRelease(value->node);
  free(value);
}

SambaStatus sambaTensorOperator(SambaContext *context, const char *name, uint32_t operand_count,
                                SambaTensor *const *operands, uint32_t attribute_count,
                                const SambaAttribute *attributes, SambaTensor **out_results) {
  uint32_t count;
  SAMBA_RETURN_IF_ERROR(sambaLazyCall(context, name, operand_count, operands, attribute_count,
                                      attributes, &count, out_results));
  for (uint32_t r = 0; r < count; ++r) {
    SambaLazyValue *value = sambaAllocate(sizeof *value);
    *value = sambaLazyValueOf(out_results[r]);
    sambaLazyNodeRetain(value->node);
    sambaTensorSetMaterializer(out_results[r], compute, value, releaseValue);
  }
  return NULL;
}

SambaStatus sambaScheduleRun(SambaSchedule *schedule) { return runSchedule(schedule, true); }

SambaStatus sambaTensorRealize(uint32_t count, SambaTensor *const *tensors,
                               const SambaRealizeOptions *options) {
  SambaSchedule *schedule;
  SAMBA_RETURN_IF_ERROR(sambaTensorSchedule(count, tensors, &schedule));
  SambaStatus status = runSchedule(schedule, !options || !options->keep_statistics);
  sambaScheduleDestroy(schedule);
  return status;
}
