// The C++ half of the bridge: hooks forwarded, assembly shared by all ops, and what C needs beyond mlir-c. No
// algorithm.
#include "dialect/bridge/Bridge.hpp"

using namespace mlir;

namespace samba {

OpFoldResult foldInC(const SambaOpHooks &hooks, Operation *op, ArrayRef<Attribute> constants) {
  MlirValue value = {nullptr};
  MlirAttribute constant = {nullptr};
  static_assert(sizeof(Attribute) == sizeof(MlirAttribute));
  if (!hooks.fold ||
      !hooks.fold(&hooks, wrap(op), reinterpret_cast<const MlirAttribute *>(constants.data()), &value, &constant))
    return {};
  return value.ptr ? OpFoldResult(unwrap(value)) : OpFoldResult(unwrap(constant));
}

LogicalResult inferInC(const SambaOpHooks &hooks, MLIRContext *context, std::optional<Location> location,
                       ValueRange operands, DictionaryAttr attributes, SmallVectorImpl<Type> &types) {
  SmallVector<MlirValue> values;
  for (Value operand : operands)
    values.push_back(wrap(operand));
  SambaInference inference = {wrap(context), location ? wrap(*location) : MlirLocation{nullptr},
                              intptr_t(values.size()), values.data(), wrap(Attribute(attributes))};
  SmallVector<MlirType> inferred(hooks.result_count);
  if (!hooks.infer || !hooks.infer(&hooks, &inference, inferred.data()))
    return failure();
  types.clear();
  for (MlirType type : inferred)
    types.push_back(unwrap(type));
  return success();
}

LogicalResult succeedOrEmit(SambaStatus status, function_ref<InFlightDiagnostic()> emitError) {
  if (!status)
    return success();
  emitError() << sambaStatusGetMessage(status);
  sambaStatusFree(status);
  return failure();
}

SambaPrinter printerForC(AsmPrinter &printer) {
  return {&printer, [](void *p, MlirStringRef text) { static_cast<AsmPrinter *>(p)->getStream() << unwrap(text); },
          [](void *p, MlirAttribute attribute) { static_cast<AsmPrinter *>(p)->printAttribute(unwrap(attribute)); }};
}

static void printEntries(AsmPrinter &printer, DictionaryAttr dictionary) {
  SambaPrinter c = printerForC(printer);
  sambaPrettyPrintEntries(&c, wrap(Attribute(dictionary)));
}

ParseResult parsePrettyAttributes(OpAsmParser &parser, NamedAttrList &attributes) {
  NamedAttrList parsed;
  if (parser.parseOptionalAttrDict(parsed))
    return failure();
  for (NamedAttribute entry : parsed)
    attributes.append(entry.getName(), unwrap(sambaPrettyParsed(wrap(entry.getValue()))));
  return success();
}

void printPrettyAttributes(OpAsmPrinter &printer, Operation *, DictionaryAttr attributes) {
  NamedAttrList shown(attributes);
  shown.erase("callee"); // an op that has one prints it in front
  if (shown.empty())
    return;
  printer << '{';
  printEntries(printer, shown.getDictionary(attributes.getContext()));
  printer << '}';
}

void printOp(OpAsmPrinter &printer, Operation *op, bool functional) {
  if (op->getNumOperands())
    printer << ' ' << op->getOperands();
  if (!op->getAttrs().empty())
    printer << ' ';
  printPrettyAttributes(printer, op, op->getAttrDictionary());
  for (Region &region : op->getRegions()) {
    printer << " do ";
    printer.printRegion(region);
  }
  if (functional || op->getNumOperands())
    printer << " : ";
  if (functional)
    printer.printFunctionalType(op);
  else
    llvm::interleaveComma(op->getOperandTypes(), printer.getStream(), [&](Type type) { printer << type; });
}

ParseResult parseInferring(OpAsmParser &parser, OperationState &result, InferFunction infer) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parsePrettyAttributes(parser, result.attributes) ||
      (!operands.empty() && parser.parseColonTypeList(types)) ||
      parser.resolveOperands(operands, types, where, result.operands))
    return failure();
  return infer(parser.getContext(), parser.getEncodedSourceLoc(parser.getNameLoc()), result.operands,
               result.attributes.getDictionary(parser.getContext()), nullptr, {}, result.types);
}

// rdu units: `%r = rdu.kind %a, %b {attributes} do { program } : (types) -> types`.
ParseResult parseUnit(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  FunctionType type;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parsePrettyAttributes(parser, result.attributes) ||
      (succeeded(parser.parseOptionalKeyword("do")) && parser.parseRegion(*result.addRegion())) ||
      parser.parseColonType(type) || parser.resolveOperands(operands, type.getInputs(), where, result.operands))
    return failure();
  result.addTypes(type.getResults());
  return success();
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
    entries.append(key, unwrap(sambaPrettyParsed(wrap(value))));
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
  printEntries(printer, body);
  printer << '>';
}

} // namespace samba

void sambaDiagnose(MlirLocation location, MlirDiagnosticSeverity severity, MlirStringRef message, intptr_t noteCount,
                   const MlirStringRef *notes) {
  static const DiagnosticSeverity severities[] = {DiagnosticSeverity::Error, DiagnosticSeverity::Warning,
                                                  DiagnosticSeverity::Note, DiagnosticSeverity::Remark};
  Location where = unwrap(location);
  InFlightDiagnostic diagnostic = where.getContext()->getDiagEngine().emit(where, severities[severity]);
  diagnostic << unwrap(message);
  for (intptr_t i = 0; i < noteCount; i++)
    diagnostic.attachNote() << unwrap(notes[i]);
}

MlirAttribute sambaOperationAttributes(MlirOperation op) { return wrap(Attribute(unwrap(op)->getAttrDictionary())); }

MlirAttribute sambaOperationDiscardableAttributes(MlirOperation op) {
  return wrap(Attribute(unwrap(op)->getDiscardableAttrDictionary()));
}
uint64_t sambaOperationInherentHash(MlirOperation op) { return unwrap(op)->hashProperties(); }

void sambaDialectOperations(MlirContext context, MlirStringRef dialect, void (*callback)(MlirStringRef, void *),
                            void *userData) {
  for (RegisteredOperationName name : unwrap(context)->getRegisteredOperations())
    if (name.getDialectNamespace() == unwrap(dialect))
      callback(wrap(name.getStringRef()), userData);
}

void sambaOperationAttributeNames(MlirContext context, MlirStringRef op, void (*callback)(MlirStringRef, void *),
                                  void *userData) {
  if (std::optional<RegisteredOperationName> name = RegisteredOperationName::lookup(unwrap(op), unwrap(context)))
    for (StringAttr attribute : name->getAttributeNames())
      callback(wrap(attribute.getValue()), userData);
}

bool sambaAttributeIs(MlirAttribute attribute, const char *kind) {
  return attribute.ptr && unwrap(attribute).getAbstractAttribute().getName() == kind;
}

// The parts of an attribute of ours, in the order of Bridge.td: head, body.
static Attribute partOf(MlirAttribute attribute, size_t index) {
  SmallVector<Attribute, 2> parts;
  unwrap(attribute).walkImmediateSubElements([&](Attribute part) { parts.push_back(part); }, [](Type) {});
  return parts[index];
}
MlirStringRef sambaAttributeHead(MlirAttribute attribute) {
  return wrap(cast<StringAttr>(partOf(attribute, 0)).getValue());
}
MlirAttribute sambaAttributeBody(MlirAttribute attribute) { return wrap(partOf(attribute, 1)); }
