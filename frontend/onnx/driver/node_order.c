/* The order in which the nodes of a graph are imported; see driver.h. */
#include "frontend/onnx/driver/driver.h"

/* Nodes in an order in which producers come first: the file's own order wherever that is one.
 * Iterative depth-first search. */
SambaStatus sambaOnnxOrderNodes(SambaImporter *importer, uint32_t *out_order) {
  const Onnx__GraphProto *graph = importer->model->graph;
  typedef struct {
    uint32_t node, next;
  } Frame;
  enum { NEW, OPEN, DONE };
  uint8_t *state = SAMBA_ARENA_ARRAY(&importer->arena, uint8_t, graph->n_node);

  Frame *stack = SAMBA_ARENA_ARRAY(&importer->arena, Frame, graph->n_node + 1);
  size_t count = 0;
  for (uint32_t root = 0; root < graph->n_node; ++root) {
    if (state[root] != NEW)
      continue;
    size_t depth = 0;
    stack[depth++] = (Frame){root, 0};
    state[root] = OPEN;
    while (depth) {
      Frame *top = &stack[depth - 1];
      const Onnx__NodeProto *proto = graph->node[top->node];
      if (top->next == proto->n_input) {
        state[top->node] = DONE;
        out_order[count++] = top->node;
        --depth;
        continue;
      }
      const char *name = proto->input[top->next++];
      uint32_t index;
      if (!name || !*name ||
          !sambaStringMapGet(&importer->value_names, sambaStringRef(name), &index))
        continue;
      int32_t producer = importer->values.data[index].producer;
      if (producer < 0 || state[producer] == DONE)
        continue;
      if (state[producer] == OPEN)
        return sambaOnnxAnnotateNode(
            importer, proto, top->node,
            sambaStatusMake(SAMBA_INVALID,
                            "input %s depends on the node's own output: the graph has a cycle",
                            sambaOnnxShown(importer, name)));
      state[producer] = OPEN;
      stack[depth++] = (Frame){(uint32_t)producer, 0};
    }
  }

  return NULL;
}
