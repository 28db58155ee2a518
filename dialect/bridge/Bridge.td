// The generic base of every op, attribute and type of Samba: declarations forward to C hooks (bridge.h), found once per
// op. Included by the dialects' own Dialect.td.
#ifndef SAMBA_DIALECT_BRIDGE
#define SAMBA_DIALECT_BRIDGE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar sambaVerify = "::llvm::LogicalResult $cppClass::verify() { return ::llvm::success(!::samba::hooks<$cppClass>().verify || ::samba::hooks<$cppClass>().verify(&::samba::hooks<$cppClass>(), wrap(getOperation()))); }\n";
// For ops that look into their regions: these have been verified by then.
defvar sambaVerifyRegions = "::llvm::LogicalResult $cppClass::verifyRegions() { return ::llvm::success(!::samba::hooks<$cppClass>().verify || ::samba::hooks<$cppClass>().verify(&::samba::hooks<$cppClass>(), wrap(getOperation()))); }\n";
defvar sambaFold = "::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {\n"
                   "  return ::samba::foldInC(::samba::hooks<$cppClass>(), getOperation(), adaptor.getOperands());\n}\n";
defvar sambaPatterns = "void $cppClass::getCanonicalizationPatterns(::mlir::RewritePatternSet &set, ::mlir::MLIRContext *context) {\n"
                       "  if (::samba::hooks<$cppClass>().patterns)\n"
                       "    ::samba::hooks<$cppClass>().patterns(&::samba::hooks<$cppClass>(), wrap(context), wrap(&set));\n}\n";
defvar sambaInfer = "::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,\n"
                    "    ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties,\n"
                    "    ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &types) {\n"
                    "  return ::samba::inferInC(::samba::hooks<$cppClass>(), context, location, operands,\n"
                    "                           ::samba::attributesOf<$cppClass>(context, attributes, properties), types);\n}\n"
                    // The op's own verifier compares inferred and actual types, with one error; nothing is left to refine.
                    "::llvm::LogicalResult $cppClass::refineReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location>, ::mlir::ValueRange,\n"
                    "    ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &) {\n"
                    "  return ::llvm::success();\n}\n";
defvar sambaInferringAssembly = "::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &result) {\n"
                    "  return ::samba::parseInferring(parser, result, inferReturnTypes);\n}\n"
                    "void $cppClass::print(::mlir::OpAsmPrinter &printer) { ::samba::printOp(printer, getOperation(), false); }\n";
defvar sambaUnitAssembly = "::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &result) {\n"
                    "  return ::samba::parseUnit(parser, result);\n}\n"
                    "void $cppClass::print(::mlir::OpAsmPrinter &printer) { ::samba::printOp(printer, getOperation(), true); }\n";

// The bodies of a dialect's checks of its attributes, wherever they stand.
defvar sambaVerifyAttributes = [{
  static ::llvm::LogicalResult check(::mlir::Operation *op, SambaAttributePlace place, unsigned index, ::mlir::NamedAttribute a) {
    return ::llvm::success(sambaVerifyDialectAttribute(wrap(op), place, index, {wrap(a.getName()), wrap(a.getValue())}));
  }
  ::llvm::LogicalResult verifyOperationAttribute(::mlir::Operation *op, ::mlir::NamedAttribute a) override {
    return check(op, SAMBA_ON_OPERATION, 0, a);
  }
  ::llvm::LogicalResult verifyRegionArgAttribute(::mlir::Operation *op, unsigned, unsigned index, ::mlir::NamedAttribute a) override {
    return check(op, SAMBA_ON_ARGUMENT, index, a);
  }
  ::llvm::LogicalResult verifyRegionResultAttribute(::mlir::Operation *op, unsigned, unsigned index, ::mlir::NamedAttribute a) override {
    return check(op, SAMBA_ON_RESULT, index, a);
  }
}];

// An op whose result types follow from operands and attributes: verified, inferred, folded and canonicalized in C.
//   %r = dialect.name %a, %b {key = value} : type of a, type of b
class Samba_InferringOp<Dialect dialect, string mnemonic, list<Trait> traits = []>
    : Op<dialect, mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<InferTypeOpInterface, ["refineReturnTypes"]>], traits)> {
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = !strconcat(sambaVerify, sambaFold, sambaPatterns, sambaInfer, sambaInferringAssembly);
}

// An attribute `#dialect.mnemonic<"head", key = value, ...>`: a dictionary with a name, checked in C.
class Samba_DictionaryAttr<Dialect dialect, string name, string word> : AttrDef<dialect, name> {
  let mnemonic = word;
  let parameters = (ins "::mlir::StringAttr":$head, "::mlir::DictionaryAttr":$body);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = "::mlir::Attribute $cppClass::parse(::mlir::AsmParser &parser, ::mlir::Type) {\n"
      "  return ::samba::parseDictionaryAttribute<$cppClass>(parser);\n}\n"
      "void $cppClass::print(::mlir::AsmPrinter &printer) const { ::samba::printDictionaryAttribute(printer, getHead(), getBody()); }\n"
      "::llvm::LogicalResult $cppClass::verify(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError, ::mlir::StringAttr head,\n"
      "    ::mlir::DictionaryAttr body) {\n"
      "  return ::samba::succeedOrEmit(sambaCheckDictionaryAttribute(wrap(getMnemonic()), wrap(head.getValue()), wrap(::mlir::Attribute(body))), emitError);\n}\n";
}

#endif
