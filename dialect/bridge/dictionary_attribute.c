/* Making our attributes and registering our dialects through nothing but C: an attribute is made by
 * writing its text and having it parsed, so that the generated classes need no builders for C. */
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/text_sink.h"
#include "support/base/memory.h"

#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/Linalg.h"
#include "mlir-c/Dialect/Math.h"
#include "mlir-c/Dialect/Tensor.h"

#include <stdlib.h>
#include <string.h>

static void appendText(void *printer, MlirStringRef part) { sambaTextSink(part, printer); }
static void appendAttribute(void *printer, MlirAttribute attribute) {
  mlirAttributePrint(attribute, sambaTextSink, printer);
}

MlirAttribute sambaAttributeGet(MlirLocation location, const char *kind, MlirStringRef head,
                                MlirAttribute body) {
  MlirContext context = mlirLocationGetContext(location);
  SambaStatus status = sambaCheckDictionaryAttribute(
      mlirStringRefCreateFromCString(strchr(kind, '.') + 1), head, body);
  if (status) {
    sambaDiagnose(location, MlirDiagnosticError,
                  mlirStringRefCreateFromCString(sambaStatusGetMessage(status)), 0, NULL);
    sambaStatusFree(status);
    return mlirAttributeGetNull();
  }

  SambaText text = {0};
  SambaPrinter printer = {&text, appendText, appendAttribute};
  sambaTextAppendC(&text, "#");
  sambaTextAppendC(&text, kind);
  sambaTextAppendC(&text, "<");
  if (head.length)
    appendAttribute(&text, mlirStringAttrGet(context, head));
  if (head.length && mlirDictionaryAttrGetNumElements(body))
    sambaTextAppendC(&text, ", ");
  sambaPrettyPrintEntries(&printer, body);
  sambaTextAppendC(&text, ">");
  MlirAttribute made = mlirAttributeParseGet(context, mlirStringRefCreate(text.data, text.size));
  sambaTextFree(&text);

  return made;
}

MlirType sambaRduTypeGet(MlirContext context, SambaRduTypeKind kind, intptr_t rank,
                         const int64_t *shape, MlirType element) {
  SambaText text = {0};
  SambaPrinter printer = {&text, appendText, appendAttribute};
  sambaTextAppendC(&text, kind == SAMBA_RDU_SYMBOL ? "!rdu.symbol" : "!rdu.stream");
  sambaRduTypePrint(&printer, kind, rank, shape, element);
  MlirType made = mlirTypeParseGet(context, mlirStringRefCreate(text.data, text.size));
  sambaTextFree(&text);
  return made;
}

void sambaRegisterDialects(MlirDialectRegistry registry) {
  const MlirDialectHandle upstream[] = {
      mlirGetDialectHandle__arith__(), mlirGetDialectHandle__func__(),
      mlirGetDialectHandle__linalg__(), mlirGetDialectHandle__math__(),
      mlirGetDialectHandle__tensor__()};
  sambaInsertSamba(registry);
  sambaInsertRdu(registry);
  for (size_t i = 0; i < sizeof upstream / sizeof *upstream; ++i)
    mlirDialectHandleInsertDialect(upstream[i], registry);
}
