/* A node of an ONNX graph as handlers, folds and rules see it: inputs, attributes, outputs.
 *
 * An input is any of: a tensor of the trace, a weight that stays in the model's file (it becomes an
 * argument of the graph on first use), a constant known at compile time, a sequence of such. A
 * handler reads inputs by the functions below and sets outputs. It returns what is wrong; the
 * driver puts the node's name before it. */
#ifndef SAMBA_FRONTEND_ONNX_CORE_NODE_H
#define SAMBA_FRONTEND_ONNX_CORE_NODE_H

#include "frontend/onnx/core/constant.h"
#include "frontend/onnx/core/row.h"
#include "frontend/trace/trace.h"
#include "samba/operators.h"

#include "onnx/onnx.pb-c.h"

/* The import that the node belongs to; see importer.h. */
typedef struct SambaImporter SambaImporter;
/* The function, branch or loop body that the node stands in. */
typedef struct SambaOnnxScope SambaOnnxScope;

struct SambaOnnxNode {
  SambaImporter *importer;
  const Onnx__NodeProto *proto;
  const SambaOnnxRow *row;     /* NULL: a function of the model */
  uint32_t index;              /* in the list of nodes that it stands in */
  const SambaOnnxScope *scope; /* NULL: the graph itself */
  int64_t version;             /* of the operator set of its domain */
  uint32_t input_count, output_count;
  const uint32_t *inputs; /* values (sambaOnnxAddValue), SAMBA_NO_INDEX: left out */
  SambaTrace *trace;      /* where operators are built */
  SambaArena *arena;      /* lives as long as the import */
};

/* A list of values that exists only while importing. */
typedef struct SambaOnnxSequence {
  uint32_t count;
  uint32_t *elements; /* values, SAMBA_NO_INDEX: not known */
} SambaOnnxSequence;

/* "" is ai.onnx. */
const char *sambaOnnxDomain(const Onnx__NodeProto *proto);
/* Whether the node's row has one of the traits. */
static inline bool sambaOnnxHasTrait(const SambaOnnxNode *node, uint32_t traits) {
  return node->row && node->row->traits & traits;
}
/* Our type for a TensorProto.DataType, SAMBA_DTYPE_COUNT when there is none. DOUBLE is f32 when the
 * user asks for that, which is counted. */
SambaDType sambaOnnxDType(SambaImporter *importer, int64_t onnx_type);
/* A name in messages: escaped, in quotes. */
const char *sambaOnnxShown(SambaImporter *importer, const char *text);

/* Inputs, their element types and attributes are what the version of the operator takes: each
 * attribute is there once, with its type; flags are 0 or 1. */
SambaStatus sambaOnnxCheckSignature(const SambaOnnxNode *node);

/* ---- Attributes: their types are checked before the handler runs ---- */

/* NULL: absent. */
const Onnx__AttributeProto *sambaOnnxAttribute(const SambaOnnxNode *node, const char *name);
int64_t sambaOnnxInt(const SambaOnnxNode *node, const char *name, int64_t otherwise);
double sambaOnnxFloat(const SambaOnnxNode *node, const char *name, double otherwise);
bool sambaOnnxStringIs(const SambaOnnxNode *node, const char *name, const char *text,
                       bool otherwise);
/* false when absent */
bool sambaOnnxInts(const SambaOnnxNode *node, const char *name, const int64_t **out_data,
                   size_t *out_size);
/* TensorProto.DataType that a Cast asks for: a number, before operator set 6 its name. */
int64_t sambaOnnxCastTarget(const SambaOnnxNode *node);

/* ---- Inputs ---- */

bool sambaOnnxHasInput(const SambaOnnxNode *node, uint32_t input);
/* The tensor (arguments and constants are made on first use). */
SambaStatus sambaOnnxTensor(const SambaOnnxNode *node, uint32_t input,
                            SambaTraceValue **out_tensor);
/* The element type as TensorProto.DataType. */
int64_t sambaOnnxInputType(const SambaOnnxNode *node, uint32_t input);
/* The constant that an input is; NULL when it is not known at compile time. */
const SambaConstant *sambaOnnxConstant(const SambaOnnxNode *node, uint32_t input);
/* The same, and small initializers of numbers that are otherwise weights. */
SambaStatus sambaOnnxReadKnown(const SambaOnnxNode *node, uint32_t input,
                               const SambaConstant **out_constant);
/* Shape without making a tensor of it. */
SambaStatus sambaOnnxShape(const SambaOnnxNode *node, uint32_t input, uint32_t *out_rank,
                           int64_t *out_dims);
/* Integers that must be known: from input `input` or, when that is absent, attribute `name` (may be
 * NULL). *out_found: one of them is there. */
SambaStatus sambaOnnxKnownInts(const SambaOnnxNode *node, uint32_t input, const char *name,
                               const int64_t **out_data, size_t *out_size, bool *out_found);
/* An axis with negative values counted from the end. */
SambaStatus sambaOnnxAxis(int64_t axis, uint32_t rank, uint32_t *out_axis);
/* The sequence that the input is; NULL: it is none. */
const SambaOnnxSequence *sambaOnnxSequence(const SambaOnnxNode *node, uint32_t input);

/* ---- Values without a name, to be inputs of a copy of the node ---- */

/* Of tensor and constant one may be NULL. */
uint32_t sambaOnnxAddValue(const SambaOnnxNode *node, SambaTraceValue *tensor,
                           SambaConstant *constant);
/* The node with other inputs. */
SambaOnnxNode sambaOnnxNodeWith(const SambaOnnxNode *node, uint32_t count, const uint32_t *inputs);

/* ---- Constants ---- */

/* A constant as a tensor of the trace. */
SambaStatus sambaOnnxMaterialize(const SambaOnnxNode *node, const SambaConstant *constant,
                                 SambaTraceValue **out_tensor);
/* The elements of a tensor in the model; NULL when it is too large or not of numbers. */
SambaStatus sambaOnnxReadConstant(SambaImporter *importer, const Onnx__TensorProto *proto,
                                  SambaConstant **out_constant);

/* Why the trace has made no tensor. */
SambaStatus sambaOnnxTraceFailure(const SambaOnnxNode *node);

/* ---- Declared shapes ---- */

/* The static shape that a declaration says. false: none. */
bool sambaOnnxStaticShape(const Onnx__ValueInfoProto *info, uint32_t *out_rank, int64_t *out_dims);
/* The static shape that the model declares for an output, or that follows from those declared
 * behind it. false: none. */
bool sambaOnnxDeclaredShape(const SambaOnnxNode *node, uint32_t output, uint32_t *out_rank,
                            int64_t *out_dims);
/* The element type that the model declares for the output itself; 0: none. */
int64_t sambaOnnxDeclaredType(const SambaOnnxNode *node, uint32_t output);

/* ---- Outputs ---- */

bool sambaOnnxOutputUsed(const SambaOnnxNode *node, uint32_t output);
/* Outputs that we cannot make must not be asked for. */
SambaStatus sambaOnnxRefuseOutputs(const SambaOnnxNode *node, uint32_t first);
SambaStatus sambaOnnxSetTensor(const SambaOnnxNode *node, uint32_t output,
                               SambaTraceValue *tensor); /* NULL: the trace has failed */
/* NULL: the result is too large to be known. */
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
SambaStatus sambaOnnxSetDouble(const SambaOnnxNode *node, SambaTraceValue *tensor);
/* The output is a tensor of the model: small ones are known at compile time, large ones stay in the
 * file. */
SambaStatus sambaOnnxSetTensorProto(const SambaOnnxNode *node, uint32_t output,
                                    const Onnx__TensorProto *proto);
SambaStatus sambaOnnxSetSequence(const SambaOnnxNode *node, uint32_t output,
                                 const SambaOnnxSequence *sequence);
/* The constant that an output has been set to; NULL: none. */
const SambaConstant *sambaOnnxOutputConstant(const SambaOnnxNode *node, uint32_t output);
/* Takes back what the output has been set to, as a tensor, so that it can be set again. */
SambaStatus sambaOnnxTakeOutput(const SambaOnnxNode *node, uint32_t output,
                                SambaTraceValue **out_tensor);

#endif
