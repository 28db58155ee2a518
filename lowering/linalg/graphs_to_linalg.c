/* convert-samba-graphs-to-linalg: whole graphs, the exit to other compilers. */
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "lowering/linalg/samba_to_linalg.h"
#include "lowering/linalg/views_to_linalg.h"
#include "lowering/linalg/weights_to_linalg.h"
#include "lowering/passes.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

/* Constants and reshapes; an operator that is left has no form. */
static bool convertRest(MlirOperation function) {
  MlirOperation next;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    if (sambaOperationIs(operation, "samba.constant")) {
      MlirAttribute value = sambaOperationAttribute(operation, "value");
      MlirValue constant = sambaBuildConstant(mlirOperationGetBlock(operation), operation,
                                              mlirOperationGetLocation(operation), value);
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, 0), constant);
      mlirOperationDestroy(operation);
    } else if (sambaOperationIs(operation, "samba.reshape")) {
      sambaReshapeToLinalg(operation);
    } else if (sambaOperatorNameOf(operation).size) {
      return sambaEmitOpError(operation, "has no linalg form");
    }
  }
  return true;
}

/* The names of arguments stay as their locations: printers show them as names of values. */
static void keepNames(MlirOperation function) {
  MlirBlock body = sambaBodyOf(function);
  MlirAttribute all = sambaOperationAttribute(function, "arg_attrs");
  for (intptr_t i = 0; !mlirAttributeIsNull(all) && i < mlirArrayAttrGetNumElements(all); ++i) {
    MlirAttribute name = sambaDictionaryFind(mlirArrayAttrGetElement(all, i), SAMBA_NAME_ATTRIBUTE);
    if (!mlirAttributeIsNull(name))
      mlirBlockArgumentSetLocation(
          mlirBlockGetArgument(body, i),
          mlirLocationNameGet(mlirOperationGetContext(function), mlirStringAttrGetValue(name),
                              mlirLocationUnknownGet(mlirOperationGetContext(function))));
  }
}

static void dropAttributes(MlirOperation function) {
  keepNames(function);
  mlirOperationRemoveAttributeByName(function, sambaMlirString("arg_attrs"));
  mlirOperationRemoveAttributeByName(function, sambaMlirString("res_attrs"));
  mlirOperationRemoveDiscardableAttributeByName(function, sambaMlirString(SAMBA_GRAPH_ATTRIBUTE));
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    mlirOperationRemoveDiscardableAttributeByName(operation,
                                                  sambaMlirString(SAMBA_STAGE_ATTRIBUTE));
    mlirOperationRemoveDiscardableAttributeByName(operation,
                                                  sambaMlirString(SAMBA_LANE_REDUCE_ATTRIBUTE));
  }
}

static SambaStatus formOf(const char *weights, SambaWeightsForm *out_form) {
  static const char *const names[] = {"arguments", "constants", "globals"};
  for (int i = 0; i < 3; ++i)
    if (strcmp(weights, names[i]) == 0) {
      *out_form = (SambaWeightsForm)i;
      return NULL;
    }
  return sambaStatusMake(SAMBA_INVALID, "weights wants arguments, constants or globals, not '%s'",
                         weights);
}

bool sambaConvertSambaGraphsToLinalg(MlirOperation module, const char *weights,
                                     const char *attributes, const char *folder,
                                     const char *data_folder) {
  SambaWeightsOptions options = {.folder = folder,
                                 .data_folder = data_folder[0] ? data_folder : folder};
  bool keep = strcmp(attributes, "true") == 0;
  SambaStatus status = formOf(weights, &options.form);
  if (!status && !keep && strcmp(attributes, "false") != 0)
    status = sambaStatusMake(SAMBA_INVALID, "attributes wants true or false, not '%s'", attributes);
  if (status)
    return sambaEmitOpStatus(module, status);
  if (!sambaModuleCheckGraphs(module))
    return false;

  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (!sambaOperationIsGraph(operation))
      continue;
    sambaViewsToLinalg(operation);
    if (!sambaOperatorsToLinalg(operation, true) || !convertRest(operation) ||
        !sambaWeightsToLinalg(operation, &options))
      return false;
    if (!keep)
      dropAttributes(operation);
  }
  if (!keep)
    mlirOperationRemoveDiscardableAttributeByName(module, sambaMlirString(SAMBA_GRAPHS_ATTRIBUTE));
  return true;
}
