// The rdu dialect's generated classes, and the text form of its types.
#include "dialect/bridge/forward.hpp"
#include "dialect/rdu/ops/rdu_hooks.h"
#include "dialect/rdu/rdu_types.h"

namespace samba::rdu {

// `<64x64xbf16>`, of streams also `<64x64xbf16 by [1, 64]>`, `<scalar 1xi32>` and `<control>`;
// rdu_types.c says what is kept.
template <class T> static Type parseType(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  StringRef form;
  if (parser.parseLess())
    return {};
  if (T::getMnemonic() == "stream")
    (void)parser.parseOptionalKeyword(&form, {"control", "scalar"});
  if (form == "control")
    return parser.parseGreater() ? Type() : T::get(NoneType::get(parser.getContext()));
  Attribute encoding = form.empty() ? nullptr : parser.getBuilder().getStringAttr(form);
  Attribute order;
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      (form.empty() && T::getMnemonic() == "stream" &&
       succeeded(parser.parseOptionalKeyword("by")) && parser.parseAttribute(order)) ||
      parser.parseGreater())
    return {};
  SambaStatus status = sambaRduTypeCheck(shape.size(), shape.data(), wrap(element), wrap(order));
  if (succeedOrEmit(status, parser, parser.getNameLoc()))
    return {};
  return T::get(RankedTensorType::get(shape, element, order ? order : encoding));
}

static void printType(AsmPrinter &printer, Type token) {
  char text[SAMBA_RDU_TYPE_SIZE];
  printer << sambaRduTypeText(wrap(token), text);
}

} // namespace samba::rdu

#include "dialect/rdu/classes.inc"

#include "dialect/rdu/class_bodies.inc"

namespace samba::rdu {

void RduDialect::initialize() {
  addInterface<HooksInterface>(sambaRduHooks);
#include "dialect/rdu/add_classes.inc"
}

} // namespace samba::rdu

void sambaInsertRdu(MlirDialectRegistry registry) {
  unwrap(registry)->insert<samba::rdu::RduDialect>();
}
