// The samba dialect's generated classes.
#include "dialect/bridge/forward.hpp"
#include "dialect/samba/ops/samba_hooks.h"

#include "mlir/CAPI/Rewrite.h"

namespace samba {

// A call prints its callee in front of its attributes.
static ParseResult parseCallAttributes(OpAsmParser &parser, NamedAttrList &attributes) {
  return parsePrettyAttributes(parser, attributes);
}
static void printCallAttributes(OpAsmPrinter &printer, Operation *op, DictionaryAttr attributes) {
  NamedAttrList shown(attributes);
  shown.erase("callee");
  printPrettyAttributes(printer, op, shown.getDictionary(attributes.getContext()));
}

} // namespace samba

#include "dialect/samba/classes.inc"

#include "dialect/samba/class_bodies.inc"

namespace samba {

void SambaDialect::initialize() {
  addInterface<HooksInterface>(sambaHooks);
#include "dialect/samba/add_classes.inc"
}

Operation *SambaDialect::materializeConstant(OpBuilder &builder, Attribute value, Type,
                                             Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  return elements ? ConstantOp::create(builder, location, elements.getType(), elements) : nullptr;
}

void SambaDialect::getCanonicalizationPatterns(RewritePatternSet &set) const {
  sambaAddPatterns(wrap(getContext()), wrap(&set));
}

} // namespace samba

void sambaInsertSamba(MlirDialectRegistry registry) {
  unwrap(registry)->insert<samba::SambaDialect>();
}
