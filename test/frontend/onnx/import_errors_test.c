/* What the importer refuses: a model, the command line's options, and the message after the file's
 * name. */
#include "frontend/onnx/onnx.h"
#include "support/file/tensor_file.h"
#include "test/frontend/onnx/model_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  const char *model, *message; /* the message, or a part of it */
  const char *shape, *bind;    /* options, may be NULL */
} Case;

#define X13 "opset 13; input x f32 2x3; output y; "

#define ATTENTION "opset 24; input x f32 2x4x6; input h f32 2x3x4x2; output y; "

#define I13 "opset 13; input i i64 2x2x2x2; output y; "

static const Case cases[] = {
    /* The graph as a whole. */
    {"opset 13; input x f32 2x3; node Relu x -> z; output y",
     "graph output \"y\" is made by no node", 0, 0},
    {"opset 13; input x f32 2x3; node Relu x -> y", "the graph has no outputs", 0, 0},
    {"opset 13; input x f32 2x3; input x f32 2; node Relu x -> y; output y",
     "graph input \"x\" is declared twice", 0, 0},
    {X13 "init w f32 1 1; init w f32 1 1; node Relu x -> y", "initializer \"w\" is defined twice",
     0, 0},
    {X13 "node Relu x -> y; node Relu x -> y", "node 1 \"n\" (Relu): output \"y\" is made twice", 0,
     0},
    {X13 "node Relu w -> y",
     "input \"w\" is missing: no node makes it, and it is neither a graph input nor an initializer",
     0, 0},
    {X13 "node Add x,b -> a; node Relu a -> b; node Relu b -> y",
     "depends on the node's own output: the graph has a cycle", 0, 0},
    {X13 "node Frobnicate x -> y",
     "node 0 \"n\" (Frobnicate): operator Frobnicate is not supported", 0, 0},
    {X13 "node Gelu:com.acme x -> y", "operator com.acme.Gelu is not supported", 0, 0},
    {X13 "node ConvInteger x,x -> y",
     "operator ConvInteger is not supported: quantized operators are not; export the model in "
     "float",
     0, 0},
    {X13 "node QLinearAdd:com.microsoft x -> y",
     "operator com.microsoft.QLinearAdd is not supported: quantized operators are not; export the "
     "model in float",
     0, 0},
    {X13 "node ATen x -> y",
     "operator ATen is not supported: it was experimental, and ONNX has it no more; export the "
     "model again",
     0, 0},
    {"opset 10; input x f32 2x3; output y; node Affine x -> y",
     "operator Affine of operator set version 10 is not supported; versions 1 to 9 are", 0, 0},
    {X13 "node Scan x -> y",
     "operator Scan is not supported: control flow that depends on data is not; export the model "
     "unrolled",
     0, 0},
    {X13 "node StringNormalizer x -> y", "operator StringNormalizer is not supported: text is not",
     0, 0},
    {"opset 8; input x f32 2x3; output y; node Erf x -> y",
     "operator Erf of operator set version 8 is not supported; versions 9 to 24 are", 0, 0},
    {X13 "node Concat -> y axis=0", "has 0 inputs, but must have 1 at least", 0, 0},
    {X13 "node Exp x,x -> y", "has 2 inputs, but must have exactly 1", 0, 0},
    {X13 "node Clip x,x,x,x -> y", "has 4 inputs, but must have 1 to 3", 0, 0},
    {X13 "node Add x,x,x -> y", "has 3 inputs, but must have exactly 2", 0, 0},
    {"opset 13; input x f32 2x3; output y i64 2x3; node Relu x -> y",
     "graph output \"y\" is declared as INT64, but its node makes FLOAT", 0, 0},
    {"opset 13; input x f32 2x3; output y f32 3x?; node Relu x -> y",
     "graph output \"y\" is declared with the shape [3x?], but its node makes [2x3]", 0, 0},
    {"opset 13; input x f32 2x3; output y f32 6; node Relu x -> y",
     "graph output \"y\" is declared with the shape [6], but its node makes [2x3]", 0, 0},
    /* Attributes. */
    {X13 "node ReduceSum x -> y keepdims=0 keepdims=0", "attribute \"keepdims\" is given twice", 0,
     0},
    {X13 "node ReduceMax x -> y dims=[1]",
     "attribute \"dims\" does not belong to ReduceMax of operator set version 13, which has axes, "
     "keepdims",
     0, 0},
    {"opset 18; input x f32 2x3; output y; node ReduceMax x -> y axes=[1]",
     "attribute \"axes\" does not belong to ReduceMax of operator set version 18, which has "
     "keepdims, noop_with_empty_axes",
     0, 0},
    {"opset 10; input x f32 1x4x2x2; output y; node DepthToSpace x -> y blocksize=2 mode='CRD'",
     "attribute \"mode\" does not belong to DepthToSpace of operator set version 10, which has "
     "blocksize",
     0, 0},
    {X13 "node Relu x -> y alpha=1.0",
     "attribute \"alpha\" does not belong to Relu of operator set version 13, which has none", 0,
     0},
    /* Inputs and their element types. */
    {"opset 6; input x f32 2; output y; node Clip x,x,x -> y",
     "has 3 inputs, but Clip of operator set version 6 has at most 1", 0, 0},
    {"opset 23; input h f32 2x3x4x2; input n i64 2; output y; node Attention h,h,h,_,_,_,n -> y",
     "has 7 inputs, but Attention of operator set version 23 has at most 6", 0, 0},
    {X13 "node Cast x -> y to=23",
     "cast to FLOAT4E2M1 is not supported; the types are f32, f16, bf16, bool, int8, uint8, int16, "
     "int32, int64",
     0, 0},
    {"opset 7; input x i32 2; output y; node Relu x -> y",
     "input 0 is INT32, but Relu of operator set version 7 takes FLOAT, FLOAT16, DOUBLE", 0, 0},
    {X13 "init i i32 2x1 0 1; node GatherND x,i -> y",
     "input 1 is INT32, but GatherND of operator set version 13 takes INT64", 0, 0},
    {X13 "node Cast x -> d to=11; node And d,d -> y",
     "input 0 is DOUBLE, but And of operator set version 13 takes BOOL", 0, 0},
    {X13 "node ReduceMax x -> y axes=1", "attribute \"axes\" is INT, but must be INTS", 0, 0},
    {X13 "node ReduceMax x -> y keepdims=[0]", "attribute \"keepdims\" is INTS, but must be INT", 0,
     0},
    {X13 "node ReduceMax x -> y keepdims=2", "attribute \"keepdims\" is 2, but must be 0 or 1", 0,
     0},
    {X13 "node If x -> y then_branch=?5", "attribute \"then_branch\" has no value", 0, 0},
    /* Graph inputs and options. */
    {"opset 13; input x f64 2; node Relu x -> y; output y",
     "graph input \"x\": has element type DOUBLE; the supported ones are f32, f16, bf16, bool, "
     "int8, uint8, int16, "
     "int32, int64; --f64=f32 makes all DOUBLE f32",
     0, 0},
    {"opset 13; input x seq 2; node Relu x -> y; output y",
     "graph input \"x\": is not a tensor; only tensors can be graph inputs", 0, 0},
    {"opset 13; input x f32 none; node Relu x -> y; output y",
     "has no shape; give it with --shape x=1x3x224x224", 0, 0},
    {"opset 13; input x f32 Nx3; node Relu x -> y; output y",
     "has a dynamic shape: dimension 0 is \"N\"; give its shape with --shape x=... (2 numbers "
     "joined by x)",
     0, 0},
    {"opset 13; input x f32 2x?; node Relu x -> y; output y",
     "has a dynamic shape: dimension 1 is open", 0, 0},
    {"opset 13; input x f32 1x1x1x1x1x1x1x1x1; node Relu x -> y; output y",
     "has rank 9, but 8 is the most", 0, 0},
    {X13 "node Relu x -> y", "has rank 2, but --shape gives 3 dimensions", "x=1x2x3", 0},
    {X13 "node Relu x -> y", "has 3 as dimension 1, but --shape gives 4", "x=2x4", 0},
    {X13 "node Relu x -> y", "--shape z=2x4y: expected NAME=1x3x224x224, at most 8 numbers",
     "z=2x4y", 0},
    {X13 "node Relu x -> y",
     "--shape names \"z\", but the graph has no such input\n  note: graph input \"x\"", "z=2x4", 0},
    {X13 "node Relu x -> y", "--bind names \"z\", but the graph has no such input", 0, "z=a.npy"},
    {X13 "node Relu x -> y", "--bind x: expected NAME=FILE", 0, "x"},
    {X13 "node Relu x -> y", "graph input \"x\": /nonexistent.npy", 0, "x=/nonexistent.npy"},
    /* Recurrent layers, optimizers, signals. */
    {"opset 14; input x f32 3x2x3; input w f32 1x4x3; input r f32 1x4x4; output y; node RNN x,w,r "
     "-> y "
     "direction='both'",
     "attribute 'direction' must be forward, reverse or bidirectional", 0, 0},
    {"opset 14; input x f32 3x2x3; input w f32 1x4x3; input r f32 1x4x4; output y; node RNN x,w,r "
     "-> y hidden_size=5",
     "attribute 'hidden_size' is 5, but the recurrent weight is for 4", 0, 0},
    {"opset 14; opset ai.onnx.preview.training 1; input r f32 -; input t i64 -; input x f32 2; "
     "input g f32 2; input h "
     "f32 2; input z f32 2; "
     "output y; node Adagrad:ai.onnx.preview.training r,t,x,g,h,z -> y",
     "has 6 inputs, but must have 2 and 3 for each optimized tensor", 0, 0},
    {"opset 14; opset ai.onnx.preview.training 1; input r f32 -; input t i64 -; input x f32 2; "
     "input g f32 2; input h "
     "f32 2; output y; node "
     "Momentum:ai.onnx.preview.training r,t,x,g,h -> y mode='fast'",
     "attribute 'mode' must be standard or nesterov", 0, 0},
    {"opset 17; input n i64 -; output y; node HannWindow n -> y",
     "input 0 must be one number known at compile time; if it comes from a graph input, use --bind "
     "NAME=FILE",
     0, 0},
    {"opset 17; init n i64 - 9; output y; node HannWindow n -> y output_datatype=8",
     "the result cannot be a constant: it has element type ", 0, 0},
    {"opset 17; init b i64 - 8; init n i64 - 16; init s i64 - 8192; init l f32 - 0; init h f32 - "
     "9000; output y; node "
     "MelWeightMatrix b,n,s,l,h -> y",
     "8 mel bins from 0 to 9000 Hz do not lie in a spectrum of 16 points at 8192 Hz", 0, 0},
    /* Tensors. */
    {X13 "init w f64 2 1 2; node Add x,w -> y",
     "element type DOUBLE is not supported; convert the model to f32, f16, bf16, bool, int8, "
     "uint8, int16, int32 or "
     "int64",
     0, 0},
    {X13 "init w f32 2x2 1; node Add x,w -> y", "needs 16 bytes, but the file holds 4", 0, 0},
    {X13 "init w i64 2 1; node Reshape x,w -> y",
     "tensor \"w\" needs 16 bytes, but the file holds 8", 0, 0},
    {X13 "init w f32 1x1x1x1x1x1x1x1x3 1 2 3; node Add x,w -> y", "rank 9 is more than 8", 0, 0},
    {X13 "init w f32 0x3; node Add x,w -> y",
     "shapes do not broadcast: 2 against 0, 2 from the end", 0, 0},
    {X13 "init w f32 9223372036854775807x3 1; node Add x,w -> y",
     "dimension 1 is 3: it is negative, or the tensor is too large", 0, 0},
    {X13 "init w f32 4611686018427387904 1; node Add x,w -> y", "the tensor is too large", 0, 0},
    {X13 "node Constant -> y value_string='a'",
     "there is no value of a supported kind (value, value_float, value_int, value_floats, "
     "value_ints)",
     0, 0},
    {X13 "extern w f32 3 offset=0; node Add x,w -> y",
     "its external data have no location, which must name the file", 0, 0},
    {X13 "extern w f32 3 location=a offset=z; node Add x,w -> y",
     "external data: 'offset' is not a number", 0, 0},
    {X13 "extern w f32 3 location=a length=4; node Add x,w -> y",
     "its external data have 4 bytes, but the tensor needs 12", 0, 0},
    {X13 "extern w f32 3 location=samba-no-such-file; node Add x,w -> y",
     "input 1, \"w\": external data file: /tmp/samba-no-such-file: cannot be read: No such file or "
     "directory",
     0, 0},
    {X13 "extern w f32 3 location=a/../../etc/passwd; node Add x,w -> y",
     "input 1, \"w\": its data is said to be in \"a/../../etc/passwd\", but a location must be "
     "relative to the model's folder and have no '..'; copy the file into the model's folder and "
     "change the location",
     0, 0},
    {X13 "extern w f32 3 location=/etc/passwd; node Add x,w -> y",
     "its data is said to be in \"/etc/passwd\", but a location must be relative", 0, 0},
    /* Operators. */
    {"opset 14; input x f32 2x3; input s f32 3; output y; output m; node BatchNormalization "
     "x,s,s,s,s -> y,m",
     "output 1 is not supported; only the first 1 can be used", 0, 0},
    {X13 "node Cast x -> y to=12",
     "cast to UINT32 is not supported; the types are f32, f16, bf16, bool, int8, uint8, int16, "
     "int32, int64",
     0, 0},
    {"opset 13; input x i64 2; output y; node Cast x -> y to=11", "cast to DOUBLE is not supported",
     0, 0},
    {X13 "node Cast x -> d to=11; node Exp d -> y",
     "input 0 is DOUBLE, which is not supported; only Cast, IsNaN, IsInf and changes of shape can "
     "take what was cast "
     "to "
     "it",
     0, 0},
    {X13 "node RandomNormal -> y", "attribute 'shape' is missing or has more than 8 numbers", 0, 0},
    {X13 "node RandomNormal -> y shape=[2] dtype=11", "dtype DOUBLE is not supported", 0, 0},
    {"opset 13; input x ui8 2; output y; node BitShift x,x -> y",
     "attribute 'direction' must be LEFT or RIGHT", 0, 0},
    {"opset 6; input x f32 2x3; output y; node Add x,x -> y axis=1",
     "input 1 of rank 2 at axis 1 does not lie within input 0 of rank 2", 0, 0},
    {"opset 13; input x f32 3; output y; node Gemm x,x -> y",
     "inputs 0 and 1 have ranks 1 and 1, but must have rank 2", 0, 0},
    {X13 "node MaxPool x -> y kernel_shape=[1]",
     "input 0 has rank 2; one to three spatial dimensions are supported (rank 3 to 5)", 0, 0},
    {X13 "node MaxPool x -> y", "attribute 'kernel_shape' is missing", 0, 0},
    {"opset 13; input x f32 1x2x9; output y; node MaxPool x -> y kernel_shape=[1,1]",
     "attribute 'kernel_shape' has 2 numbers, but there are 1 spatial dimensions", 0, 0},
    {"opset 13; input x f32 1x2x9; output y; node MaxPool x -> y kernel_shape=[0]",
     "attribute 'kernel_shape' contains 0; numbers from 1 to 2^40 are possible", 0, 0},
    {"opset 13; input x f32 1x2x9; output y; node MaxPool x -> y kernel_shape=[2] pads=[1]",
     "attribute 'pads' has 1 numbers, but must have 2", 0, 0},
    {"opset 13; input x f32 1x2x9; output y; node MaxPool x -> y kernel_shape=[2] auto_pad='ALL'",
     "attribute 'auto_pad' must be NOTSET, SAME_UPPER, SAME_LOWER or VALID", 0, 0},
    {"opset 13; input x f32 1x2x9; input w f32 2x2; output y; node Conv x,w -> y",
     "the weight has rank 2, but the input has rank 3", 0, 0},
    {"opset 13; input x f32 1x2x9; input w f32 2x2x3; output y; node Conv x,w -> y "
     "kernel_shape=[2]",
     "attribute 'kernel_shape' differs from the spatial dimensions of the weight", 0, 0},
    {"opset 13; input x f32 1x2x9; input w f32 2x2x3; output y; node ConvTranspose x,w -> y "
     "output_padding=[1,1]",
     "attribute 'output_padding' has 2 numbers, but must have 1", 0, 0},
    {"opset 13; input x f32 1x2x9; input w f32 2x2x3; output y; node ConvTranspose x,w -> y "
     "output_shape=[1,1]",
     "attribute 'output_shape' has 2 numbers, but must have 1", 0, 0},
    {"opset 13; input x f32 1x2x9; input w f32 2x2x3; output y; node ConvTranspose x,w -> y "
     "output_shape=[0]",
     "spatial dimension 0 of the output cannot have 0 elements", 0, 0},
    {X13 "node GlobalMaxPool x -> y", "input 0 has rank 2, but must have spatial dimensions", 0, 0},
    {X13 "node GlobalLpPool x -> y", "input 0 has rank 2, but must have spatial dimensions", 0, 0},
    {"opset 9; input x f32 -; input s f32 1; output y; node BatchNormalization x,s,s,s,s -> y",
     "input 0 has rank 0, but must have a batch dimension", 0, 0},
    {"opset 17; input x f32 2x3; input s f32 3; output y; node LayerNormalization x,s -> y "
     "stash_type=11",
     "stash_type 11 is not supported; FLOAT, FLOAT16 and BFLOAT16 are", 0, 0},
    {"opset 13; input x f32 3; output y; node InstanceNormalization x,x,x -> y",
     "input 0 has rank 1, but must have a batch and a channel dimension", 0, 0},
    {"opset 18; input x f32 2x3; input s f32 2; output y; node GroupNormalization x,s,s -> y "
     "num_groups=2",
     "2 groups do not divide 3 channels", 0, 0},
    {X13 "node Softmax x -> y axis=2", "axis 2 is not within the rank 2", 0, 0},
    {X13 "node Conv x,x -> y", "input 0 has rank 2; one to three spatial dimensions", 0, 0},
    {X13 "node Relu x -> y; node MatMul x,x -> z",
     "node 1 \"n\" (MatMul): matmul (layer n): operand 1 is 2x3xf32: dimension 0 is 2, but "
     "must be 3",
     0, 0},
    /* Shapes. */
    {X13 "node Reshape x -> y",
     "the new shape is missing: it is input 1, or attribute 'shape' before version 5", 0, 0},
    {"opset 13; input x f32 2x3; input s i64 1; output y; node Reshape x,s -> y",
     "input 1, \"s\", must be integers known at compile time, but depends on data; if it comes "
     "from a graph input, use "
     "--bind NAME=FILE or declare the shape of the result",
     0, 0},
    {X13 "init s i64 9 1 1 1 1 1 1 1 2 3; node Reshape x,s -> y",
     "the new shape has rank 9, but 8 is the most", 0, 0},
    {X13 "init s i64 3 2 3 0; node Reshape x,s -> y",
     "the new shape has a 0 at 2, which copies a dimension, but the input has rank 2", 0, 0},
    {X13 "init s i64 1 -2; node Reshape x,s -> y",
     "the new shape contains -2; dimensions must not be negative, but for one -1", 0, 0},
    {X13 "init s i64 2 4 -1; node Reshape x,s -> y",
     "6 elements do not divide by the known dimensions of the new shape, 4", 0, 0},
    {X13 "init s i64 1 5; node Reshape x,s -> y",
     "the new shape has 5 elements, but the input has 6", 0, 0},
    {X13 "node Flatten x -> y axis=3", "axis 3 is not within the rank 2", 0, 0},
    {X13 "init a i64 1 1; node Squeeze x,a -> y", "dimension 1 is 3; only 1 can be squeezed", 0, 0},
    {X13 "node Unsqueeze x -> y", "there are no axes", 0, 0},
    {X13 "init a i64 2 0 0; node Unsqueeze x,a -> y", "axis 0 is added twice", 0, 0},
    {X13 "init a i64 7 0 1 2 3 4 5 6; node Unsqueeze x,a -> y", "the result's rank is more than 8",
     0, 0},
    {X13 "node Transpose x -> y perm=[0,0]",
     "attribute 'perm' must name each of the 2 dimensions once", 0, 0},
    {X13 "init s i64 2 4 3; node Expand x,s -> y",
     "shapes do not broadcast: 2 against 4, 2 from the end", 0, 0},
    {X13 "init s i64 9 1 1 1 1 1 1 1 1 1; node Expand x,s -> y",
     "the shape is missing or has a rank of more than 8", 0, 0},
    {X13 "init s i64 1 0; init e i64 2 1 1; node Slice x,s,e -> y",
     "starts, ends, axes and steps must have the same length, at most 2", 0, 0},
    {X13 "init s i64 1 0; init e i64 1 1; node Slice x,s,e,s,s -> y", "the step of axis 0 is 0", 0,
     0},
    /* Counts of n-grams. */
    {I13 "node TfIdfVectorizer i -> y ngram_counts=[0] ngram_indexes=[0]",
     "ngram_counts, ngram_indexes and pool_int64s must be there; text is not supported", 0, 0},
    {I13 "node TfIdfVectorizer i -> y ngram_counts=[0] ngram_indexes=[0] pool_int64s=[1]",
     "input 0 must be one or several rows of integers", 0, 0},
    {"opset 13; input x i64 3; output y; node TfIdfVectorizer x -> y ngram_counts=[0] "
     "ngram_indexes=[0] "
     "pool_int64s=[1] max_gram_length=2",
     "the lengths of n-grams, 1 to 2, do not fit ngram_counts", 0, 0},
    {"opset 13; input x i64 3; output y; node TfIdfVectorizer x -> y ngram_counts=[0] "
     "ngram_indexes=[0,0] "
     "pool_int64s=[1,2]",
     "ngram_indexes must be different and from 0 to 2^24 - 1, and weights, if there are any, as "
     "many",
     0, 0},
    {"opset 13; input x i64 3; output y; node TfIdfVectorizer x -> y ngram_counts=[0] "
     "ngram_indexes=[0] "
     "pool_int64s=[1,2]",
     "ngram_counts do not divide the pool into n-grams with an index each", 0, 0},
    /* Sequences. */
    {X13 "node SequenceLength x -> y", "input 0 is not a sequence", 0, 0},
    {X13 "node SequenceConstruct x -> s; node Relu s -> y",
     "input 0 is a sequence; only operators on sequences take one", 0, 0},
    {X13 "node SequenceConstruct x -> s; node Shape s -> y",
     "input 0 is a sequence; only operators on sequences take one", 0, 0},
    {X13 "node SequenceConstruct x -> y", "graph output \"y\": input 0 is a sequence", 0, 0},
    {X13 "init p i64 - 5; node SequenceConstruct x,x -> s; node SequenceAt s,p -> y",
     "position 5 is not within the 2 elements of the sequence", 0, 0},
    {X13 "input w f32 3; input p i64 -; node SequenceConstruct x,w -> s; node SequenceAt s,p -> y",
     "the elements of the sequence have different shapes: the position must be known at compile "
     "time (--bind "
     "NAME=FILE)",
     0, 0},
    {X13 "input z i64 2; node SplitToSequence x,z -> s; node ConcatFromSequence s -> y axis=0",
     "element 0 of the sequence is not known: the sizes of SplitToSequence must be known at "
     "compile time (--bind "
     "NAME=FILE)",
     0, 0},
    {X13 "node SequenceEmpty -> s; node SequenceErase s -> t; node Relu x -> y",
     "the sequence has no elements", 0, 0},
    {X13 "init z i64 - 0; node SplitToSequence x,z -> s; node SequenceLength s -> y",
     "input 1 must be a list of sizes, or one size of 1 or more known at compile time", 0, 0},
    {X13 "init z i64 1 1; node SplitToSequence x,z -> s; node SequenceLength s -> y",
     "the sizes of the parts do not fit a dimension of 2", 0, 0},
    {"opset 13; input x f32 70000; output y; node SplitToSequence x -> s; node SequenceLength s -> "
     "y",
     "a sequence of 70000 elements is too long", 0, 0},
    {"opset 13; input x f32 1x1x1x1x1x1x1x2; output y; node SequenceConstruct x,x -> s; node "
     "ConcatFromSequence s -> y "
     "axis=0 new_axis=1",
     "tensors of rank 8 cannot be stacked", 0, 0},
    {"opset 15; input x f32 2; output y; node Optional -> o; node Relu x -> y",
     "an optional value without an element is not supported", 0, 0},
    /* Tensors without elements. */
    {X13 "input w f32 2x0; node MatMul x,w -> y",
     "the matrices do not fit: 3 columns against 2 rows", 0, 0},
    {"opset 13; input x i64 0x3; init a i64 1 0; output y; node ReduceMean x -> y axes=[0]",
     "the mean of no integers is not defined", 0, 0},
    {"opset 13; input x f32 0x2x4x4; output y; node MaxPool x -> y kernel_shape=[2,2]",
     "max_pool2d (layer n): operand 0 has 0 as dimension 0: operators take no tensors without "
     "elements",
     0, 0},
    {X13 "node Split x -> y,z axis=1",
     "a dimension of 3 cannot be split into 2 outputs: it does not divide, or there is another "
     "number of sizes",
     0, 0},
    {X13 "init s i64 2 2 2; node Split x,s -> y,z axis=1",
     "the sizes of the parts do not fit a dimension of 3", 0, 0},
    {X13 "init s i64 2 1 1; node Split x,s -> y,z axis=1",
     "the parts of a dimension of 3 add up to 2", 0, 0},
    {"opset 13; input x f32 1x1x1x2x2x2x2; input i i64 2x2x2; output y; node Gather x,i -> y",
     "the result has rank 9, but 8 is the most", 0, 0},
    {X13 "init i i64 - 5; init d i64 3 1 2 3; node Gather d,i -> z; node Relu x -> y",
     "index 5 is not within [-3, 3)", 0, 0},
    {X13 "init a i64 2 1 2; init b i64 1x2 1 2; node Concat a,b -> z axis=0; node Relu x -> y",
     "input 1 has another rank or kind of number than input 0", 0, 0},
    {X13 "init a i64 2x1 1 2; init b i64 1x1 2; node Concat a,b -> z axis=1; node Relu x -> y",
     "dimension 0 of input 1 is 1, but 2 in input 0", 0, 0},
    {X13 "init a i64 2 1 2; init s i64 1 3; node Reshape a,s -> z; node Relu x -> y",
     "the new shape has 3 elements, but the input has 2", 0, 0},
    {"opset 5; input x f32 2; init r f32 1 2; output y; node Tile x,r -> y",
     "inputs 1 and 2, the count and the axis, must have one number each", 0, 0},
    {X13 "init r i64 1 2; node Tile x,r -> y", "there must be one repeat per dimension, 2", 0, 0},
    {X13 "init r i64 2 -1 1; node Tile x,r -> y", "dimension 0 cannot be repeated -1 times", 0, 0},
    {"opset 13; input x f32 1x1x1x1x1x1x1x2; init r i64 8 1 1 1 1 1 1 1 2; output y; node Tile x,r "
     "-> y",
     "tensors of rank 8 cannot be repeated", 0, 0},
    {X13 "init p i64 2 1 1; node Pad x,p -> y", "there are 2 pads; there must be two per dimension",
     0, 0},
    {X13 "init p i64 4 1 1 1 1; init v f32 2 0 0; node Pad x,p,v -> y",
     "the pad value must be one number known at compile time", 0, 0},
    {X13 "init p i64 4 1 1 1 1; node Pad x,p -> y mode='mirror'",
     "this mode is not supported; the modes are constant, reflect, edge and wrap", 0, 0},
    {X13 "init p i64 4 -1 0 -2 0; node Pad x,p -> y",
     "the negative pads of dimension 0 remove more elements than it has", 0, 0},
    {X13 "init p i64 4 -2 0 1 0; node Pad x,p -> y mode='edge'",
     "the negative pads leave no element that padding could repeat", 0, 0},
    {"opset 18; input x f32 2x3; output y; init s i64 1 4; node CenterCropPad x,s -> y",
     "input 1, the shape, must have one number per dimension", 0, 0},
    {X13 "input s f32 2; node Resize x,_,s -> y",
     "input 2, the scales, must be known at compile time; if it is a graph input, use --bind "
     "NAME=FILE",
     0, 0},
    {X13 "init s f32 1 2; node Resize x,_,s -> y",
     "there are 1 scales and 0 sizes for 2 dimensions", 0, 0},
    {"opset 18; input x f32 2x3; output y; init s i64 2 4 6; node Resize x,_,_,s -> y "
     "keep_aspect_ratio_policy='crop'",
     "keep_aspect_ratio_policy must be stretch, not_larger or not_smaller", 0, 0},
    {"opset 18; input x f32 2x3; output y; init s i64 1 4; node Resize x,_,_,s -> y axes=[0,1,0]",
     "there are 3 axes, but 2 dimensions", 0, 0},
    {"opset 16; input x f32 1x2x4x4; input r f32 3x4; input b i64 3; output y; node RoiAlign x,r,b "
     "-> y "
     "coordinate_transformation_mode='corner'",
     "coordinate_transformation_mode must be half_pixel or output_half_pixel", 0, 0},
    {"opset 18; input x f32 1x4x4; init i i64 2 3 3; init b i64 1 4; output y; node Col2Im x,i,b "
     "-> y",
     "image_shape has 2 numbers and block_shape 1; both must have one per spatial dimension", 0, 0},
    {"opset 18; input x f32 1x4x4; init i i64 2 3 3; init b i64 2 2 2; output y; node Col2Im x,i,b "
     "-> y pads=[1]",
     "pads has 1 numbers, but must have 4", 0, 0},
    {"opset 18; input x f32 3; input i i64 2; input u f32 2; output y; node ScatterElements x,i,u "
     "-> y "
     "reduction='xor'",
     "this reduction is not supported; none, add, mul, min and max are", 0, 0},
    {X13 "input i i64 2x3; node MaxUnpool x,i -> y kernel_shape=[2]",
     "kernel_shape, strides, pads or output_shape do not fit an input of rank 2", 0, 0},
    {"opset 13; input x f32 1x1x2; input i i64 1x1x2; init s i64 3 1 1 2; output y; node MaxUnpool "
     "x,i,s -> y "
     "kernel_shape=[2] strides=[2]",
     "dimension 2 of the result would be 4, with output_shape 2", 0, 0},
    {"opset 13; input x f32 2; output y; node EyeLike x -> y",
     "input 0 must be a matrix and dtype one of Samba's, not rank 1", 0, 0},
    {"opset 13; input x f32 70000x1; output y; node EyeLike x -> y",
     "dimension 0 has 70000 elements; 65536 are the most", 0, 0},
    {X13 "init s i64 2 65536 2; node ConstantOfShape s -> z value={f32,2,1,2}; node Relu x -> y",
     "the value must be one number", 0, 0},
    {X13
     "init a i64 - 0; init b i64 - 100000; init c i64 - 1; node Range a,b,c -> z; node Relu x -> y",
     "the constant result has more than 65536 elements", 0, 0},
    {X13 "init a i64 - 0; init b i64 - 5; node Range a,b,a -> z; node Relu x -> y",
     "the step is 0 or the range overflows", 0, 0},
    {X13 "init a i64 - 0; node Range x,a,a -> z; node Relu x -> y",
     "input 0 must be one number known at compile time; if it is a graph input, use --bind "
     "NAME=FILE or declare the "
     "shape of the result",
     0, 0},
    {X13 "init s f32 2 2 2; node Resize x,_,s -> y mode='bilinear'",
     "attribute 'mode' is 'bilinear', but must be one of", 0, 0},
    /* Operands that are there at run time only. */
    {"opset 13; input x f32 2x3; input s i64 1x1; output y f32 1x3; node Slice x,s,s -> y",
     "input 1 has rank 2, but must be a list", 0, 0},
    {"opset 13; input x f32 2x3; input s i64 2; input a i64 1; output y f32 1x3; node Slice "
     "x,s,s,a -> y",
     "input 3 must be a list of integers, with one for each of the axes", 0, 0},
    {"opset 13; input x f32 2x3; input s i64 2; init a i64 1 0; output y f32 1x3; node Slice "
     "x,s,s,a -> y",
     "input 3 has 1 axes, but there are 2 values", 0, 0},
    {"opset 13; input x f32 2x3; input s i64 1; init a i64 1 0; output y f32 1x2; node Slice "
     "x,s,s,a -> y",
     "dimension 1 is declared as 2, but it is not sliced and has 3", 0, 0},
    {"opset 13; input x f32 2x3; input s i64 1; output y f32 1; node Slice x,s,s -> y",
     "the result is declared with rank 1, but the input has rank 2", 0, 0},
    {"opset 13; input x f32 2x3; input s f32 1; output y f32 2x6; node Resize x,_,s -> y",
     "input 2 must be a list of 2 numbers", 0, 0},
    {X13 "node NonZero x -> y",
     "the shape of the result depends on data; only inputs known at compile time are supported "
     "(--bind NAME=FILE)",
     0, 0},
    {X13 "node Unique x -> y", "the shape of the result depends on data", 0, 0},
    {X13 "input c bool 6; node Compress x,c -> y", "the shape of the result depends on data", 0, 0},
    {X13 "init c bool 3 0 0 1; node Compress x,c -> y axis=0",
     "the condition is true at 2, but dimension 0 has the size 2", 0, 0},
    {X13 "init k i64 2 1 2; node TopK x,k -> y", "input 1, k, must be one number", 0, 0},
    {X13 "init k i64 1 4; node TopK x,k -> y",
     "k is 4, but must be 1 to 3, the size of dimension 1", 0, 0},
    {X13 "init a i64 2 0 1; node CumSum x,a -> y", "input 1, axis, must be one number", 0, 0},
    {X13 "init a i64 1 2; node CumSum x,a -> y", "axis 2 is not within the rank 2", 0, 0},
    {X13 "node ArgMax x -> y axis=2", "axis 2 is not within the rank 2", 0, 0},
    {X13 "input d i64 1; init v f32 2 0 1; init i i64 2 0 1; node OneHot i,d,v -> y",
     "input 1, depth, must be one number known at compile time; if it comes from a graph input, "
     "use --bind NAME=FILE",
     0, 0},
    {X13 "node Einsum x -> y", "attribute 'equation' is missing", 0, 0},
    {X13 "node Einsum x -> y equation='i'",
     "operand 0 has rank 2, but its term of equation 'i' has 1", 0, 0},
    {X13 "init t i64 2 0 1; node NegativeLogLikelihoodLoss x,t -> y reduction='most'",
     "attribute 'reduction' must be mean, sum or none", 0, 0},
    {"opset 14; input x f32 3; output y; node Trilu x -> y",
     "the operand is 3xf32 of rank 1, but must have rank 2 to 8", 0, 0},
    {"opset 14; input x f32 2x2; init k i64 2 0 1; output y; node Trilu x,k -> y",
     "input 1, k, must be one integer", 0, 0},
    {X13 "node LRN x -> y",
     "local_response_norm (layer n): attribute 'size' is 0, but must be 1 or more", 0, 0},
    {X13 "node DepthToSpace x -> y blocksize=2", "blocksize 2 does not fit the input", 0, 0},
    /* Attention and what came with it; the experimental operators. */
    {ATTENTION "node Attention x,x -> y", "has 2 inputs, but must have 3 to 7", 0, 0},
    {ATTENTION "node Attention x,x,x -> y q_num_heads=4 kv_num_heads=2",
     "input 0 has 6 elements in its last dimension, but attribute 'q_num_heads' says 4 heads; it "
     "must divide them",
     0, 0},
    {ATTENTION "input q f32 2x2; node Attention q,q,q -> y",
     "input 0 has rank 2, but must have rank 3 or 4", 0, 0},
    {ATTENTION "node Attention h,h,h -> y qk_matmul_output_mode=4",
     "attribute 'qk_matmul_output_mode' is 4, but must be 0 to 3", 0, 0},
    {ATTENTION "node Attention h,h,h -> y softmax_precision=11",
     "softmax_precision DOUBLE is not supported; FLOAT, FLOAT16 and BFLOAT16 are", 0, 0},
    {ATTENTION "node Attention h,h,h,_,h -> y",
     "inputs 4 and 5, the past key and value, must both be there or none", 0, 0},
    {ATTENTION "node Attention h,h,h,_,x,x -> y",
     "inputs 4 and 5 have ranks 3 and 3, but must have 4", 0, 0},
    {ATTENTION "input k f32 2x2x3x2; node Attention h,k,k -> y",
     "the key has 2 heads and the value 2; both must have one number, which divides the query's 3",
     0, 0},
    {ATTENTION "input m f32 3x7; node Attention h,h,h,m -> y",
     "input 3, the mask, has rank 2; it must have rank 2 to 4 and at most 4 columns", 0, 0},
    {ATTENTION "input n i64 3; node Attention h,h,h,_,_,_,n -> y",
     "input 6, the lengths, must have one number for each of the 2 samples", 0, 0},
    {"opset 24; input q f32 1x1x1x2; input k f32 1x1x70000x2; output y; input n i64 1; node "
     "Attention q,k,k,_,_,_,n -> y",
     "a sequence of 70000 positions is longer than 65536", 0, 0},
    {ATTENTION "input c f32 2x4x1; node RotaryEmbedding x,c,c -> y num_heads=4",
     "input 0 has 6 elements in its last dimension, but attribute 'num_heads' is 4; it must divide "
     "them",
     0, 0},
    {ATTENTION "input q f32 2x2; node RotaryEmbedding q,q,q -> y",
     "input 0 has rank 2, but must have rank 3 or 4", 0, 0},
    {ATTENTION "input c f32 2x4x3; node RotaryEmbedding h,c,c -> y",
     "input 1 must give half of the 2 elements that are turned, of 2 in a head, for each position "
     "of each sample",
     0, 0},
    {ATTENTION "input u f32 2x3x5x2; node TensorScatter h,u -> y",
     "the update must have the cache's shape, or less along axis 2, which must not be 0", 0, 0},
    {ATTENTION "node TensorScatter h,h -> y mode='ring'",
     "attribute 'mode' must be linear or circular", 0, 0},
    {ATTENTION "input u f32 2x70000x1; node TensorScatter u,u -> y",
     "the update has 140000 slices along axis 1, which is too many; 65536 are the most", 0, 0},
    {"opset 6; input x f32 2x3; output y; node ImageScaler x -> y",
     "input 0 has rank 2, but an image must have rank 4", 0, 0},
    {"opset 6; input x f32 1x3x4x4; output y; node ImageScaler x -> y",
     "attribute 'bias' has 0 numbers, but there are 3 channels", 0, 0},
    {"opset 6; input x f32 1x3x4x4; output y; node Crop x -> y border=[1,1]",
     "attribute 'border' has 2 numbers, but must have 4, and 'scale' has 0, but must have 2 or "
     "none",
     0, 0},
    {"opset 6; input x f32 1x3x4x4; output y; node Crop x -> y border=[2,1,2,1]",
     "the image of 4 elements along dimension 3 cannot be cut to 2 to 2", 0, 0},
};

static SambaStatus import(const char *path, const Case *test) {
  MlirContext context = mlirContextCreateWithThreading(false);
  MlirModule module;
  SambaOnnxImportOptions options = {.shapes = &test->shape,
                                    .shape_count = test->shape != NULL,
                                    .binds = &test->bind,
                                    .bind_count = test->bind != NULL};
  SambaStatus status = sambaOnnxImportModel(context, path, &options, NULL, NULL, &module);
  if (!status)
    mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return status;
}

static void expect(SambaStatus status, const char *path, const char *message) {
  if (!status)
    fail_msg("accepted, expected: %s", message);
  const char *got = sambaStatusGetMessage(status);
  if (strncmp(got, path, strlen(path)) != 0 || !strstr(got, message))
    fail_msg("got: %s\nexpected: %s: ... %s", got, path, message);
  sambaStatusFree(status);
}

static void testModels(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    size_t size;
    uint8_t *data = modelFromText(cases[i].model, &size);
    char *path = writeTemporary(data, size, ".onnx");
    expect(import(path, &cases[i]), path, cases[i].message);
    unlink(path);
    free(path);
    free(data);
  }
}

static void expectBytes(const void *data, size_t size, const char *message) {
  char *path = writeTemporary(data, size, ".onnx");
  expect(import(path, &(Case){0}), path, message);
  unlink(path);
  free(path);
}

static void testFiles(void **state) {
  (void)state;
  expect(import("/nonexistent/model.onnx", &(Case){0}), "/nonexistent/model.onnx",
         "cannot open: No such file or directory");
  expect(import("/tmp", &(Case){0}), "/tmp", "is no regular file; expected an ONNX model");
  expectBytes("", 0, "is empty; expected an ONNX model");
  expectBytes("hello, this is no model", 23,
              "a field runs beyond its message: the file is cut off, damaged or no ONNX model");
  expectBytes("\x08\x08", 2, "holds no graph; expected an ONNX model");
  expectBytes("\x3a\x00", 2, "the graph has no outputs");
  expectBytes("\x3a\x02\x0a\x00", 4, "node 0 \"\" (): operator without a type is not supported");
  expectBytes("\x3a\x02\x0a\x00\xca\x01\x00", 7,
              "node 0 \"\" (): operator without a type is not supported");
  /* ir_version 3 and an empty graph, without and with an operator set. */
  expectBytes(
      "\x08\x03\x3a\x00", 4,
      "names no operator set (opset_import), so the meaning of its nodes is open; export it "
      "again with one");
  expectBytes("\x08\x02\x3a\x00", 4, "the graph has no outputs");
  expectBytes("\x08\x03\x3a\x00\x42\x02\x10\x0d", 8, "the graph has no outputs");
  expectBytes("\x38\x05", 2, "is damaged, or no ONNX model: a field has the wrong type");
  uint8_t nested[1024]; /* an attribute's type: sequences of sequences ... */
  size_t size = 0;

  for (int depth = 0; depth < 200;
       ++depth) { /* from the inside out: field 1 or 4, length-delimited */
    memmove(nested + 3, nested, size);
    nested[0] = depth % 2 ? 0x22 : 0x0a;
    nested[1] = (uint8_t)((size & 127) | 128);
    nested[2] = (uint8_t)(size >> 7);
    size += 3;
  }

  static const uint8_t fields[] = {0x12, 0x5a, 0x3a}; /* ValueInfo.type, Graph.input, Model.graph */
  for (int i = 0; i < 3; ++i) {
    memmove(nested + 3, nested, size);
    nested[0] = fields[i];
    nested[1] = (uint8_t)((size & 127) | 128);
    nested[2] = (uint8_t)(size >> 7);
    size += 3;
  }

  expectBytes(nested, size, "messages are nested deeper than 64 levels");
}

static void testBind(void **state) {
  (void)state;
  static const struct {
    SambaDType dtype;
    uint32_t rank;
    const char *message;
  } arrays[] = {{SAMBA_DTYPE_F32, 1, "graph input \"x\": does not have the shape of the array in "},
                {SAMBA_DTYPE_I32, 2, "graph input \"x\": has element type FLOAT, but "},
                {SAMBA_DTYPE_F32, 9, "graph input \"x\": has rank 9 in "}};
  size_t size;
  uint8_t *data = modelFromText("opset 13; input x f32 2x3; output y; node Relu x -> y", &size);
  char *path = writeTemporary(data, size, ".onnx");
  char *array = writeTemporary("", 0, ".npy");
  char option[96];

  snprintf(option, sizeof option, "x=%s", array);
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
    static const float zeros[3];
    assert_null(sambaNpyWrite(array, arrays[i].dtype, arrays[i].rank,
                              (int64_t[]){3, 1, 1, 1, 1, 1, 1, 1, 1}, zeros));
    expect(import(path, &(Case){.bind = option}), path, arrays[i].message);
  }

  unlink(array);
  unlink(path);
  free(array);
  free(path);
  free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testModels), cmocka_unit_test(testFiles),
                                     cmocka_unit_test(testBind)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
