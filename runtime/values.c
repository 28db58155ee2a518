/* Values of symbols between host and device; see values.h. */
#include "runtime/values.h"

#include "runtime/clock.h"
#include "runtime/masters.h"
#include "runtime/missing_tensor.h"
#include "support/number/shape.h"

#include <stdlib.h>
#include <string.h>

SambaStatus sambaFindSymbol(const SambaLoadedPef *loaded, SambaStringRef name,
                            uint32_t *out_symbol) {
  return sambaStringMapGet(&loaded->names, name, out_symbol)
             ? NULL
             : sambaExplainMissingTensor(loaded->pef, name);
}

const int64_t *sambaSymbolDims(SambaLoadedPef *loaded, uint32_t symbol) {
  const SambaPefSymbol *record = &loaded->pef->symbols[symbol];
  if (!loaded->dims[symbol]) {
    loaded->dims[symbol] = SAMBA_ARENA_ARRAY(&loaded->arena, int64_t, record->dims_count + 1);
    for (uint32_t a = 0; a < record->dims_count; ++a)
      loaded->dims[symbol][a] = (int64_t)record->dims[a].size;
  }
  return loaded->dims[symbol];
}

uint64_t sambaSymbolHostBytes(const SambaPefSymbol *symbol) {
  return sambaArraySize(sambaPefSymbolElements(symbol), sambaDTypeBytes(symbol->host_dtype));
}

/* ---- Checks ---- */

/* Index tensors of PyTorch are i64; a model may want fewer bits. */
static bool isNarrowed(const SambaPefSymbol *symbol, SambaDType from) {
  return from == SAMBA_DTYPE_I64 &&
         (symbol->host_dtype == SAMBA_DTYPE_I32 || symbol->host_dtype == SAMBA_DTYPE_I16);
}

static bool isSameShape(SambaLoadedPef *loaded, uint32_t symbol, const SambaHostData *data) {
  uint32_t rank = loaded->pef->symbols[symbol].dims_count;
  return rank == data->rank && (!rank || memcmp(data->dims, sambaSymbolDims(loaded, symbol),
                                                rank * sizeof *data->dims) == 0);
}

static SambaStatus refuseShape(SambaLoadedPef *loaded, uint32_t symbol, const SambaHostData *data) {
  const SambaPefSymbol *record = &loaded->pef->symbols[symbol];
  char given[SAMBA_SHAPE_TEXT_BYTES], wanted[SAMBA_SHAPE_TEXT_BYTES];
  return sambaNoteInputs(
      loaded->pef, sambaStatusMake(SAMBA_INVALID, "input '%.*s' is %s, but the data are %s",
                                   SAMBA_STRING_ARGS(record->name),
                                   sambaShapeFormat(wanted, sizeof wanted, record->dims_count,
                                                    sambaSymbolDims(loaded, symbol),
                                                    sambaDTypeName(record->host_dtype)),
                                   sambaShapeFormat(given, sizeof given, data->rank, data->dims,
                                                    sambaDTypeName(data->dtype))));
}

static SambaStatus checkFits(const SambaPefSymbol *symbol, const uint8_t *values) {
  int64_t end = (int64_t)1 << (8 * sambaDTypeBytes(symbol->host_dtype) - 1);
  uint64_t count = sambaPefSymbolElements(symbol);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t value;
    memcpy(&value, values + i * sizeof value, sizeof value);
    if (value < -end || value >= end)
      return sambaStatusMake(SAMBA_INVALID,
                             "input '%.*s': element %llu is %lld, which %s cannot hold",
                             SAMBA_STRING_ARGS(symbol->name), (unsigned long long)i,
                             (long long)value, sambaDTypeName(symbol->host_dtype));
  }
  return NULL;
}

SambaStatus sambaCheckSymbolShape(SambaLoadedPef *loaded, uint32_t symbol,
                                  const SambaHostData *data) {
  const SambaPefSymbol *record = &loaded->pef->symbols[symbol];
  bool fits = data->dtype == record->host_dtype || isNarrowed(record, data->dtype);
  return fits && isSameShape(loaded, symbol, data) ? NULL : refuseShape(loaded, symbol, data);
}

SambaStatus sambaCheckValues(SambaLoadedPef *loaded, uint32_t symbol, const SambaHostData *data) {
  const SambaPefSymbol *record = &loaded->pef->symbols[symbol];
  SAMBA_RETURN_IF_ERROR(sambaCheckSymbolShape(loaded, symbol, data));
  bool narrowed = isNarrowed(record, data->dtype) && loaded->device->holds_values;
  return narrowed ? checkFits(record, data->data) : NULL;
}

/* ---- Conversions ---- */

/* The little-endian lower bytes of whole numbers that fit. */
static void narrow(const void *source, uint32_t bytes, void *target, uint64_t count) {
  const uint8_t *from = source;
  uint8_t *to = target;
  for (uint64_t i = 0; i < count; ++i)
    memcpy(to + i * bytes, from + i * sizeof(int64_t), bytes);
}

/* Between host and device float types; equal types are copied. */
static SambaStatus convert(const SambaPefSymbol *symbol, SambaDType from, const void *source,
                           SambaDType to, void *target) {
  if (!sambaDTypeIsFloat(from) || !sambaDTypeIsFloat(to))
    return sambaStatusMake(
        SAMBA_UNSUPPORTED, "tensor '%.*s': %s on the host cannot be %s on the device",
        SAMBA_STRING_ARGS(symbol->name), sambaDTypeName(from), sambaDTypeName(to));

  sambaConvertFloats(from, source, to, target, sambaPefSymbolElements(symbol));
  return NULL;
}

/* ---- Transfers ---- */

SambaStatus sambaWriteSymbol(SambaLoadedPef *loaded, uint32_t symbol, const void *data) {
  const SambaPefSymbol *record = &loaded->pef->symbols[symbol];
  sambaMastersWritten(loaded, symbol);
  SAMBA_RETURN_IF_ERROR(
      sambaStatusAnnotate(loaded->device->functions->write(loaded->device, symbol, data),
                          "input '%.*s'", SAMBA_STRING_ARGS(record->name)));
  loaded->set[symbol] = true;
  loaded->report.transfers.host_to_device_bytes += record->bytes;
  return NULL;
}

SambaStatus sambaReadSymbol(SambaLoadedPef *loaded, uint32_t symbol, void *data) {
  SAMBA_RETURN_IF_ERROR(loaded->device->functions->read(loaded->device, symbol, data));
  loaded->report.transfers.device_to_host_bytes += loaded->pef->symbols[symbol].bytes;
  return NULL;
}

static SambaStatus writeConverted(SambaLoadedPef *loaded, uint32_t symbol,
                                  const SambaHostData *data) {
  const SambaPefSymbol *record = &loaded->pef->symbols[symbol];
  void *converted = sambaAllocate(record->bytes);
  SambaStatus status = NULL;
  if (isNarrowed(record, data->dtype) && record->host_dtype == record->device_dtype)
    narrow(data->data, sambaDTypeBytes(record->device_dtype), converted,
           sambaPefSymbolElements(record));
  else
    status = convert(record, data->dtype, data->data, record->device_dtype, converted);

  if (!status)
    status = sambaWriteSymbol(loaded, symbol, converted);
  loaded->report.transfers.conversions += !status;
  free(converted);
  return status;
}

SambaStatus sambaWriteValues(SambaLoadedPef *loaded, uint32_t symbol, const SambaHostData *data) {
  const SambaPefSymbol *record = &loaded->pef->symbols[symbol];
  if (!loaded->device->holds_values) {
    loaded->set[symbol] = true;
    return NULL;
  }

  double start = sambaClockNow();
  SambaStatus status = data->dtype == record->device_dtype
                           ? sambaWriteSymbol(loaded, symbol, data->data)
                           : writeConverted(loaded, symbol, data);
  loaded->report.transfers.seconds += sambaClockNow() - start;
  return status;
}

static SambaStatus readConverted(SambaLoadedPef *loaded, uint32_t symbol, void *data) {
  const SambaPefSymbol *record = &loaded->pef->symbols[symbol];
  void *raw = sambaAllocate(record->bytes);
  SambaStatus status = sambaReadSymbol(loaded, symbol, raw);
  if (!status)
    status = convert(record, record->device_dtype, raw, record->host_dtype, data);
  loaded->report.transfers.conversions += !status;
  free(raw);
  return status;
}

SambaStatus sambaReadValues(SambaLoadedPef *loaded, uint32_t symbol, void *data) {
  const SambaPefSymbol *record = &loaded->pef->symbols[symbol];
  double start = sambaClockNow();
  SambaStatus status = record->host_dtype == record->device_dtype
                           ? sambaReadSymbol(loaded, symbol, data)
                           : readConverted(loaded, symbol, data);
  loaded->report.transfers.seconds += sambaClockNow() - start;
  return status;
}

/* ---- By name ---- */

SambaStatus sambaSessionSetInput(SambaSession *session, SambaStringRef name, SambaDType dtype,
                                 uint32_t rank, const int64_t *dims, const void *data) {
  const SambaHostData own = {dtype, rank, dims, data};
  uint32_t symbol;
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  SAMBA_RETURN_IF_ERROR(sambaFindSymbol(session->loaded, name, &symbol));
  SAMBA_RETURN_IF_ERROR(sambaCheckValues(session->loaded, symbol, &own));
  return sambaWriteValues(session->loaded, symbol, &own);
}
