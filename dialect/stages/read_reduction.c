/* Reductions in bodies; see read_reduction.h.
 *
 * From what is yielded, a chain of equal operations leads to the accumulator: acc + a, (acc + a) +
 * b, and selections between the accumulator and such a sum. What stands beside the chain are its
 * terms: they are combined first, then reduced. */
#include "dialect/stages/read_reduction.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/kind.h"

#include "mlir-c/BuiltinAttributes.h"

#include <math.h>
#include <string.h>

/* operation: what may stand in a chain; combines: the row that combines two results of it. */
static const struct {
  const char *operation;
  uint8_t opcode;
  const char *combines;
  bool is_unsigned;
} links[] = {
    {"arith.addf", SAMBA_LANE_REDUCE_ADD, "arith.addf", false},
    {"arith.subf", SAMBA_LANE_REDUCE_ADD, "arith.addf", false},
    {"math.fma", SAMBA_LANE_REDUCE_ADD, "arith.addf", false},
    {"arith.addi", SAMBA_LANE_REDUCE_ADD, "arith.addi", false},
    {"arith.subi", SAMBA_LANE_REDUCE_ADD, "arith.addi", false},
    {"arith.mulf", SAMBA_LANE_REDUCE_MUL, "arith.mulf", false},
    {"arith.muli", SAMBA_LANE_REDUCE_MUL, "arith.muli", false},
    {"arith.maximumf", SAMBA_LANE_REDUCE_MAX, "arith.maximumf", false},
    {"arith.maxnumf", SAMBA_LANE_REDUCE_MAX, "arith.maxnumf", false},
    {"arith.maxsi", SAMBA_LANE_REDUCE_MAX, "arith.maxsi", false},
    {"arith.maxui", SAMBA_LANE_REDUCE_MAX, "arith.maxui", true},
    {"arith.minimumf", SAMBA_LANE_REDUCE_MIN, "arith.minimumf", false},
    {"arith.minnumf", SAMBA_LANE_REDUCE_MIN, "arith.minnumf", false},
    {"arith.minsi", SAMBA_LANE_REDUCE_MIN, "arith.minsi", false},
    {"arith.minui", SAMBA_LANE_REDUCE_MIN, "arith.minui", true},
    {"arith.andi", SAMBA_LANE_REDUCE_AND, "arith.andi", false},
    {"arith.ori", SAMBA_LANE_REDUCE_OR, "arith.ori", false},
};
enum { linkCount = sizeof links / sizeof *links };

/* A chain while it is followed. */
typedef struct Chain {
  SambaBodyStage *stage;
  SambaReduction reduction;
} Chain;

static SambaStatus refuse(const Chain *chain, MlirOperation operation) {
  MlirOperation structured = chain->stage->structured->operation;
  if (mlirOperationIsNull(operation))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "a '%.*s' reduces by nothing: it yields the last of several values",
                           SAMBA_STRING_ARGS(sambaReaderName(structured)));
  return sambaStatusMake(SAMBA_UNSUPPORTED,
                         "a '%.*s' reduces by '%.*s' in a way that lanes cannot; they sum, "
                         "multiply, take the smallest or largest, and combine bits by and and or",
                         SAMBA_STRING_ARGS(sambaReaderName(structured)),
                         SAMBA_STRING_ARGS(sambaReaderName(operation)));
}

static bool isAccumulator(const Chain *chain, MlirValue value) {
  return mlirValueEqual(value, chain->stage->accumulator);
}

static bool dependsOn(const Chain *chain, MlirValue value) {
  return sambaBodyDependsOnAccumulator(chain->stage, value);
}

/* Of single bits, the largest is or of 0 and 1, and of 0 and -1. A sum would be exclusive or. */
static const char *combinesBits(const char *combines) {
  static const char *const same[][2] = {
      {"arith.maxui", "arith.ori"}, {"arith.minui", "arith.andi"}, {"arith.maxsi", "arith.andi"},
      {"arith.minsi", "arith.ori"}, {"arith.muli", "arith.andi"},  {"arith.andi", "arith.andi"},
      {"arith.ori", "arith.ori"}};
  for (size_t i = 0; i < sizeof same / sizeof *same; ++i)
    if (strcmp(same[i][0], combines) == 0)
      return same[i][1];
  return "";
}

static SambaDType dtypeOf(MlirValue value) { return sambaDTypeFromType(mlirValueGetType(value)); }

/* All links of a chain are of one kind. */
static SambaStatus setKind(Chain *chain, MlirOperation operation, const char *combines) {
  if (dtypeOf(chain->stage->accumulator) == SAMBA_DTYPE_I1)
    combines = combinesBits(combines);
  for (int i = 0; i < linkCount; ++i) {
    if (strcmp(links[i].operation, combines) != 0)
      continue;
    const SambaBodyRow *row = sambaBodyRowFind(sambaStringRef(links[i].combines));
    if (chain->reduction.row && chain->reduction.row != row)
      return refuse(chain, operation);
    chain->reduction = (SambaReduction){links[i].opcode, row, links[i].is_unsigned};
    return NULL;
  }
  return refuse(chain, operation);
}

/* Widening and narrowing of the accumulator: it is as wide as a lane all along. */
static bool isConversion(MlirOperation operation) {
  static const char *const conversions[] = {"arith.extf", "arith.truncf", "arith.extsi",
                                            "arith.trunci"};
  for (size_t i = 0; i < sizeof conversions / sizeof *conversions; ++i)
    if (sambaOperationIs(operation, conversions[i]))
      return true;
  return false;
}

/*===-- A selection of the larger or smaller one ----------------------------------------------===*/

/* Predicates by what holds of the left operand: 1 larger, -1 smaller, 0 neither. */
static int directionOf(MlirOperation comparison, bool *out_ordered, bool *out_unsigned) {
  int64_t predicate = mlirIntegerAttrGetValueInt(sambaOperationAttribute(comparison, "predicate"));
  static const int8_t floats[] = {0, 0, 1, 1, -1, -1, 0, 0, 0, 1, 1, -1, -1, 0, 0, 0};
  static const int8_t integers[] = {0, 0, -1, -1, 1, 1, -1, -1, 1, 1};
  bool is_float = sambaOperationIs(comparison, "arith.cmpf");
  *out_ordered = is_float && predicate < 7;
  *out_unsigned = !is_float && predicate >= 6;
  return is_float ? floats[predicate] : integers[predicate];
}

/* select (x > acc), x, acc and its relatives; *out_term is x. */
static bool isSelection(const Chain *chain, MlirOperation operation, MlirValue *out_term,
                        const char **out_combines) {
  if (!sambaOperationIs(operation, "arith.select"))
    return false;
  MlirOperation comparison = sambaDefiningOperation(mlirOperationGetOperand(operation, 0));
  if (mlirOperationIsNull(comparison) ||
      !(sambaOperationIs(comparison, "arith.cmpf") || sambaOperationIs(comparison, "arith.cmpi")))
    return false;
  MlirValue left = mlirOperationGetOperand(comparison, 0);
  MlirValue right = mlirOperationGetOperand(comparison, 1);
  MlirValue yes = mlirOperationGetOperand(operation, 1), no = mlirOperationGetOperand(operation, 2);
  bool plain = mlirValueEqual(left, yes) && mlirValueEqual(right, no);
  bool crossed = mlirValueEqual(left, no) && mlirValueEqual(right, yes);
  if (!(plain || crossed) || isAccumulator(chain, left) == isAccumulator(chain, right))
    return false;

  bool ordered, is_unsigned;
  int direction = directionOf(comparison, &ordered, &is_unsigned);
  direction = plain ? direction : -direction;
  *out_term = isAccumulator(chain, left) ? right : left;
  /* A NaN makes an ordered comparison false: it is not taken where the term stands first. */
  bool loses = ordered == !isAccumulator(chain, yes);
  bool is_float = sambaOperationIs(comparison, "arith.cmpf");
  if (is_float && loses)
    *out_combines = direction > 0 ? "arith.maxnumf" : "arith.minnumf";
  else if (is_float)
    *out_combines = direction > 0 ? "arith.maximumf" : "arith.minimumf";
  else if (is_unsigned)
    *out_combines = direction > 0 ? "arith.maxui" : "arith.minui";
  else
    *out_combines = direction > 0 ? "arith.maxsi" : "arith.minsi";
  return direction != 0 && !dependsOn(chain, *out_term);
}

/*===-- The kind ------------------------------------------------------------------------------===*/

static SambaStatus findKind(Chain *chain, MlirValue value) {
  if (isAccumulator(chain, value))
    return NULL;
  MlirOperation maker = sambaDefiningOperation(value);
  MlirValue term;
  const char *combines;
  if (mlirOperationIsNull(maker))
    return refuse(chain, maker);
  if (isConversion(maker))
    return findKind(chain, mlirOperationGetOperand(maker, 0));
  if (isSelection(chain, maker, &term, &combines))
    return setKind(chain, maker, combines);

  bool selects = sambaOperationIs(maker, "arith.select");
  intptr_t first = selects, count = mlirOperationGetNumOperands(maker), chained = 0;
  if (selects && dependsOn(chain, mlirOperationGetOperand(maker, 0)))
    return refuse(chain, maker);
  for (intptr_t i = first; i < count; ++i) {
    if (!dependsOn(chain, mlirOperationGetOperand(maker, i)))
      continue;
    ++chained;
    SAMBA_RETURN_IF_ERROR(findKind(chain, mlirOperationGetOperand(maker, i)));
  }
  if (selects)
    return chained == 2 ? NULL : refuse(chain, maker);

  bool last = sambaOperationIs(maker, "math.fma"); /* which operand the accumulator must be */
  bool first_only = sambaOperationIs(maker, "arith.subf") || sambaOperationIs(maker, "arith.subi");
  if (chained != 1 || (last && !dependsOn(chain, mlirOperationGetOperand(maker, 2))) ||
      (first_only && !dependsOn(chain, mlirOperationGetOperand(maker, 0))))
    return refuse(chain, maker);
  return setKind(chain, maker, mlirIdentifierStr(mlirOperationGetName(maker)).data);
}

/*===-- The terms -----------------------------------------------------------------------------===*/

/* The value that changes nothing, as a constant of the lane. */
static uint16_t identityOf(const Chain *chain, SambaDType lane) {
  SambaStageBuilder *builder = &chain->stage->builder;
  double real = 0;
  int64_t integer = 0, lowest = INT32_MIN, highest = INT32_MAX;
  if (lane == SAMBA_DTYPE_I64)
    lowest = INT64_MIN, highest = INT64_MAX;

  switch (chain->reduction.opcode) {
  case SAMBA_LANE_REDUCE_MUL:
    real = 1, integer = 1;
    break;
  case SAMBA_LANE_REDUCE_MAX:
    real = -INFINITY, integer = lowest;
    break;
  case SAMBA_LANE_REDUCE_MIN:
    real = INFINITY, integer = highest;
    break;
  case SAMBA_LANE_REDUCE_AND: /* of single bits as well */
    integer = lane == SAMBA_DTYPE_I1 ? 1 : -1;
    break;
  default:
    break;
  }
  return lane == SAMBA_DTYPE_F32 ? sambaLaneFloat(builder, real)
                                 : sambaLaneInteger(builder, lane, integer);
}

/* Two terms before they are reduced: narrow types are as wide as a lane here. */
static uint16_t combine(const Chain *chain, uint16_t x, uint16_t y) {
  SambaDType lane = (SambaDType)chain->stage->builder.types[x];
  SambaBodyCall call = {.builder = &chain->stage->builder,
                        .operand_count = 2,
                        .values = {x, y},
                        .dtypes = {lane, lane},
                        .result = lane,
                        .predicate = -1};
  return sambaBodyRowProgram(chain->reduction.row, &call);
}

static SambaStatus readTerms(Chain *chain, MlirValue value, uint16_t *out_value);

/* The terms of a link beside the accumulator; SAMBA_NO_VALUE of the accumulator itself. */
static SambaStatus readLink(Chain *chain, MlirOperation maker, uint16_t *out_value) {
  SambaStageBuilder *builder = &chain->stage->builder;
  uint16_t chained = SAMBA_NO_VALUE, term;
  if (sambaOperationIs(maker, "math.fma")) {
    uint16_t x, y;
    SAMBA_RETURN_IF_ERROR(sambaBodyValue(chain->stage, mlirOperationGetOperand(maker, 0), &x));
    SAMBA_RETURN_IF_ERROR(sambaBodyValue(chain->stage, mlirOperationGetOperand(maker, 1), &y));
    SAMBA_RETURN_IF_ERROR(readTerms(chain, mlirOperationGetOperand(maker, 2), &chained));
    *out_value = chained == SAMBA_NO_VALUE ? sambaLane2(builder, SAMBA_LANE_MUL, x, y)
                                           : sambaLaneFma(builder, x, y, chained);
    return NULL;
  }

  bool left = dependsOn(chain, mlirOperationGetOperand(maker, 0));
  SAMBA_RETURN_IF_ERROR(readTerms(chain, mlirOperationGetOperand(maker, !left), &chained));
  SAMBA_RETURN_IF_ERROR(sambaBodyValue(chain->stage, mlirOperationGetOperand(maker, left), &term));
  if (sambaOperationIs(maker, "arith.subf") || sambaOperationIs(maker, "arith.subi"))
    term = sambaLane1(builder, SAMBA_LANE_NEG, term);
  *out_value = chained == SAMBA_NO_VALUE ? term : combine(chain, chained, term);
  return NULL;
}

static SambaStatus readTerms(Chain *chain, MlirValue value, uint16_t *out_value) {
  MlirOperation maker = sambaDefiningOperation(value);
  MlirValue term;
  const char *unused;
  *out_value = SAMBA_NO_VALUE;
  if (isAccumulator(chain, value))
    return NULL;
  if (isConversion(maker))
    return readTerms(chain, mlirOperationGetOperand(maker, 0), out_value);
  if (isSelection(chain, maker, &term, &unused))
    return sambaBodyValue(chain->stage, term, out_value);
  if (!sambaOperationIs(maker, "arith.select"))
    return readLink(chain, maker, out_value);

  uint16_t condition, sides[2];
  SambaDType lane = sambaDTypeLaneClass(dtypeOf(value));
  SAMBA_RETURN_IF_ERROR(
      sambaBodyValue(chain->stage, mlirOperationGetOperand(maker, 0), &condition));
  for (int i = 0; i < 2; ++i) {
    SAMBA_RETURN_IF_ERROR(readTerms(chain, mlirOperationGetOperand(maker, 1 + i), &sides[i]));
    if (sides[i] == SAMBA_NO_VALUE)
      sides[i] = identityOf(chain, lane);
  }
  *out_value = sambaLaneSelect(&chain->stage->builder, condition, sides[0], sides[1]);
  return NULL;
}

/*===-- The reduction -------------------------------------------------------------------------===*/

static uint16_t appendReduction(SambaStageBuilder *builder, uint8_t opcode, uint16_t x,
                                uint16_t y) {
  return sambaLane2(builder, opcode, x, y);
}

/* The product that is summed, when nothing else needs it: then no rounding stands between the two
 * (a narrow product is not rounded either). */
static MlirOperation productOf(const Chain *chain, MlirValue yielded) {
  MlirOperation none = {NULL}, link = sambaDefiningOperation(yielded);
  while (!mlirOperationIsNull(link) && isConversion(link))
    link = sambaDefiningOperation(mlirOperationGetOperand(link, 0));
  if (mlirOperationIsNull(link))
    return none;
  if (sambaOperationIs(link, "math.fma"))
    return isAccumulator(chain, mlirOperationGetOperand(link, 2)) ? link : none;
  if (!sambaOperationIs(link, "arith.addf") || chain->stage->structured->is_ours)
    return none;

  bool left = dependsOn(chain, mlirOperationGetOperand(link, 0));
  MlirOperation product = sambaDefiningOperation(mlirOperationGetOperand(link, left));
  while (!mlirOperationIsNull(product) && sambaOperationIs(product, "arith.extf"))
    product = sambaDefiningOperation(mlirOperationGetOperand(product, 0));
  MlirOperation chained = sambaDefiningOperation(mlirOperationGetOperand(link, !left));
  while (!mlirOperationIsNull(chained) && isConversion(chained))
    chained = sambaDefiningOperation(mlirOperationGetOperand(chained, 0));
  return mlirOperationIsNull(chained) && !mlirOperationIsNull(product) &&
                 sambaOperationIs(product, "arith.mulf")
             ? product
             : none;
}

SambaStatus sambaReductionRead(SambaBodyStage *stage, MlirValue yielded,
                               SambaReduction *out_reduction, uint16_t *out_value) {
  Chain chain = {.stage = stage};
  SambaStageBuilder *builder = &stage->builder;
  uint16_t x, y;
  SAMBA_RETURN_IF_ERROR(findKind(&chain, yielded));
  if (!chain.reduction.row)
    return refuse(&chain, (MlirOperation){NULL});
  *out_reduction = chain.reduction;

  MlirOperation product = productOf(&chain, yielded);
  if (!mlirOperationIsNull(product)) {
    SAMBA_RETURN_IF_ERROR(sambaBodyValue(stage, mlirOperationGetOperand(product, 0), &x));
    SAMBA_RETURN_IF_ERROR(sambaBodyValue(stage, mlirOperationGetOperand(product, 1), &y));
    *out_value = appendReduction(builder, SAMBA_LANE_MAC, x, y);
    return NULL;
  }

  SAMBA_RETURN_IF_ERROR(readTerms(&chain, yielded, &x));
  SambaDType lane = (SambaDType)builder->types[x];
  if (chain.reduction.is_unsigned)
    x = sambaLane2(
        builder, SAMBA_LANE_XOR, x,
        sambaLaneInteger(builder, lane, lane == SAMBA_DTYPE_I64 ? INT64_MIN : (int64_t)INT32_MIN));
  if (strstr(chain.reduction.row->name, "numf")) /* a NaN is left out */
    x = sambaLaneSelect(builder, sambaLane2(builder, SAMBA_LANE_EQ, x, x), x,
                        identityOf(&chain, lane));
  *out_value = appendReduction(builder, chain.reduction.opcode, x, 0);
  return NULL;
}

bool sambaReductionIsIdentity(const SambaReduction *reduction, SambaDType dtype, uint64_t bits) {
  unsigned width = dtype == SAMBA_DTYPE_I1 ? 1 : 8 * sambaDTypeBytes(dtype);
  uint64_t all = UINT64_MAX >> (64 - width), sign = (uint64_t)1 << (width - 1);
  bool is_float = sambaDTypeIsFloat(dtype);
  float real = is_float ? sambaBitsToFloat(dtype, (uint32_t)bits) : 0;
  bits &= all;

  switch (reduction->opcode) {
  case SAMBA_LANE_REDUCE_ADD:
    return is_float ? real == 0 : bits == 0;
  case SAMBA_LANE_REDUCE_MUL:
    return is_float ? real == 1 : bits == 1;
  case SAMBA_LANE_REDUCE_MAX:
    if (is_float)
      return real == -INFINITY;
    return bits == (reduction->is_unsigned ? 0 : sign);
  case SAMBA_LANE_REDUCE_MIN:
    if (is_float)
      return real == INFINITY;
    return bits == (reduction->is_unsigned ? all : all ^ sign);
  case SAMBA_LANE_REDUCE_AND:
    return bits == all;
  default:
    return bits == 0;
  }
}
