/* Every refusal of the operator table: the call, and the whole message. */
#include "dialect/samba/table/registry/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

/* operands: "f32 2x3, i64 -"; attributes: "name KIND values; ...", KIND as in cases/writer.py. */
static const struct {
  const char *name, *operands, *attributes, *message;
} cases[] = {
    {"add", "f32 2", "", "takes 2 operands, not 1"},
    {"linear", "f32 2", "", "takes 2 to 3 operands, not 1"},
    {"cat", "", "dim i 0", "takes 1 or more operands, not 0"},
    {"relu", "f32 2", "slope f 1", "there is no attribute 'slope'"},
    {"softmax", "f32 2", "", "attribute 'dim' (an integer) is missing"},
    {"softmax", "f32 2", "dim f 1", "attribute 'dim' must be an integer, not a number"},
    {"gelu", "f32 2", "approximate b 1", "attribute 'approximate' must be a string, not a boolean"},
    {"cast", "f32 2", "dtype I 1",
     "attribute 'dtype' must be an element type, not a list of integers"},
    {"exp", "i32 2", "", "(C1) the operand is i32, but must be f32, bf16 or f16"},
    {"logical_not", "f32 2", "", "(C1) the operand is f32, but must be i1"},
    {"gelu", "f32 2", "approximate s exact",
     "(C2) attribute 'approximate' is 'exact', but must be one of none, tanh"},
    {"clamp", "i32 2", "min f 0.5", "(C2) attribute 'min' is 0.5, which i32 cannot hold"},
    {"add", "f32 2, bf16 2", "", "(C2) operand 1 is bf16, but operand 0 is f32; cast one of them"},
    {"add", "f32 2x3, f32 2x4", "",
     "(C3) shapes 2x3xf32 and 2x4xf32 do not broadcast: 3 against 4, 1 from the end"},
    {"where", "f32 2, f32 2, f32 2", "", "(C1) operand 0 (the condition) is f32, but must be i1"},
    {"where", "i1 2, f32 2, i32 2", "",
     "(C2) operand 2 is i32, but operand 1 is f32; cast one of them"},
    {"shrink", "i32 2", "bias f 0.5",
     "(C2) attributes 'lambd' and 'bias' are 0.5 and 0.5, which i32 cannot hold"},
    {"bitwise_left_shift", "i1 2, i1 2", "",
     "(C1) operand 0 is i1, but must be i8, ui8, i16, i32 or i64"},
    {"prelu", "f32 3, f32 2x3", "",
     "(C3) the result with this slope is 2x3xf32, but must be 3xf32"},
    {"uniform", "i64 1", "shape I 2; dtype t f32",
     "(C1) the seed is 1xi64 of rank 1, but must have rank 0"},
    {"normal", "i64 -", "shape I 1 1 1 1 1 1 1 1 1; dtype t f32",
     "(C2) attribute 'shape' has 9 numbers, but 8 is the most"},
    {"uniform", "i64 -", "shape I 2 0; dtype t f32",
     "(C2) attribute 'shape' has 0, but numbers must be at least 1"},
    {"normal", "i64 -", "shape I 2; dtype t i32",
     "(C3) attribute 'dtype' is i32, but must be f32, bf16 or f16"},
    {"bernoulli", "f32 2, i32 -", "", "(C2) the seed is i32, but must be i64"},
    {"dropout", "f32 2, f32 1, i64 -", "",
     "(C2) the probability is 1xf32 of rank 1, but must have rank 0"},
    {"multinomial", "f32 2x2, i64 -", "num_samples i 0",
     "(C4) attribute 'num_samples' is 0, but must be at least 1"},
    {"multinomial", "f32 2x2, i64 -", "dtype t i8",
     "(C5) attribute 'dtype' is i8, but must be i32 or i64"},
    {"batch_norm_training", "f32 1x3, f32 3, f32 3, f32 3, f32 3", "unbiased b 1",
     "(C4) an unbiased variance of one element per channel does not exist"},
    {"adamw_update", "f32 2, f32 2, f32 2, f32 2, f32 -, i64 -, f32 -", "beta2 f 1",
     "(C3) attribute 'beta2' is 1, but must be in [0, 1)"},
    {"adamw_master_update", "bf16 2, f32 2, f32 2, bf16 2, f32 -, i64 -, f32 -", "",
     "(C4) the master is bf16, but must be f32"},
    {"adamw_master_update", "bf16 2, f32 2, f16 2, f32 2, f32 -, i64 -, f32 -", "",
     "(C1) operand 2 is f16, but the gradient is bf16; cast one of them"},
    {"mse_loss", "i32 2, i32 2", "", "(C1) operand 0 is i32, but must be f32, bf16 or f16"},
    {"mse_loss", "f32 2, bf16 2", "",
     "(C1) the target is bf16, but operand 0 is f32; cast one of them"},
    {"mse_loss", "f32 2, f32 3", "", "(C2) the target is 3xf32, but must be 2xf32"},
    {"mse_loss", "f32 2, f32 2", "reduction s max",
     "(C3) attribute 'reduction' is 'max', but must be one of mean, sum, none"},
    {"lstm", "i32 3x2x3, f32 1x16x3, f32 1x16x4", "",
     "(C1) the input is i32, but must be f32, bf16 or f16"},
    {"lstm", "f32 3x2x3, bf16 1x16x3, f32 1x16x4", "",
     "(C1) the input weight is bf16, but the input is f32; cast one of them"},
    {"lstm", "f32 3x2x3, f32 1x16x3, bf16 1x16x4", "",
     "(C1) the recurrent weight is bf16, but the input is f32; cast one of them"},
    {"lstm", "f32 3x2, f32 1x16x3, f32 1x16x4", "",
     "(C2) the input is 3x2xf32 of rank 2, but must have rank 3"},
    {"lstm", "f32 3x2x3, f32 1x16x3, f32 16x4", "",
     "(C2) the recurrent weight is 16x4xf32 of rank 2, but must have rank 3"},
    {"lstm", "f32 3x2x3, f32 1x16x3, f32 1x12x4", "",
     "(C2) the recurrent weight is 1x12x4xf32, but must be 1x16x4xf32"},
    {"gru", "f32 3x2x3, f32 1x12x5, f32 1x12x4", "",
     "(C2) the input weight is 1x12x5xf32, but must be 1x12x3xf32"},
    {"lstm", "f32 3x2x3, f32 1x16x3, f32 1x16x4", "direction s both",
     "(C3) attribute 'direction' is 'both', but must be one of forward, reverse, bidirectional"},
    {"lstm", "f32 3x2x3, f32 1x16x3, f32 1x16x4", "activations s tanh, tan, tanh",
     "(C3) there is no activation 'tan, tanh'"},
    {"lstm", "f32 3x2x3, f32 1x16x3, f32 1x16x4", "activations s affine(1), tanh, tanh",
     "(C3) there is no activation 'affine(1), tanh, tanh'"},
    {"lstm", "f32 3x2x3, f32 1x16x3, f32 1x16x4", "activations s tanh, tanh",
     "(C3) attribute 'activations' must name 3 functions"},
    {"gru", "f32 3x2x3, f32 1x12x3, f32 1x12x4", "clip f -1",
     "(C4) attribute 'clip' is -1, but must be 0 or more"},
    {"gru", "f32 3x2x3, f32 1x12x3, f32 1x12x4", "bias b 1",
     "(C5) the flags ask for 4 operands, but there are 3"},
    {"gru", "f32 3x2x3, f32 1x12x3, f32 1x12x4, f32 1x12", "bias b 1",
     "(C2) the bias is 1x12xf32, but must be 1x24xf32"},
    {"gru", "f32 3x2x3, f32 1x12x3, f32 1x12x4, f32 2", "lengths b 1",
     "(C1) the lengths is f32, but must be i32 or i64"},
    {"gru", "f32 3x2x3, f32 1x12x3, f32 1x12x4, i32 3", "lengths b 1",
     "(C2) the lengths is 3xi32, but must be 2xi32"},
    {"gru", "f32 3x2x3, f32 1x12x3, f32 1x12x4, f32 2x2x4", "initial b 1",
     "(C2) the initial state is 2x2x4xf32, but must be 1x2x4xf32"},
    {"lstm", "f32 3x2x3, f32 1x16x3, f32 1x16x4, f32 1x4", "peepholes b 1",
     "(C2) the peephole weight is 1x4xf32, but must be 1x12xf32"},
    {"rnn", "f32 3x2x3, f32 1x4x3, f32 1x4x4, f32 1x8", "",
     "(C5) the flags ask for 3 operands, but there are 4"},
    {"lstm_cell", "f32 1x2x16, f32 1x2x4, f32 1x2x4, i32 1x16x4", "",
     "(C1) the weight is i32, but must be f32, bf16 or f16"},
    {"lstm_cell", "f32 1x2x16, f32 1x2x4, f32 1x2x5, f32 1x16x4", "",
     "(C2) the state is 1x2x5xf32, but must be 1x2x4xf32"},
    {"lstm_cell", "f32 1x2x16, f32 1x2x4, f32 1x2x4, f32 1x16x4, f32 1x2x1", "active b 1",
     "(C1) the mask is f32, but must be i1"},
    {"lstm_cell", "f32 1x2x16, f32 1x2x4, f32 1x2x4, f32 1x16x4", "active b 1",
     "(C5) the flags ask for 5 operands, but there are 4"},
    {"gru_cell", "f32 1x2x12, f32 1x2x4, f32 1x12x4, f32 1x4", "bias b 1",
     "(C5) a bias is added to the product only with linear_before_reset"},
    {"rnn_cell", "f32 1x2x5, f32 1x2x4, f32 1x4x4", "",
     "(C2) operand 0 is 1x2x5xf32, but must be 1x2x4xf32"},
    {"sgd_update", "i32 2, i32 2, f32 1, f32 1", "",
     "(C1) the parameter is i32, but must be f32, bf16 or f16"},
    {"sgd_update", "f32 2, bf16 2, f32 1, f32 1", "",
     "(C1) operand 1 is bf16, but the parameter is f32; cast one of them"},
    {"sgd_update", "f32 2, f32 3, f32 1, f32 1", "", "(C2) operand 1 is 3xf32, but must be 2xf32"},
    {"sgd_update", "f32 2, f32 2, f32 2, f32 1", "",
     "(C2) operand 2 is 2xf32, but must have one element"},
    {"momentum_update", "f32 2, f32 2, f32 2, f32 1, f32 1, f32 1, f32 1, f32 1", "",
     "(C1) operand 4 is f32, but must be i32 or i64"},
    {"dft", "f32 2", "dim i 0", "(C2) the input is 2xf32 of rank 1, but must have rank 2 to 8"},
    {"dft", "f32 2x3", "dim i 0", "(C2) the last dimension is 3, but must be 1 or 2"},
    {"dft", "f32 2x3x1", "dim i 2",
     "(C3) attribute 'dim' names the dimension of real and imaginary part"},
    {"dft", "f32 2x3x1", "dim i 1; length i 5000",
     "(C4) the transform has length 5000, but must have 1 to 4096"},
    {"dft", "f32 2x3x1", "dim i 1; inverse b 1; onesided b 1",
     "(C5) an inverse transform cannot be onesided"},
    {"stft", "f32 2x3", "hop i 1", "(C2) the signal is 2x3xf32 of rank 2, but must have rank 3"},
    {"stft", "i32 2x3x1", "hop i 1", "(C1) the signal is i32, but must be f32, bf16 or f16"},
    {"stft", "f32 2x3x1, bf16 2", "hop i 1",
     "(C1) the window is bf16, but the signal is f32; cast one of them"},
    {"stft", "f32 2x3x1, f32 2", "hop i 1; length i 3",
     "(C3) the window is 2xf32: dimension 0 is 2, but must be 3"},
    {"stft", "f32 2x3x1, f32 4", "hop i 1", "(C3) the transform has length 4, but the signal 3"},
    {"stft", "f32 2x3x1, f32 2", "hop i 0", "(C4) attribute 'hop' is 0, but must be 1 or more"},
    {"rotary_embedding", "f32 2x3, f32 2x3, f32 2x3", "",
     "(C3) the input is 2x3xf32, but its last dimension must be even"},
    {"rotary_embedding", "f32 2x4, f32 3x2x4, f32 3x2x4", "",
     "(C2) cos is 3x2x4xf32, which does not broadcast to 2x4xf32"},
    {"rotary_embedding", "f32 2x4, f32 2x4, f32 2x1", "",
     "(C2) sin is 2x1xf32, but must be 2x4xf32"},
    {"rotary_embedding", "f32 2x4, bf16 2x4, f32 2x4", "",
     "(C1) cos is bf16, but the input is f32; cast one of them"},
    {"kl_div", "f32 2, f32 2", "reduction s max",
     "(C3) attribute 'reduction' is 'max', but must be one of mean, sum, none, batchmean"},
    {"kl_div", "f32 -, f32 -", "reduction s batchmean",
     "(C3) reduction batchmean divides by dimension 0, and there is none"},
    {"l1_loss", "f32 2, f32 2", "reduction s batchmean",
     "(C3) attribute 'reduction' is 'batchmean', but must be one of mean, sum, none"},
    {"huber_loss", "f32 2, f32 2", "delta f 0", "(C4) delta is 0, but must be more than 0"},
    {"smooth_l1_loss", "f32 2, f32 2", "beta f -1", "(C4) beta is -1, but must be 0 or more"},
    {"nll_loss", "f32 2x3, f32 2", "",
     "(C2) the target is f32, but must be i8, ui8, i16, i32 or i64"},
    {"nll_loss", "f32 -, i64 -", "", "(C3) the input is f32 of rank 0, but must have rank 1 to 8"},
    {"nll_loss", "f32 2x3x4, i64 2x3", "", "(C4) the target is 2x3xi64, but must be 2x4xi64"},
    {"cross_entropy", "bf16 2x3, i64 2, f16 3", "",
     "(C1) the weight is f16, but must be f32 or bf16"},
    {"cross_entropy", "f32 2x3, i64 2, f32 2", "", "(C5) the weight is 2xf32, but must be 3xf32"},
    {"nll_loss", "f32 2x3, i64 2", "reduction s max",
     "(C6) attribute 'reduction' is 'max', but must be one of mean, sum, none"},
    {"argmax", "f32 2x3", "dim i 2",
     "(C2) attribute 'dim' names dimension 2, but the tensor has rank 2"},
    {"hardmax", "f32 -", "dim i 0",
     "(C2) attribute 'dim' names dimension 0, but the tensor has rank 0"},
    {"cumsum", "f32 3", "dim i -2",
     "(C2) attribute 'dim' names dimension -2, but the tensor has rank 1"},
    {"topk", "f32 2x3", "k i 4", "(C3) k is 4, but must be 1 to 3, the size of dimension 1"},
    {"topk", "f32 2x3", "k i 0; dim i 0",
     "(C3) k is 0, but must be 1 to 2, the size of dimension 0"},
    {"sort", "i1 2x3", "",
     "(C1) the operand is i1, but must be f32, bf16, f16, i8, ui8, i16, i32 or i64"},
    {"one_hot", "i64 2", "num_classes i 0", "(C3) num_classes is 0, but must be 1 or more"},
    {"one_hot", "i64 1x1x1x1x1x1x1x1", "num_classes i 1",
     "(C2) the indices is 1x1x1x1x1x1x1x1xi64 of rank 8, but must have rank 0 to 7"},
    {"one_hot", "i64 2", "num_classes i 3; dim i 2",
     "(C2) attribute 'dim' names dimension 2, but the tensor has rank 2"},
    {"one_hot", "i64 2, f32 3", "num_classes i 3", "(C4) values is 3xf32, but must be 2xf32"},
    {"triu", "f32 3", "", "(C1) the operand is 3xf32 of rank 1, but must have rank 2 to 8"},
    {"tril", "f32 3x3, f32 -", "", "(C2) the diagonal is f32, but must be i32 or i64"},
    {"tril", "f32 3x3, i64 2", "", "(C2) the diagonal is 2xi64, but must have one element"},
    {"einsum", "f32 2, bf16 2", "equation s i,i",
     "(C1) an operand is bf16, but operand 0 is f32; cast one of them"},
    {"einsum", "f32 2, f32 2", "equation s i->i",
     "(C2) equation 'i->i' has 1 terms, but there are 2 operands (at most 64)"},
    {"einsum", "f32 2", "equation s i->1",
     "(C2) equation 'i->1' has something else than letters, ..., ',' and ->"},
    {"einsum", "f32 2x3", "equation s i",
     "(C3) operand 0 has rank 2, but its term of equation 'i' has 1 letters"},
    {"einsum", "f32 2", "equation s i->iiiiiiiii",
     "(C3) a term of equation 'i->iiiiiiiii' has more than 8 dimensions"},
    {"einsum", "f32 2x3, f32 2x4", "equation s ij,ij->",
     "(C4) dimension 1 of operand 1 is 4, but its label has the size 3"},
    {"einsum", "f32 1x3", "equation s ii",
     "(C4) dimension 1 of operand 0 is 3, but its label has the size 1"},
    {"einsum", "f32 2x3", "equation s ij->ii", "(C5) label 1 of the result is there twice"},
    {"einsum", "f32 2x3", "equation s ij->k", "(C5) label 0 of the result occurs in no operand"},
    {"einsum", "f32 1x1x1x1x1, f32 1x1x1x1x1", "equation s abcde,fghij",
     "(C6) the result has 10 dimensions, but 8 are the most"},
    {"einsum", "f32 1x1x1x1x1, f32 1x1x1x1x1, f32 1x1x1x1x1", "equation s abcde,fghij,abcde->fghij",
     "(C6) the product of the first 2 operands has 10 dimensions, but 8 are the most; write it as "
     "several equations"},
    {"det", "f32 2x3", "", "(C2) the operand is 2x3xf32: dimension 1 is 3, but must be 2"},
    {"det", "f32 33x33", "", "(C2) the matrices have 33 rows, but 32 are the most"},
    {"take", "f32 2x3, f32 2", "dim i 0", "(C1) the indices is f32, but must be i32 or i64"},
    {"take", "f32 2x3, i64 2", "dim i 1; batch_dims i 2",
     "(C2) attribute 'batch_dims' is 2, but dim is 1 and the indices' rank 1"},
    {"take", "f32 2x3, i64 3", "dim i 1; batch_dims i 1",
     "(C3) the indices is 3xi64: dimension 0 is 3, but must be 2"},
    {"gather", "f32 2x3, f32 2x3", "dim i 0", "(C1) the index is f32, but must be i32 or i64"},
    {"gather", "f32 2x3, i64 3x1", "dim i 1",
     "(C4) the index has 3 elements along dimension 0, but the tensor 2"},
    {"gather_nd", "f32 2x3, i64 2x1", "batch_dims i 2",
     "(C2) attribute 'batch_dims' is 2, but the ranks are 2 and 2"},
    {"gather_nd", "f32 2x3, i64 2x3", "",
     "(C3) the indices are tuples of 3, but must be of 1 to 2"},
    {"ravel_index", "i64 2x2", "shape I 2 0",
     "(C3) attribute 'shape' must have 1 to 8 numbers, they and their product 1 or more and less "
     "than 2^48, and lead "
     "not "
     "be negative"},
    {"ravel_index", "i64 2x2x2", "shape I 4 4; lead i 4",
     "(C2) the operand, with lead, is 2x2x2xi64 of rank 3, but must have rank 2"},
    {"ravel_index", "i64 2x2", "shape I 4 4; dim i 0; lead i 4",
     "(C2) attribute 'lead' is for tuples, without 'dim'"},
    {"scatter_rows", "f32 2x3, i64 2", "size i 0",
     "(C4) attribute 'size' is 0, but must be 1 or more"},
    {"put_rows", "f32 4x3, f32 2x3, f32 2", "", "(C1) the index is f32, but must be i32 or i64"},
    {"put_rows", "f32 4x3, f32 2x3, i64 3", "", "(C3) the index is 3xi64, but must be 2xi64"},
    {"put_rows", "f32 4x3, f32 2x2, i64 2", "", "(C4) operand 1 is 2x2xf32, but must be 2x3xf32"},
    {"put_rows", "f32 4x3, f16 2x3, i64 2", "",
     "(C5) operand 1 is f16, but operand 0 is f32; cast one of them"},
    {"put_slice", "f32 -", "dim i 0; start i 0; size i 1",
     "(C1) operand 0 is f32 of rank 0, but must have rank 1 to 8"},
    {"put_slice", "f32 4x3", "dim i 2; start i 0; size i 6",
     "(C2) attribute 'dim' names dimension 2, but the tensor has rank 2"},
    {"put_slice", "f32 4x3", "dim i 0; start i 3; size i 6",
     "(C3) operand 0 has 4 elements along dim, which do not fit from start 3 into size 6"},
    {"put_slice", "f32 4x3, f32 6x2", "dim i 0; start i 2; size i 6",
     "(C4) the base is 6x2xf32, but must be 6x3xf32"},
    {"put_slice", "f32 4x3, f16 6x3", "dim i 0; start i 2; size i 6",
     "(C5) the base is f16, but operand 0 is f32; cast one of them"},
    {"match_reduce", "f32 1x2x3, i64 1x2, i64 1x4, f32 1x4x3", "reduce s none",
     "(C5) attribute 'reduce' is 'none', but must be one of add, mul, min, max"},
    {"match_reduce", "f32 1x2x3, i64 1x2, i64 1x4, i32 1x4x3", "reduce s add",
     "(C1) operand 3 is i32, but operand 0 is f32; cast one of them"},
    {"match_reduce", "f32 1x2x3, i64 1x2, i64 1x4, f32 4x3", "reduce s add",
     "(C2) operand 3 is 4x3xf32 of rank 2, but must have rank 3"},
    {"match_reduce", "f32 1x2x3, f32 1x2, i64 1x4, f32 1x4x3", "reduce s add",
     "(C3) the target is f32, but must be i32 or i64"},
    {"match_reduce", "f32 1x2x3, i64 1x2, i64 1x4, f32 1x4x2", "reduce s add",
     "(C4) operand 3 is 1x4x2xf32: dimension 2 is 2, but must be 3"},
    {"scatter", "i1 2x3, i64 2x3, i1 2x3", "dim i 0; reduce s add",
     "(C6) operand 0, which is added or multiplied, is i1, but must be f32, bf16, f16, i8, ui8, "
     "i16, i32 or i64"},
    {"scatter", "f32 2x3, i64 2x3, f32 2x3", "dim i 0; reduce s sum",
     "(C6) attribute 'reduce' is 'sum', but must be one of none, add, mul, min, max"},
    {"scatter", "f32 9, i64 1000000, f32 1000000", "dim i 0; reduce s add",
     "(C6) a reduction compares all 1000000 updates of a line with each other, for 1 elements; "
     "that is more than 2^37 "
     "steps"},
    {"scatter_nd", "f32 2x3, i64 2x3, f32 2", "",
     "(C2) the indices are tuples of 3, but must be of 1 to 2"},
    {"scatter_nd", "f32 2x3x2, i64 1x1x1x1x1x1x1x1, f32 2", "",
     "(C3) the updates would have a rank of more than 8"},
    {"scatter_nd", "f32 2x3, i64 4x1, f32 4x2", "",
     "(C3) operand 2 is 4x2xf32, but must be 4x3xf32"},
    {"max_unpool", "f32 1x1x2, i64 1x1x3", "output_size I 4",
     "(C1) the indices is 1x1x3xi64, but must be 1x1x2xi64"},
    {"reverse_sequence", "f32 2x3, f32 2", "time_axis i 1; batch_axis i 0",
     "(C1) the lengths is f32, but must be i32 or i64"},
    {"reverse_sequence", "f32 2x3, i64 2", "time_axis i 1; batch_axis i -1",
     "(C2) time_axis and batch_axis are both dimension 1"},
    {"reverse_sequence", "f32 2x3, i64 3", "time_axis i 1; batch_axis i 0",
     "(C3) the lengths is 3xi64, but must be 2xi64"},
    {"interpolate", "i32 4", "mode s linear; output_size I 8",
     "(C1) the operand is i32, but must be f32, bf16 or f16"},
    {"interpolate", "f32 4", "mode s linear; output_size I 8; scales F 0.0",
     "(C2) attribute 'scales' must have 1 finite numbers, more than 0"},
    {"interpolate", "f32 4", "mode s linear; output_size I 8; roi F 0.5",
     "(C2) attribute 'roi' must have 2 finite numbers"},
    {"interpolate", "f32 4", "mode s area; output_size I 8",
     "(C3) attribute 'mode' is 'area', but must be one of nearest, linear, cubic"},
    {"interpolate", "f32 4", "mode s linear; output_size I 2000000",
     "(C4) dimension 0 changes from 4 to 2000000 elements of 2 weights; at most 2^20 and 2^24 "
     "weights in all are "
     "possible"},
    {"pad_border", "f32 4", "mode s reflect; low I 2000000; high I 0",
     "(C3) 2000000 and 0 elements are added to dimension 0; 2^20 are the most"},
    {"pad_border", "f32 4", "mode s constant; low I 2; high I 0",
     "(C2) attribute 'mode' is 'constant', but must be one of reflect, replicate, circular"},
    {"grid_sample", "f32 1x2x3x4x5, f32 1x2x2x2x3", "mode s bicubic",
     "(C4) mode bicubic is for two spatial dimensions, not 3"},
    {"grid_sample", "f32 1x2x65536x65536, f32 1x2x2x2", "",
     "(C2) planes of 4294967296 elements are too large for places of 32 bits"},
    {"grid_sample", "f32 1x2x4x4, i32 1x2x2x2", "",
     "(C1) the grid is i32, but must be f32, bf16 or f16"},
    {"affine_grid", "f32 1x2x3", "output_size I 1 2 3",
     "(C2) attribute 'output_size' has 3 numbers, but must have 4 or 5"},
    {"roi_align", "f32 1x2x4x4, f32 3x4, i64 3", "output_size I 2 2; sampling_ratio i 0",
     "(C3) sampling_ratio is 0; it must be 1 to 64"},
    {"roi_align", "f32 1x2x4x4, f32 3x4, f32 3", "output_size I 2 2; sampling_ratio i 1",
     "(C1) batch_indices is f32, but must be i32 or i64"},
    {"roi_align", "f32 1x2x4x4, f32 3x4, i64 2", "output_size I 2 2; sampling_ratio i 1",
     "(C2) batch_indices is 2xi64, but must be 3xi64"},
    {"fold", "f32 1x4x4", "output_size I 1 1 1 1; kernel_size I 1",
     "(C3) the image has 4 spatial dimensions, but must have 1 to 3"},
    {"fold", "f32 1x4x4", "output_size I 4 4; kernel_size I 2 2",
     "(C4) 4 values in 4 blocks do not fit the window and the image"},
    {"mean", "i32 2", "", "(C1) the operand is i32, but must be f32, bf16 or f16"},
    {"sum", "f32 2x3", "dim I 2",
     "(C2) attribute 'dim' names dimension 2, but the tensor has rank 2"},
    {"sum", "f32 2x3", "dim I 1 -1", "(C2) attribute 'dim' names dimension 1 twice"},
    {"linear", "i1 2x3, i1 4x3", "",
     "(C1) the input is i1, but must be f32, bf16, f16, i8, ui8, i16, i32 or i64"},
    {"linear", "f32 2x3, bf16 4x3", "",
     "(C2) the weight is bf16, but the input is f32; cast one of them"},
    {"linear", "f32 -, f32 4x3", "", "(C3) the input is f32 of rank 0, but must have rank 1 to 8"},
    {"linear", "f32 2x3, f32 4", "", "(C3) the weight is 4xf32 of rank 1, but must have rank 2"},
    {"linear", "f32 2x3, f32 4x5", "",
     "(C3) the weight is 4x5xf32: dimension 1 is 5, but must be 3"},
    {"linear", "f32 2x3, f32 4x3, f32 3", "", "(C4) the bias is 3xf32, but must be 4xf32"},
    {"linear", "bf16 2x3, bf16 4x3, f32 4", "", "(C4) the bias is f32, but must be bf16"},
    {"linear", "f32 2x3, f32 4x3", "out_dtype t bf16",
     "(C5) attribute 'out_dtype' is bf16, but must be f32"},
    {"matmul", "f32 2x3, f32 2x3", "",
     "(C3) operand 1 is 2x3xf32: dimension 0 is 2, but must be 3"},
    {"matmul", "f32 2x2x3, f32 3x3x2", "",
     "(C4) shapes 2xf32 and 3xf32 do not broadcast: 2 against 3, 1 from the end"},
    {"conv2d", "f32 1x4x6, f32 8x4x3x3", "",
     "(C3) the input is 1x4x6xf32 of rank 3, but must have rank 4"},
    {"conv2d", "f32 1x4x6x6, f32 8x4x3x3", "groups i 3",
     "(C4) 3 groups do not divide 4 input and 8 output channels"},
    {"conv2d", "f32 1x4x6x6, f32 8x4x3x3", "groups i 2",
     "(C4) the weight is 8x4x3x3xf32: dimension 1 is 4, but must be 2"},
    {"conv2d", "f32 1x4x6x6, f32 8x4x3x3", "stride I 1",
     "(C5) attribute 'stride' has 1 numbers, but must have 2"},
    {"conv2d", "f32 1x4x6x6, f32 8x4x3x3", "stride I 0 1",
     "(C5) attribute 'stride' has 0, but numbers must be at least 1"},
    {"conv2d", "f32 1x4x2x6, f32 8x4x3x3", "",
     "(C6) the window does not fit: 3 taps 1 apart against 2 padded elements along spatial "
     "dimension 0"},
    {"conv1d", "f32 1x4x6, f32 8x4x3, f32 7", "", "(C7) the bias is 7xf32, but must be 8xf32"},
    {"conv1d", "f32 1x4x6, f32 8x4x3", "out_dtype t f16",
     "(C8) attribute 'out_dtype' is f16, but must be f32"},
    {"conv1d_weight_gradient", "f32 1x4x6, f32 2x8x4", "kernel_size I 3",
     "(C4) the gradient is 2x8x4xf32: dimension 0 is 2, but must be 1"},
    {"conv1d_weight_gradient", "f32 1x4x6, f32 1x8x4", "kernel_size I 3; groups i 3",
     "(C4) 3 groups do not divide 4 input and 8 output channels"},
    {"conv1d_weight_gradient", "f32 1x4x6, f32 1x8x5", "kernel_size I 3",
     "(C6) the window has 4 positions along spatial dimension 0, but the gradient has 5"},
    {"conv_transpose1d", "i1 1x4x6, i1 4x2x3", "",
     "(C1) the input is i1, but must be f32, bf16, f16, i8, ui8, i16, i32 or i64"},
    {"conv_transpose1d", "f32 1x4x6, bf16 4x2x3", "",
     "(C2) the weight is bf16, but the input is f32; cast one of them"},
    {"conv_transpose2d", "f32 1x4x6, f32 4x2x3x3", "",
     "(C3) the input is 1x4x6xf32 of rank 3, but must have rank 4"},
    {"conv_transpose1d", "f32 1x4x6, f32 4x2x3", "groups i 3",
     "(C4) 3 groups do not divide 4 input channels"},
    {"conv_transpose1d", "f32 1x4x6, f32 2x2x3", "",
     "(C4) the weight is 2x2x3xf32: dimension 0 is 2, but must be 4"},
    {"conv_transpose1d", "f32 1x4x6, f32 4x2x3", "stride I 0",
     "(C5) attribute 'stride' has 0, but numbers must be at least 1"},
    {"conv_transpose1d", "f32 1x4x6, f32 4x2x3", "padding I 4 4",
     "(C6) 8 elements along spatial dimension 0 are less than the padding of 4 and 4"},
    {"conv_transpose1d", "f32 1x4x6, f32 4x2x3, f32 4", "groups i 4",
     "(C7) the bias is 4xf32, but must be 8xf32"},
    {"conv_transpose1d", "f32 1x4x6, f32 4x2x3", "out_dtype t f16",
     "(C8) attribute 'out_dtype' is f16, but must be f32"},
    {"lp_pool1d", "f32 1x4x6", "kernel_size I 2; norm_type f 0",
     "(C6) attribute 'norm_type' is 0, but must be positive and finite"},
    {"max_pool1d_with_indices", "i1 1x4x6", "kernel_size I 2",
     "(C1) the operand is i1, but must be f32, bf16, f16, i8, ui8, i16, i32 or i64"},
    {"batch_norm_training", "f32 2x3, f32 3, f32 2, f32 3, f32 3", "",
     "(C3) the bias is 2xf32, but must be 3xf32"},
    {"native_layer_norm", "f32 2x3", "normalized_shape I 3; dtype t i32",
     "(C4) attribute 'dtype' is i32, but must be f32, bf16 or f16"},
    {"mean_variance_norm", "f32 2x3", "dim I 2",
     "(C2) attribute 'dim' names dimension 2, but the tensor has rank 2"},
    {"normalize", "f32 2x3", "dim i 1; p f 0",
     "(C3) attribute 'p' is 0, but must be positive and finite"},
    {"local_response_norm", "f32 2x3x1", "size i 0",
     "(C3) attribute 'size' is 0, but must be 1 or more"},
    {"local_response_norm", "f32 2x3x1", "size i 3; before i 3",
     "(C4) attribute 'before' is 3, but must be 0 to 2"},
    {"avg_pool1d", "i32 1x4x6", "kernel_size I 2",
     "(C1) the operand is i32, but must be f32, bf16 or f16"},
    {"max_pool2d", "f32 1x4x6", "kernel_size I 2 2",
     "(C2) the operand is 1x4x6xf32 of rank 3, but must have rank 4"},
    {"max_pool1d", "f32 1x4x6", "kernel_size I 2 2",
     "(C3) attribute 'kernel_size' has 2 numbers, but must have 1"},
    {"max_pool1d", "f32 1x4x6", "kernel_size I 7",
     "(C4) the window does not fit: 7 taps 1 apart against 6 padded elements along spatial "
     "dimension 0"},
    {"max_pool1d", "f32 1x4x6", "kernel_size I 2; padding I 0 2",
     "(C5) padding 0 and 2 along spatial dimension 0 must be less than the window's span 2"},
    {"batch_norm", "f32 2, f32 2, f32 2, f32 2, f32 2", "",
     "(C2) the input is 2xf32 of rank 1, but must have rank 2 to 8"},
    {"batch_norm", "f32 2x3, f32 3, f32 2, f32 3, f32 3", "",
     "(C3) the bias is 2xf32, but must be 3xf32"},
    {"batch_norm", "f32 2x3, f32 3, f32 3, f32 3, bf16 3", "",
     "(C1) the variance is bf16, but must be f32"},
    {"layer_norm", "f32 2x3", "normalized_shape I 2",
     "(C2) attribute 'normalized_shape' must be the last dimensions of the input, which is "
     "2x3xf32"},
    {"rms_norm", "f32 2x3, f32 2", "normalized_shape I 3",
     "(C3) the weight is 2xf32, but must be 3xf32"},
    {"group_norm", "f32 2x3", "num_groups i 2", "(C3) 2 groups do not divide 3 channels"},
    {"log_softmax", "f32 2x3", "dim i -3",
     "(C2) attribute 'dim' names dimension -3, but the tensor has rank 2"},
    {"scaled_dot_product_attention", "i32 2x3, i32 2x3, i32 2x3", "",
     "(C1) the query is i32, but must be f32, bf16 or f16"},
    {"scaled_dot_product_attention", "f32 2x3, bf16 2x3, f32 2x3", "",
     "(C2) the key is bf16, but the query is f32; cast one of them"},
    {"scaled_dot_product_attention", "f32 2x3, f32 2x3, f32 4x3", "",
     "(C3) the value is 4x3xf32: dimension 0 is 4, but must be 2"},
    {"scaled_dot_product_attention", "f32 2x3, f32 4x3, f32 4x3, i32 2x4", "",
     "(C5) the mask is i32, but must be f32 or i1"},
    {"scaled_dot_product_attention", "f32 2x3, f32 4x3, f32 4x3, i1 5x2x4", "",
     "(C5) the mask broadcast against the scores is 5x2x4xf32, but must be 2x4xf32"},
    {"attention_query_gradient", "f32 2x3, f32 4x3, f32 4x5, f32 2x5, f32 2x5, f32 2x5", "",
     "(C7) the logsumexp is 2x5xf32, but must be 2x1xf32"},
    {"attention_query_gradient", "f32 2x3, f32 4x3, f32 4x5, f32 2x5, f32 2x1, f32 2x3", "",
     "(C8) the result is 2x3xf32, but must be 2x5xf32"},
    {"attention_query_gradient", "f32 2x3, f32 4x3, f32 4x5, f32 2x5, f32 2x1, bf16 2x5", "",
     "(C8) the result is bf16, but the query is f32; cast one of them"},
    {"attention_key_gradient", "f32 2x3, f32 4x3, f32 4x5, f32 2x5, f32 2x1, f32 4x1", "",
     "(C7) the inner product is 4x1xf32, but must be 2x1xf32"},
    {"attention_key_gradient", "f32 2x3, f32 4x3, f32 4x5, f32 2x5, f32 2x1, bf16 2x1", "",
     "(C7) the inner product is bf16, but must be f32"},
    {"reshape", "f32 2x3", "shape I 1 1 1 1 1 1 1 2 3",
     "(C1) attribute 'shape' has 9 dimensions, but tensors have at most 8"},
    {"reshape", "f32 2x3", "shape I 6 0",
     "(C1) attribute 'shape' has 0, but dimensions must be 1 or more and less than 2^48"},
    {"reshape", "f32 2x3", "shape I 5",
     "(C1) 2x3xf32 cannot become 5xf32: the numbers of elements differ"},
    {"permute", "f32 2x3", "dims I 0 0",
     "(C1) attribute 'dims' must name each of the 2 dimensions of the operand once"},
    {"expand", "f32 2x3", "shape I 3",
     "(C1) attribute 'shape' has 1 dimensions, but the operand has 2"},
    {"expand", "f32 2x3", "shape I 4 3",
     "(C2) 2x3xf32 cannot expand to 4x3xf32: dimension 0 is not 1"},
    {"slice", "f32 2x3", "starts I 0; ends I 1; steps I 1",
     "(C1) the operand has 2 dimensions, but there are 1 starts, 1 ends and 1 steps"},
    {"slice", "f32 3", "starts I 2; ends I 2; steps I 1",
     "(C2) dimension 0 of size 3 cannot be sliced from 2 to 2 by 1"},
    {"slice", "f32 3", "starts I 0; ends I 4; steps I 1",
     "(C2) dimension 0 of size 3 cannot be sliced from 0 to 4 by 1"},
    {"slice", "f32 3", "starts I 0; ends I 1; steps I 0",
     "(C2) dimension 0 of size 3 cannot be sliced from 0 to 1 by 0"},
    {"slice", "f32 3", "starts I 0; ends I 1; steps I -1",
     "(C2) dimension 0 of size 3 cannot be sliced from 0 to 1 by -1"},
    {"pad", "f32 3", "low I -1; high I 0",
     "(C1) attribute 'low' has -1, but numbers must be at least 0"},
    {"pad", "f32 3", "low I 1; high I 0 0", "(C1) attribute 'high' has 2 numbers, but must have 1"},
    {"expand", "f32 1x1", "shape I 281474976710655 2",
     "the result's dimension 1 would have 2 elements; dimensions need 1 or more, tensors less than "
     "2^48"},
    {"cat", "f32 2, bf16 2", "dim i 0",
     "(C1) operand 1 is bf16, but operand 0 is f32; cast one of them"},
    {"cat", "f32 2, f32 2x2", "dim i 0",
     "(C2) operand 1 is 2x2xf32 of rank 2, but must have rank 1"},
    {"cat", "f32 2, f32 2", "dim i 1",
     "(C3) attribute 'dim' names dimension 1, but the tensor has rank 1"},
    {"cat", "f32 2x2, f32 2x3", "dim i 0",
     "(C4) operand 1 is 2x3xf32: dimension 1 is 3, but must be 2"},
    {"embedding", "f32 5x3, f32 2", "", "(C1) the indices is f32, but must be i32 or i64"},
    {"index_select", "f32 5x3, i64 2x1", "dim i 0",
     "(C2) the indices is 2x1xi64 of rank 2, but must have rank 1"},
};

static SambaTensorType readType(const char *text) {
  SambaTensorType type = {0};
  char dtype[8], dims[128];
  assert_int_equal(sscanf(text, "%7s %127s", dtype, dims), 2);
  type.dtype = sambaDTypeFromName(dtype, strlen(dtype));
  assert_true(type.dtype < SAMBA_DTYPE_COUNT);
  for (char *at = dims; *at && *at != '-'; at += *at == 'x')
    type.dims[type.rank++] = strtoll(at, &at, 10);
  return type;
}

static SambaAttribute readAttribute(SambaArena *arena, char *text) {
  char *name = strtok(text, " ");
  char *kind = strtok(NULL, " ");
  char *word;
  SambaAttribute attribute = {.name = sambaStringRef(name)};
  int64_t *numbers = sambaArenaAllocate(arena, 16 * sizeof *numbers);
  double *reals = sambaArenaAllocate(arena, 16 * sizeof *reals);
  size_t count = 0;

  if (*kind == 's' || *kind == 't')
    word = strtok(NULL, *kind == 's' ? "" : " ");
  else
    while ((word = strtok(NULL, " ")))
      reals[count] = attribute.value.real = strtod(word, NULL),
      numbers[count++] = strtoll(word, NULL, 10);

  switch (*kind) {
  case 'f':
    attribute.kind = SAMBA_ATTRIBUTE_FLOAT;
    break;
  case 's':
    attribute.kind = SAMBA_ATTRIBUTE_STRING;
    attribute.value.string = sambaStringRef(word);
    break;
  case 't':
    attribute.kind = SAMBA_ATTRIBUTE_DTYPE;
    attribute.value.dtype = sambaDTypeFromName(word, strlen(word));
    break;
  case 'I':
    attribute.kind = SAMBA_ATTRIBUTE_INTS;
    attribute.value.integers.data = numbers;
    attribute.value.integers.size = count;
    break;
  case 'F':
    attribute.kind = SAMBA_ATTRIBUTE_FLOATS;
    attribute.value.reals.data = reals;
    attribute.value.reals.size = count;
    break;
  default:
    attribute.kind = *kind == 'b' ? SAMBA_ATTRIBUTE_BOOL : SAMBA_ATTRIBUTE_INT;
    attribute.value.integer = numbers[0];
  }

  return attribute;
}

static void testErrors(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    SambaArena arena = {0};
    SambaTensorType operands[16], results[SAMBA_MAX_RESULTS];
    SambaAttribute attributes[8];
    char text[512], *rest, *part;
    SambaOperatorCall call = {.operator = sambaOperatorFind(sambaStringRef(cases[i].name)),
                              .operands = operands,
                              .attributes = attributes};
    assert_non_null(call.operator);
    snprintf(text, sizeof text, "%s", cases[i].operands);
    for (part = strtok_r(text, ",", &rest); part; part = strtok_r(NULL, ",", &rest))
      operands[call.operand_count++] = readType(part);
    snprintf(text, sizeof text, "%s", cases[i].attributes);
    for (part = strtok_r(text, ";", &rest); part; part = strtok_r(NULL, ";", &rest))
      attributes[call.attribute_count++] = readAttribute(&arena, part);
    SambaStatus status = sambaOperatorInfer(&call, results);
    if (!status)
      fail_msg("%s(%s) {%s} was accepted", cases[i].name, cases[i].operands, cases[i].attributes);
    assert_string_equal(sambaStatusGetMessage(status), cases[i].message);
    sambaStatusFree(status);
    sambaArenaDestroy(&arena);
  }
}

/* What documents, builders and the importer need of a row. */
static void rowIsWhole(const SambaOperator *operator) {
  const char *name = operator->name;
  if ((operator->formula != NULL) == (operator->summary != NULL))
    fail_msg("%s: a row has a formula or a summary", name);
  if (operator->elementwise && !operator->formula)
    fail_msg("%s: an elementwise row has a formula", name);
  if (!operator->constraints[0] || !operator->dtypes || !operator->operands[0])
    fail_msg("%s: constraints, dtypes or operands are missing", name);
  if (!operator->example && (!operator->formula || operator->attributes[0].name))
    fail_msg("%s: there is no example", name);

  bool optional = false;
  for (uint32_t i = 0; operator->operands[i]; ++i) {
    if (optional && !strchr(operator->operands[i], '?'))
      fail_msg("%s: operand %s comes behind one that may be left out", name, operator->operands[i]);
    optional |= strchr(operator->operands[i], '?') != NULL;
  }

  for (const SambaAttributeRow *row = operator->attributes; row->name; ++row) {
    if (row->absence == SAMBA_ABSENT_MEANT && !row->meaning[0])
      fail_msg("%s: the row does not say what it means that %s is absent", name, row->name);
    if (row->choices && row->absence == SAMBA_ABSENT_DEFAULT &&
        !strstr(row->choices, row->otherwise.string))
      fail_msg("%s: the default of %s is none of the choices", name, row->name);
    if (operator->onnx[0].name && row->kind != SAMBA_ATTRIBUTE_FLOAT)
      fail_msg("%s: %s is no number, as attributes of an ONNX form are", name, row->name);
  }

  for (const SambaOnnxForm *form = operator->onnx; form->name; ++form)
    for (size_t i = 0; i < 2 && form->attributes[i].attribute; ++i)
      if (!sambaOperatorAttribute(operator, sambaStringRef(form->attributes[i].attribute)))
        fail_msg("%s: ONNX's %s names attribute %s, which there is not", name, form->name,
                 form->attributes[i].attribute);
  if (operator->onnx[0].name && sambaOperatorMostOperands(operator) > 2)
    fail_msg("%s: an ONNX form has one or two operands", name);
}

/* The table is in order (it is searched by halves), every row is whole. */
static void testRows(void **state) {
  (void)state;
  const SambaOperator *previous = NULL, *operator;
  for (uint32_t i = 0; (operator = sambaOperatorAt(i)); ++i) {
    assert_true(!previous || strcmp(previous->name, operator->name) < 0);
    assert_ptr_equal(sambaOperatorFind(sambaStringRef(operator->name)), operator);
    assert_non_null(operator->infer);
    assert_int_equal(operator->view + (operator->stages || operator->decompose), 1);
    rowIsWhole(operator);
    previous = operator;
  }
  assert_non_null(previous);
  assert_null(sambaOperatorFind(sambaStringRef("convolve")));
  assert_null(sambaOperatorFind(sambaStringRef("")));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testErrors), cmocka_unit_test(testRows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
