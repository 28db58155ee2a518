/* samba-pad-rows: what one phase leaves for products of a later one is stored with rows of whole
 * bursts. A product that sums over the rows of a table takes blocks of its columns: short pieces of
 * every row. Where rows are no multiple of a burst each piece has a part of a burst more at both
 * ends, and a sum along a row may have no divisor to cut it by. The zeros behind the rows change no
 * sum. */
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/machine_file.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/match.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "passes/passes.h"
#include "passes/training/table_products.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

enum { leastBursts = 16 }; /* of a row: fewer, and the zeros are more than a few of a hundred */

/* The zeros behind each row of the table, none where it needs or is worth none: a table that a PMU
 * holds is loaded whole. */
static int64_t zerosOf(MlirValue table, const SambaMachine *machine) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(table));
  int64_t bytes = sambaDTypeBytes(sambaDTypeFromType(element));
  int64_t columns = sambaMatchSize(table, 1), burst = machine->dram_burst_bytes / bytes;
  bool pays = burst && columns % burst && columns >= leastBursts * burst &&
              sambaMatchSize(table, 0) * columns * bytes > (int64_t)machine->pmu_bytes;
  return pays ? burst - columns % burst : 0;
}

/* The value with zeros behind the elements of the axis, as a view. */
static SambaOperationParts paddingParts(MlirContext context, const MlirValue *value, intptr_t axis,
                                        int64_t zeros, MlirNamedAttribute *attributes) {
  int64_t low[2] = {0, 0}, high[2] = {0, 0};
  high[axis] = zeros;
  attributes[0] = sambaNamedAttribute(context, "low", mlirDenseI64ArrayGet(context, 2, low));
  attributes[1] = sambaNamedAttribute(context, "high", mlirDenseI64ArrayGet(context, 2, high));
  return (SambaOperationParts){.name = "samba.pad",
                               .operand_count = 1,
                               .operands = value,
                               .result_count = -1,
                               .attribute_count = 2,
                               .attributes = attributes};
}

/* Behind `operation`, of its phase and at its place. */
static MlirOperation insertBehind(MlirOperation operation, SambaOperationParts *parts) {
  parts->location = mlirOperationGetLocation(operation);
  MlirOperation made = sambaBuildOperation(parts);
  sambaPhaseTake(made, operation);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(operation), operation, made);
  return made;
}

/* The table in memory with zeros behind its rows. */
static MlirValue paddedTable(MlirOperation maker, int64_t zeros) {
  MlirNamedAttribute attributes[2];
  MlirValue table = sambaMatchResult(maker);
  SambaOperationParts padding =
      paddingParts(mlirOperationGetContext(maker), &table, 1, zeros, attributes);
  MlirOperation pad = insertBehind(maker, &padding);
  MlirValue padded = sambaMatchResult(pad);
  SambaOperationParts copy = {
      .name = "samba.contiguous", .operand_count = 1, .operands = &padded, .result_count = -1};
  return sambaMatchResult(insertBehind(pad, &copy));
}

/* The columns of the padded table that the table has. */
static MlirValue withoutZeros(MlirOperation root, MlirValue padded, int64_t columns) {
  MlirContext context = mlirOperationGetContext(root);
  int64_t starts[] = {0, 0}, ends[] = {sambaMatchSize(padded, 0), columns}, steps[] = {1, 1};
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "starts", mlirDenseI64ArrayGet(context, 2, starts)),
      sambaNamedAttribute(context, "ends", mlirDenseI64ArrayGet(context, 2, ends)),
      sambaNamedAttribute(context, "steps", mlirDenseI64ArrayGet(context, 2, steps))};
  return sambaRaiseBuild(root, "samba.slice", 1, &padded, 3, attributes);
}

static void readPadded(const SambaTableProduct *product, MlirValue padded, int64_t zeros) {
  MlirOperation root = product->matmul;
  MlirValue other = sambaTableProductOther(product);
  MlirValue table = padded;
  if (sambaTableProductSums(product, 1)) {
    MlirNamedAttribute attributes[2];
    SambaOperationParts parts =
        paddingParts(mlirOperationGetContext(root), &other, product->operand, zeros, attributes);
    other = sambaRaiseBuild(root, parts.name, 1, &other, 2, attributes);
  } else {
    table = withoutZeros(root, padded, sambaMatchSize(padded, 1) - zeros);
  }
  mlirValueReplaceAllUsesOfWith(sambaMatchResult(root),
                                sambaTableProductBuild(product, table, other));
  mlirOperationDestroy(root);
}

static bool readAsItIs(MlirValue table, const SambaTableProducts *products) {
  MlirType element = sambaTableProductsElement(products);
  return !mlirTypeIsNull(element) &&
         mlirTypeEqual(element, mlirShapedTypeGetElementType(mlirValueGetType(table)));
}

/* Whether all products run in a later phase than what makes the table: it is in memory anyhow. */
static bool areLater(MlirOperation maker, const SambaTableProducts *products) {
  bool later = products->size != 0;
  for (size_t i = 0; i < products->size && later; ++i)
    later = sambaPhaseOf(products->data[i].matmul) != sambaPhaseOf(maker);
  return later;
}

static void padRows(MlirOperation maker, const SambaMachine *machine) {
  const SambaOperator *operator = sambaOperatorOf(maker);
  if (!operator || !operator->elementwise || sambaMatchRank(sambaMatchResult(maker)) != 2)
    return;
  MlirValue table = sambaMatchResult(maker);
  int64_t zeros = zerosOf(table, machine);
  SambaTableProducts products = {0};
  if (zeros && sambaTableProductsOf(table, &products) && readAsItIs(table, &products) &&
      areLater(maker, &products)) {
    MlirValue padded = paddedTable(maker, zeros);
    for (size_t i = 0; i < products.size; ++i)
      readPadded(&products.data[i], padded, zeros);
  }
  sambaArrayFree(&products);
}

bool sambaPadRows(MlirOperation module, const char *target) {
  SambaMachine machine;
  MlirAttribute attribute;
  SambaStatus status =
      sambaTargetMachine(mlirOperationGetLocation(module), target, &machine, &attribute);
  if (status)
    return sambaEmitOpStatus(module, status);

  MlirOperation function = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(function); function = mlirOperationGetNextInBlock(function)) {
    if (!sambaOperationIsGraph(function) || !sambaGraphTrains(function))
      continue;
    MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
    for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
      padRows(operation, &machine);
  }
  return true;
}
