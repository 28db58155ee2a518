/* Programs of compute units between region and struct, and the text of hops; see section_text.h.
 *
 * A lane operation is one operation of IR both ways: arith or math where exactly one says the same,
 * rdu.lane where none does, rdu.reduce for accumulators. When reading, arith forms that stand for
 * nothing on the machine (extensions of values that are wide already) are looked through. */
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/section/lane_body.h"
#include "dialect/rdu/section/section_text.h"
#include "dialect/samba/samba.h"
#include "support/container/pointer_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool isNamed(MlirOperation op, const char *name) {
  return sambaStringRefEqualC(sambaFromMlir(sambaOperationName(op)), name);
}

/*===-- Opcodes -------------------------------------------------------------------------------===*/

static const uint8_t opcodes[] = {
#define X(enumerator, value, name, operands, class) value,
#include "backend/section/lane_ops.def"
#undef X
};
static const char reducePrefix[] = "reduce_";

/* rdu.reduce "add" is the lane operation reduce_add; "mac" is mac. */
static int findOpcode(SambaStringRef name, bool reduction) {
  for (size_t i = 0; i < sizeof opcodes; ++i) {
    const char *known = sambaLaneOpName(opcodes[i]);
    if ((sambaLaneOpClass(opcodes[i]) == 'R') != reduction)
      continue;
    if (reduction && strncmp(known, reducePrefix, sizeof reducePrefix - 1) == 0)
      known += sizeof reducePrefix - 1;
    if (sambaStringRefEqualC(name, known))
      return opcodes[i];
  }
  return -1;
}

/* Operations whose type is that of their operand, not of their result. */
static bool typedByOperand(uint8_t opcode) {
  return (opcode >= SAMBA_LANE_EQ && opcode <= SAMBA_LANE_GE) || opcode == SAMBA_LANE_INT_TO_FLOAT;
}

static SambaDType resultType(const SambaLaneOp *op) {
  if (op->opcode >= SAMBA_LANE_EQ && op->opcode <= SAMBA_LANE_GE)
    return SAMBA_DTYPE_I1;
  return op->opcode == SAMBA_LANE_INT_TO_FLOAT ? SAMBA_DTYPE_F32 : (SambaDType)op->type;
}

/*===-- Region to struct ----------------------------------------------------------------------===*/

static SambaStatus readLane(MlirOperation op, bool reduction, SambaLaneOp *out_op) {
  MlirStringRef name = mlirStringAttrGetValue(sambaOperationAttribute(op, "opcode"));
  int opcode = findOpcode(sambaFromMlir(name), reduction);

  if (opcode < 0)
    return sambaStatusMake(SAMBA_INVALID, "there is no %s operation \"%.*s\"",
                           reduction ? "reduce" : "lane", SAMBA_MLIR_STRING_ARGS(name));
  if (mlirOperationGetNumOperands(op) != sambaLaneOpOperands((uint8_t)opcode))
    return sambaStatusMake(SAMBA_INVALID, "\"%.*s\" takes %d operands, but has %lld",
                           SAMBA_MLIR_STRING_ARGS(name), sambaLaneOpOperands((uint8_t)opcode),
                           (long long)mlirOperationGetNumOperands(op));
  MlirValue typed = typedByOperand((uint8_t)opcode) ? mlirOperationGetOperand(op, 0)
                                                    : mlirOperationGetResult(op, 0);
  MlirAttribute immediate =
      reduction ? mlirAttributeGetNull() : sambaOperationAttribute(op, "immediate");
  *out_op = (SambaLaneOp){.opcode = (uint8_t)opcode,
                          .type = (uint8_t)sambaDTypeFromType(mlirValueGetType(typed)),
                          .immediate = mlirAttributeIsNull(immediate)
                                           ? 0
                                           : (uint64_t)mlirIntegerAttrGetValueInt(immediate)};
  return NULL;
}

typedef struct Program {
  SambaPointerMap values;
  SAMBA_ARRAY(SambaLaneOp) ops;
  uint32_t inputs;
} Program;

static SambaStatus readOperation(Program *program, MlirOperation op) {
  SambaLaneOp lane;
  if (isNamed(op, "rdu.lane") || isNamed(op, "rdu.reduce")) {
    SAMBA_RETURN_IF_ERROR(readLane(op, isNamed(op, "rdu.reduce"), &lane));
  } else {
    switch (sambaLaneBodyRead(op, &lane)) {
    case SAMBA_LANE_READ_UNKNOWN:
      return sambaStatusMake(SAMBA_UNSUPPORTED, "'%.*s' is not an operation of a compute unit",
                             SAMBA_MLIR_STRING_ARGS(sambaOperationName(op)));
    case SAMBA_LANE_READ_FORWARD: {
      uint32_t value = 0;
      sambaPointerMapGet(&program->values, mlirOperationGetOperand(op, 0).ptr, &value);
      sambaPointerMapSet(&program->values, mlirOperationGetResult(op, 0).ptr, value);
      return NULL;
    }
    case SAMBA_LANE_READ_OP:
      break;
    }
  }

  int count = sambaLaneOpOperands(lane.opcode);
  for (int i = 0; i < count && i < mlirOperationGetNumOperands(op); ++i) {
    uint32_t value = 0;
    sambaPointerMapGet(&program->values, mlirOperationGetOperand(op, i).ptr, &value);
    lane.operands[i] = (uint16_t)value;
  }

  if (program->inputs + program->ops.size >= UINT16_MAX)
    return sambaStatusMake(SAMBA_EXHAUSTED, "has more than %d values", UINT16_MAX);
  sambaPointerMapSet(&program->values, mlirOperationGetResult(op, 0).ptr,
                     program->inputs + (uint32_t)program->ops.size);
  sambaArrayAppend(&program->ops, lane);

  return NULL;
}

static SambaStatus readBlock(Program *program, MlirBlock block, SambaUnit *unit) {
  MlirOperation last = mlirBlockGetTerminator(block);
  program->inputs = unit->input_count;
  if (mlirOperationIsNull(last) || !isNamed(last, "rdu.yield"))
    return sambaStatusMake(SAMBA_INVALID, "its program must end with rdu.yield");
  if (mlirBlockGetNumArguments(block) != unit->input_count)
    return sambaStatusMake(SAMBA_INVALID,
                           "its program has %lld arguments, but the unit has %u inputs",
                           (long long)mlirBlockGetNumArguments(block), unit->input_count);

  for (uint32_t i = 0; i < unit->input_count; ++i) {
    MlirValue argument = mlirBlockGetArgument(block, i);
    SambaDType expected = sambaDTypeLaneClass(unit->inputs[i].dtype);
    if (sambaDTypeFromType(mlirValueGetType(argument)) != expected)
      return sambaStatusMake(
          SAMBA_INVALID, "argument %u of its program must be %s, as elements of %s are in a unit",
          i, sambaDTypeName(expected), sambaDTypeName(unit->inputs[i].dtype));
    sambaPointerMapSet(&program->values, argument.ptr, i);
  }

  MlirOperation op = mlirBlockGetFirstOperation(block);
  for (; !mlirOperationEqual(op, last); op = mlirOperationGetNextInBlock(op))
    SAMBA_RETURN_IF_ERROR(readOperation(program, op));
  if (mlirOperationGetNumOperands(op) != unit->output_count)
    return sambaStatusMake(SAMBA_INVALID,
                           "its program yields %lld values, but the unit has %u outputs",
                           (long long)mlirOperationGetNumOperands(op), unit->output_count);

  for (uint32_t i = 0; i < unit->output_count; ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    SambaDType expected = sambaDTypeLaneClass(unit->outputs[i].dtype);
    if (sambaDTypeFromType(mlirValueGetType(value)) != expected)
      return sambaStatusMake(SAMBA_INVALID, "output %u makes %s, so its value must be %s", i,
                             sambaDTypeName(unit->outputs[i].dtype), sambaDTypeName(expected));
    sambaPointerMapGet(&program->values, value.ptr, &unit->outputs[i].compute.value);
  }

  return NULL;
}

SambaStatus sambaProgramFromIr(MlirOperation op, SambaArena *arena, SambaUnit *unit) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(op));
  if (mlirBlockIsNull(block))
    return sambaStatusMake(SAMBA_INVALID, "has no program");
  Program program = {0};
  SambaStatus status = readBlock(&program, block, unit);
  unit->compute.program.op_count = (uint32_t)program.ops.size;
  unit->compute.program.ops =
      sambaArenaCopy(arena, program.ops.data, program.ops.size * sizeof(SambaLaneOp));
  sambaArrayFree(&program.ops);
  sambaPointerMapFree(&program.values);
  return status;
}

/*===-- Struct to region ----------------------------------------------------------------------===*/

static MlirOperation lastOf(MlirBlock block) {
  MlirOperation last = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    last = op;
  return last;
}

/* One arith or math operation that reads back as exactly this lane operation, or null. Tried in a
 * block of its own. */
static MlirOperation tryUpstream(MlirLocation location, const SambaLaneOp *op,
                                 const MlirValue *operands) {
  MlirBlock scratch = mlirBlockCreate(0, NULL, NULL);
  MlirValue value = sambaLaneBodyEmit(scratch, location, op, operands);
  MlirOperation made = lastOf(scratch);
  MlirOperation found = {NULL};
  SambaLaneOp again;
  bool one = value.ptr && made.ptr &&
             mlirOperationEqual(made, mlirBlockGetFirstOperation(scratch)) &&
             mlirValueEqual(value, mlirOperationGetResult(made, 0));
  if (one && sambaLaneBodyRead(made, &again) == SAMBA_LANE_READ_OP && again.opcode == op->opcode &&
      again.type == op->type && again.immediate == op->immediate) {
    mlirOperationRemoveFromParent(made);
    found = made;
  }

  mlirBlockDestroy(scratch);
  return found;
}

static MlirOperation makeLane(MlirLocation location, const SambaLaneOp *op,
                              const MlirValue *operands) {
  MlirContext context = mlirLocationGetContext(location);
  bool reduction = sambaLaneOpClass(op->opcode) == 'R';
  const char *name = sambaLaneOpName(op->opcode);

  if (reduction && strncmp(name, reducePrefix, sizeof reducePrefix - 1) == 0)
    name += sizeof reducePrefix - 1;
  MlirNamedAttribute attributes[2] = {
      sambaNamedAttribute(context, "opcode",
                          mlirStringAttrGet(context, mlirStringRefCreateFromCString(name))),
      sambaNamedAttribute(
          context, "immediate",
          mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), (int64_t)op->immediate))};
  MlirType result = sambaDTypeToType(context, resultType(op));
  bool has_immediate = op->immediate || op->opcode == SAMBA_LANE_CONSTANT ||
                       op->opcode == SAMBA_LANE_COUNTER || op->opcode == SAMBA_LANE_ARGIN;
  SambaOperationParts parts = {.name = reduction ? "rdu.reduce" : "rdu.lane",
                               .location = location,
                               .operand_count = sambaLaneOpOperands(op->opcode),
                               .operands = operands,
                               .result_count = 1,
                               .results = &result,
                               .attribute_count = has_immediate && !reduction ? 2 : 1,
                               .attributes = attributes};
  return sambaBuildOperation(&parts);
}

MlirRegion sambaProgramToIr(const SambaUnit *unit, MlirLocation location) {
  MlirContext context = mlirLocationGetContext(location);
  uint32_t count = unit->input_count + unit->compute.program.op_count;
  MlirValue *values = sambaAllocateZeroed(count + 1, sizeof *values);
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);

  for (uint32_t i = 0; i < unit->input_count; ++i)
    values[i] = mlirBlockAddArgument(
        block, sambaDTypeToType(context, sambaDTypeLaneClass(unit->inputs[i].dtype)), location);
  for (uint32_t i = 0; i < unit->compute.program.op_count; ++i) {
    const SambaLaneOp *op = &unit->compute.program.ops[i];
    char class = sambaLaneOpClass(op->opcode);
    MlirValue operands[3];
    for (int k = 0; k < sambaLaneOpOperands(op->opcode); ++k)
      operands[k] = values[op->operands[k]];
    MlirOperation made = {NULL};
    if (class == 'S' || class == 'T' || op->opcode == SAMBA_LANE_CONSTANT)
      made = tryUpstream(location, op, operands);
    if (mlirOperationIsNull(made))
      made = makeLane(location, op, operands);
    mlirBlockAppendOwnedOperation(block, made);
    values[unit->input_count + i] = mlirOperationGetResult(made, 0);
  }

  MlirValue *yielded = sambaAllocateZeroed(unit->output_count + 1, sizeof *yielded);
  for (uint32_t i = 0; i < unit->output_count; ++i)
    yielded[i] = values[unit->outputs[i].compute.value];
  SambaOperationParts parts = {.name = "rdu.yield",
                               .location = location,
                               .operand_count = unit->output_count,
                               .operands = yielded};
  mlirBlockAppendOwnedOperation(block, sambaBuildOperation(&parts));
  free(yielded);
  free(values);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);

  return region;
}

/*===-- Hops ----------------------------------------------------------------------------------===*/

static const char *const portNames[] = {"north", "east", "south", "west", "unit", "ag"};

static char *putText(char *at, const char *text) {
  while (*text)
    *at++ = *text++;
  return at;
}

static char *putNumber(char *at, int64_t number) {
  char digits[24];
  int count = 0;
  uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  do
    digits[count++] = (char)('0' + rest % 10);
  while (rest /= 10);
  if (number < 0)
    *at++ = '-';
  while (count)
    *at++ = digits[--count];
  return at;
}

static char *putLane(char *at, const SambaSwitchLane *lane) {
  at = putText(at, portNames[lane->port]);
  *at++ = ' ';
  if (lane->port == SAMBA_SWITCH_AG) {
    at = putNumber(at, lane->ag);
    *at++ = ' ';
  }
  at = putNumber(at, lane->lane);
  *at++ = ':';
  return putNumber(at, lane->flow);
}

/* By hand, like the parser: a large section has some ten thousand hops, which every pass writes and
 * reads. */
const char *sambaHopFormat(SambaArena *arena, const SambaHop *hop) {
  char text[128], *at = text;
  *at++ = '(';
  at = putNumber(at, hop->x);
  *at++ = ',';
  at = putNumber(at, hop->y);
  at = putText(at, ") ");
  at = putLane(at, &hop->in);
  at = putText(at, " -> ");
  at = putLane(at, &hop->out);
  *at = 0;
  return sambaArenaCopy(arena, text, (size_t)(at - text) + 1);
}

static bool takeText(SambaStringRef *rest, const char *text) {
  size_t length = strlen(text);
  if (rest->size < length || memcmp(rest->data, text, length) != 0)
    return false;
  *rest = (SambaStringRef){rest->data + length, rest->size - length};
  return true;
}

static bool takeNumber(SambaStringRef *rest, int64_t least, int64_t most, int64_t *out_number) {
  bool negative = least < 0 && takeText(rest, "-");
  int64_t number = 0;
  size_t digits = 0;
  for (;
       digits < rest->size && digits < 10 && rest->data[digits] >= '0' && rest->data[digits] <= '9';
       ++digits)
    number = number * 10 + (rest->data[digits] - '0');
  *rest = (SambaStringRef){rest->data + digits, rest->size - digits};
  *out_number = negative ? -number : number;
  return digits && *out_number >= least && *out_number <= most;
}

static bool takeLane(SambaStringRef *rest, SambaSwitchLane *out_lane) {
  int64_t ag = 0, lane, flow;
  uint8_t port = 0;
  while (port < 6 && !takeText(rest, portNames[port]))
    ++port;
  if (port == 6 || !takeText(rest, " ") ||
      (port == SAMBA_SWITCH_AG && !(takeNumber(rest, 0, UINT16_MAX, &ag) && takeText(rest, " "))) ||
      !takeNumber(rest, 0, UINT8_MAX, &lane) || !takeText(rest, ":") ||
      !takeNumber(rest, 0, UINT16_MAX, &flow))
    return false;
  *out_lane = (SambaSwitchLane){
      .port = port, .lane = (uint8_t)lane, .flow = (uint16_t)flow, .ag = (uint16_t)ag};
  return true;
}

SambaStatus sambaHopParse(SambaStringRef text, SambaHop *out_hop) {
  SambaStringRef rest = text;
  int64_t x, y;
  bool good = takeText(&rest, "(") && takeNumber(&rest, -999999999, 999999999, &x) &&
              takeText(&rest, ",") && takeNumber(&rest, -999999999, 999999999, &y) &&
              takeText(&rest, ") ") && takeLane(&rest, &out_hop->in) && takeText(&rest, " -> ") &&
              takeLane(&rest, &out_hop->out) && !rest.size;
  if (!good)
    return sambaStatusMake(SAMBA_INVALID,
                           "hop \"%.*s\" must look like \"(3,0) west 0:3 -> unit 1:0\"",
                           SAMBA_STRING_ARGS(text));
  out_hop->x = (int32_t)x;
  out_hop->y = (int32_t)y;
  return NULL;
}
