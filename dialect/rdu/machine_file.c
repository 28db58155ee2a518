/* Targets; see machine_file.h. */
#include "dialect/rdu/machine_file.h"

#include "backend/machine/shipped.h"
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/text_sink.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba_attribute_names.h"
#include "support/text/escape.h"

#include "mlir-c/Diagnostics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static SambaStatus readText(const char *path, char **out_text) {
  enum { mostBytes = 1 << 20 };
  FILE *file = fopen(path, "r");

  if (!file) {
    int reason = errno;
    SambaText names = {0};
    sambaMachineNames(&names);
    SambaStatus status = sambaStatusMake(
        SAMBA_IO, "target '%s' is neither a shipped machine (%s) nor a machine file: %s", path,
        sambaTextGet(&names), strerror(reason));
    sambaTextFree(&names);
    return status;
  }
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

/* "FILE:LINE:COLUMN: " before the message. */
static SambaStatus placeStatus(SambaStatus status, const char *path, MlirLocation location) {
  if (!mlirLocationIsAFileLineColRange(location))
    return sambaStatusAnnotate(status, "%s", path);
  return sambaStatusAnnotate(status, "%s:%d:%d", path,
                             mlirLocationFileLineColRangeGetStartLine(location),
                             mlirLocationFileLineColRangeGetStartColumn(location));
}

typedef struct {
  const char *path;
  SambaStatus status;
} ParseErrors;

/* Keeps the first error of a parse, with its place. */
static MlirLogicalResult keepError(MlirDiagnostic diagnostic, void *user) {
  ParseErrors *errors = user;
  if (errors->status)
    return mlirLogicalResultSuccess();
  SambaText text = {0};
  mlirDiagnosticPrint(diagnostic, sambaTextSink, &text);
  errors->status = placeStatus(sambaStatusMake(SAMBA_INVALID, "%s", sambaTextGet(&text)),
                               errors->path, mlirDiagnosticGetLocation(diagnostic));
  sambaTextFree(&text);
  return mlirLogicalResultSuccess();
}

static SambaStatus parseFile(MlirContext context, const char *path, MlirOperation *out_module) {
  char *text;
  SAMBA_RETURN_IF_ERROR(readText(path, &text));
  ParseErrors errors = {.path = path};
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(context, keepError, &errors, NULL);
  *out_module = mlirOperationCreateParse(context, sambaMlirString(text), sambaMlirString(path));
  mlirContextDetachDiagnosticHandler(context, handler);
  free(text);

  if (mlirOperationIsNull(*out_module))
    return errors.status ? errors.status
                         : sambaStatusMake(SAMBA_INVALID, "%s: %s", path, strerror(EINVAL));
  sambaStatusFree(errors.status); /* of warnings */
  return NULL;
}

SambaStatus sambaTargetMachine(MlirLocation location, const char *target, SambaMachine *out_machine,
                               MlirAttribute *out_attribute) {
  const SambaMachine *shipped = sambaMachineFind(sambaStringRef(target));
  if (shipped) {
    *out_machine = *shipped;
    *out_attribute = sambaMachineToAttribute(location, shipped);
    return NULL;
  }

  MlirOperation module;
  SAMBA_RETURN_IF_ERROR(parseFile(mlirLocationGetContext(location), target, &module));
  MlirAttribute attribute = sambaOperationAttribute(module, SAMBA_MODULE_MACHINE_ATTRIBUTE);
  SambaStatus status = NULL;
  if (mlirAttributeIsNull(attribute) || !sambaAttributeIs(attribute, SAMBA_MACHINE_KIND))
    status = sambaStatusMake(SAMBA_INVALID,
                             "a machine file is a module with the attribute rdu.machine = "
                             "#rdu.machine<...>, but this one has none");
  else
    status = sambaMachineFromAttribute(attribute, out_machine);
  status = placeStatus(status, target, mlirOperationGetLocation(module));
  *out_attribute = attribute;
  mlirOperationDestroy(module);

  return status;
}

void sambaMachinePrint(const SambaMachine *machine, SambaText *out) {
  SambaArena arena = {0};
  SambaStringRef name = sambaStringEscape(&arena, sambaStringRef(machine->name));

  sambaTextFormat(out,
                  "// The machine %s. Change values and the name, and give this file to --target.\n"
                  "// A value is {value = N, source = \"...\"}, {value = N, derived = \"...\"},\n"
                  "// {value = N, analogy = \"...\"}, {value = N, assumed} or N alone.\n"
                  "module attributes {rdu.machine = #rdu.machine<%s",
                  name.data, name.data);
  for (int i = 0; i < SAMBA_PARAMETER_COUNT; ++i) {
    SambaParameter parameter = (SambaParameter)i;
    const SambaReason *reason = &machine->reasons[i];
    SambaStringRef word = sambaParameterWord(parameter, sambaMachineGet(machine, parameter));
    sambaTextFormat(out, ",\n  // %s (%s)\n  %s = {value = ", sambaParameterDescription(parameter),
                    sambaParameterUnit(parameter), sambaParameterName(parameter));
    if (word.size)
      sambaTextFormat(out, "\"%.*s\", ", SAMBA_STRING_ARGS(word));
    else
      sambaTextFormat(out, "%lld, ", (long long)sambaMachineGet(machine, parameter));
    sambaTextAppendC(out, sambaReasonKey(reason->kind));
    if (reason->text)
      sambaTextFormat(out, " = %s", sambaStringEscape(&arena, sambaStringRef(reason->text)).data);
    sambaTextAppendC(out, "}");
  }
  sambaTextAppendC(out, "\n>} {}\n");
  sambaArenaDestroy(&arena);
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
