// The rdu dialect's generated classes, and the text form of its types.
#include "dialect/bridge/Bridge.hpp"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace samba {

template <class T> static Type parseRduType(AsmParser &parser) {
  unsigned kind = T::getMnemonic() == "symbol" ? SAMBA_RDU_SYMBOL : SAMBA_RDU_VECTOR;
  SmallVector<int64_t> shape;
  Type element;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  if (kind == SAMBA_RDU_VECTOR && succeeded(parser.parseOptionalKeyword("control")))
    kind = SAMBA_RDU_CONTROL;
  else if (kind == SAMBA_RDU_VECTOR && succeeded(parser.parseOptionalKeyword("scalar")))
    kind = SAMBA_RDU_SCALAR;
  if (kind != SAMBA_RDU_CONTROL && (parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element)))
    return {};
  if (parser.parseGreater())
    return {};
  return T::getChecked([&] { return parser.emitError(where); }, parser.getContext(), kind, shape, element);
}

static void printRduType(AsmPrinter &printer, unsigned kind, ArrayRef<int64_t> shape, Type element) {
  printer << (kind == SAMBA_RDU_CONTROL ? "<control" : kind == SAMBA_RDU_SCALAR ? "<scalar " : "<");
  for (int64_t extent : shape)
    printer << extent << 'x';
  if (element)
    printer << element;
  printer << '>';
}

static LogicalResult verifyRduType(function_ref<InFlightDiagnostic()> emitError, unsigned kind, ArrayRef<int64_t> shape, Type element) {
  if (kind != SAMBA_RDU_CONTROL && !(element.isF32() || element.isBF16() || element.isF16() || element.isInteger()))
    return emitError() << "element type must be f32, bf16, f16 or an integer, but is " << element;
  for (int64_t extent : shape)
    if (extent < 1)
      return emitError() << "every extent must be at least 1, but one is " << extent;
  return success();
}

} // namespace samba

#define GET_ATTRDEF_CLASSES
#include "dialect/rdu/attribute-decls.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/rdu/type-decls.inc"
#include "dialect/rdu/dialect-decls.inc"
#define GET_OP_CLASSES
#include "dialect/rdu/op-decls.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/rdu/attribute-defs.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/rdu/type-defs.inc"
#include "dialect/rdu/dialect-defs.inc"
#define GET_OP_CLASSES
#include "dialect/rdu/op-defs.inc"

namespace samba::rdu {

void RduDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/rdu/op-defs.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/rdu/attribute-defs.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/rdu/type-defs.inc"
      >();
}

static LogicalResult check(Operation *op, SambaAttributePlace place, unsigned index, NamedAttribute attribute) {
  return success(sambaVerifyDialectAttribute(wrap(op), place, index, {wrap(attribute.getName()), wrap(attribute.getValue())}));
}
LogicalResult RduDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) { return check(op, SAMBA_ON_OPERATION, 0, attribute); }
LogicalResult RduDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return check(op, SAMBA_ON_ARGUMENT, index, attribute);
}
LogicalResult RduDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return check(op, SAMBA_ON_RESULT, index, attribute);
}

} // namespace samba::rdu

namespace samba {
ArrayRef<AttributeKind> rduAttributeKinds() {
  static const AttributeKind kinds[] = {attributeKind<rdu::MachineAttr>("rdu.machine"), attributeKind<rdu::MappingAttr>("rdu.mapping")};
  return kinds;
}
void insertRdu(DialectRegistry &registry) { registry.insert<rdu::RduDialect>(); }
} // namespace samba

//===-- Types for C ------------------------------------------------------------------------------------------------===//

using samba::rdu::StreamType;
using samba::rdu::SymbolType;

bool sambaTypeIsRdu(MlirType type) { return type.ptr && isa<StreamType, SymbolType>(unwrap(type)); }
MlirType sambaRduTypeGet(MlirContext context, SambaRduTypeKind kind, intptr_t rank, const int64_t *shape, MlirType element) {
  ArrayRef<int64_t> extents(shape, rank);
  if (kind == SAMBA_RDU_SYMBOL)
    return wrap(Type(SymbolType::get(unwrap(context), kind, extents, unwrap(element))));
  return wrap(Type(StreamType::get(unwrap(context), kind, extents, unwrap(element))));
}
// Both classes keep kind, shape and element type; symbols are told apart by the kind.
static StreamType asStream(MlirType type) { return dyn_cast<StreamType>(unwrap(type)); }
SambaRduTypeKind sambaRduTypeKind(MlirType type) { return asStream(type) ? SambaRduTypeKind(asStream(type).getKind()) : SAMBA_RDU_SYMBOL; }
static ArrayRef<int64_t> shapeOf(MlirType type) { return asStream(type) ? asStream(type).getShape() : cast<SymbolType>(unwrap(type)).getShape(); }
intptr_t sambaRduTypeRank(MlirType type) { return shapeOf(type).size(); }
const int64_t *sambaRduTypeShape(MlirType type) { return shapeOf(type).data(); }
MlirType sambaRduTypeElement(MlirType type) {
  return wrap(asStream(type) ? asStream(type).getElementType() : cast<SymbolType>(unwrap(type)).getElementType());
}
