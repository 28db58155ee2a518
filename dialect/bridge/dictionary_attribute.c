/* Dictionary attributes from C: made by writing their text and having it parsed, so that the
 * generated classes need no builders for C. */
#include "dialect/bridge/dictionary_attribute.h"

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/hooks.h"
#include "dialect/bridge/pretty.h"
#include "dialect/bridge/text_sink.h"

#include <string.h>

static void appendText(void *text, MlirStringRef part) { sambaTextSink(part, text); }
static void appendAttribute(void *text, MlirAttribute attribute) {
  mlirAttributePrint(attribute, sambaTextSink, text);
}

MlirAttribute sambaAttributeGet(MlirLocation location, const char *kind, MlirStringRef head,
                                MlirAttribute body) {
  MlirContext context = mlirLocationGetContext(location);
  MlirStringRef name = mlirStringRefCreateFromCString(kind);
  MlirStringRef mnemonic = mlirStringRefCreateFromCString(strchr(kind, '.') + 1);
  SambaStatus status = sambaDialectHooks(context, name)->check_dictionary(mnemonic, head, body);
  if (status) {
    sambaDiagnose(location, MlirDiagnosticError,
                  mlirStringRefCreateFromCString(sambaStatusGetMessage(status)), 0, NULL);
    sambaStatusFree(status);
    return mlirAttributeGetNull();
  }

  SambaText text = {0};
  SambaPrinter printer = {&text, appendText, appendAttribute};
  sambaTextFormat(&text, "#%s", kind);
  sambaPrettyPrintNamed(&printer, head, body);
  MlirAttribute made = mlirAttributeParseGet(context, mlirStringRefCreate(text.data, text.size));
  sambaTextFree(&text);

  return made;
}

MlirStringRef sambaAttributeHead(MlirAttribute attribute) {
  return mlirStringAttrGetValue(mlirArrayAttrGetElement(sambaAttributePart(attribute), 0));
}

MlirAttribute sambaAttributeBody(MlirAttribute attribute) {
  return mlirArrayAttrGetElement(sambaAttributePart(attribute), 1);
}
