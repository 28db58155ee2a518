/* Decisions; see decisions.h. */
#include "dialect/rdu/decisions.h"

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "support/file/atomic_file.h"
#include "support/text/text.h"

#include "mlir-c/BuiltinAttributes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { maxDivisor = 4096 };

void sambaMarkFailedSection(MlirOperation section) {
  mlirOperationSetDiscardableAttributeByName(section, sambaMlirString(SAMBA_FAILED_ATTRIBUTE),
                                             mlirUnitAttrGet(mlirOperationGetContext(section)));
}

bool sambaFailedSection(MlirOperation module, char *out_name, size_t size) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (mlirAttributeIsNull(mlirOperationGetDiscardableAttributeByName(
            operation, sambaMlirString(SAMBA_FAILED_ATTRIBUTE))))
      continue;
    MlirStringRef name = mlirStringAttrGetValue(sambaOperationAttribute(operation, "sym_name"));
    if (name.length >= size)
      return false;
    memcpy(out_name, name.data, name.length);
    out_name[name.length] = '\0';
    return true;
  }
  return false;
}

/* The last decision about a section holds. */
static SambaDecision *findDecision(const SambaDecisions *decisions, const char *section) {
  for (size_t i = decisions->size; i-- > 0;)
    if (strcmp(decisions->data[i].section, section) == 0)
      return &decisions->data[i];
  return NULL;
}

bool sambaDecisionsHalve(SambaDecisions *decisions, const char *section) {
  SambaDecision *decision = findDecision(decisions, section);
  if (!decision) {
    SambaDecision made = {.divisor = 1};
    snprintf(made.section, sizeof made.section, "%s", section);
    sambaArrayAppend(decisions, made);
    decision = &decisions->data[decisions->size - 1];
  }
  if (decision->divisor >= maxDivisor)
    return false;
  decision->divisor *= 2;
  return true;
}

uint32_t sambaDecisionsDivisor(const SambaDecisions *decisions, const char *section) {
  const SambaDecision *decision = findDecision(decisions, section);
  return decision ? decision->divisor : 1;
}

static bool parseDecision(const char *line, SambaDecision *out) {
  char rest;
  return sscanf(line, "%63s parallel %u %c", out->section, &out->divisor, &rest) == 2 &&
         out->divisor >= 1 && out->divisor <= maxDivisor;
}

SambaStatus sambaDecisionsRead(const char *path, SambaDecisions *decisions) {
  FILE *file = fopen(path, "r");
  if (!file)
    return sambaStatusMake(SAMBA_IO, "%s: %s", path, strerror(errno));
  char line[256];
  SambaStatus status = NULL;

  for (int number = 1; !status && fgets(line, sizeof line, file); ++number) {
    SambaDecision decision;
    if (line[0] == '#' || line[strspn(line, " \t\r\n")] == '\0')
      continue;
    if (parseDecision(line, &decision))
      sambaArrayAppend(decisions, decision);
    else
      status = sambaStatusMake(SAMBA_INVALID,
                               "%s:%d: a decision is 'SECTION parallel N' with N from 1 to %d",
                               path, number, maxDivisor);
  }

  fclose(file);
  return status;
}

SambaStatus sambaDecisionsWrite(const SambaDecisions *decisions, const char *path) {
  SambaText text = {0};
  for (size_t i = 0; i < decisions->size; ++i)
    sambaTextFormat(&text, "%s parallel %u\n", decisions->data[i].section,
                    decisions->data[i].divisor);
  SambaStatus status = sambaWriteFile(path, sambaTextGet(&text), text.size);
  sambaTextFree(&text);
  return status;
}

void sambaDecisionsFree(SambaDecisions *decisions) { sambaArrayFree(decisions); }

void sambaDecisionsToModule(const SambaDecisions *decisions, MlirOperation module) {
  if (!decisions->size)
    return;
  MlirContext context = mlirOperationGetContext(module);
  MlirAttribute *lines = sambaAllocate(sambaArraySize(decisions->size, sizeof *lines));

  for (size_t i = 0; i < decisions->size; ++i) {
    char line[128];
    int length = snprintf(line, sizeof line, "%s parallel %u", decisions->data[i].section,
                          decisions->data[i].divisor);
    lines[i] = mlirStringAttrGet(context, mlirStringRefCreate(line, (size_t)length));
  }

  mlirOperationSetDiscardableAttributeByName(
      module, sambaMlirString(SAMBA_DECISIONS_ATTRIBUTE),
      mlirArrayAttrGet(context, (intptr_t)decisions->size, lines));
  free(lines);
}

SambaStatus sambaDecisionsFromModule(MlirOperation module, SambaDecisions *decisions) {
  MlirAttribute lines = mlirOperationGetDiscardableAttributeByName(
      module, sambaMlirString(SAMBA_DECISIONS_ATTRIBUTE));
  for (intptr_t i = 0; !mlirAttributeIsNull(lines) && mlirAttributeIsAArray(lines) &&
                       i < mlirArrayAttrGetNumElements(lines);
       ++i) {
    MlirAttribute line = mlirArrayAttrGetElement(lines, i);
    SambaDecision decision;
    char text[128] = "";
    if (mlirAttributeIsAString(line))
      snprintf(text, sizeof text, "%.*s", (int)mlirStringAttrGetValue(line).length,
               mlirStringAttrGetValue(line).data);
    if (!parseDecision(text, &decision))
      return sambaStatusMake(
          SAMBA_INVALID, "rdu.decisions: a decision is 'SECTION parallel N' with N from 1 to %d",
          maxDivisor);
    sambaArrayAppend(decisions, decision);
  }

  return NULL;
}
