/* Targets; see machine_file.h. */
#include "dialect/rdu/machine_file.h"

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build.h"
#include "dialect/bridge/text_sink.h"
#include "dialect/rdu/attribute_names.h"
#include "dialect/rdu/rdu.h"
#include "dialect/samba/graph.h"

#include "mlir-c/Diagnostics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static SambaStatus readText(const char *path, char **out_text) {
  enum { mostBytes = 1 << 20 };
  FILE *file = fopen(path, "r");

  if (!file)
    return sambaStatusMake(SAMBA_IO,
                           "target '%s' is neither a shipped machine (tiny, plasticine, sn10, "
                           "sn40l) nor a machine file: %s",
                           path, strerror(errno));
  char *text = sambaAllocate(mostBytes + 1);
  size_t size = fread(text, 1, mostBytes, file);
  bool failed = ferror(file) || size == mostBytes;
  fclose(file);
  text[size] = '\0';
  *out_text = text;
  if (!failed)
    return NULL;
  free(text);

  return sambaStatusMake(SAMBA_IO, "machine file '%s' cannot be read or is larger than %d bytes",
                         path, mostBytes);
}

/* Keeps the first error of a parse, with its place, as the status that `user` points to. */
static MlirLogicalResult keepError(MlirDiagnostic diagnostic, void *user) {
  SambaStatus *status = user;
  if (*status)
    return mlirLogicalResultSuccess();
  MlirLocation location = mlirDiagnosticGetLocation(diagnostic);
  SambaText text = {0};
  mlirDiagnosticPrint(diagnostic, sambaTextSink, &text);
  bool placed = mlirLocationIsAFileLineColRange(location);
  *status = sambaStatusMake(SAMBA_INVALID, "line %d, column %d: %.*s",
                            placed ? mlirLocationFileLineColRangeGetStartLine(location) : 1,
                            placed ? mlirLocationFileLineColRangeGetStartColumn(location) : 1,
                            SAMBA_STRING_ARGS(sambaTextRef(&text)));
  sambaTextFree(&text);
  return mlirLogicalResultSuccess();
}

SambaStatus sambaTargetMachine(MlirLocation location, const char *target, SambaMachine *out_machine,
                               MlirAttribute *out_attribute) {
  const SambaMachine *shipped = sambaMachineFind(sambaStringRef(target));
  if (shipped) {
    *out_machine = *shipped;
    *out_attribute = sambaMachineToAttribute(location, shipped);
    return NULL;
  }

  char *text;
  SAMBA_RETURN_IF_ERROR(readText(target, &text));
  MlirContext context = mlirLocationGetContext(location);
  SambaStatus status = NULL;
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(context, keepError, &status, NULL);
  MlirOperation module =
      mlirOperationCreateParse(context, sambaMlirString(text), sambaMlirString(target));
  mlirContextDetachDiagnosticHandler(context, handler);
  free(text);
  if (mlirOperationIsNull(module))
    return status ? sambaStatusAnnotate(status, "machine file '%s' does not parse", target)
                  : sambaStatusMake(SAMBA_INVALID, "machine file '%s' does not parse", target);
  sambaStatusFree(status);
  status = NULL;
  MlirAttribute attribute = sambaOperationAttribute(module, "rdu.machine");
  if (mlirAttributeIsNull(attribute) || !sambaAttributeIs(attribute, "rdu.machine"))
    status = sambaStatusMake(
        SAMBA_INVALID, "machine file '%s' has no module attribute rdu.machine = #rdu.machine<...>",
        target);
  else
    status = sambaMachineFromAttribute(attribute, out_machine);
  if (!status)
    status = sambaMachineCheck(out_machine);
  *out_attribute = attribute;
  mlirOperationDestroy(module);

  return sambaStatusAnnotate(status, "target");
}

SambaStatus sambaModuleMachine(MlirOperation module, SambaMachine *out_machine) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    MlirAttribute machine = sambaOperationAttribute(operation, "machine");
    if ((sambaOperationIs(operation, "samba.section") ||
         sambaOperationIs(operation, "rdu.section")) &&
        !mlirAttributeIsNull(machine))
      return sambaMachineFromAttribute(machine, out_machine);
  }

  MlirAttribute machine = sambaOperationAttribute(module, SAMBA_MODULE_MACHINE_ATTRIBUTE);
  if (!mlirAttributeIsNull(machine))
    return sambaMachineFromAttribute(machine, out_machine);
  return sambaStatusMake(
      SAMBA_INVALID,
      "the module has no section with a machine; run samba-partition-sections first");
}
