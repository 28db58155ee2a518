/* samba-move-row-factors: a gradient that is a large value of the forward pass times one number for
 * each row, such as the slopes of a loss times what flows into it, is not made: what multiplies it
 * takes the numbers. Where they run along the sum they go to the other operand, and else to the
 * result; both are smaller. So nothing of the large value's size is read and written once more. */
#include "dialect/samba/graph.h"
#include "dialect/samba/match.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "passes/passes.h"
#include "passes/training/table_products.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

enum { noAxis = -1 };

/* whole * numbers: numbers[i] multiplies all elements at i of the axis, or all at all. */
typedef struct RowFactor {
  MlirValue whole, numbers;
  intptr_t axis;
} RowFactor;

/*===-- The factor ----------------------------------------------------------------------------===*/

static MlirType elementTypeOf(MlirValue value) {
  return mlirShapedTypeGetElementType(mlirValueGetType(value));
}

static int64_t elementsOf(MlirValue value) {
  int64_t count = 1;
  for (intptr_t axis = 0; axis < sambaMatchRank(value); ++axis)
    count *= sambaMatchSize(value, axis);
  return count;
}

/* The only axis of a table with this rank along which the value that is broadcast to it varies;
 * false when there are more. */
static bool variesAlong(MlirValue value, intptr_t rank, intptr_t *out_axis) {
  *out_axis = noAxis;
  intptr_t missing = rank - sambaMatchRank(value);
  for (intptr_t axis = 0; axis < sambaMatchRank(value); ++axis) {
    if (sambaMatchSize(value, axis) == 1)
      continue;
    if (*out_axis != noAxis)
      return false;
    *out_axis = missing + axis;
  }
  return true;
}

static MlirValue uncast(MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  return !mlirOperationIsNull(maker) && sambaOperationIs(maker, "samba.cast")
             ? mlirOperationGetOperand(maker, 0)
             : value;
}

static bool matchFactor(MlirOperation mul, RowFactor *out) {
  MlirValue result = sambaMatchResult(mul);
  if (sambaMatchRank(result) != 2)
    return false;
  for (intptr_t i = 0; i < 2; ++i) {
    MlirValue whole = mlirOperationGetOperand(mul, i);
    out->numbers = mlirOperationGetOperand(mul, 1 - i);
    if (sambaMatchSameType(whole, result) && variesAlong(out->numbers, 2, &out->axis)) {
      out->whole = uncast(whole);
      return sambaPhaseOfValue(out->whole) == SAMBA_PEF_SECTION_FWD;
    }
  }
  return false;
}

/* Behind what makes the value, in its phase. */
static MlirValue castBehind(MlirOperation maker, MlirValue value, MlirType element) {
  MlirNamedAttribute dtype =
      sambaNamedAttribute(mlirOperationGetContext(maker), "dtype", mlirTypeAttrGet(element));
  SambaOperationParts parts = {.name = "samba.cast",
                               .location = mlirOperationGetLocation(maker),
                               .operand_count = 1,
                               .operands = &value,
                               .result_count = -1,
                               .attribute_count = 1,
                               .attributes = &dtype};
  MlirOperation made = sambaBuildOperation(&parts);
  sambaPhaseTake(made, maker);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(maker), maker, made);
  return sambaMatchResult(made);
}

static MlirValue castTo(MlirOperation root, MlirValue value, MlirType element) {
  MlirNamedAttribute dtype =
      sambaNamedAttribute(mlirOperationGetContext(root), "dtype", mlirTypeAttrGet(element));
  return mlirTypeEqual(elementTypeOf(value), element)
             ? value
             : sambaRaiseBuild(root, "samba.cast", 1, &value, 1, &dtype);
}

/* Makes the whole what products read, elements of this type: where only the gradient reads it, it
 * is rounded where it is made. False when others read it, or it has fewer bits. */
static bool takeElement(RowFactor *factor, MlirType element) {
  MlirType own = elementTypeOf(factor->whole);
  if (mlirTypeEqual(own, element))
    return true;
  MlirOperation maker = sambaDefiningOperation(factor->whole);
  if (mlirOperationIsNull(maker) || !sambaMatchUsedOnce(factor->whole) ||
      sambaDTypeBytes(sambaDTypeFromType(own)) <= sambaDTypeBytes(sambaDTypeFromType(element)))
    return false;
  factor->whole = castBehind(maker, factor->whole, element);
  return true;
}

/*===-- Moving it -----------------------------------------------------------------------------===*/

static bool runsAlongSum(const RowFactor *factor, const SambaTableProduct *product) {
  return factor->axis != noAxis && sambaTableProductSums(product, factor->axis);
}

/* Whether what takes the numbers is no larger than the whole: both would be read and written. */
static bool pays(const RowFactor *factor, const SambaTableProducts *products) {
  int64_t moved = 0;
  for (size_t i = 0; i < products->size; ++i)
    moved += elementsOf(runsAlongSum(factor, &products->data[i])
                            ? sambaTableProductOther(&products->data[i])
                            : sambaMatchResult(products->data[i].matmul));
  return products->size && moved <= elementsOf(factor->whole);
}

/* value * numbers along its axis, computed in the dtype of the numbers. */
static MlirValue multiplied(MlirOperation root, MlirValue value, MlirValue numbers, intptr_t axis) {
  int64_t dims[2] = {1, 1};
  dims[axis] = elementsOf(numbers);
  MlirValue operands[] = {castTo(root, value, elementTypeOf(numbers)),
                          sambaRaiseReshape(root, numbers, 2, dims)};
  return castTo(root, sambaRaiseBuild(root, "samba.mul", 2, operands, 0, NULL),
                elementTypeOf(value));
}

static void moveInto(const RowFactor *factor, const SambaTableProduct *product) {
  MlirOperation root = product->matmul;
  bool summed = runsAlongSum(factor, product);
  MlirValue other = sambaTableProductOther(product);
  if (summed)
    other = multiplied(root, other, factor->numbers, product->operand);
  MlirValue result = sambaTableProductBuild(product, factor->whole, other);
  if (!summed)
    result = multiplied(root, result, factor->numbers, product->operand);
  mlirValueReplaceAllUsesOfWith(sambaMatchResult(root), result);
  mlirOperationDestroy(root);
}

/* Whether the operation makes a gradient that products can do without, and for which ones. */
static bool isMovable(MlirOperation mul, RowFactor *factor, SambaTableProducts *products) {
  if (sambaPhaseOf(mul) != SAMBA_PEF_SECTION_BCKWD || !matchFactor(mul, factor) ||
      !sambaTableProductsOf(sambaMatchResult(mul), products) || !pays(factor, products))
    return false;
  /* The range of f16 may not hold the sums of what the numbers would have made smaller. */
  MlirType element = sambaTableProductsElement(products);
  return !mlirTypeIsNull(element) && !mlirTypeIsAF16(element) && takeElement(factor, element);
}

static void moveFactor(MlirOperation mul) {
  RowFactor factor;
  SambaTableProducts products = {0};
  if (isMovable(mul, &factor, &products))
    for (size_t i = 0; i < products.size; ++i)
      moveInto(&factor, &products.data[i]);
  sambaArrayFree(&products);
}

bool sambaMoveRowFactors(MlirOperation module) {
  MlirOperation function = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(function); function = mlirOperationGetNextInBlock(function)) {
    if (!sambaOperationIsGraph(function) || !sambaGraphTrains(function))
      continue;
    MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
    for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
      if (sambaOperationIs(operation, "samba.mul"))
        moveFactor(operation);
  }
  return true;
}
