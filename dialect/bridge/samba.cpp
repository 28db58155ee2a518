// The samba dialect's generated classes.
#include "dialect/bridge/Bridge.hpp"

#include "llvm/ADT/TypeSwitch.h"

#define GET_ATTRDEF_CLASSES
#include "dialect/samba/attribute-decls.inc"
#include "dialect/samba/dialect-decls.inc"
#define GET_OP_CLASSES
#include "dialect/samba/op-decls.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/samba/attribute-defs.inc"
#include "dialect/samba/dialect-defs.inc"
#define GET_OP_CLASSES
#include "dialect/samba/op-defs.inc"

using namespace mlir;

namespace samba {

void SambaDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/samba/op-defs.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/samba/attribute-defs.inc"
      >();
}

Operation *SambaDialect::materializeConstant(OpBuilder &builder, Attribute value, Type, Location location) {
  auto elements = llvm::dyn_cast<ElementsAttr>(value);
  return elements ? ConstantOp::create(builder, location, TypeRange(elements.getType()), elements).getOperation() : nullptr;
}

static LogicalResult check(Operation *op, SambaAttributePlace place, unsigned index, NamedAttribute attribute) {
  return success(sambaVerifyDialectAttribute(wrap(op), place, index, {wrap(attribute.getName()), wrap(attribute.getValue())}));
}
LogicalResult SambaDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) { return check(op, SAMBA_ON_OPERATION, 0, attribute); }
LogicalResult SambaDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return check(op, SAMBA_ON_ARGUMENT, index, attribute);
}
LogicalResult SambaDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return check(op, SAMBA_ON_RESULT, index, attribute);
}

ArrayRef<AttributeKind> sambaAttributeKinds() {
  static const AttributeKind kinds[] = {attributeKind<ExternalAttr>("samba.external"), attributeKind<DerivedAttr>("samba.derived"),
                                        attributeKind<ArginAttr>("samba.argin")};
  return kinds;
}
void insertSamba(DialectRegistry &registry) { registry.insert<SambaDialect>(); }

} // namespace samba
