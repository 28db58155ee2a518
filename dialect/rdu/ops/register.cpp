// The rdu dialect's generated classes, and the text form of its types.
#include "dialect/bridge/forward.hpp"
#include "dialect/rdu/ops/rdu_hooks.h"
#include "dialect/rdu/rdu_types.h"

namespace samba::rdu {

// `<64x64xbf16>`, of streams also `<scalar 1xi32>` and `<control>`; rdu_types.c says what is kept.
template <class T> static Type parseType(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  Attribute encoding;
  if (parser.parseLess())
    return {};
  if (T::getMnemonic() == "stream" && succeeded(parser.parseOptionalKeyword("control")))
    return parser.parseGreater() ? Type() : T::get(NoneType::get(parser.getContext()));
  if (T::getMnemonic() == "stream" && succeeded(parser.parseOptionalKeyword("scalar")))
    encoding = parser.getBuilder().getStringAttr("scalar");
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  SambaStatus status = sambaRduTypeCheck(shape.size(), shape.data(), wrap(element));
  if (succeedOrEmit(status, parser, where))
    return {};
  return T::get(RankedTensorType::get(shape, element, encoding));
}

static void printType(AsmPrinter &printer, Type token) {
  auto tensor = dyn_cast<RankedTensorType>(token);
  printer << (!tensor ? "<control" : tensor.getEncoding() ? "<scalar " : "<");
  if (tensor) {
    for (int64_t extent : tensor.getShape())
      printer << extent << 'x';
    printer << tensor.getElementType();
  }
  printer << '>';
}

} // namespace samba::rdu

#include "dialect/rdu/classes.inc"

#include "dialect/rdu/class_bodies.inc"

namespace samba::rdu {

void RduDialect::initialize() {
  addInterface<HooksInterface>(sambaRduHooks);
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

} // namespace samba::rdu

void sambaInsertRdu(MlirDialectRegistry registry) {
  unwrap(registry)->insert<samba::rdu::RduDialect>();
}
