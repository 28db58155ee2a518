// What the classes that TableGen declares forward to (Bridge.td), and from there to the C bodies of
// hooks.h.
#ifndef SAMBA_DIALECT_BRIDGE_FORWARD_HPP
#define SAMBA_DIALECT_BRIDGE_FORWARD_HPP

#include "dialect/bridge/hooks.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace samba {
using namespace mlir;

// Carries a dialect's C bodies: addInterface<HooksInterface>(hooks) in its initialize().
struct HooksInterface : DialectInterface::Base<HooksInterface> {
  HooksInterface(Dialect *dialect, const SambaDialectHooks &hooks) : Base(dialect), hooks(hooks) {}
  const SambaDialectHooks &hooks;
  std::unique_ptr<SambaResultStore, void (*)(SambaResultStore *)> results = {
      sambaResultStoreCreate(4096), sambaResultStoreDestroy};
};

template <class Op> const SambaOpHooks &hooksOf(MLIRContext *context) {
  static const MlirStringRef name = wrap(Op::getOperationName());
  static const SambaOpHooks found = sambaDialectHooks(wrap(context), name)->find_op(name);
  return found;
}

template <class Op> LogicalResult verifyInC(Op op) {
  const SambaOpHooks &hooks = hooksOf<Op>(op.getContext());
  return success(!hooks.verify || hooks.verify(&hooks, wrap(op.getOperation())));
}
LogicalResult verifyAttributeInC(Operation *op, SambaAttributePlace place, unsigned index,
                                 NamedAttribute attribute);
// Frees the status.
ParseResult succeedOrEmit(SambaStatus status, AsmParser &parser, SMLoc where);

OpFoldResult foldInC(const SambaOpHooks &hooks, Operation *op, ArrayRef<Attribute> constants);
LogicalResult inferInC(const SambaOpHooks &hooks, MLIRContext *context,
                       std::optional<Location> location, ValueRange operands,
                       DictionaryAttr attributes, SmallVectorImpl<Type> &types);

// Inherent attributes come in `attributes` from the parser and in `properties` from everyone else.
template <class Op>
DictionaryAttr allAttributes(MLIRContext *context, DictionaryAttr attributes,
                             OpaqueProperties properties) {
  NamedAttrList merged(attributes);
  if constexpr (!std::is_same_v<typename Op::Properties, EmptyProperties>)
    if (auto *given = properties.as<typename Op::Properties *>())
      if (Attribute inherent = Op::getPropertiesAsAttr(context, *given))
        for (NamedAttribute attribute : cast<DictionaryAttr>(inherent))
          merged.set(attribute.getName(), attribute.getValue());
  return merged.getDictionary(context);
}

// Assembly; dictionaries in the plain form of pretty.h.
ParseResult parsePrettyAttributes(OpAsmParser &parser, NamedAttrList &attributes);
void printPrettyAttributes(OpAsmPrinter &printer, Operation *op, DictionaryAttr attributes);
// Ops whose types are inferred, `%r = name %a, %b {key = value} : types`, and others, for which
// hooks is null: `%r = name %a, %b {key = value} do { region } : functional type`.
ParseResult parseOp(OpAsmParser &parser, OperationState &result, const SambaOpHooks *hooks);
void printOp(OpAsmPrinter &printer, Operation *op, bool functional);
// `<"head", key = value>`: head and dictionary, checked by the dialect's hook; null on errors.
ArrayAttr parseDictionary(AsmParser &parser, StringRef kind);
void printDictionary(AsmPrinter &printer, ArrayAttr parts);

template <class Op> ParseResult parseFunction(OpAsmParser &parser, OperationState &result) {
  auto type = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results, auto...) {
    return builder.getFunctionType(inputs, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, Op::getFunctionTypeAttrName(result.name), type,
      Op::getArgAttrsAttrName(result.name), Op::getResAttrsAttrName(result.name));
}
template <class Op> void printFunction(OpAsmPrinter &printer, Op op) {
  function_interface_impl::printFunctionOp(printer, op, /*isVariadic=*/false,
                                           op.getFunctionTypeAttrName(), op.getArgAttrsAttrName(),
                                           op.getResAttrsAttrName());
}

} // namespace samba

#endif
