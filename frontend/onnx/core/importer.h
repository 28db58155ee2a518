/* The state of one import: the model's file, its values, the trace. It is seen by core and by the
 * driver; handlers, folds and rules see nodes (node.h). */
#ifndef SAMBA_FRONTEND_ONNX_CORE_IMPORTER_H
#define SAMBA_FRONTEND_ONNX_CORE_IMPORTER_H

#include "frontend/onnx/core/node.h"
#include "frontend/onnx/file/wire.h"
#include "support/container/string_map.h"

typedef struct SambaOnnxValue {
  SambaStringRef name;
  SambaTraceValue *tensor;
  const Onnx__TensorProto *initializer; /* an initializer or the tensor of a Constant node */
  bool is_weight;                       /* initializers keep their name */
  SambaConstant *constant;              /* known at compile time */
  const SambaOnnxSequence *sequence;
  int32_t producer; /* node of the graph, -1: an input, initializer or nothing */
  const Onnx__ValueInfoProto *declared; /* type and shape as written down; NULL: nowhere */
  bool defined;
  bool is_double; /* DOUBLE in the model: the tensor has the same numbers in a dtype of ours */
} SambaOnnxValue;

struct SambaImporter {
  const char *path, *folder; /* of the model; folder ends with '/' or is "" */
  bool trains;               /* single numbers are weights too */
  bool narrows_double;       /* DOUBLE in the model is f32 here */
  uint32_t narrowed;         /* so many tensors are */
  const char *output_folder; /* that paths in the IR are relative to; NULL: the current one */
  const uint8_t *file;
  size_t file_size;
  SambaOnnxSkeleton skeleton;
  Onnx__ModelProto *model;
  const SambaOnnxRow *rows; /* the table, ended by a NULL name */
  SambaTrace *trace;
  SambaArena arena;
  SambaStringMap value_names;
  SAMBA_ARRAY(SambaOnnxValue) values;
  SAMBA_ARRAY(Onnx__AttributeProto *) unpacked; /* default attributes of functions */
  size_t inlined;                               /* nodes put in place of others so far */
  bool failed_inside; /* a node in a function or branch has failed; the error names it */
  /* Imports one node whose inputs have been imported. Errors name the node. */
  SambaStatus (*import_node)(SambaImporter *importer, const Onnx__NodeProto *proto, uint32_t index,
                             const SambaOnnxScope *scope);
};

/* ---- Values (model_values.c) ---- */

/* The index of the value of this name, made when it is new. */
uint32_t sambaOnnxValueIndex(SambaImporter *importer, const char *name);
/* The same value itself: pointers got before are then stale. */
SambaOnnxValue *sambaOnnxValueAt(SambaImporter *importer, const char *name);
/* The value of this name; NULL: there is none. */
SambaOnnxValue *sambaOnnxFindValue(SambaImporter *importer, const char *name);
/* The row that a node of this version is imported by; NULL: none. */
const SambaOnnxRow *sambaOnnxRowFor(const SambaImporter *importer, const Onnx__NodeProto *proto,
                                    int64_t version);
bool sambaOnnxRowIsNamed(const SambaOnnxRow *row, const Onnx__NodeProto *proto);

/* ---- What the inputs and outputs of nodes share (node_inputs.c) ---- */

/* The value of an input; NULL: the input is left out. */
SambaOnnxValue *sambaOnnxInputValue(const SambaOnnxNode *node, uint32_t input);
SambaStatus sambaOnnxNeedInput(const SambaOnnxNode *node, uint32_t input);

/* ---- Initializers (initializers.c) ---- */

/* Declares an initializer under a name that has no value yet. */
SambaStatus sambaOnnxDeclareInitializer(SambaImporter *importer, const char *name,
                                        const Onnx__TensorProto *proto);

/* The value, which is an initializer and no tensor yet, becomes an argument of the graph. */
SambaStatus sambaOnnxMaterializeInitializer(SambaImporter *importer, SambaOnnxValue *value);
/* Our type for a TensorProto.DataType; an error when there is none. */
SambaStatus sambaOnnxCheckDType(SambaImporter *importer, int64_t onnx_type, SambaDType *out_dtype);
/* What to do about a DOUBLE, behind the message that refuses it; "" for all other types. */
const char *sambaOnnxAboutDouble(int64_t onnx_type);

#endif
