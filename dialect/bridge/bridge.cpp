// The C++ half of the bridge: hooks forwarded, assembly shared by all ops, and what C needs beyond mlir-c. No algorithm.
#include "dialect/bridge/Bridge.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace samba {

//===-- Hooks ------------------------------------------------------------------------------------------------------===//

LogicalResult verifyInC(const SambaOpHooks &hooks, Operation *op) { return success(!hooks.verify || hooks.verify(&hooks, wrap(op))); }

LogicalResult verifySymbolInC(Operation *op, Operation *callee) { return success(sambaVerifyCall(wrap(op), wrap(callee))); }

OpFoldResult foldInC(const SambaOpHooks &hooks, Operation *op, ArrayRef<Attribute> constants) {
  MlirValue value = {nullptr};
  MlirAttribute constant = {nullptr};
  static_assert(sizeof(Attribute) == sizeof(MlirAttribute));
  if (!hooks.fold || !hooks.fold(&hooks, wrap(op), reinterpret_cast<const MlirAttribute *>(constants.data()), &value, &constant))
    return {};
  return value.ptr ? OpFoldResult(unwrap(value)) : OpFoldResult(unwrap(constant));
}

void patternsInC(const SambaOpHooks &hooks, RewritePatternSet &set, MLIRContext *context) {
  if (hooks.patterns)
    hooks.patterns(&hooks, wrap(context), wrap(&set));
}

LogicalResult inferInC(const SambaOpHooks &hooks, MLIRContext *context, std::optional<Location> location, ValueRange operands,
                       DictionaryAttr attributes, SmallVectorImpl<Type> &types) {
  SmallVector<MlirValue> values;
  for (Value operand : operands)
    values.push_back(wrap(operand));
  SambaInference inference = {wrap(context), location ? wrap(*location) : MlirLocation{nullptr}, intptr_t(values.size()), values.data(),
                              wrap(Attribute(attributes))};
  MlirType type = {nullptr};
  if (!hooks.infer || !hooks.infer(&hooks, &inference, &type))
    return failure();
  types.assign(1, unwrap(type));
  return success();
}

LogicalResult verifyAttributeInC(function_ref<InFlightDiagnostic()> emitError, StringRef mnemonic, StringAttr head, DictionaryAttr body) {
  SambaStatus status = sambaCheckDictionaryAttribute(wrap(mnemonic), wrap(head.getValue()), wrap(Attribute(body)));
  if (!status)
    return success();
  emitError() << sambaStatusGetMessage(status);
  sambaStatusFree(status);
  return failure();
}

//===-- Assembly ---------------------------------------------------------------------------------------------------===//

void printPrettyEntries(AsmPrinter &printer, ArrayRef<NamedAttribute> entries) {
  llvm::interleaveComma(entries, printer.getStream(), [&](NamedAttribute entry) {
    printer.printKeywordOrString(entry.getName());
    if (isa<UnitAttr>(entry.getValue()))
      return;
    printer << " = ";
    printPretty(printer, entry.getValue());
  });
}

void printPretty(AsmPrinter &printer, Attribute attribute) {
  auto integer = dyn_cast<IntegerAttr>(attribute);
  auto real = dyn_cast<FloatAttr>(attribute);
  if ((integer && integer.getType().isSignlessInteger(64)) || (real && real.getType().isF64())) {
    printer.printAttributeWithoutType(attribute);
  } else if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    printer << '[';
    llvm::interleaveComma(list.asArrayRef(), printer.getStream());
    printer << ']';
  } else if (auto list = dyn_cast<ArrayAttr>(attribute)) {
    printer << '[';
    llvm::interleaveComma(list, printer.getStream(), [&](Attribute element) { printPretty(printer, element); });
    printer << ']';
  } else if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    printer << '{';
    printPrettyEntries(printer, dictionary.getValue());
    printer << '}';
  } else {
    printer.printAttribute(attribute);
  }
}

// The reverse of the plain printing: lists of integers become dense arrays, at any depth.
static Attribute fromPretty(Attribute attribute) {
  MLIRContext *context = attribute.getContext();
  if (auto list = dyn_cast<ArrayAttr>(attribute)) {
    SmallVector<int64_t> integers;
    SmallVector<Attribute> elements;
    for (Attribute element : list) {
      if (auto integer = dyn_cast<IntegerAttr>(element); integer && integer.getType().isSignlessInteger(64))
        integers.push_back(integer.getInt());
      elements.push_back(fromPretty(element));
    }
    return integers.size() == list.size() ? Attribute(DenseI64ArrayAttr::get(context, integers)) : ArrayAttr::get(context, elements);
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    NamedAttrList entries;
    for (NamedAttribute entry : dictionary)
      entries.append(entry.getName(), fromPretty(entry.getValue()));
    return entries.getDictionary(context);
  }
  return attribute;
}

ParseResult parsePrettyAttributes(OpAsmParser &parser, NamedAttrList &attributes) {
  NamedAttrList parsed;
  if (parser.parseOptionalAttrDict(parsed))
    return failure();
  for (NamedAttribute entry : parsed)
    attributes.append(entry.getName(), fromPretty(entry.getValue()));
  return success();
}

void printPrettyAttributes(OpAsmPrinter &printer, Operation *, DictionaryAttr attributes) {
  NamedAttrList shown(attributes);
  shown.erase("callee"); // an op that has one prints it in front
  if (shown.empty())
    return;
  printer << '{';
  printPrettyEntries(printer, shown.getAttrs());
  printer << '}';
}

static void printOperandsAndAttributes(OpAsmPrinter &printer, Operation *op) {
  if (op->getNumOperands())
    printer << ' ' << op->getOperands();
  if (!op->getAttrs().empty())
    printer << ' ';
  printPrettyAttributes(printer, op, op->getAttrDictionary());
}

ParseResult parseInferring(OpAsmParser &parser, OperationState &result, InferFunction infer) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parsePrettyAttributes(parser, result.attributes) ||
      (!operands.empty() && parser.parseColonTypeList(types)) || parser.resolveOperands(operands, types, where, result.operands))
    return failure();
  return infer(parser.getContext(), parser.getEncodedSourceLoc(parser.getNameLoc()), result.operands,
               result.attributes.getDictionary(parser.getContext()), nullptr, {}, result.types);
}

void printInferring(OpAsmPrinter &printer, Operation *op) {
  printOperandsAndAttributes(printer, op);
  if (op->getNumOperands())
    printer << " : " << op->getOperandTypes();
}

// rdu units: `%r = rdu.kind %a, %b {attributes} do { program } : (types) -> types`.
ParseResult parseUnit(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  FunctionType type;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parsePrettyAttributes(parser, result.attributes) ||
      (succeeded(parser.parseOptionalKeyword("do")) && parser.parseRegion(*result.addRegion())) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), where, result.operands))
    return failure();
  result.addTypes(type.getResults());
  return success();
}

void printUnit(OpAsmPrinter &printer, Operation *op) {
  printOperandsAndAttributes(printer, op);
  for (Region &region : op->getRegions()) {
    printer << " do ";
    printer.printRegion(region);
  }
  printer << " : ";
  printer.printFunctionalType(op);
}

ParseResult parseDictionaryBody(AsmParser &parser, StringAttr &head, DictionaryAttr &body) {
  std::string text;
  NamedAttrList entries;
  if (parser.parseLess())
    return failure();
  bool named = succeeded(parser.parseOptionalString(&text));
  head = parser.getBuilder().getStringAttr(text);
  auto entry = [&]() -> ParseResult {
    std::string key;
    Attribute value = parser.getBuilder().getUnitAttr();
    if (parser.parseKeywordOrString(&key) || (succeeded(parser.parseOptionalEqual()) && parser.parseAttribute(value)))
      return failure();
    if (entries.get(key))
      return parser.emitError(parser.getCurrentLocation()) << "duplicate key '" << key << "'";
    entries.append(key, fromPretty(value));
    return success();
  };
  if (failed(parser.parseOptionalGreater())) {
    if ((named && parser.parseComma()) || parser.parseCommaSeparatedList(entry) || parser.parseGreater())
      return failure();
  }
  body = entries.getDictionary(parser.getContext());
  return success();
}

void printDictionaryAttribute(AsmPrinter &printer, StringAttr head, DictionaryAttr body) {
  printer << '<';
  if (!head.empty())
    printer.printAttributeWithoutType(head);
  if (!head.empty() && !body.empty())
    printer << ", ";
  printPrettyEntries(printer, body.getValue());
  printer << '>';
}

} // namespace samba

//===-- For C ------------------------------------------------------------------------------------------------------===//

void sambaDiagnose(MlirLocation location, MlirDiagnosticSeverity severity, MlirStringRef message, intptr_t noteCount, const MlirStringRef *notes) {
  static const DiagnosticSeverity severities[] = {DiagnosticSeverity::Error, DiagnosticSeverity::Warning, DiagnosticSeverity::Note,
                                                  DiagnosticSeverity::Remark};
  Location where = unwrap(location);
  InFlightDiagnostic diagnostic = where.getContext()->getDiagEngine().emit(where, severities[severity]);
  diagnostic << unwrap(message);
  for (intptr_t i = 0; i < noteCount; i++)
    diagnostic.attachNote() << unwrap(notes[i]);
}

MlirAttribute sambaOperationAttributes(MlirOperation op) { return wrap(Attribute(unwrap(op)->getAttrDictionary())); }

void sambaDialectOperations(MlirContext context, MlirStringRef dialect, void (*callback)(MlirStringRef, void *), void *userData) {
  for (RegisteredOperationName name : unwrap(context)->getRegisteredOperations())
    if (name.getDialectNamespace() == unwrap(dialect))
      callback(wrap(name.getStringRef()), userData);
}

void sambaOperationAttributeNames(MlirContext context, MlirStringRef op, void (*callback)(MlirStringRef, void *), void *userData) {
  if (std::optional<RegisteredOperationName> name = RegisteredOperationName::lookup(unwrap(op), unwrap(context)))
    for (StringAttr attribute : name->getAttributeNames())
      callback(wrap(attribute.getValue()), userData);
}

static const samba::AttributeKind *kindOf(MlirAttribute attribute) {
  for (ArrayRef<samba::AttributeKind> kinds : {samba::sambaAttributeKinds(), samba::rduAttributeKinds()})
    for (const samba::AttributeKind &kind : kinds)
      if (attribute.ptr && kind.is(unwrap(attribute)))
        return &kind;
  return nullptr;
}

bool sambaAttributeIs(MlirAttribute attribute, const char *kind) {
  const samba::AttributeKind *found = kindOf(attribute);
  return found && StringRef(found->kind) == kind;
}

MlirAttribute sambaAttributeGet(MlirLocation location, const char *name, MlirStringRef head, MlirAttribute body) {
  Location where = unwrap(location);
  for (ArrayRef<samba::AttributeKind> kinds : {samba::sambaAttributeKinds(), samba::rduAttributeKinds()})
    for (const samba::AttributeKind &kind : kinds)
      if (StringRef(kind.kind) == name)
        return wrap(kind.get(where, StringAttr::get(where.getContext(), unwrap(head)), cast<DictionaryAttr>(unwrap(body))));
  return {nullptr};
}

MlirStringRef sambaAttributeHead(MlirAttribute attribute) { return wrap(kindOf(attribute)->head(unwrap(attribute)).getValue()); }
MlirAttribute sambaAttributeBody(MlirAttribute attribute) { return wrap(Attribute(kindOf(attribute)->body(unwrap(attribute)))); }

void sambaRegisterDialects(MlirDialectRegistry registry) {
  samba::insertSamba(*unwrap(registry));
  samba::insertRdu(*unwrap(registry));
  unwrap(registry)->insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect, tensor::TensorDialect>();
}
