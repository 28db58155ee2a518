/* Phases; see phase.h. */
#include "dialect/samba/phase.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"

#include "mlir-c/BuiltinAttributes.h"

SambaPefSectionType sambaPhaseOf(MlirOperation operation) {
  MlirAttribute phase =
      mlirOperationGetDiscardableAttributeByName(operation, sambaMlirString(SAMBA_PHASE_ATTRIBUTE));
  SambaPefSectionType type = SAMBA_PEF_SECTION_FWD;
  if (!mlirAttributeIsNull(phase) && mlirAttributeIsAString(phase))
    sambaPefSectionTypeFromName(sambaFromMlir(mlirStringAttrGetValue(phase)), &type);
  return type;
}

SambaPefSectionType sambaPhaseOfValue(MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  if (mlirOperationIsNull(maker) || sambaOperationIsSource(maker) ||
      sambaOperationIsConstant(maker))
    return SAMBA_PEF_SECTION_FWD;
  SambaPefSectionType own = sambaPhaseOf(maker);
  if (!sambaOperationIsView(maker))
    return own;
  SambaPefSectionType below = sambaPhaseOfValue(mlirOperationGetOperand(maker, 0));
  return sambaPefSectionTypePlace(below) > sambaPefSectionTypePlace(own) ? below : own;
}

void sambaPhaseSet(MlirOperation operation, SambaPefSectionType phase) {
  MlirStringRef name = sambaMlirString(SAMBA_PHASE_ATTRIBUTE);
  MlirContext context = mlirOperationGetContext(operation);
  if (phase == SAMBA_PEF_SECTION_FWD)
    mlirOperationRemoveDiscardableAttributeByName(operation, name);
  else
    mlirOperationSetDiscardableAttributeByName(
        operation, name,
        mlirStringAttrGet(context, sambaMlirString(sambaPefSectionTypeName(phase))));
}

intptr_t sambaPhaseAttribute(MlirOperation from, MlirNamedAttribute *out_attribute) {
  SambaPefSectionType phase = sambaPhaseOf(from);
  MlirContext context = mlirOperationGetContext(from);
  *out_attribute = sambaNamedAttribute(
      context, SAMBA_PHASE_ATTRIBUTE,
      mlirStringAttrGet(context, sambaMlirString(sambaPefSectionTypeName(phase))));
  return phase != SAMBA_PEF_SECTION_FWD;
}

void sambaPhaseTake(MlirOperation made, MlirOperation from) {
  if (!sambaOperationIs(made, "samba.constant"))
    sambaPhaseSet(made, sambaPhaseOf(from));
}

/* "'samba.mul' (layer \"fc\")" */
static const char *describe(SambaArena *arena, MlirOperation operation) {
  SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(operation));
  MlirStringRef name = sambaOperationName(operation);
  const char *text = sambaArenaFormat(arena, "'%.*s'", SAMBA_MLIR_STRING_ARGS(name));
  if (layer.size)
    text = sambaArenaFormat(arena, "%s (layer \"%.*s\")", text, SAMBA_STRING_ARGS(layer));
  return text;
}

static bool refuseOrder(MlirOperation before, MlirOperation operation) {
  SambaArena arena = {0};
  sambaEmitOpError(operation,
                   "has phase %s, but stands behind %s of phase %s; the phases of a step are "
                   "ZEROGRAD, FWD, BCKWD, REDUCE, GRADNORM and OPT, in this order",
                   sambaPefSectionTypeName(sambaPhaseOf(operation)), describe(&arena, before),
                   sambaPefSectionTypeName(sambaPhaseOf(before)));
  sambaArenaDestroy(&arena);
  return false;
}

bool sambaPhasesCheck(const MlirOperation *operators, uint32_t count) {
  uint32_t before = 0;

  for (uint32_t i = 0; i < count; ++i) {
    SambaPefSectionType phase = sambaPhaseOf(operators[i]);
    if (phase != SAMBA_PEF_SECTION_FWD && !sambaGraphTrains(operators[i]))
      return sambaEmitOpError(operators[i],
                              "has phase %s, but its graph is for inference; give the function "
                              "samba.graph = {mode = \"training\"}",
                              sambaPefSectionTypeName(phase));
    if (sambaPefSectionTypePlace(phase) < before)
      return refuseOrder(operators[i - 1], operators[i]);
    before = sambaPefSectionTypePlace(phase);
  }

  return true;
}
