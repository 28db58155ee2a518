// Forwarding to C, and the assembly that all dialects share. No algorithm.
#include "dialect/bridge/forward.hpp"

#include "dialect/bridge/pretty.h"

namespace samba {

LogicalResult verifyAttributeInC(Operation *op, SambaAttributePlace place, unsigned index,
                                 NamedAttribute attribute) {
  MlirNamedAttribute wrapped = {wrap(attribute.getName()), wrap(attribute.getValue())};
  MlirContext context = wrap(op->getContext());
  const SambaDialectHooks *hooks = sambaDialectHooks(context, wrap(attribute.getName().strref()));
  return success(hooks->verify_attribute(wrap(op), place, index, wrapped));
}

ParseResult succeedOrEmit(SambaStatus status, AsmParser &parser, SMLoc where) {
  if (!status)
    return success();
  parser.emitError(where) << sambaStatusGetMessage(status);
  sambaStatusFree(status);
  return failure();
}

OpFoldResult foldInC(const SambaOpHooks &hooks, Operation *op, ArrayRef<Attribute> constants) {
  MlirValue value = {nullptr};
  MlirAttribute constant = {nullptr};
  static_assert(sizeof(Attribute) == sizeof(MlirAttribute));
  const auto *wrapped = reinterpret_cast<const MlirAttribute *>(constants.data());
  if (!hooks.fold || !hooks.fold(&hooks, wrap(op), wrapped, &value, &constant))
    return {};
  return value.ptr ? OpFoldResult(unwrap(value)) : OpFoldResult(unwrap(constant));
}

LogicalResult inferInC(const SambaOpHooks &hooks, MLIRContext *context,
                       std::optional<Location> location, ValueRange operands,
                       DictionaryAttr attributes, SmallVectorImpl<Type> &types) {
  auto values = llvm::map_to_vector(operands, [](Value value) { return wrap(value); });
  MlirLocation where = location ? wrap(*location) : MlirLocation{nullptr};
  SambaInference inference = {wrap(context), where, intptr_t(values.size()), values.data(),
                              wrap(Attribute(attributes))};
  static_assert(sizeof(Type) == sizeof(MlirType));
  types.resize(hooks.result_count);
  auto *inferred = reinterpret_cast<MlirType *>(types.data());
  return success(hooks.infer && hooks.infer(&hooks, &inference, inferred));
}

static SambaPrinter printerForC(AsmPrinter &printer) {
  auto text = [](void *p, MlirStringRef part) {
    static_cast<AsmPrinter *>(p)->getStream() << unwrap(part);
  };
  auto attribute = [](void *p, MlirAttribute value) {
    static_cast<AsmPrinter *>(p)->printAttribute(unwrap(value));
  };
  return {&printer, text, attribute};
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
  SambaPrinter c = printerForC(printer);
  sambaPrettyPrintAttributes(&c, wrap(Attribute(attributes)));
}

ParseResult parseOp(OpAsmParser &parser, OperationState &result, const SambaOpHooks *hooks) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  FunctionType type;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parsePrettyAttributes(parser, result.attributes))
    return failure();
  if (!hooks) {
    if (succeeded(parser.parseOptionalKeyword("do")) && parser.parseRegion(*result.addRegion()))
      return failure();
    if (parser.parseColonType(type))
      return failure();
    result.addTypes(type.getResults());
    return parser.resolveOperands(operands, type.getInputs(), where, result.operands);
  }
  if ((!operands.empty() && parser.parseColonTypeList(types)) ||
      parser.resolveOperands(operands, types, where, result.operands))
    return failure();
  MLIRContext *context = parser.getContext();
  return inferInC(*hooks, context, parser.getEncodedSourceLoc(parser.getNameLoc()), result.operands,
                  result.attributes.getDictionary(context), result.types);
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
    printer << op->getOperandTypes();
}

ArrayAttr parseDictionary(AsmParser &parser, StringRef kind) {
  std::string name;
  NamedAttrList entries;
  SMLoc where = parser.getCurrentLocation();
  bool first = true;
  auto entry = [&]() -> ParseResult {
    std::string key;
    Attribute value = parser.getBuilder().getUnitAttr();
    if (std::exchange(first, false) && succeeded(parser.parseOptionalString(&name)))
      return success();
    if (parser.parseKeywordOrString(&key) ||
        (succeeded(parser.parseOptionalEqual()) && parser.parseAttribute(value)))
      return failure();
    if (entries.get(key))
      return parser.emitError(parser.getCurrentLocation()) << "duplicate key '" << key << "'";
    entries.append(key, unwrap(sambaPrettyParsed(wrap(value))));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, entry))
    return {};
  DictionaryAttr body = entries.getDictionary(parser.getContext());
  auto check = sambaDialectHooks(wrap(parser.getContext()), wrap(kind))->check_dictionary;
  MlirStringRef mnemonic = wrap(kind.split('.').second);
  if (succeedOrEmit(check(mnemonic, wrap(StringRef(name)), wrap(Attribute(body))), parser, where))
    return {};
  return parser.getBuilder().getArrayAttr({parser.getBuilder().getStringAttr(name), body});
}

void printDictionary(AsmPrinter &printer, ArrayAttr parts) {
  SambaPrinter c = printerForC(printer);
  sambaPrettyPrintNamed(&c, wrap(cast<StringAttr>(parts[0]).getValue()), wrap(parts[1]));
}

} // namespace samba

static samba::HooksInterface *interfaceOf(MlirContext context, MlirStringRef name) {
  mlir::Dialect *dialect = unwrap(context)->getOrLoadDialect(unwrap(name).split('.').first);
  return dialect ? dialect->getRegisteredInterface<samba::HooksInterface>() : nullptr;
}
const SambaDialectHooks *sambaDialectHooks(MlirContext context, MlirStringRef name) {
  samba::HooksInterface *found = interfaceOf(context, name);
  return found ? &found->hooks : nullptr;
}
SambaResultStore *sambaDialectResults(MlirContext context, MlirStringRef name) {
  samba::HooksInterface *found = interfaceOf(context, name);
  return found ? found->results.get() : nullptr;
}
