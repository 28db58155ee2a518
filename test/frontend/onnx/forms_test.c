/* The forms of operators over the versions of the operator set: what each becomes in the samba
 * dialect, and what folds away. */
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

/* pieces: parts of the IR in this order, separated by '|'; a part that starts with '!' must not
 * occur. */
static const struct {
  const char *model, *pieces;
} cases[] = {
    /* Attention is one operator where that can do it. */
    {"opset 23; input q f32 2x3x4x8; output y; node Attention q,q,q -> y is_causal=1",
     "samba.scaled_dot_product_attention|is_causal = true|return"},
    {"opset 23; input q f32 2x3x32; input k f32 2x3x16; output y; node Attention q,k,k -> y "
     "q_num_heads=4 kv_num_heads=2",
     "samba.permute|samba.expand|samba.scaled_dot_product_attention|!samba.matmul|samba.reshape"},
    {"opset 23; input q f32 2x3x4x8; output y; output s; node Attention q,q,q -> y,_,_,s",
     "!samba.scaled_dot_product_attention|samba.matmul|samba.softmax|samba.matmul"},
    {"opset 24; input x f32 2x3; output y; node Swish x -> y", "samba.silu"},
    /* Softmax before opset 13: all dimensions from the axis on are one. */
    {"opset 11; input x f32 2x3x4; output y; node Softmax x -> y",
     "samba.reshape|shape = [2, 12]|samba.softmax|dim = -1|samba.reshape|shape = [2, 3, 4]"},
    {"opset 11; input x f32 2x3x1; output y; node Softmax x -> y",
     "!samba.reshape|samba.softmax|dim = 1"},
    {"opset 11; input x f32 2x3; output y; node LogSoftmax x -> y axis=2",
     "samba.log_softmax|tensor<2x3x1xf32>|samba.reshape"},
    {"opset 13; input x f32 2x3x4; output y; node Softmax x -> y",
     "!samba.reshape|samba.softmax|dim = 2"},
    /* Axes as attributes, then as inputs. */
    {"opset 12; input x f32 2x3; output y; node ReduceSum x -> y axes=[1] keepdims=0",
     "samba.sum|dim = [1], keepdim = false"},
    {"opset 13; input x f32 2x3; init a i64 1 -1; output y; node ReduceSum x,a -> y",
     "samba.sum|dim = [1], keepdim = true"},
    {"opset 13; input x f32 2x3; output y; node ReduceSum x -> y noop_with_empty_axes=1",
     "!samba.|return %arg0"},
    {"opset 17; input x f32 2x3; output y; node ReduceMean x -> y axes=[0]",
     "samba.mean|dim = [0]"},
    {"opset 18; input x f32 2x3; init a i64 1 0; output y; node ReduceMean x,a -> y",
     "samba.mean|dim = [0]"},
    {"opset 13; input x f32 2x3; output y; node ReduceL2 x -> y axes=[1]",
     "samba.mul|samba.sum|samba.sqrt"},
    {"opset 12; input x f32 1x3; output y; node Squeeze x -> y axes=[0]",
     "samba.reshape|shape = [3]"},
    {"opset 13; input x f32 1x3; init a i64 1 0; output y; node Squeeze x,a -> y",
     "samba.reshape|shape = [3]"},
    {"opset 12; input x f32 3; output y; node Unsqueeze x -> y axes=[0,2]", "shape = [1, 3, 1]"},
    {"opset 9; input x f32 4x5; output y; node Slice x -> y starts=[1] ends=[9] axes=[1]",
     "samba.slice|ends = [4, 5], starts = [0, 1], steps = [1, 1]"},
    {"opset 13; input x f32 5; init s i64 1 -1; init e i64 1 -9; init a i64 1 0; init t i64 1 -2; "
     "output y; node Slice "
     "x,s,e,a,t -> y",
     "samba.slice|ends = [-1], starts = [4], steps = [-2]"},
    {"opset 11; input x f32 4; output y; output z; node Split x -> y,z split=[1,3]",
     "samba.slice|tensor<4xf32>|samba.slice|starts = [1]|return"},
    {"opset 18; input x f32 5; output y; output z; node Split x -> y,z num_outputs=2",
     "ends = [3]|starts = [3]|tensor<3xf32>, tensor<2xf32>"},
    {"opset 10; input x f32 2; output y; node Pad x -> y pads=[1,2] value=3.0",
     "samba.pad|high = [2], low = [1], value = 3.0"},
    {"opset 11; input x f32 3; init p i64 2 1 1; output y; node Pad x,p -> y mode='reflect'",
     "samba.pad_border|high = [1], low = [1], mode = \"reflect\""},
    {"opset 19; input x f32 3; init p i64 2 -1 2; output y; node Pad x,p -> y mode='wrap'",
     "samba.slice|samba.pad_border|high = [2], low = [0], mode = \"circular\""},
    {"opset 11; input x f32 4; init p i64 2 -1 2; output y; node Pad x,p -> y",
     "samba.slice|starts = [1]|samba.pad|high = [2], low = [0]"},
    {"opset 10; input x f32 2; output y; node Clip x -> y min=0.0 max=6.0",
     "samba.clamp|max = 6.000000e+00, min = 0.000000e+00"},
    {"opset 13; input x f32 2; init m f32 - 1; output y; node Clip x,_,m -> y",
     "samba.clamp|max = 1.000000e+00}"},
    {"opset 13; input x f32 2; input m f32 -; output y; node Clip x,m -> y", "samba.maximum"},
    {"opset 1; input x f32 1x2x3x3; output y; node Upsample x -> y height_scale=2.0 "
     "width_scale=3.0 mode='bilinear'",
     "samba.interpolate|linear|tensor<1x2x6x9xf32>"},
    {"opset 1; input x f32 2x3; init r f32 1 4; init a f32 1 1; output y; node Tile x,r,a -> y",
     "tensor<2x12xf32>"},
    {"opset 5; input x f32 2x3; init r f32 1 4; init a f32 1 1; output y; node Tile x,r,a -> y",
     "samba.expand|samba.reshape|shape = [2, 12]"},
    {"opset 1; input x f32 2x3; init s f32 2 1 2; output y; output z; node Split x,s -> y,z axis=1",
     "samba.slice|samba.slice"},
    /* Indexing of constants folds. */
    {"opset 14; init a i64 3 1 2 3; init s i64 - -1; output y; node CumSum a,s -> y",
     "!samba.cumsum|dense<[1, 3, 6]>"},
    {"opset 14; init a i64 2x2 1 2 3 4; init s i64 - 0; output y; node CumSum a,s -> y reverse=1 "
     "exclusive=1",
     "!samba.cumsum|[3, 4], [0, 0]"},
    {"opset 13; init i i64 2 1 -1; init d i64 - 3; init v i64 2 0 5; output y; node OneHot i,d,v "
     "-> y",
     "!samba.one_hot|[0, 5, 0], [0, 0, 5]"},
    {"opset 13; init i i64 2 1 7; init d i64 - 2; init v i64 2 0 5; output y; node OneHot i,d,v -> "
     "y axis=0",
     "[0, 0], [5, 0]"},
    {"opset 13; init a i64 4 4 5 6 7; init c bool 3 1 0 1; output y; node Compress a,c -> y",
     "dense<[4, 6]>"},
    {"opset 13; init a i64 2x2 4 5 6 7; init c bool 2 0 1; output y; node Compress a,c -> y axis=1",
     "[5], [7]"},
    {"opset 13; init a i64 2x2 1 2 3 4; init i i64 1x2 1 -1; output y; node GatherElements a,i -> "
     "y",
     "!samba.gather|3, 4"},
    {"opset 13; init a i64 2x2 1 2 3 4; init i i64 2x1 1 -2; output y; node GatherND a,i -> y",
     "!samba.gather|[3, 4], [1, 2]"},
    {"opset 13; init a i64 2x2 1 2 3 4; init i i64 1x2 1 0; output y; node GatherND a,i -> y",
     "!samba.gather|dense<3>"},
    {"opset 13; init a i64 4 1 2 3 4; init i i64 2x1 3 -4; init u i64 2 7 8; output y; node "
     "ScatterND a,i,u -> y",
     "!samba.scatter|dense<[8, 2, 3, 7]>"},
    {"opset 13; init a i64 2x2 1 2 3 4; init i i64 2x1 -1 0; init u i64 2x1 7 8; output y; node "
     "ScatterElements a,i,u "
     "-> "
     "y axis=1",
     "!samba.scatter|[1, 7], [8, 4]"},
    {"opset 13; init a i64 2x2 3 9 9 9; output y; node ArgMax a -> y axis=1 keepdims=0",
     "!samba.argmax|dense<[1, 0]>"},
    {"opset 13; init a i64 2x2 3 9 9 9; output y; node ArgMin a -> y axis=1 select_last_index=1",
     "!samba.argmin|[0], [1]"},
    {"opset 13; init a i64 3 -1 5 99; init l i64 - 0; init h i64 - 10; output y; node Clip a,l,h "
     "-> y",
     "dense<[0, 5, 10]>"},
    /* Operands that are there at run time only: the declared shape says what they are ... */
    {"opset 13; input x f32 2x6; input s i64 2; output y f32 3x4; node Reshape x,s -> y",
     "samba.name = \"s\"|samba.reshape|shape = [3, 4]"},
    {"opset 13; input x f32 2x6; input s i64 2; output y f32 ; value z f32 3x4; node Reshape x,s "
     "-> z; node Relu z -> "
     "y",
     "samba.reshape|shape = [3, 4]|samba.relu"},
    {"opset 13; input x f32 2x6; input s i64 2; init c f32 - 2; output y f32 3x4; node Reshape x,s "
     "-> z; node Exp c -> "
     "d; "
     "node Mul d,z -> w; node Sub w,z -> y",
     "samba.reshape|shape = [3, 4]|samba.mul|samba.sub"},
    {"opset 13; input x f32 1x3; input s i64 2; output y f32 2x3; node Expand x,s -> y",
     "samba.expand|shape = [2, 3]"},
    {"opset 13; input x f32 1x3x1; input a i64 1; output y f32 1x3; node Squeeze x,a -> y",
     "samba.reshape|shape = [1, 3]"},
    {"opset 13; input x f32 3x1; input a i64 1; output y f32 3x1x1; node Unsqueeze x,a -> y",
     "samba.reshape|shape = [3, 1, 1]"},
    {"opset 13; input x f32 2; input r i64 1; output y f32 6; node Tile x,r -> y",
     "samba.expand|shape = [3, 2]"},
    {"opset 13; input x f32 5; input s i64 2; output y f32 2; output z; node Split x,s -> y,z",
     "ends = [2]|starts = [2]|tensor<2xf32>, tensor<3xf32>"},
    {"opset 13; input s i64 1; input x f32 2; output y; value z f32 2; node ConstantOfShape s -> "
     "z; node Add x,z -> y",
     "samba.constant|dense<0.000000e+00>|samba.add"},
    {"opset 13; input x f32 2x3x4; input a i64 2; output y f32 2x1x1; node ReduceSum x,a -> y",
     "samba.sum|dim = [1, 2], keepdim = true"},
    /* ... or some that fit, and the operand chooses ... */
    {"opset 13; input x f32 3x3; input a i64 1; output y f32 3; node ReduceSum x,a -> y keepdims=0",
     "samba.sum|dim = [0], keepdim = false|samba.sum|dim = [1], keepdim = "
     "false|samba.eq|samba.where"},
    /* ... or positions are computed. */
    {"opset 13; input x f32 5; input s i64 1; output y f32 2; node Slice x,s,s -> y",
     "samba.lt|samba.where|samba.add|samba.index_select"},
    {"opset 13; input x f32 3; input p i64 2; output y f32 5; node Pad x,p -> y",
     "samba.index_select|samba.where"},
    {"opset 13; input x f32 3; init p i64 2 -1 1; input v f32 -; output y; node Pad x,p,v -> y",
     "samba.slice|samba.pad|samba.pad|samba.where"},
    /* A number that no f64 has is not an attribute. */
    {"opset 13; input x i64 3; init p i64 2 0 1; init v i64 - 9007199254740993; output y; node Pad "
     "x,p,v -> y",
     "dense<9007199254740993>|samba.where"},
    {"opset 13; input x i64 -; output y i64 3; node Range x,x,x -> y", "samba.mul|samba.add"},
    {"opset 14; input x f32 2x3; input k i64 -; output y; node Trilu x,k -> y",
     "samba.triu %arg0, %arg1"},
    /* Indices. */
    {"opset 13; input x f32 2x3x4; input i i64 2x2; output y; node Gather x,i -> y axis=1",
     "samba.take|dim = 1|tensor<2x3x4xf32>, tensor<2x2xi64>"},
    {"opset 9; input x f32 3x3; input i i64 1x2; input u f32 1x2; output y; node Scatter x,i,u -> "
     "y axis=1",
     "samba.scatter|{dim = 1}"},
    {"opset 16; input x f32 3x3; input i i64 1x2; input u f32 1x2; output y; node ScatterElements "
     "x,i,u -> y "
     "reduction='add'",
     "samba.scatter|dim = 0|reduce = \"add\""},
    {"opset 18; input x f32 3x3; input i i64 2x1; input u f32 2x3; output y; node ScatterND x,i,u "
     "-> y reduction='max'",
     "samba.scatter_nd|reduce = \"max\""},
    {"opset 12; input x f32 3x3; input i i64 3x2x1; output y; node GatherND x,i -> y batch_dims=1",
     "samba.gather_nd|batch_dims = 1"},
    {"opset 11; input x f32 1x1x2; input i i64 1x1x2; init s i64 3 1 1 5; output y; node MaxUnpool "
     "x,i,s -> y "
     "kernel_shape=[2] strides=[2]",
     "samba.max_unpool|output_size = [4]|samba.pad|high = [0, 0, 1]"},
    {"opset 13; input x f32 2x3; output y; node EyeLike x -> y k=1 dtype=7",
     "[1, 2]|[0, 1, 2]|samba.eq|samba.cast"},
    /* Resampling over the versions. */
    {"opset 9; input x f32 1x1x2x3; init s f32 4 1 1 2 2; output y; node Upsample x,s -> y "
     "mode='nearest'",
     "samba.interpolate|coordinate_mode = \"asymmetric\", mode = \"nearest\", nearest_mode = "
     "\"floor\", output_size = "
     "[1, 1, 4, 6]"},
    {"opset 10; input x f32 1x1x2x3; init s f32 4 1 1 2 2; output y; node Resize x,s -> y "
     "mode='linear'",
     "coordinate_mode = \"asymmetric\", mode = \"linear\", output_size = [1, 1, 4, 6], scales = "},
    {"opset 11; input x f32 1x1x2x3; init r f32 0; init s f32 0; init z i64 4 1 1 5 3; output y; "
     "node Resize x,r,s,z "
     "-> y "
     "mode='cubic' cubic_coeff_a=-0.5",
     "coordinate_mode = \"half_pixel\", cubic_coeff_a = -5.000000e-01, mode = \"cubic\", "
     "output_size = [1, 1, 5, 3]"},
    {"opset 18; input x f32 1x1x2x4; init z i64 2 7 9; output y; node Resize x,_,_,z -> y "
     "axes=[2,3] "
     "keep_aspect_ratio_policy='not_larger'",
     "output_size = [1, 1, 5, 9]"},
    {"opset 11; input x f32 1x4; input s f32 2; output y f32 1x7; node Resize x,_,s -> y "
     "mode='linear'",
     "samba.div|samba.index_select|samba.mul|samba.index_select|samba.add"},
    {"opset 16; input x f32 1x2x4x4; init r f32 2x4 0 0 4 7 1 1 3 2; input b i64 2; output y; node "
     "RoiAlign x,r,b -> y "
     "output_height=2 output_width=2",
     "adaptive = true|sampling_ratio = 4"},
    {"opset 16; input x f32 1x2x4x4; input r f32 3x4; input b i64 3; output y; node RoiAlign x,r,b "
     "-> y",
     "adaptive = true|sampling_ratio = 5"},
    {"opset 18; input x f32 5x2; init s i64 2 3 6; output y; node CenterCropPad x,s -> y",
     "samba.slice|starts = [1, 0]|samba.pad|high = [0, 2], low = [0, 2]"},
    /* Recurrent layers, optimizers, signals. */
    {"opset 14; input x f32 3x2x3; input w f32 1x16x3; input r f32 1x16x4; output y; node LSTM "
     "x,w,r -> y "
     "direction='reverse' clip=0.5 input_forget=1 hidden_size=4",
     "samba.lstm|clip = 5.000000e-01, direction = \"reverse\", input_forget = true"},
    {"opset 7; input x f32 3x2x3; input w f32 1x16x3; input r f32 1x16x4; input c f32 1x2x4; "
     "output y; node LSTM "
     "x,w,r,_,_,_,c -> y",
     "samba.constant|dense<0.000000e+00> : tensor<1x2x4xf32>|samba.lstm|initial = true"},
    {"opset 14; input x f32 2x3x3; input w f32 1x12x3; input r f32 1x12x4; init l i32 2 3 3; "
     "output y; node GRU "
     "x,w,r,_,l -> y layout=1 linear_before_reset=1",
     "!lengths|samba.gru|batch_first = true, linear_before_reset = true|tensor<2x3x1x4xf32>"},
    {"opset 14; input x f32 3x2x3; input w f32 1x4x3; input r f32 1x4x4; init l i32 2 3 2; output "
     "y; node RNN "
     "x,w,r,_,l -> y",
     "samba.rnn|lengths = true"},
    {"opset 14; opset ai.onnx.preview.training 1; input r f32 -; input t i64 -; input x f32 2; "
     "input g f32 2; input v "
     "f32 2; output y; node Momentum:ai.onnx.preview.training r,t,x,g,v -> y alpha=0.5 beta=1.0 "
     "mode='nesterov' "
     "norm_coefficient=0.25",
     "samba.momentum_update|nesterov = true"},
    /* An epsilon that is left out is 1e-6. */
    {"opset 14; opset ai.onnx.preview.training 1; input r f32 -; input t i64 -; input x f32 2; "
     "input g f32 2; input h "
     "f32 2; output y; node Adagrad:ai.onnx.preview.training r,t,x,g,h -> y",
     "9.99999997E-7|samba.adagrad_update"},
    {"opset 14; opset ai.onnx.preview.training 1; input r f32 -; input t i64 -; input x f32 2; "
     "input g f32 2; input v "
     "f32 2; input h f32 2; output y; node Adam:ai.onnx.preview.training r,t,x,g,v,h -> y",
     "9.99999997E-7|samba.adam_update"},
    {"opset 17; input x f32 2x8x1; output y; node DFT x -> y onesided=1",
     "samba.dft|dim = 1, inverse = false, onesided = true|tensor<2x5x2xf32>"},
    {"opset 20; input x f32 2x8x3x2; init a i64 - -3; output y; node DFT x,_,a -> y inverse=1",
     "samba.dft|dim = -3, inverse = true"},
    {"opset 20; input x f32 2x8x3x2; output y; node DFT x -> y", "samba.dft|dim = -2"},
    {"opset 17; input x f32 1x16; init s i64 - 4; init n i64 - 8; output y; node STFT x,s,_,n -> y",
     "samba.reshape|samba.stft|hop = 4, length = 8, onesided = true|tensor<1x3x5x2xf32>"},
    {"opset 17; init n i64 - 4; output y; node HannWindow n -> y",
     "dense<[0.000000e+00, 5.000000e-01, 1.000000e+00"},
    /* Products and windows. */
    {"opset 11; input x f32 2x3; init w f32 3x4 1 2 3 4 5 6 7 8 9 10 11 12; init b f32 4 1 2 3 4; "
     "output y; node Gemm "
     "x,w,b -> y",
     "samba.permute|samba.linear|tensor<4xf32>"},
    {"opset 11; input x f32 2x3; input w f32 4x3; input b f32 2x4; output y; node Gemm x,w,b -> y "
     "transB=1 alpha=0.5",
     "!samba.permute|samba.linear|samba.constant|dense<5.000000e-01>|samba.mul|samba.add"},
    {"opset 11; input x f32 3x2; input w f32 4x3; output y; node Gemm x,w -> y transA=1 transB=1",
     "samba.permute|samba.linear"},
    {"opset 11; input x f16 2x3; input w f16 4x3; input b f16 2x4; output y; node Gemm x,w,b -> y "
     "transB=1 beta=0.5",
     "samba.linear|out_dtype = f32|samba.cast|dense<5.000000e-01>|samba.mul|samba.add|dtype = f16"},
    {"opset 8; input x f32 1x1x5x5; input w f32 2x1x3x3; output y; node Conv x,w -> y "
     "auto_pad='SAME_LOWER' "
     "strides=[2,2]",
     "samba.conv2d|padding = [1, 1, 1, 1], stride = [2, 2]"},
    {"opset 8; input x f32 1x1x4x4; input w f32 2x1x3x3; output y; node Conv x,w -> y "
     "auto_pad='SAME_UPPER' "
     "strides=[2,2]",
     "samba.conv2d|padding = [0, 0, 1, 1]"},
    {"opset 8; input x f32 1x1x4x4; input w f32 2x1x3x3; output y; node Conv x,w -> y "
     "auto_pad='VALID' pads=[1,1,1,1]",
     "samba.conv2d|padding = [0, 0, 0, 0]"},
    {"opset 8; input x f32 1x4x6; input w f32 4x1x3; output y; node Conv x,w -> y group=4",
     "samba.conv1d|groups = 4"},
    {"opset 10; input x f32 1x1x5x5; output y; node MaxPool x -> y kernel_shape=[2,2] "
     "strides=[2,2] ceil_mode=1",
     "samba.max_pool2d|ceil_mode = true|tensor<1x1x3x3xf32>"},
    {"opset 8; input x f32 1x1x5x5; output y; node AveragePool x -> y kernel_shape=[3,3] "
     "pads=[1,1,1,1]",
     "samba.avg_pool2d|count_include_pad = false"},
    {"opset 1; input x f32 1x1x5; output y; node AveragePool x -> y kernel_shape=[2] "
     "auto_pad='SAME_UPPER'",
     "samba.avg_pool1d|count_include_pad = false|padding = [0, 1]"},
    {"opset 19; input x f32 1x1x9; output y; node AveragePool x -> y kernel_shape=[2] "
     "dilations=[3] ceil_mode=1 "
     "count_include_pad=1 strides=[2]",
     "samba.avg_pool1d|ceil_mode = true, dilation = [3], kernel_size = [2]|tensor<1x1x4xf32>"},
    {"opset 10; input x f32 1x1x5; output y; node MaxPool x -> y kernel_shape=[2] strides=[2] "
     "ceil_mode=1 "
     "auto_pad='VALID'",
     "!ceil_mode|samba.max_pool1d|tensor<1x1x2xf32>"},
    {"opset 12; input x f32 1x1x4; output y; output i; node MaxPool x -> y,i kernel_shape=[2] "
     "storage_order=1",
     "%result, %indices = samba.max_pool1d_with_indices|return %result, %indices"},
    {"opset 12; input x f32 2x3x4; output y; output i; node MaxPool x -> y,i kernel_shape=[2]",
     "max_pool1d_with_indices|samba.constant|[12]|[20]|samba.add"},
    {"opset 12; input x f32 1x1x4x6; output i; node MaxPool x -> y,i kernel_shape=[2,2] "
     "storage_order=1",
     "samba.max_pool2d_with_indices|samba.fmod|samba.mul|samba.div|samba.add"},
    {"opset 1; input x f32 1x1x4; output y; node LpPool x -> y kernel_shape=[2] p=3.0",
     "samba.lp_pool1d|norm_type = 3.0"},
    {"opset 18; input x f32 1x1x4x4; output y; node LpPool x -> y kernel_shape=[2,2] p=1 "
     "dilations=[2,1]",
     "samba.lp_pool2d|dilation = [2, 1]|norm_type = 1.0"},
    {"opset 2; input x f32 1x2x3x2; output y; node GlobalLpPool x -> y",
     "shape = [1, 2, 6]|kernel_size = [6]"},
    {"opset 8; input x f32 1x2x4; input w f32 2x3x3; output y; node ConvTranspose x,w -> y "
     "strides=[2] pads=[1,1] "
     "output_padding=[1]",
     "samba.conv_transpose1d|output_padding = [1], padding = [1, 1], stride = [2]|!samba.slice"},
    {"opset 8; input x f32 1x2x4; input w f32 2x3x3; output y; node ConvTranspose x,w -> y "
     "strides=[2]",
     "samba.conv_transpose1d|output_padding = [1]|samba.slice|ends = [1, 3, 9]"},
    {"opset 11; input x f32 1x2x4; input w f32 2x3x3; output y; node ConvTranspose x,w -> y "
     "strides=[2] "
     "auto_pad='SAME_UPPER'",
     "samba.conv_transpose1d|padding = [0, 1]|tensor<1x3x8xf32>"},
    {"opset 11; input x f32 1x2x4; input w f32 2x3x3; output y; node ConvTranspose x,w -> y "
     "strides=[2] "
     "output_shape=[8]",
     "samba.conv_transpose1d|padding = [1, 0]|tensor<1x3x8xf32>"},
    {"opset 10; input x f32 1x2x4; input w f32 2x3x3; output y; node ConvTranspose x,w -> y "
     "strides=[2] "
     "output_shape=[1,3,8]",
     "samba.conv_transpose1d|padding = [0, 1]|tensor<1x3x8xf32>"},
    {"opset 11; input x f32 1x2x4; input w f32 2x3x3; output y; node ConvTranspose x,w -> y "
     "strides=[2] "
     "output_shape=[12]",
     "samba.conv_transpose1d|output_padding = [3], padding = [0, 0]|tensor<1x3x12xf32>"},
    {"opset 8; input x f32 1x2x5x5; output y; node GlobalAveragePool x -> y",
     "samba.mean|dim = [2, 3], keepdim = true"},
    {"opset 9; input x f32 2x3; input s f32 3; output y; node BatchNormalization x,s,s,s,s -> y",
     "samba.batch_norm|eps"},
    {"opset 15; input x f32 2x3; input s f16 3; output y; node BatchNormalization x,s,s,s,s -> y",
     "samba.cast|dtype = f32|samba.batch_norm"},
    {"opset 15; input x f16 2x3; input s f16 3; input m bf16 3; output y; output n; node "
     "BatchNormalization "
     "x,s,s,m,m -> y,n training_mode=1",
     "samba.cast|dtype = f32|samba.batch_norm_training|samba.cast|dtype = bf16"},
    {"opset 14; input x f32 2x3; input s f32 3; output y; output m; node BatchNormalization "
     "x,s,s,s,s -> y,m "
     "training_mode=1 momentum=0.5",
     "samba.batch_norm_training|momentum = 5.0"},
    {"opset 9; input x f32 2x3; input s f32 3; output y; output v; node BatchNormalization "
     "x,s,s,s,s -> y,_,_,_,v",
     "samba.batch_norm_training|return %result, %batch_variance"},
    {"opset 6; input x f32 2x3; input s f32 3; output y; node BatchNormalization x,s,s,s,s -> y",
     "samba.batch_norm_training"},
    {"opset 1; input x f32 2x3x4; input s f32 3x4; output y; node BatchNormalization x,s,s,s,s -> "
     "y is_test=1 "
     "spatial=0",
     "shape = [2, 12]|samba.batch_norm %|tensor<2x12xf32>"},
    {"opset 9; input x f32 5; input s f32 1; output y; node BatchNormalization x,s,s,s,s -> y",
     "shape = [5, 1]|samba.batch_norm"},
    {"opset 1; input x f32 2x3x4; input s f32 3; output y; node InstanceNormalization x,s,s -> y",
     "samba.group_norm|num_groups = 3"},
    {"opset 9; input x f32 2x3x4x5; output y; node MeanVarianceNormalization x -> y",
     "samba.mean_variance_norm|dim = [0, 2, 3]"},
    {"opset 13; input x f32 2x3; output y; node MeanVarianceNormalization x -> y axes=[1]",
     "samba.mean_variance_norm|dim = [1]"},
    {"opset 1; input x f32 2x3; output y; node LpNormalization x -> y p=1 axis=0",
     "samba.normalize|dim = 0|p = 1.0"},
    {"opset 17; input x f16 2x4; input s f16 4; output y; output d; node LayerNormalization x,s -> "
     "y,_,d",
     "samba.native_layer_norm|dtype = f32|return %result, %inverse_deviation"},
    {"opset 18; input x f32 2x4; input s f32 2; output y; node GroupNormalization x,s,s -> y "
     "num_groups=2",
     "samba.expand|samba.group_norm|num_groups = 2"},
    {"opset 17; input x f32 2x4; input s f32 4; output y; node LayerNormalization x,s -> y",
     "samba.layer_norm|normalized_shape = [4]"},
    /* Elementwise. */
    {"opset 13; input x f32 2; init e f32 - 2; output y; node Pow x,e -> y",
     "!samba.pow|samba.mul %arg0, %arg0"},
    {"opset 13; input x i32 2; input e i32 2; output y; node Pow x,e -> y",
     "samba.pow %arg0, %arg1|!samba.cast"},
    {"opset 13; input x i32 2; input e i64 2; output y; node Pow x,e -> y",
     "samba.cast|samba.pow|samba.cast"},
    {"opset 13; input x i32 2; init e f32 - 5; output y; node Pow x,e -> y",
     "dense<5> : tensor<i64>|samba.pow|tensor<2xi64>|samba.cast|!samba.where"},
    {"opset 13; input x i32 2; input e f32 2; output y; node Pow x,e -> y",
     "samba.floor|samba.eq|samba.where"},
    {"opset 13; input x i8 2; output y; node Erf x -> y",
     "samba.cast|samba.erf|samba.cast|dtype = i8"},
    {"opset 13; input x f16 2; input e f32 2; output y; node Pow x,e -> y",
     "samba.cast|samba.pow|dtype = f16"},
    {"opset 6; input x f32 2x3x4; input b f32 3; output y; node Add x,b -> y broadcast=1 axis=1",
     "samba.reshape %arg1 {shape = [3, 1]}|samba.add"},
    {"opset 6; input x f32 2x3; input b f32 3; output y; node Sub x,b -> y broadcast=1",
     "!samba.reshape|samba.sub"},
    {"opset 6; input x f32 2x3x4; input s f32 3; output y; node PRelu x,s -> y",
     "samba.reshape %arg1 {shape = [3, 1]}|samba.prelu"},
    {"opset 7; input x f32 2x3x4; input s f32 4; output y; node PRelu x,s -> y",
     "!samba.reshape|samba.prelu"},
    {"opset 6; input x f32 2; output y; node Clip x -> y min=0.0",
     "max = 3.4028234663852886E+38, min = 0.0"},
    {"opset 13; input x i64 2; init m i64 - 9223372036854775807; output y; node Clip x,_,m -> y",
     "samba.minimum"},
    {"opset 1; input x f32 2; output y; node Cast x -> y to='INT32'", "samba.cast|dtype = i32"},
    {"opset 1; input x f32 2; output y; node Selu x -> y", "samba.selu|alpha = 1.673"},
    {"opset 11; input x ui8 2; input s ui8 2; output y; node BitShift x,s -> y direction='RIGHT'",
     "samba.bitwise_right_shift"},
    {"opset 9; input x f32 2; output y; node Shrink x -> y bias=1.5",
     "samba.shrink|bias = 1.500000e+00"},
    {"opset 18; input x bf16 2; output y; node Mean x,x -> y",
     "samba.cast|samba.add|samba.div|dtype = bf16"},
    {"opset 13; input x i32 3; output y; init a i32 - 10; init e f32 - 2.5; node Pow a,e -> p; "
     "node Add x,p -> y",
     "dense<316>"},
    {"opset 13; input x i32 2; output y; init a f32 - 3e9; node Cast a -> p to=6; node Add x,p -> "
     "y",
     "dense<2147483647>"},
    /* DOUBLE between casts leaves nothing behind. */
    {"opset 13; input x f32 2x3; output y; node Cast x -> d to=11; node Transpose d -> t; node "
     "IsInf t -> y",
     "!samba.cast|samba.permute|samba.abs|samba.eq"},
    {"opset 13; input x i32 2; output y; node Cast x -> d to=11; node Identity d -> e; node Cast e "
     "-> y to=7",
     "samba.cast %arg0 {dtype = i64}"},
    /* Random numbers and Dropout. */
    {"opset 13; output y; node RandomNormal -> y shape=[2,3] mean=1.0 seed=2.0",
     "dense<1073741824> : tensor<i64>|samba.normal|mean = 1.0|shape = [2, 3]"},
    {"opset 13; input x i32 2x3; output y; node RandomUniformLike x -> y dtype=10",
     "samba.uniform|dtype = f16"},
    {"opset 15; input x f32 2x3; output y; node Bernoulli x -> y dtype=9",
     "samba.bernoulli|dtype = i1"},
    {"opset 13; input x f32 2x3; output y; node Multinomial x -> y sample_size=5",
     "samba.softmax|samba.multinomial|num_samples = 5"},
    {"opset 13; input x f32 2; output y; output m; init r f32 - 0.25; init t bool - 1; node "
     "Dropout x,r,t -> y,m "
     "seed=3",
     "dense<3> : tensor<i64>|samba.dropout %arg0"},
    {"opset 13; input x f32 2; input t bool -; output y; output m; node Dropout x,_,t -> y,m",
     "samba.dropout|samba.where|samba.logical_not|samba.logical_or"},
    {"opset 6; input x f32 2; output y; node Dropout x -> y", "samba.dropout"},
    {"opset 6; input x f32 2; output y; node Dropout x -> y is_test=1", "!samba.|return %arg0"},
    {"opset 8; input x f32 2; output y; output m; node Dropout x -> y,m",
     "dense<true>|samba.cast|dtype = f32"},
    {"opset 13; input x f32 2; input z f32 2; output y; node Mean x,z,x -> y",
     "samba.add|samba.add|samba.constant|samba.div"},
    {"opset 13; input x f32 2; output y; node Max x -> y", "!samba.|return %arg0"},
    {"opset 10; input x f32 2; output y; node Dropout x -> y ratio=0.5", "!samba.|return %arg0"},
    {"opset 14; input x f32 2; output y; node LeakyRelu x -> y alpha=0.25",
     "samba.leaky_relu|negative_slope = 2.500000e-01"},
    /* Gather: evenly spaced known indices are a slice. */
    {"opset 13; input x f32 5x4; init i i64 - -1; output y; node Gather x,i -> y",
     "samba.slice|starts = [4, 0]|samba.reshape|shape = [4]"},
    {"opset 13; input x f32 5x4; init i i64 3 0 2 4; output y; node Gather x,i -> y",
     "samba.slice|steps = [2, 1]"},
    {"opset 13; input x f32 5x4; input i i64 2x3; output y; node Gather x,i -> y",
     "samba.embedding|tensor<2x3x4xf32>"},
    {"opset 13; input x f32 5x4; input i i64 2x3; output y; node Gather x,i -> y axis=1",
     "samba.take|dim = 1|tensor<5x2x3xf32>"},
    {"opset 13; input x f32 2x3; init r i64 2 2 1; output y; node Tile x,r -> y",
     "shape = [1, 2, 3]|samba.expand|shape = [2, 2, 3]|samba.reshape|shape = [4, 3]"},
    /* Shape arithmetic leaves nothing behind. */
    {"opset 13; input x f32 2x3x4; output y; init i i64 - 0; init m i64 1 -1; init a i64 1 0; node "
     "Shape x -> s; node "
     "Gather s,i -> d; node Unsqueeze d,a -> u;"
     "node Concat u,m -> t axis=0; node Reshape x,t -> y",
     "!samba.constant|samba.reshape|shape = [2, 12]"},
    {"opset 13; input x f32 2x3; output y; node Shape x -> s; init two i64 - 2; node Mul s,two -> "
     "d; node Div d,two -> "
     "e; node ConstantOfShape e -> c value={f32,1,1.5}; node Add x,c -> y",
     "samba.constant|dense<1.500000e+00> : tensor<2x3xf32>|samba.add"},
    {"opset 15; input x f32 2x3x4; output y; node Shape x -> s start=1; init o i64 1 1; node Equal "
     "s,o -> q; node "
     "Where q,o,s -> w; node Expand z,w -> y; node Identity x -> v; input z f32 1x1",
     "samba.expand|shape = [3, 4]"},
    {"opset 13; input x f32 4; output y; init a i64 - 0; init b i64 - 4; init c i64 - 1; node "
     "Range a,b,c -> r; node "
     "Cast r -> f to=1; node Add x,f -> y",
     "dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]>"},
    {"opset 13; input x f32 2; output y; init d f64 - 4; node Sqrt d -> e; node Cast e -> f to=1; "
     "node Mul x,f -> y",
     "dense<2.000000e+00> : tensor<f32>|samba.mul"},
    {"opset 13; input x f32 3x2; output y; init v i64 2x2 1 2 3 4; init k i64 1 1; node ReduceProd "
     "v -> p keepdims=0; "
     "node Transpose v -> t; node Slice t,a,k,a -> s; init a i64 1 0; node ReduceMax s -> m "
     "keepdims=1;"
     "node Squeeze m,b -> q; init b i64 2 0 1; node Add p,q -> n; node Sub n,c -> h; init c i64 - "
     "21; node Reshape "
     "h,k1 -> hh; init k1 i64 1 1; init two i64 1 2; node Concat two,j -> z axis=0; init j i64 1 "
     "3; node Reshape x,z "
     "-> y",
     "shape = [2, 3]"},
    {"opset 9; input x f32 3; output y; init s i64 1 3; node ConstantOfShape s -> o "
     "value={i64,1,1}; node NonZero o -> "
     "n; node Transpose n -> t; init a i64 1 1; "
     "node Squeeze t -> i axes=[1]; node Gather x,i -> y",
     "!samba.|return %arg0"},
    {"opset 14; input x f32 2x2; init k i64 - -1; output y; node Trilu x,k -> y upper=0",
     "samba.tril %arg0 {diagonal = -1}"},
    /* Searches, sorts, sums of prefixes. */
    {"opset 12; input x f32 2x3; output y; node ArgMax x -> y axis=-1 select_last_index=1",
     "samba.argmax|dim = 1, keepdim = true, select_last = true"},
    {"opset 1; input x f32 2x3; output y; node ArgMin x -> y keepdims=0",
     "samba.argmin %arg0 {dim = 0}"},
    {"opset 1; input x f32 2x3; output v; output i; node TopK x -> v,i k=2",
     "samba.topk|dim = 1, k = 2, largest = true"},
    {"opset 11; input x i64 2x3; init k i64 1 2; output i; node TopK x,k -> v,i axis=0 largest=0",
     "samba.topk|dim = 0, k = 2, largest = false|return %indices"},
    {"opset 11; input x f32 2x3x4; output y; node Hardmax x -> y",
     "shape = [2, 12]|samba.hardmax|dim = -1|samba.reshape"},
    {"opset 13; input x f32 2x3x4; output y; node Hardmax x -> y",
     "!samba.reshape|samba.hardmax|dim = 2"},
    {"opset 11; input x f32 2x3; init a i64 - -1; output y; node CumSum x,a -> y reverse=1",
     "samba.cumsum %arg0 {dim = 1, reverse = true}"},
    {"opset 9; input i f32 2; init d f32 1 5; input v f32 2; output y; node OneHot i,d,v -> y "
     "axis=0",
     "samba.cast|samba.one_hot|dim = 0, num_classes = 5"},
    {"opset 9; input x f32 2x3; init c bool 2 0 1; output y; node Compress x,c -> y axis=1",
     "dense<1> : tensor<1xi64>|samba.index_select|dim = 1"},
    {"opset 11; input x f32 2x3; init c bool 5 1 0 0 0 1; output y; node Compress x,c -> y",
     "samba.reshape|dense<[0, 4]>|samba.index_select|dim = 0"},
    {"opset 12; input a f32 2x3; input b f32 3x4; output y; node Einsum a,b -> y "
     "equation='ij,jk->ki'",
     "samba.einsum %arg0, %arg1 {equation = \"ij,jk->ki\"}|tensor<4x2xf32>"},
    {"opset 11; input x f32 2x3x3; output y; node Det x -> y", "samba.det|tensor<2xf32>"},
    /* Reductions of whole numbers. */
    {"opset 13; input x i32 2x3; output y; node ReduceMean x -> y axes=[1]",
     "samba.cast|samba.sum|samba.div|dtype = i32"},
    {"opset 13; input x i32 2x3; output y; node ReduceL2 x -> y axes=[1]",
     "samba.mul|samba.sum|samba.sqrt|samba.div|samba.gt|samba.sub|dtype = i32"},
    {"opset 13; input x i32 2x3; output y; node ReduceLogSumExp x -> y axes=[1]",
     "samba.cast|samba.logsumexp|dtype = i32"},
    {"opset 13; input x f32 2x3; output y; node ReduceLogSumExp x -> y",
     "samba.logsumexp|keepdim = true"},
    {"opset 20; input x bool 2x3; output y; node ReduceMax x -> y", "samba.amax|tensor<2x3xi1>"},
    /* Losses. */
    {"opset 13; input x f32 2x3; input t i64 2; input w f32 3; output y; node "
     "NegativeLogLikelihoodLoss x,t,w -> y "
     "ignore_index=-1 reduction='sum'",
     "samba.nll_loss %arg0, %arg1, %arg2 {ignore_index = -1, reduction = \"sum\"}"},
    {"opset 12; input x f32 2x3x4; input t i64 2x4; output y; node SoftmaxCrossEntropyLoss x,t -> "
     "y",
     "samba.cross_entropy|reduction = \"mean\""},
    {"opset 13; input x f32 2x3x4; input t i64 2x4; output y; output l; node "
     "SoftmaxCrossEntropyLoss x,t -> y,l",
     "samba.log_softmax %arg0 {dim = 1}|samba.nll_loss %0, %arg1"},
    {"opset 13; input x f32 1x4x3; output y; node LRN x -> y size=4",
     "samba.local_response_norm|before = 1"},
    {"opset 13; input x f32 2; output y; node IsNaN x -> y", "samba.ne %arg0, %arg0"},
    {"opset 13; input x f32 2; output y; node IsInf x -> y detect_positive=0",
     "dense<0xFF800000>|samba.eq"},
    {"opset 13; input x f32 2; output y; node IsInf x -> y",
     "samba.abs|dense<0x7F800000>|samba.eq"},
    /* Nodes in any order; one argument for a weight with two names. */
    {"opset 13; input x f32 2; output y; node Relu a -> y; node Neg x -> a",
     "samba.neg|samba.relu"},
    {"opset 13; input x f32 2; init w f32 2 1 2; output y; node Identity w -> v; node Add x,w -> "
     "a; node Add a,v -> y",
     "samba.kind = \"weight\", samba.name = \"w\"|!%arg2|samba.add %arg0, %arg1|samba.add %0, "
     "%arg1"},
    {"opset 1; opset com.microsoft 1; input x f32 2; output y; node Gelu:com.microsoft x -> y",
     "samba.gelu"},
};

static void append(MlirStringRef part, void *user_data) {
  char **text = user_data;
  size_t size = strlen(*text);
  *text = realloc(*text, size + part.length + 1);
  memcpy(*text + size, part.data, part.length);
  (*text)[size + part.length] = 0;
}

static void expectPieces(const char *ir, const char *pieces) {
  char *copy = strdup(pieces);
  char *rest;
  const char *at = ir;

  for (char *piece = strtok_r(copy, "|", &rest); piece; piece = strtok_r(NULL, "|", &rest)) {
    const char *body = strchr(ir, '{')
                           ? strstr(ir, "->")
                           : ir; /* `samba.` attributes of arguments are no operations */
    const char *found = *piece == '!' ? strstr(strchr(body, '\n'), piece + 1) : strstr(at, piece);
    if (*piece == '!' ? found != NULL : found == NULL)
      fail_msg("%s in\n%s", piece, ir);
    if (*piece != '!')
      at = found + strlen(piece);
  }

  free(copy);
}

static char *importText(const char *model, const SambaOnnxImportOptions *options) {
  size_t size;
  uint8_t *data = modelFromText(model, &size);
  char *path = writeTemporary(data, size, ".onnx");
  char *ir = calloc(1, 1);
  MlirContext context = mlirContextCreateWithThreading(false);
  MlirModule module;
  SambaStatus status = sambaOnnxImportModel(context, path, options, NULL, NULL, &module);

  if (status)
    fail_msg("%s\n%s", model, sambaStatusGetMessage(status));
  mlirOperationPrint(mlirModuleGetOperation(module), append, &ir);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  unlink(path);
  free(path);
  free(data);

  return ir;
}

static void testForms(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char *ir = importText(cases[i].model, NULL);
    expectPieces(ir, cases[i].pieces);
    free(ir);
  }
}

static void testOptions(void **state) {
  (void)state;
  const char *shape = "x=4x3";
  const char *bind;
  char *ir = importText("opset 13; input x f32 Nx?; output y; node Relu x -> y",
                        &(SambaOnnxImportOptions){.shapes = &shape, .shape_count = 1});
  expectPieces(ir, "tensor<4x3xf32>|samba.relu");
  free(ir);
  char *path = writeTemporary("", 0, ".npy");
  char option[96];

  assert_null(sambaNpyWrite(path, SAMBA_DTYPE_I64, 1, (int64_t[]){2}, (int64_t[]){3, 2}));
  snprintf(option, sizeof option, "s=%s", path);
  bind = option;
  ir = importText("opset 13; input x f32 2x3; input s i64 2; output y; node Reshape x,s -> y",
                  &(SambaOnnxImportOptions){.binds = &bind, .bind_count = 1});
  expectPieces(ir, "!%arg1|samba.reshape|shape = [3, 2]");
  free(ir);
  unlink(path);
  free(path);
}

/* Large weights stay in the file: the IR names the range, and the bytes are there. */
static void testWeights(void **state) {
  (void)state;
  size_t size;
  uint8_t *data = modelFromText(
      "opset 13; input x f32 3; init w f32 3 1 2 4; output y; node Add x,w -> y", &size);
  char *ir =
      importText("opset 13; input x f32 3; init w f32 3 1 2 4; output y; node Add x,w -> y", NULL);
  const char *offset = strstr(ir, "offset = ");

  assert_non_null(offset);
  assert_non_null(strstr(ir, "bytes = 12"));
  float weights[3];
  memcpy(weights, data + atoi(offset + 9), sizeof weights);
  assert_true(weights[0] == 1 && weights[1] == 2 && weights[2] == 4);
  free(ir);
  free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testForms), cmocka_unit_test(testOptions),
                                     cmocka_unit_test(testWeights)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
