// The rdu dialect's generated classes, and the text form of its types.
#include "dialect/bridge/Bridge.hpp"

extern "C" {
#include "support/container/result_store.h"
}

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
  if (kind != SAMBA_RDU_CONTROL &&
      (parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element)))
    return {};
  if (parser.parseGreater())
    return {};
  return T::getChecked([&] { return parser.emitError(where); }, parser.getContext(), kind, shape, element);
}

static void printRduType(AsmPrinter &printer, unsigned kind, ArrayRef<int64_t> shape, Type element) {
  SambaPrinter c = printerForC(printer);
  sambaRduTypePrint(&c, SambaRduTypeKind(kind), shape.size(), shape.data(), wrap(element));
}

static LogicalResult verifyRduType(function_ref<InFlightDiagnostic()> emitError, unsigned kind, ArrayRef<int64_t> shape,
                                   Type element) {
  return succeedOrEmit(sambaRduTypeCheck(SambaRduTypeKind(kind), shape.size(), shape.data(), wrap(element)), emitError);
}

} // namespace samba

#define GET_ATTRDEF_CLASSES
#include "dialect/rdu/attribute-decls.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/rdu/dialect-decls.inc"
#include "dialect/rdu/type-decls.inc"
#define GET_OP_CLASSES
#include "dialect/rdu/op-decls.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/rdu/attribute-defs.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/rdu/dialect-defs.inc"
#include "dialect/rdu/type-defs.inc"
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
  results.reset(sambaResultStoreCreate(1024), sambaResultStoreDestroy);
}

} // namespace samba::rdu

SambaResultStore *sambaContextResults(MlirContext context) {
  auto *dialect = unwrap(context)->getLoadedDialect<samba::rdu::RduDialect>();
  return dialect ? dialect->results.get() : nullptr;
}

void sambaInsertRdu(MlirDialectRegistry registry) { unwrap(registry)->insert<samba::rdu::RduDialect>(); }

using samba::rdu::StreamType;
using samba::rdu::SymbolType;

bool sambaTypeIsRdu(MlirType type) { return type.ptr && isa<StreamType, SymbolType>(unwrap(type)); }
// Both classes keep kind, shape and element type; symbols are told apart by the kind.
static StreamType asStream(MlirType type) { return dyn_cast<StreamType>(unwrap(type)); }
SambaRduTypeKind sambaRduTypeKind(MlirType type) {
  return asStream(type) ? SambaRduTypeKind(asStream(type).getKind()) : SAMBA_RDU_SYMBOL;
}
static ArrayRef<int64_t> shapeOf(MlirType type) {
  return asStream(type) ? asStream(type).getShape() : cast<SymbolType>(unwrap(type)).getShape();
}
intptr_t sambaRduTypeRank(MlirType type) { return shapeOf(type).size(); }
const int64_t *sambaRduTypeShape(MlirType type) { return shapeOf(type).data(); }
MlirType sambaRduTypeElement(MlirType type) {
  return wrap(asStream(type) ? asStream(type).getElementType() : cast<SymbolType>(unwrap(type)).getElementType());
}
