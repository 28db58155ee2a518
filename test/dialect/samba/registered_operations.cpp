// What MLIR has registered of a dialect; see registered_operations.h.
#include "test/dialect/samba/registered_operations.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;

void sambaDialectOperations(MlirContext context, MlirStringRef dialect,
                            void (*callback)(MlirStringRef, void *), void *user_data) {
  for (RegisteredOperationName name : unwrap(context)->getRegisteredOperations())
    if (name.getDialectNamespace() == unwrap(dialect))
      callback(wrap(name.getStringRef()), user_data);
}

void sambaOperationAttributeNames(MlirContext context, MlirStringRef op,
                                  void (*callback)(MlirStringRef, void *), void *user_data) {
  if (auto name = RegisteredOperationName::lookup(unwrap(op), unwrap(context)))
    for (StringAttr attribute : name->getAttributeNames())
      callback(wrap(attribute.getValue()), user_data);
}
