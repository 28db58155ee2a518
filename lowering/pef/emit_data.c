/* What symbols hold at first: elements in the IR, one value for all, or a range of a file; see
 * emitter.h. */
#include "lowering/pef/emitter.h"

#include "dialect/bridge/build_operation.h"
#include "support/file/path.h"

#include <string.h>

/* Values in the IR keep their own type, which may be wider than the device's: loading converts. */
SambaStatus sambaEmitDenseData(SambaEmitter *emitter, MlirAttribute value, SambaPefSymbol *symbol) {
  uint64_t elements = symbol->bytes / sambaDTypeBytes(symbol->device_dtype);
  SambaTensorType type;

  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirAttributeGetType(value), &type));
  uint32_t size = sambaDTypeBytes(type.dtype);
  uint8_t *data = SAMBA_ARENA_ARRAY(emitter->arena, uint8_t, elements *size + 1);
  const uint8_t *raw = mlirDenseElementsAttrGetRawData(value);
  bool splat = mlirDenseElementsAttrIsSplat(value);

  for (uint64_t i = 0; i < elements; ++i) {
    uint64_t at = splat ? 0 : i;
    if (type.dtype == SAMBA_DTYPE_I1) /* one byte each: 0 or 1 */
      data[i] = splat ? mlirDenseElementsAttrGetBoolSplatValue(value) != 0
                      : mlirDenseElementsAttrGetBoolValue(value, (intptr_t)i);
    else
      memcpy(data + i * size, raw + at * size, size);
  }

  symbol->init = SAMBA_PEF_INIT_BLOB;
  symbol->init_dtype = type.dtype;
  symbol->flags |= SAMBA_PEF_HAS_DATA;
  symbol->init_bytes = elements * size;
  symbol->source.data = data;

  return NULL;
}

static int64_t integerIn(MlirAttribute dictionary, const char *name, int64_t otherwise) {
  MlirAttribute attribute = mlirDictionaryAttrGetElementByName(dictionary, sambaMlirString(name));
  return mlirAttributeIsNull(attribute) ? otherwise : mlirIntegerAttrGetValueInt(attribute);
}

/* One value for all elements needs no data. False: it is not one, or loading has to convert it. */
static bool fillData(MlirAttribute value, SambaPefSymbol *symbol) {
  SambaTensorType type;
  SambaStatus status = sambaTensorTypeFromMlir(mlirAttributeGetType(value), &type);
  bool fills = !status && mlirDenseElementsAttrIsSplat(value) && type.dtype != SAMBA_DTYPE_I1 &&
               (type.dtype == symbol->device_dtype ||
                (sambaDTypeIsFloat(type.dtype) && sambaDTypeIsFloat(symbol->device_dtype)));
  sambaStatusFree(status);
  if (!fills)
    return false;

  memcpy(&symbol->init_value, mlirDenseElementsAttrGetRawData(value), sambaDTypeBytes(type.dtype));
  if (type.dtype != symbol->device_dtype)
    symbol->init_value = sambaNarrowToBits(
        symbol->device_dtype, sambaBitsToFloat(type.dtype, (uint32_t)symbol->init_value));
  symbol->init = SAMBA_PEF_INIT_FILL;
  return true;
}

SambaStatus sambaEmitInitialData(SambaEmitter *emitter, MlirAttribute value,
                                 SambaPefSymbol *symbol) {
  if (mlirAttributeIsNull(value))
    return NULL;
  if (mlirAttributeIsADenseElements(value))
    return fillData(value, symbol) ? NULL : sambaEmitDenseData(emitter, value, symbol);
  if (!sambaAttributeIs(value, SAMBA_EXTERNAL_KIND))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "symbol '%.*s': samba.value must be #samba.external or dense elements "
                           "to be written into a PEF",
                           SAMBA_STRING_ARGS(symbol->name));
  MlirStringRef file = sambaAttributeHead(value);
  MlirAttribute body = sambaAttributeBody(value);
  symbol->source.path =
      sambaPathJoin(emitter->arena, sambaStringRef(emitter->options->folder), sambaFromMlir(file));
  if (!emitter->options->model || strcmp(symbol->source.path, emitter->options->model) != 0)
    symbol->source.folder = emitter->options->data_folder;
  symbol->source.offset = (uint64_t)integerIn(body, "offset", 0);
  symbol->init_offset = emitter->options->external_weights ? symbol->source.offset : 0;
  symbol->init = emitter->options->external_weights ? SAMBA_PEF_INIT_FILE : SAMBA_PEF_INIT_BLOB;
  symbol->flags |= SAMBA_PEF_HAS_DATA;

  /* The file holds the host's type: narrower device types are converted while loading. */
  symbol->init_dtype = symbol->host_dtype;
  symbol->init_bytes =
      (uint64_t)integerIn(body, "bytes",
                          (int64_t)(symbol->bytes / sambaDTypeBytes(symbol->device_dtype) *
                                    sambaDTypeBytes(symbol->host_dtype)));
  return NULL;
}
