/* See table_products.h. */
#include "passes/training/table_products.h"

#include "dialect/samba/match.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

static bool isProductOfTables(MlirOperation operation) {
  return sambaOperationIs(operation, "samba.matmul") &&
         sambaMatchRank(mlirOperationGetOperand(operation, 0)) == 2 &&
         sambaMatchRank(mlirOperationGetOperand(operation, 1)) == 2;
}

static bool isKnown(const SambaTableProducts *products, MlirOperation matmul) {
  for (size_t i = 0; i < products->size; ++i)
    if (mlirOperationEqual(products->data[i].matmul, matmul))
      return true;
  return false;
}

static bool appendReaders(MlirValue value, bool crossed, SambaTableProducts *products) {
  bool fine = true;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use) && fine;
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (sambaOperationIs(user, "samba.cast")) {
      fine = appendReaders(sambaMatchResult(user), crossed, products);
    } else if (sambaOperationIs(user, "samba.permute")) {
      bool turns = mlirDenseI64ArrayGetElement(sambaOperationAttribute(user, "dims"), 0) != 0;
      fine = appendReaders(sambaMatchResult(user), crossed != turns, products);
    } else {
      SambaTableProduct product = {user, mlirOpOperandGetOperandNumber(use), crossed};
      fine = isProductOfTables(user) && !isKnown(products, user);
      sambaArrayAppend(products, product);
    }
  }
  return fine;
}

bool sambaTableProductsOf(MlirValue table, SambaTableProducts *products) {
  return sambaMatchRank(table) == 2 && appendReaders(table, false, products);
}

MlirType sambaTableProductsElement(const SambaTableProducts *products) {
  MlirType element = {NULL};
  for (size_t i = 0; i < products->size; ++i) {
    const SambaTableProduct *product = &products->data[i];
    MlirValue table = mlirOperationGetOperand(product->matmul, product->operand);
    MlirType own = mlirShapedTypeGetElementType(mlirValueGetType(table));
    if (i && !mlirTypeEqual(own, element))
      return (MlirType){NULL};
    element = own;
  }
  return element;
}

bool sambaTableProductSums(const SambaTableProduct *product, intptr_t axis) {
  return (product->crossed ? 1 - axis : axis) == 1 - product->operand;
}

MlirValue sambaTableProductOther(const SambaTableProduct *product) {
  return mlirOperationGetOperand(product->matmul, 1 - product->operand);
}

MlirValue sambaTableProductBuild(const SambaTableProduct *product, MlirValue table,
                                 MlirValue other) {
  MlirContext context = mlirOperationGetContext(product->matmul);
  MlirNamedAttribute dims =
      sambaNamedAttribute(context, "dims", mlirDenseI64ArrayGet(context, 2, (int64_t[]){1, 0}));
  if (product->crossed)
    table = sambaRaiseBuild(product->matmul, "samba.permute", 1, &table, 1, &dims);
  MlirOperation made = mlirOperationClone(product->matmul);
  mlirOperationSetOperand(made, product->operand, table);
  mlirOperationSetOperand(made, 1 - product->operand, other);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(product->matmul), product->matmul,
                                      made);
  return sambaMatchResult(made);
}
