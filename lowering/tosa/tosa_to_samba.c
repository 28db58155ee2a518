/* convert-tosa-to-samba: a TOSA graph becomes samba operations, one row per TOSA operation.
 *
 * What TOSA says and samba says differently (images with channels last, casts that round, windows
 * without padding) is written out here, so that a model keeps its operators: a convolution stays a
 * convolution, which later passes, reports and gradients know. Upstream's way through linalg would
 * lose them. */
#include "lowering/passes.h"
#include "lowering/tosa/tosa_rows.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"

#include <string.h>

static const SambaForeignRow rows[] = {
    {"tosa.abs", sambaTosaSame, "abs"},
    {"tosa.add", sambaTosaSame, "add"},
    {"tosa.bitwise_and", sambaTosaSame, "bitwise_and"},
    {"tosa.bitwise_not", sambaTosaSame, "bitwise_not"},
    {"tosa.bitwise_or", sambaTosaSame, "bitwise_or"},
    {"tosa.bitwise_xor", sambaTosaSame, "bitwise_xor"},
    {"tosa.ceil", sambaTosaSame, "ceil"},
    {"tosa.cos", sambaTosaSame, "cos"},
    {"tosa.equal", sambaTosaSame, "eq"},
    {"tosa.erf", sambaTosaSame, "erf"},
    {"tosa.exp", sambaTosaSame, "exp"},
    {"tosa.floor", sambaTosaSame, "floor"},
    {"tosa.greater", sambaTosaSame, "gt"},
    {"tosa.greater_equal", sambaTosaSame, "ge"},
    {"tosa.intdiv", sambaTosaSame, "div"},
    {"tosa.log", sambaTosaSame, "log"},
    {"tosa.logical_and", sambaTosaSame, "logical_and"},
    {"tosa.logical_left_shift", sambaTosaSame, "bitwise_left_shift"},
    {"tosa.logical_not", sambaTosaSame, "logical_not"},
    {"tosa.logical_or", sambaTosaSame, "logical_or"},
    {"tosa.logical_xor", sambaTosaSame, "logical_xor"},
    {"tosa.pow", sambaTosaSame, "pow"},
    {"tosa.reciprocal", sambaTosaSame, "reciprocal"},
    {"tosa.rsqrt", sambaTosaSame, "rsqrt"},
    {"tosa.select", sambaTosaSame, "where"},
    {"tosa.sigmoid", sambaTosaSame, "sigmoid"},
    {"tosa.sin", sambaTosaSame, "sin"},
    {"tosa.sub", sambaTosaSame, "sub"},
    {"tosa.tanh", sambaTosaSame, "tanh"},
    {"tosa.maximum", sambaTosaExtremum, "maximum"},
    {"tosa.minimum", sambaTosaExtremum, "minimum"},
    {"tosa.mul", sambaTosaMul, NULL},
    {"tosa.negate", sambaTosaNegate, NULL},
    {"tosa.clamp", sambaTosaClamp, NULL},
    {"tosa.cast", sambaTosaCast, NULL},
    {"tosa.arithmetic_right_shift", sambaTosaArithmeticRightShift, NULL},
    {"tosa.logical_right_shift", sambaTosaLogicalRightShift, NULL},
    {"tosa.clz", sambaTosaClz, NULL},
    {"tosa.identity", sambaTosaIdentity, NULL},

    {"tosa.reduce_all", sambaTosaReduce, "amin"},
    {"tosa.reduce_any", sambaTosaReduce, "amax"},
    {"tosa.reduce_max", sambaTosaReduce, "amax"},
    {"tosa.reduce_min", sambaTosaReduce, "amin"},
    {"tosa.reduce_product", sambaTosaReduce, "prod"},
    {"tosa.reduce_sum", sambaTosaReduce, "sum"},
    {"tosa.argmax", sambaTosaArgmax, NULL},

    {"tosa.matmul", sambaTosaMatmul, NULL},
    {"tosa.conv2d", sambaTosaConvolution, NULL},
    {"tosa.conv3d", sambaTosaConvolution, NULL},
    {"tosa.depthwise_conv2d", sambaTosaDepthwise, NULL},
    {"tosa.transpose_conv2d", sambaTosaTransposeConvolution, NULL},
    {"tosa.avg_pool2d", sambaTosaPool, "avg_pool2d"},
    {"tosa.max_pool2d", sambaTosaPool, "max_pool2d"},
    {"tosa.fft2d", sambaTosaFft, NULL},
    {"tosa.rfft2d", sambaTosaRfft, NULL},

    {"tosa.concat", sambaTosaConcat, NULL},
    {"tosa.gather", sambaTosaGather, NULL},
    {"tosa.pad", sambaTosaPad, NULL},
    {"tosa.reshape", sambaTosaReshape, NULL},
    {"tosa.resize", sambaTosaResize, NULL},
    {"tosa.reverse", sambaTosaReverse, NULL},
    {"tosa.scatter", sambaTosaScatter, NULL},
    {"tosa.slice", sambaTosaSlice, NULL},
    {"tosa.tile", sambaTosaTile, NULL},
    {"tosa.transpose", sambaTosaTranspose, NULL},

    {"tosa.rescale", sambaTosaRefuse,
     "rescales quantized numbers in fixed point; compile the network before quantization"},
    {"tosa.apply_scale", sambaTosaRefuse,
     "scales quantized numbers in fixed point; compile the network before quantization"},
    {"tosa.table", sambaTosaRefuse,
     "is a lookup table of quantized networks; compile the network before quantization"},
    {"tosa.custom", sambaTosaRefuse,
     "is known only to its vendor; write it with other operations of TOSA"},
    {"tosa.cond_if", sambaTosaRefuse,
     "is control flow that depends on data; compute both sides and choose with tosa.select"},
    {"tosa.while_loop", sambaTosaRefuse,
     "is a loop whose length depends on data; unroll it, or run its body once per call"},
    {"tosa.variable_read", sambaTosaRefuse,
     "reads state that outlives a call; make it an argument and a result"},
    {"tosa.variable_write", sambaTosaRefuse,
     "writes state that outlives a call; make it an argument and a result"},
};
enum { rowCount = sizeof rows / sizeof *rows };

void sambaTosaRefuse(SambaForeignCall *call) {
  sambaForeignFail(call, sambaStatusMake(SAMBA_UNSUPPORTED, "%s", call->row->operator));
}

static bool isTosa(MlirOperation operation) {
  MlirStringRef name = sambaOperationName(operation);
  return name.length > 5 && memcmp(name.data, "tosa.", 5) == 0;
}

/* Constants become those of arith; shapes, which converters have read, go. */
static bool convertConstants(MlirOperation function) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
  while (!mlirOperationIsNull(operation)) {
    MlirOperation next = mlirOperationGetNextInBlock(operation);
    if (sambaOperationIs(operation, "tosa.const")) {
      MlirAttribute value = sambaOperationAttribute(operation, "values");
      MlirValue constant = sambaBuildConstant(mlirOperationGetBlock(operation), operation,
                                              mlirOperationGetLocation(operation), value);
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, 0), constant);
      mlirOperationDestroy(operation);
    } else if (sambaOperationIs(operation, "tosa.const_shape") &&
               mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(operation, 0)))) {
      mlirOperationDestroy(operation);
    } else if (isTosa(operation)) {
      return sambaEmitOpError(
          operation,
          "is an operation of TOSA that has no form in samba; docs/linalg.md lists them");
    }
    operation = next;
  }
  return true;
}

bool sambaConvertTosaToSamba(MlirOperation module) {
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (sambaOperationIs(operation, "tosa.variable"))
      return sambaEmitOpError(operation,
                              "is state that outlives a call; make it an argument and a result");
    if (sambaOperationIsGraph(operation) &&
        !(sambaForeignConvert(operation, rows, rowCount) && convertConstants(operation)))
      return false;
  }
  return true;
}
