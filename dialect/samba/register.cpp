// The samba dialect's generated classes.
#include "dialect/bridge/Bridge.hpp"

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
  return elements ? ConstantOp::create(builder, location, TypeRange(elements.getType()), elements).getOperation()
                  : nullptr;
}

} // namespace samba

void sambaInsertSamba(MlirDialectRegistry registry) { unwrap(registry)->insert<samba::SambaDialect>(); }
