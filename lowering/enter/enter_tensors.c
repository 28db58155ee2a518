/* Operations of tensor, arith and math on tensors as samba operations. */
#include "lowering/enter/enter.h"
#include "lowering/foreign/foreign_call.h"

#include "dialect/samba/graph.h"

static void convertSame(SambaForeignCall *call) {
  call->results[0] = sambaExpandCall(&call->expansion, call->row->operator, call->operand_count,
                                     call->operands, 0, NULL);
}

static void convertReshape(SambaForeignCall *call) {
  call->results[0] = sambaExpandReshape(&call->expansion, call->operands[0], call->types[0].rank,
                                        call->types[0].dims);
}

static void convertConcat(SambaForeignCall *call) {
  call->results[0] = sambaExpandCat(&call->expansion, call->operand_count, call->operands,
                                    (uint32_t)sambaForeignInt(call, "dim"));
}

static void convertCast(SambaForeignCall *call) {
  call->results[0] = sambaExpandCast(&call->expansion, call->operands[0], call->types[0].dtype);
}

static const SambaForeignRow rows[] = {
    {"tensor.collapse_shape", convertReshape, NULL},
    {"tensor.expand_shape", convertReshape, NULL},
    {"tensor.reshape", convertReshape, NULL},
    {"tensor.concat", convertConcat, NULL},
    {"tensor.cast", convertReshape, NULL},

    {"arith.addf", convertSame, "add"},
    {"arith.addi", convertSame, "add"},
    {"arith.subf", convertSame, "sub"},
    {"arith.subi", convertSame, "sub"},
    {"arith.mulf", convertSame, "mul"},
    {"arith.muli", convertSame, "mul"},
    {"arith.divf", convertSame, "div"},
    {"arith.divsi", convertSame, "div"},
    {"arith.negf", convertSame, "neg"},
    {"arith.maximumf", convertSame, "maximum"},
    {"arith.minimumf", convertSame, "minimum"},
    {"arith.maxsi", convertSame, "maximum"},
    {"arith.minsi", convertSame, "minimum"},
    {"arith.andi", convertSame, "bitwise_and"},
    {"arith.ori", convertSame, "bitwise_or"},
    {"arith.xori", convertSame, "bitwise_xor"},
    {"arith.extf", convertCast, NULL},
    {"arith.truncf", convertCast, NULL},
    {"arith.sitofp", convertCast, NULL},
    {"math.absf", convertSame, "abs"},
    {"math.absi", convertSame, "abs"},
    {"math.ceil", convertSame, "ceil"},
    {"math.cos", convertSame, "cos"},
    {"math.erf", convertSame, "erf"},
    {"math.exp", convertSame, "exp"},
    {"math.floor", convertSame, "floor"},
    {"math.log", convertSame, "log"},
    {"math.powf", convertSame, "pow"},
    {"math.roundeven", convertSame, "round"},
    {"math.rsqrt", convertSame, "rsqrt"},
    {"math.sin", convertSame, "sin"},
    {"math.sqrt", convertSame, "sqrt"},
    {"math.tanh", convertSame, "tanh"},
    {"math.trunc", convertSame, "trunc"},
};

bool sambaEnterTensors(MlirOperation function) {
  return sambaForeignConvert(function, rows, sizeof rows / sizeof *rows);
}
