/* #rdu.mapping where operations carry it; see mapping.h. */
#include "dialect/rdu/mapping.h"

#include "dialect/rdu/rdu.h"
#include "dialect/samba/samba.h"

#include <stdlib.h>

MlirAttribute sambaMappingAttributeOf(MlirOperation operation, uint32_t ordinal) {
  MlirAttribute attribute = sambaOperationAttribute(operation, SAMBA_MAPPING_ATTRIBUTE);
  if (mlirAttributeIsNull(attribute))
    return attribute;
  bool list = mlirAttributeIsAArray(attribute);
  if (ordinal >= (list ? (uint64_t)mlirArrayAttrGetNumElements(attribute) : 1))
    return mlirAttributeGetNull();
  return list ? mlirArrayAttrGetElement(attribute, ordinal) : attribute;
}

bool sambaMappingOfOperation(MlirOperation operation, uint32_t ordinal, SambaMapping *out_mapping) {
  *out_mapping = (SambaMapping){0};
  MlirAttribute attribute = sambaMappingAttributeOf(operation, ordinal);
  if (mlirAttributeIsNull(attribute))
    return false;

  SambaStatus status = sambaMappingFromAttribute(attribute, out_mapping);
  sambaStatusFree(status);
  return !status;
}

void sambaMappingSetOnOperation(MlirOperation operation, uint32_t count,
                                const SambaMapping *mappings) {
  MlirLocation location = mlirOperationGetLocation(operation);
  MlirAttribute *attributes = sambaAllocate(sambaArraySize(count, sizeof *attributes));
  for (uint32_t i = 0; i < count; ++i)
    attributes[i] = sambaMappingToAttribute(location, &mappings[i], SAMBA_MAX_STAGE_OPERANDS);
  MlirAttribute all = count == 1
                          ? attributes[0]
                          : mlirArrayAttrGet(mlirOperationGetContext(operation), count, attributes);
  free(attributes);
  if (count)
    mlirOperationSetAttributeByName(operation,
                                    mlirStringRefCreateFromCString(SAMBA_MAPPING_ATTRIBUTE), all);
}
