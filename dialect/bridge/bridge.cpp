// The few things that mlir-c does not have; see bridge.h.
#include "dialect/bridge/bridge.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

void sambaDiagnose(MlirLocation location, MlirDiagnosticSeverity severity, MlirStringRef message,
                   intptr_t note_count, const MlirStringRef *notes) {
  static const DiagnosticSeverity severities[] = {
      DiagnosticSeverity::Error, DiagnosticSeverity::Warning, DiagnosticSeverity::Note,
      DiagnosticSeverity::Remark};
  Location where = unwrap(location);
  DiagnosticEngine &engine = where.getContext()->getDiagEngine();
  InFlightDiagnostic diagnostic = engine.emit(where, severities[severity]);
  diagnostic << unwrap(message);
  for (intptr_t i = 0; i < note_count; i++)
    diagnostic.attachNote() << unwrap(notes[i]);
}

MlirAttribute sambaOperationAttributes(MlirOperation op) {
  return wrap(Attribute(unwrap(op)->getAttrDictionary()));
}

MlirAttribute sambaOperationDiscardableAttributes(MlirOperation op) {
  return wrap(Attribute(unwrap(op)->getDiscardableAttrDictionary()));
}
uint64_t sambaOperationInherentHash(MlirOperation op) { return unwrap(op)->hashProperties(); }

bool sambaAttributeIs(MlirAttribute attribute, const char *kind) {
  return attribute.ptr && unwrap(attribute).getAbstractAttribute().getName() == kind;
}
bool sambaTypeIs(MlirType type, const char *kind) {
  return type.ptr && unwrap(type).getAbstractType().getName() == kind;
}

MlirType sambaTypePart(MlirType type) {
  Type part;
  unwrap(type).walkImmediateSubElements([](Attribute) {}, [&](Type found) { part = found; });
  return wrap(part);
}
MlirAttribute sambaAttributePart(MlirAttribute attribute) {
  Attribute part;
  unwrap(attribute).walkImmediateSubElements([&](Attribute found) { part = found; }, [](Type) {});
  return wrap(part);
}

MlirAttribute sambaResourceToDense(MlirAttribute attribute) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(unwrap(attribute));
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  bool splat, valid = blob && DenseElementsAttr::isValidRawBuffer(resource.getType(),
                                                                  blob->getData(), splat);
  return wrap(valid ? DenseElementsAttr::getFromRawBuffer(resource.getType(), blob->getData())
                    : Attribute());
}
