/* tensor.generate: a loop nest without operands, whose coordinates linalg.index names. */
#include "lowering/enter/enter.h"

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"

#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

static MlirOperation buildNest(MlirOperation generate, MlirRegion region, intptr_t rank) {
  MlirContext context = mlirOperationGetContext(generate);
  MlirType type = mlirValueGetType(mlirOperationGetResult(generate, 0));
  MlirLocation location = mlirOperationGetLocation(generate);
  MlirBlock block = mlirOperationGetBlock(generate);
  MlirAttribute kinds[SAMBA_MAX_RANK + 1];
  for (intptr_t i = 0; i < rank; ++i)
    kinds[i] = mlirAttributeParseGet(context, sambaMlirString("#linalg.iterator_type<parallel>"));
  MlirAttribute map = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(context, rank));
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "indexing_maps", mlirArrayAttrGet(context, 1, &map)),
      sambaNamedAttribute(context, "iterator_types", mlirArrayAttrGet(context, rank, kinds)),
      sambaNamedAttribute(context, "operandSegmentSizes",
                          mlirDenseI32ArrayGet(context, 2, (int32_t[]){0, 1}))};
  MlirValue empty = sambaBuildUnaryOrMore(block, generate, location, "tensor.empty", 0, NULL, type);
  SambaOperationParts parts = {.name = "linalg.generic",
                               .location = location,
                               .operand_count = 1,
                               .operands = &empty,
                               .result_count = 1,
                               .results = &type,
                               .attribute_count = 3,
                               .attributes = attributes,
                               .region_count = 1,
                               .regions = &region};
  return sambaBuildOperationIn(block, generate, &parts);
}

static void convertGenerate(MlirOperation generate) {
  MlirContext context = mlirOperationGetContext(generate);
  MlirLocation location = mlirOperationGetLocation(generate);
  MlirType type = mlirValueGetType(mlirOperationGetResult(generate, 0));
  intptr_t rank = mlirShapedTypeGetRank(type);
  MlirRegion region = mlirRegionCreate();
  mlirRegionTakeBody(region, mlirOperationGetRegion(generate, 0));
  MlirBlock body = mlirRegionGetFirstBlock(region);

  for (intptr_t i = 0; i < rank; ++i) {
    MlirNamedAttribute dim =
        sambaNamedAttribute(context, "dim", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), i));
    MlirType index = mlirIndexTypeGet(context);
    SambaOperationParts parts = {.name = "linalg.index",
                                 .location = location,
                                 .result_count = 1,
                                 .results = &index,
                                 .attribute_count = 1,
                                 .attributes = &dim};
    MlirOperation made = sambaBuildOperationIn(body, mlirBlockGetFirstOperation(body), &parts);
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, i), mlirOperationGetResult(made, 0));
  }
  for (intptr_t i = rank; i-- > 0;)
    mlirBlockEraseArgument(body, (unsigned)i);
  mlirBlockAddArgument(body, mlirShapedTypeGetElementType(type), location);

  MlirOperation yield = mlirBlockGetTerminator(body);
  MlirValue value = mlirOperationGetOperand(yield, 0);
  SambaOperationParts parts = {
      .name = "linalg.yield", .location = location, .operand_count = 1, .operands = &value};
  sambaBuildOperationIn(body, yield, &parts);
  mlirOperationDestroy(yield);
  MlirOperation nest = buildNest(generate, region, rank);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(generate, 0),
                                mlirOperationGetResult(nest, 0));
  mlirOperationDestroy(generate);
}

void sambaEnterGenerates(MlirOperation function) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
  while (!mlirOperationIsNull(operation)) {
    MlirOperation next = mlirOperationGetNextInBlock(operation);
    if (sambaOperationIs(operation, "tensor.generate"))
      convertGenerate(operation);
    operation = next;
  }
}
