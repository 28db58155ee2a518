// The C++ half of the bridge: what the generated classes call (see Bridge.td), forwarding to the hooks of bridge.h.
#ifndef SAMBA_DIALECT_BRIDGE_BRIDGE_HPP
#define SAMBA_DIALECT_BRIDGE_BRIDGE_HPP

#include "dialect/bridge/bridge.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace samba {

using InferFunction = llvm::LogicalResult (*)(mlir::MLIRContext *, std::optional<mlir::Location>, mlir::ValueRange,
                                              mlir::DictionaryAttr, mlir::OpaqueProperties, mlir::RegionRange,
                                              llvm::SmallVectorImpl<mlir::Type> &);

template <class Op> const SambaOpHooks &hooks() {
  static const SambaOpHooks found = sambaOpHooks(wrap(Op::getOperationName()));
  return found;
}

// Inherent attributes come in `attributes` from the parser and in `properties` from everyone else.
template <class Op>
mlir::DictionaryAttr attributesOf(mlir::MLIRContext *context, mlir::DictionaryAttr attributes,
                                  mlir::OpaqueProperties properties) {
  mlir::NamedAttrList merged(attributes);
  if constexpr (!std::is_same_v<typename Op::Properties, mlir::EmptyProperties>)
    if (properties)
      if (auto inherent = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(
              Op::getPropertiesAsAttr(context, *properties.as<typename Op::Properties *>())))
        for (mlir::NamedAttribute attribute : inherent)
          merged.set(attribute.getName(), attribute.getValue());
  return merged.getDictionary(context);
}

mlir::OpFoldResult foldInC(const SambaOpHooks &hooks, mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> constants);
llvm::LogicalResult inferInC(const SambaOpHooks &hooks, mlir::MLIRContext *context,
                             std::optional<mlir::Location> location, mlir::ValueRange operands,
                             mlir::DictionaryAttr attributes, llvm::SmallVectorImpl<mlir::Type> &types);
llvm::LogicalResult succeedOrEmit(SambaStatus status, llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

// Assembly; dictionaries in the plain form of pretty.c.
SambaPrinter printerForC(mlir::AsmPrinter &printer);
mlir::ParseResult parsePrettyAttributes(mlir::OpAsmParser &parser, mlir::NamedAttrList &attributes);
void printPrettyAttributes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::DictionaryAttr attributes);
mlir::ParseResult parseInferring(mlir::OpAsmParser &parser, mlir::OperationState &result, InferFunction infer);
mlir::ParseResult parseUnit(mlir::OpAsmParser &parser, mlir::OperationState &result);
void printOp(mlir::OpAsmPrinter &printer, mlir::Operation *op, bool functional);
mlir::ParseResult parseDictionaryBody(mlir::AsmParser &parser, mlir::StringAttr &head, mlir::DictionaryAttr &body);
void printDictionaryAttribute(mlir::AsmPrinter &printer, mlir::StringAttr head, mlir::DictionaryAttr body);

template <class Attr> mlir::Attribute parseDictionaryAttribute(mlir::AsmParser &parser) {
  mlir::StringAttr head;
  mlir::DictionaryAttr body;
  llvm::SMLoc where = parser.getCurrentLocation();
  if (parseDictionaryBody(parser, head, body))
    return {};
  return Attr::getChecked([&] { return parser.emitError(where); }, parser.getContext(), head, body);
}

template <class Op> mlir::ParseResult parseFunction(mlir::OpAsmParser &parser, mlir::OperationState &result) {
  auto build = [](mlir::Builder &builder, llvm::ArrayRef<mlir::Type> inputs, llvm::ArrayRef<mlir::Type> results,
                  mlir::function_interface_impl::VariadicFlag,
                  std::string &) { return builder.getFunctionType(inputs, results); };
  return mlir::function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, Op::getFunctionTypeAttrName(result.name), build,
      Op::getArgAttrsAttrName(result.name), Op::getResAttrsAttrName(result.name));
}
template <class Op> void printFunction(mlir::OpAsmPrinter &printer, Op op) {
  mlir::function_interface_impl::printFunctionOp(printer, op, /*isVariadic=*/false, op.getFunctionTypeAttrName(),
                                                 op.getArgAttrsAttrName(), op.getResAttrsAttrName());
}

} // namespace samba

#endif
