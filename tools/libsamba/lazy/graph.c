/* A graph of lazy values as a trace; see graph.h. */
#include "tools/libsamba/lazy/graph.h"

#include <stdio.h>
#include <stdlib.h>

SambaStringRef sambaLazyInputName(uint32_t input, char *buffer) {
  snprintf(buffer, SAMBA_LAZY_NAME_BYTES, "in%u", input);
  return sambaStringRef(buffer);
}

/* Does a gradient pass the node? */
static bool isDifferentiated(const SambaLazyGraph *graph, const SambaLazyNode *node) {
  return graph->gradients && node->requires_grad && !node->forgotten &&
         sambaPointerMapGet(&graph->reached, node, &(uint32_t){0});
}

void sambaLazyReach(SambaLazyGraph *graph, SambaLazyNode *node) {
  SAMBA_ARRAY(SambaLazyNode *) open = {0};
  sambaArrayAppend(&open, node);
  while (open.size) {
    node = open.data[--open.size];
    if (!node->requires_grad || sambaPointerMapGet(&graph->reached, node, &(uint32_t){0}))
      continue;
    sambaPointerMapSet(&graph->reached, node, 0);
    for (uint32_t i = 0; i < node->operand_count; ++i)
      sambaArrayAppend(&open, node->operands[i].node);
  }
  sambaArrayFree(&open);
}

/* Is the result an argument of the graph: is it there, and does no gradient need how it came? */
static bool isInput(const SambaLazyGraph *graph, SambaLazyValue value) {
  if (!value.node->operator)
    return true;
  return value.node->values[value.result] && !isDifferentiated(graph, value.node);
}

static SambaLazyTraced *entryOf(SambaLazyGraph *graph, SambaLazyNode *node) {
  uint32_t index;
  if (!sambaPointerMapGet(&graph->indices, node, &index)) {
    index = (uint32_t)graph->traced.size;
    sambaPointerMapSet(&graph->indices, node, index);
    sambaArrayAppend(&graph->traced, (SambaLazyTraced){.node = node});
  }
  return &graph->traced.data[index];
}

static SambaStatus traceInput(SambaLazyGraph *graph, SambaLazyValue value) {
  SambaLazyNode *node = value.node;
  bool differentiated = isDifferentiated(graph, node);
  char name[SAMBA_LAZY_NAME_BYTES];
  SambaArgument argument = {.name = sambaLazyInputName((uint32_t)graph->inputs.size, name),
                            .kind = "input",
                            .type = node->types[value.result],
                            .requires_grad = differentiated};
  SambaTraceValue *traced = sambaTraceArgument(graph->trace, &argument);
  if (!traced)
    return sambaStatusMake(SAMBA_INVALID, "%s",
                           sambaStatusGetMessage(sambaTraceStatus(graph->trace)));

  entryOf(graph, node)->values[value.result] = traced;
  SambaLazyInput input = {.data = sambaTensorRetain(node->values[value.result]),
                          .owner = differentiated ? sambaTensorRetain(node->owner) : NULL};
  sambaArrayAppend(&graph->inputs, input);
  return NULL;
}

static SambaStatus traceCall(SambaLazyGraph *graph, SambaLazyNode *node) {
  SambaTraceValue **operands = sambaAllocateZeroed(node->operand_count + 1, sizeof *operands);
  for (uint32_t i = 0; i < node->operand_count; ++i) {
    SambaLazyValue operand = node->operands[i];
    operands[i] = entryOf(graph, operand.node)->values[operand.result];
  }
  SambaLazyTraced *entry = entryOf(graph, node);
  SambaStatus status =
      sambaTraceOperator(graph->trace, node->operator->name, node->operand_count, operands,
                         node->attribute_count, node->attributes, entry->values);
  ++graph->operators;
  free(operands);
  return status;
}

/* A node whose operands are being traced. */
typedef struct Open {
  SambaLazyValue value;
  uint32_t next; /* operand */
} Open;
typedef SAMBA_ARRAY(Open) OpenList;

/* The next operand that is not traced yet is opened; false when there is none. */
static bool openOperand(SambaLazyGraph *graph, OpenList *open) {
  Open *top = &open->data[open->size - 1];
  while (top->next < top->value.node->operand_count) {
    SambaLazyValue operand = top->value.node->operands[top->next++];
    if (entryOf(graph, operand.node)->values[operand.result])
      continue;
    sambaArrayAppend(open, (Open){operand, 0});
    return true;
  }
  return false;
}

/* Without recursion: chains are as long as programs make them. */
SambaStatus sambaLazyTrace(SambaLazyGraph *graph, SambaLazyValue value,
                           SambaTraceValue **out_value) {
  OpenList open = {0};
  SambaStatus status = NULL;
  if (!graph->trace)
    graph->trace = sambaTraceCreate(graph->context, "lazy");
  if (!entryOf(graph, value.node)->values[value.result])
    sambaArrayAppend(&open, (Open){value, 0});

  while (open.size && !status) {
    SambaLazyValue top = open.data[open.size - 1].value;
    if (isInput(graph, top)) {
      status = traceInput(graph, top);
      --open.size;
    } else if (!openOperand(graph, &open)) {
      status = traceCall(graph, top.node);
      --open.size;
    }
  }
  sambaArrayFree(&open);
  *out_value = status ? NULL : entryOf(graph, value.node)->values[value.result];
  return status;
}

SambaStatus sambaLazyMakeInputs(SambaContext *context, size_t count, const SambaLazyInput *inputs) {
  for (size_t i = 0; i < count; ++i)
    SAMBA_RETURN_IF_ERROR(
        sambaTensorMaterialize(inputs[i].data, sambaContextGetGenerator(context)));
  return NULL;
}

void sambaLazyGraphFree(SambaLazyGraph *graph) {
  for (size_t i = 0; i < graph->inputs.size; ++i) {
    sambaTensorRelease(graph->inputs.data[i].data);
    sambaTensorRelease(graph->inputs.data[i].owner);
  }
  sambaArrayFree(&graph->inputs);
  sambaArrayFree(&graph->traced);
  sambaPointerMapFree(&graph->indices);
  sambaPointerMapFree(&graph->reached);
  sambaTraceDestroy(graph->trace);
  graph->trace = NULL;
}
