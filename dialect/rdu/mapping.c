/* #rdu.mapping where operations carry it; see mapping.h. */
#include "dialect/rdu/mapping.h"

#include "dialect/rdu/rdu.h"
#include "dialect/samba/samba.h"

#include <stdlib.h>

bool sambaMappingOfOperation(MlirOperation operation, uint32_t ordinal, SambaMapping *out_mapping) {
  *out_mapping = (SambaMapping){0};
  MlirAttribute attribute = sambaOperationAttribute(operation, SAMBA_MAPPING_ATTRIBUTE);

  if (mlirAttributeIsNull(attribute))
    return false;
  if (mlirAttributeIsAArray(attribute)) {
    if (ordinal >= (uint64_t)mlirArrayAttrGetNumElements(attribute))
      return false;
    attribute = mlirArrayAttrGetElement(attribute, ordinal);
  } else if (ordinal) {
    return false;
  }

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
