/* Inside the ONNX importer: values, nodes, and what handlers of operators use.
 *
 * A value is any of: a tensor of the trace, an initializer that has not been used yet (it becomes
 * an argument on first use), a constant known at compile time. A handler reads inputs through the
 * functions below and sets outputs; whatever fails is annotated with the node by the driver. */
#ifndef SAMBA_FRONTEND_ONNX_CORE_IMPORTER_H
#define SAMBA_FRONTEND_ONNX_CORE_IMPORTER_H

#include "frontend/onnx/core/constant.h"
#include "frontend/onnx/file/wire.h"
#include "frontend/onnx/onnx.h"
#include "frontend/trace/operators.h"
#include "support/container/string_map.h"

#include "onnx/onnx.pb-c.h"

/* A list of values; see sequence.c. */
typedef struct SambaOnnxSequence {
  uint32_t count;
  uint32_t *elements; /* indices of values, UINT32_MAX: not known */
} SambaOnnxSequence;

typedef struct SambaOnnxValue {
  SambaStringRef name;
  SambaTensor *tensor;
  const Onnx__TensorProto *initializer; /* an initializer or the tensor of a Constant node */
  bool is_weight;                       /* initializers keep their name */
  SambaConstant *constant;              /* known at compile time */
  const SambaOnnxSequence *sequence;
  int32_t producer; /* node, -1: an input, initializer or nothing */
  const Onnx__ValueInfoProto
      *declared; /* type and shape as the model has them written down; NULL: nowhere */
  bool defined;
  bool is_double; /* DOUBLE in the model: the tensor has the same numbers in a dtype of ours
                     (cast.c) */
} SambaOnnxValue;

/* The options, parsed. */
typedef struct SambaShapeOption {
  SambaStringRef name;
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
} SambaShapeOption;
typedef struct SambaBindOption {
  SambaStringRef name;
  const char *path;
} SambaBindOption;

typedef struct SambaImporter {
  const char *path, *folder; /* of the model; folder ends with '/' or is "" */
  const uint8_t *file;
  size_t file_size;
  SambaOnnxSkeleton skeleton;
  Onnx__ModelProto *model;
  const SambaOnnxImportOptions *options;
  SambaShapeOption *shapes;
  SambaBindOption *binds;
  SambaTrace *trace;
  SambaArena arena;
  SambaStringMap value_names;
  SAMBA_ARRAY(SambaOnnxValue) values;
  SAMBA_ARRAY(Onnx__AttributeProto *) unpacked; /* default attributes of functions */
  size_t inlined;                               /* nodes put in place of others so far */
  bool failed_inside; /* a node in a function or branch has failed; the error names it */
} SambaImporter;

/* Where the nodes of a function or of a branch stand (inline.c); NULL: in the graph. */
typedef struct SambaOnnxScope SambaOnnxScope;

/* One node while it is imported. */
typedef struct SambaOnnxNode {
  SambaImporter *importer;
  const Onnx__NodeProto *proto;
  uint32_t index;
  const SambaOnnxScope *scope;
  int64_t version; /* of the operator set of its domain */
  uint32_t input_count, output_count;
  const uint32_t *inputs; /* indices of values, UINT32_MAX: left out */
} SambaOnnxNode;

/* A row of the importer's table: the versions of operator sets that a handler is right for. */
typedef struct SambaOnnxRow {
  const char *domain; /* "" is ai.onnx */
  const char *name;
  int64_t first, last;
  SambaStatus (*import)(const SambaOnnxNode *node);
  /* Evaluates the node when all inputs that are there are constants; sets *out_done when it did.
   * NULL: none. */
  SambaStatus (*fold)(const SambaOnnxNode *node, bool *out_done);
  const char *samba;  /* the operator of the table that simple handlers call */
  uint32_t inputs[2]; /* fewest, most */
} SambaOnnxRow;

/* The table, ended by a NULL name. */
extern const SambaOnnxRow sambaOnnxRows[];
const SambaOnnxRow *
sambaOnnxRowOf(const SambaOnnxNode *node); /* for the node's version; NULL: none */

const char *sambaOnnxDomain(const Onnx__NodeProto *proto); /* "" is ai.onnx */

/* A name in messages: escaped, in quotes. */
const char *sambaOnnxShown(SambaImporter *importer, const char *text);
/* The value of this name, made when it is new: pointers got before are then stale. */
SambaOnnxValue *sambaOnnxValueAt(SambaImporter *importer, const char *name);

/* The version of a domain's operator set among those imported, 1 when it is not there. The domain
 * of the standard operators is "". */
int64_t sambaOnnxSetVersion(size_t set_count, Onnx__OperatorSetIdProto *const *sets,
                            const char *domain);
/* Declares an initializer under a name that has no value yet. */
SambaStatus sambaOnnxDeclareInitializer(SambaImporter *importer, const char *name,
                                        const Onnx__TensorProto *proto);
/* Imports one node; its inputs have been imported. Errors name the node. */
SambaStatus sambaOnnxImportNode(SambaImporter *importer, const Onnx__NodeProto *proto,
                                uint32_t index, const SambaOnnxScope *scope);

/* ---- Functions and branches, put in place of the node (inline.c) ---- */
/* The model's function that the node calls, or NULL. */
const Onnx__FunctionProto *sambaOnnxFunctionOf(const SambaOnnxNode *node);
/* Imports the function's nodes in place of the node; errors name the node inside. */
SambaStatus sambaOnnxInlineFunction(const SambaOnnxNode *node, const Onnx__FunctionProto *function);
/* The operator set's version that nodes in the scope mean. */
int64_t sambaOnnxScopeVersion(const SambaImporter *importer, const SambaOnnxScope *scope,
                              const char *domain);

/* ---- Graph inputs, in this order ---- */
SambaStatus sambaOnnxParseOptions(SambaImporter *importer);
SambaStatus sambaOnnxCheckOptions(SambaImporter *importer); /* they name inputs of the graph */
SambaStatus sambaOnnxDeclareInputs(SambaImporter *importer);

/* ---- Attributes ---- */
/* Each is there once, of a name and type that ONNX knows; flags are 0 or 1. */
SambaStatus sambaOnnxCheckAttributes(const SambaOnnxNode *node);
const Onnx__AttributeProto *sambaOnnxAttribute(const SambaOnnxNode *node,
                                               const char *name); /* NULL: absent */
int64_t sambaOnnxInt(const SambaOnnxNode *node, const char *name, int64_t otherwise);
double sambaOnnxFloat(const SambaOnnxNode *node, const char *name, double otherwise);
bool sambaOnnxStringIs(const SambaOnnxNode *node, const char *name, const char *text,
                       bool otherwise);
/* false when absent */
bool sambaOnnxInts(const SambaOnnxNode *node, const char *name, const int64_t **out_data,
                   size_t *out_size);

/* ---- Inputs ---- */
bool sambaOnnxHasInput(const SambaOnnxNode *node, uint32_t input);
/* The tensor (arguments and constants are made on first use). */
SambaStatus sambaOnnxTensor(const SambaOnnxNode *node, uint32_t input, SambaTensor **out_tensor);
/* The element type as TensorProto.DataType. */
int64_t sambaOnnxInputType(const SambaOnnxNode *node, uint32_t input);
/* The constant that an input is; NULL when it is not known at compile time. */
const SambaConstant *sambaOnnxConstant(const SambaOnnxNode *node, uint32_t input);
/* The same, and small initializers of numbers that are otherwise weights. */
SambaStatus sambaOnnxReadKnown(const SambaOnnxNode *node, uint32_t input,
                               const SambaConstant **out_constant);
/* Shape without making a tensor of it; false: dims do not fit (a rank over the limit). */
SambaStatus sambaOnnxShape(const SambaOnnxNode *node, uint32_t input, uint32_t *out_rank,
                           int64_t *out_dims);
/* Integers that must be known: from input `input` or, when that is absent, attribute `name` (may be
 * NULL). found = false when neither is there. */
SambaStatus sambaOnnxKnownInts(const SambaOnnxNode *node, uint32_t input, const char *name,
                               const int64_t **out_data, size_t *out_size, bool *out_found);
/* An axis with negative values counted from the end. */
SambaStatus sambaOnnxAxis(int64_t axis, uint32_t rank, uint32_t *out_axis);

/* ---- Operands that are only there at run time ---- */
/* The static shape that a declaration says. false: none. */
bool sambaOnnxStaticShape(const Onnx__ValueInfoProto *info, uint32_t *out_rank, int64_t *out_dims);
/* The static shape that the model declares for an output, or that follows from those declared
 * behind it. false: none. */
bool sambaOnnxDeclaredShape(const SambaOnnxNode *node, uint32_t output, uint32_t *out_rank,
                            int64_t *out_dims);
/* Imports the node by `import` with the first such operand as the constant that the declared shapes
 * determine; *out_done: there was one. */
SambaStatus sambaOnnxImportDeclared(const SambaOnnxNode *node,
                                    SambaStatus (*import)(const SambaOnnxNode *node),
                                    bool *out_done);
/* Imports a node that has inputs or results without elements; *out_done: it could. */
SambaStatus sambaOnnxImportEmpty(const SambaOnnxNode *node, const SambaOnnxRow *row,
                                 bool *out_done);
/* Imports the node with such operands as index arithmetic; *out_done: it could. */
SambaStatus sambaOnnxImportRuntimeForm(const SambaOnnxNode *node, bool *out_done);

/* ---- Outputs ---- */
SambaStatus sambaOnnxSetTensor(const SambaOnnxNode *node, uint32_t output,
                               SambaTensor *tensor); /* NULL: the trace has failed */
SambaStatus sambaOnnxSetConstant(const SambaOnnxNode *node, uint32_t output,
                                 SambaConstant *constant);
/* For folds: sets the output and *out_done when there is a result; NULL leaves the node to the
 * graph. */
SambaStatus sambaOnnxFoldTo(const SambaOnnxNode *node, uint32_t output, SambaConstant *result,
                            bool *out_done);
/* The output has no elements; dims has a 0. */
SambaStatus sambaOnnxSetEmpty(const SambaOnnxNode *node, uint32_t output, int64_t onnx_type,
                              uint32_t rank, const int64_t *dims);
/* The output is the same value as an input. */
SambaStatus sambaOnnxSetSame(const SambaOnnxNode *node, uint32_t output, uint32_t input);
/* The output is DOUBLE in the model; `tensor` has the same numbers. */
SambaStatus sambaOnnxSetDouble(const SambaOnnxNode *node, SambaTensor *tensor);
bool sambaOnnxOutputUsed(const SambaOnnxNode *node, uint32_t output);
/* Outputs that we cannot make must not be asked for. */
SambaStatus sambaOnnxRefuseOutputs(const SambaOnnxNode *node, uint32_t first);

/* A constant as a tensor of the trace. */
SambaStatus sambaOnnxMaterialize(SambaImporter *importer, const SambaConstant *constant,
                                 SambaTensor **out_tensor);

/* The elements of a tensor in the model; *out NULL when it is too large or not of numbers. */
SambaStatus sambaOnnxReadConstant(SambaImporter *importer, const Onnx__TensorProto *proto,
                                  SambaConstant **out_constant);
/* The output is a tensor of the model: small ones are known at compile time, large ones stay in the
 * file. */
SambaStatus sambaOnnxSetTensorProto(const SambaOnnxNode *node, uint32_t output,
                                    const Onnx__TensorProto *proto);

/* ---- Handlers, by file ---- */
#define X(name) SambaStatus sambaOnnxImport##name(const SambaOnnxNode *node);
#include "frontend/onnx/handlers/handlers.def"
#undef X
#define X(name) SambaStatus sambaOnnxFold##name(const SambaOnnxNode *node, bool *out_done);
#include "frontend/onnx/fold/folds.def"
#undef X

/* What a node may do with a DOUBLE value. */
typedef enum {
  SAMBA_ONNX_DOUBLE_REFUSED,
  SAMBA_ONNX_DOUBLE_MOVED,
  SAMBA_ONNX_DOUBLE_READ
} SambaOnnxDoubleUse;
SambaOnnxDoubleUse sambaOnnxDoubleUse(const SambaOnnxNode *node);
/* TensorProto.DataType that a Cast asks for. */
int64_t sambaOnnxCastTarget(const SambaOnnxNode *node);
/* count elements along one axis, from start on, step apart */
SambaTensor *sambaOnnxPart(SambaTensor *x, uint32_t axis, int64_t start, int64_t count,
                           int64_t step);
int64_t sambaOnnxElements(const SambaTensor *x);
/* Resize and Upsample of declared shape with scales or a region that are not known; options without
 * sizes and scales. */
SambaStatus sambaOnnxResizeAtRunTime(const SambaOnnxNode *node, SambaTensor *x,
                                     const SambaInterpolateOptions *options, bool *out_done);

/* Shared between handlers and folds: the result shape of Reshape, Flatten, Squeeze, Unsqueeze. */
SambaStatus sambaOnnxReshapedDims(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                                  uint32_t *out_rank, int64_t *out_dims);
typedef struct SambaOnnxSlice {
  int64_t starts[SAMBA_MAX_RANK], ends[SAMBA_MAX_RANK], steps[SAMBA_MAX_RANK],
      sizes[SAMBA_MAX_RANK];
} SambaOnnxSlice;
/* What Slice takes along each axis: starts and steps as they are read, ends, and how many elements;
 * refuses operands that are not known. */
SambaStatus sambaOnnxSliceRange(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                                SambaOnnxSlice *out_slice);
/* The sizes of the parts of Split along out_axis; out_sizes has room for output_count. */
SambaStatus sambaOnnxSplitSizes(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                                uint32_t *out_axis, int64_t *out_sizes);
/* perm of Transpose, by default reversed. */
SambaStatus sambaOnnxPermutation(const SambaOnnxNode *node, uint32_t rank, int64_t *out_dims);
/* Broadcast of dims with the target of Expand. */
SambaStatus sambaOnnxBroadcast(uint32_t rank, const int64_t *dims, uint32_t other_rank,
                               const int64_t *other, uint32_t *out_rank, int64_t *out_dims);
/* Flags of the reduced axes; *out_none: nothing is reduced (noop_with_empty_axes). */
SambaStatus sambaOnnxReducedAxes(const SambaOnnxNode *node, uint32_t rank, bool *out_reduced,
                                 bool *out_none);

#endif
