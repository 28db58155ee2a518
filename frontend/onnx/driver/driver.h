/* The driver of an import: what its files ask of each other. */
#ifndef SAMBA_FRONTEND_ONNX_DRIVER_DRIVER_H
#define SAMBA_FRONTEND_ONNX_DRIVER_DRIVER_H

#include "frontend/onnx/core/importer.h"
#include "frontend/onnx/onnx.h"

/* The table of operators, ended by a NULL name (table.c). */
extern const SambaOnnxRow sambaOnnxRows[];

/* --shape and --bind, parsed (graph_inputs.c). */
typedef struct SambaShapeOption {
  SambaStringRef name;
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
} SambaShapeOption;
typedef struct SambaBindOption {
  SambaStringRef name;
  const char *path;
} SambaBindOption;
typedef struct SambaOnnxInputOptions {
  const SambaShapeOption *shapes;
  size_t shape_count;
  const SambaBindOption *binds;
  size_t bind_count;
} SambaOnnxInputOptions;

/* Each option has its form and names an input of the graph. */
SambaStatus sambaOnnxInputOptionsParse(SambaImporter *importer, const SambaOnnxImportOptions *texts,
                                       SambaOnnxInputOptions *out);
/* The graph's inputs become arguments, or constants where --bind says so. */
SambaStatus sambaOnnxDeclareInputs(SambaImporter *importer, const SambaOnnxInputOptions *options);

/* Nodes of the graph in an order in which producers come first: the file's own order wherever that
 * is one (node_order.c). */
SambaStatus sambaOnnxOrderNodes(SambaImporter *importer, uint32_t *out_order);

/* Imports one node; its inputs have been imported. Errors name the node (import_node.c). */
SambaStatus sambaOnnxImportNode(SambaImporter *importer, const Onnx__NodeProto *proto,
                                uint32_t index, const SambaOnnxScope *scope);
/* Puts the node's name before the error. */
SambaStatus sambaOnnxAnnotateNode(SambaImporter *importer, const Onnx__NodeProto *proto,
                                  size_t index, SambaStatus status);

#endif
