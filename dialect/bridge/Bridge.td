// The base of every op, attribute and dialect of Samba: declarations that forward to C (hooks.h) by
// way of forward.hpp. Included by the dialects' own Dialect.td; the C++ here is read inside
// namespace samba, where namespace mlir is in use.
#ifndef SAMBA_DIALECT_BRIDGE
#define SAMBA_DIALECT_BRIDGE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar sambaVerify = [{
  LogicalResult $cppClass::verify() { return verifyInC(*this); }
}];
// For ops that look into their regions: these have been verified by then.
defvar sambaVerifyRegions = [{
  LogicalResult $cppClass::verifyRegions() { return verifyInC(*this); }
}];

defvar sambaFold = [{
  OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {
    return foldInC(hooksOf<$cppClass>(getContext()), getOperation(), adaptor.getOperands());
  }
}];
// The op's own verifier compares inferred and actual types, with one error; nothing is left to
// refine.
defvar sambaInfer = [{
  LogicalResult $cppClass::inferReturnTypes(
      MLIRContext *context, std::optional<Location> location, ValueRange operands,
      DictionaryAttr attributes, OpaqueProperties properties, RegionRange,
      SmallVectorImpl<Type> &types) {
    return inferInC(hooksOf<$cppClass>(context), context, location, operands,
                    allAttributes<$cppClass>(context, attributes, properties), types);
  }
  LogicalResult $cppClass::refineReturnTypes(
      MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties,
      RegionRange, SmallVectorImpl<Type> &) { return success(); }
  ParseResult $cppClass::parse(OpAsmParser &parser, OperationState &result) {
    return parseOp(parser, result, &hooksOf<$cppClass>(parser.getContext()));
  }
  void $cppClass::print(OpAsmPrinter &printer) { printOp(printer, getOperation(), false); }
}];

// The text form of functions and sections: `dialect.name @symbol(arguments) { body }`.
defvar sambaFunctionAssembly = [{
  ParseResult $cppClass::parse(OpAsmParser &parser, OperationState &result) {
    return parseFunction<$cppClass>(parser, result);
  }
  void $cppClass::print(OpAsmPrinter &printer) { printFunction(printer, *this); }
}];
defvar sambaFunctionTypes = [{
  ArrayRef<Type> getArgumentTypes() { return getFunctionType().getInputs(); }
  ArrayRef<Type> getResultTypes() { return getFunctionType().getResults(); }
  Region *getCallableRegion() { return &getBody(); }
}];

// The bodies of a dialect's checks of its attributes, wherever they stand.
defvar sambaVerifyAttributes = [{
  LogicalResult verifyOperationAttribute(Operation *op, NamedAttribute a) override {
    return verifyAttributeInC(op, SAMBA_ON_OPERATION, 0, a);
  }
  LogicalResult verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                         NamedAttribute a) override {
    return verifyAttributeInC(op, SAMBA_ON_ARGUMENT, index, a);
  }
  LogicalResult verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                            NamedAttribute a) override {
    return verifyAttributeInC(op, SAMBA_ON_RESULT, index, a);
  }
}];

// An op whose result types follow from operands and attributes: verified, inferred and
// folded in C.
//   %r = dialect.name %a, %b {key = value} : type of a, type of b
class Samba_InferringOp<Dialect dialect, string mnemonic, list<Trait> traits = []>
    : Op<dialect, mnemonic,
         !listconcat([Pure, DeclareOpInterfaceMethods<InferTypeOpInterface, ["refineReturnTypes"]>],
                     traits)> {
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = !strconcat(sambaVerify, sambaFold, sambaInfer);
}

// An attribute `#dialect.mnemonic<"head", key = value, ...>`: a dictionary with a name, checked
// in C.
class Samba_DictionaryAttr<Dialect dialect, string name, string word> : AttrDef<dialect, name> {
  let mnemonic = word;
  let parameters = (ins "::mlir::ArrayAttr":$parts); // the name, the dictionary
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = [{
    Attribute $cppClass::parse(AsmParser &parser, Type) {
      ArrayAttr parts = parseDictionary(parser, name);
      return parts ? get(parser.getContext(), parts) : $cppClass();
    }
    void $cppClass::print(AsmPrinter &printer) const { printDictionary(printer, getParts()); }
  }];
}

#endif
