// The samba dialect's generated classes.
#include "dialect/bridge/forward.hpp"
#include "dialect/samba/ops/samba_hooks.h"

#include "mlir/CAPI/Rewrite.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Transforms/InliningUtils.h"

#include "dialect/samba/classes.inc"

#include "dialect/samba/class_bodies.inc"

namespace samba {

// Every operation may stand in any graph.
struct Inlining : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
};

void SambaDialect::initialize() {
  addInterface<HooksInterface>(sambaHooks);
  addInterfaces<Inlining>();
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
  mlir::func::registerInlinerExtension(*unwrap(registry));
}
