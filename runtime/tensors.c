/* Host tensors to and from the device; see tensors.h and samba/session.h. */
#include "runtime/tensors.h"

#include "support/number/shape.h"
#include "support/text/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- Writing ---- */

static SambaHostData hostData(const SambaTensor *tensor, const void *data) {
  return (SambaHostData){sambaTensorGetDType(tensor), sambaTensorGetRank(tensor),
                         sambaTensorGetDims(tensor), data};
}

SambaStatus sambaOutgoingPrepare(SambaLoadedPef *loaded, uint32_t symbol, SambaTensor *tensor,
                                 SambaOutgoing *outgoing) {
  const SambaHostData shape = hostData(tensor, NULL);
  *outgoing = (SambaOutgoing){.symbol = symbol, .data = shape};
  SAMBA_RETURN_IF_ERROR(sambaCheckSymbolShape(loaded, symbol, &shape));
  if (!loaded->device->holds_values)
    return NULL;

  SAMBA_RETURN_IF_ERROR(sambaTensorCopyMaterialized(tensor, NULL, &outgoing->tensor));
  outgoing->data.data = sambaTensorGetDataPtr(outgoing->tensor);
  if (!sambaTensorIsContiguous(outgoing->tensor)) {
    int64_t bytes = sambaTensorGetNumBytes(outgoing->tensor);
    outgoing->data.data = outgoing->copy = sambaAllocate((size_t)bytes);
    SAMBA_RETURN_IF_ERROR(sambaTensorReadData(outgoing->tensor, outgoing->copy, bytes));
  }
  return sambaCheckValues(loaded, symbol, &outgoing->data);
}

void sambaOutgoingFree(SambaOutgoing *outgoing) {
  sambaTensorRelease(outgoing->tensor);
  free(outgoing->copy);
  *outgoing = (SambaOutgoing){0};
}

SambaStatus sambaWriteTensor(SambaLoadedPef *loaded, uint32_t symbol, SambaTensor *tensor) {
  SambaOutgoing outgoing;
  SambaStatus status = sambaOutgoingPrepare(loaded, symbol, tensor, &outgoing);
  if (!status)
    status = sambaWriteValues(loaded, symbol, &outgoing.data);
  sambaOutgoingFree(&outgoing);
  return status;
}

/* ---- Reading ---- */

SambaStatus sambaCheckTensor(SambaLoadedPef *loaded, uint32_t symbol, const SambaTensor *tensor) {
  const SambaPefSymbol *record = &loaded->pef->symbols[symbol];
  const int64_t *dims = sambaSymbolDims(loaded, symbol);
  if (sambaTensorGetDType(tensor) == record->host_dtype &&
      sambaTensorGetRank(tensor) == record->dims_count &&
      (!record->dims_count ||
       memcmp(sambaTensorGetDims(tensor), dims, record->dims_count * sizeof *dims) == 0))
    return NULL;

  char own[SAMBA_SHAPE_TEXT_BYTES], given[SAMBA_SHAPE_TEXT_BYTES];
  return sambaStatusMake(
      SAMBA_INVALID, "'%.*s' is %s on the device, but the tensor that shall receive it is %s",
      SAMBA_STRING_ARGS(record->name),
      sambaShapeFormat(own, sizeof own, record->dims_count, dims,
                       sambaDTypeName(record->host_dtype)),
      sambaShapeFormat(given, sizeof given, sambaTensorGetRank(tensor), sambaTensorGetDims(tensor),
                       sambaDTypeName(sambaTensorGetDType(tensor))));
}

SambaStatus sambaReadTensor(SambaLoadedPef *loaded, uint32_t symbol, SambaTensor *tensor,
                            bool in_place) {
  SAMBA_RETURN_IF_ERROR(sambaCheckTensor(loaded, symbol, tensor));
  in_place = in_place && sambaTensorHasData(tensor);
  if (in_place && sambaTensorIsContiguous(tensor))
    return sambaReadValues(loaded, symbol, sambaTensorGetDataPtr(tensor));

  int64_t bytes = sambaTensorGetNumBytes(tensor);
  void *data = sambaAllocate((size_t)bytes);
  SambaStatus status = sambaReadValues(loaded, symbol, data);
  if (!status)
    status = sambaTensorWriteData(tensor, data, bytes, in_place);
  free(data);
  return status;
}

/* A new tensor that owns what was read. */
static SambaStatus readNew(SambaLoadedPef *loaded, uint32_t symbol, SambaTensor **out_tensor) {
  const SambaPefSymbol *record = &loaded->pef->symbols[symbol];
  void *data = sambaAllocate((size_t)sambaSymbolHostBytes(record));
  SambaStatus status = sambaReadValues(loaded, symbol, data);
  if (status) {
    free(data);
    return status;
  }

  SambaBufferView view = {data, record->host_dtype, record->dims_count,
                          sambaSymbolDims(loaded, symbol), NULL};
  SAMBA_RETURN_IF_ERROR(
      sambaTensorCreateFromBufferOwned(&view, free, data, record->name, out_tensor));
  sambaTensorSetRegionName(*out_tensor, loaded->pef->regions[record->region].name);
  return NULL;
}

/* ---- Gradients ---- */

SambaStatus sambaFindGradient(const SambaLoadedPef *loaded, uint32_t symbol,
                              uint32_t *out_gradient) {
  const SambaPefSymbol *record = &loaded->pef->symbols[symbol];
  *out_gradient = record->grad_symbol;
  if (*out_gradient != SAMBA_PEF_NONE)
    return NULL;

  SambaText name = {0};
  sambaTextFormat(&name, "%.*s__grad", SAMBA_STRING_ARGS(record->name));
  SambaStatus status = sambaFindSymbol(loaded, sambaStringRef(sambaTextGet(&name)), out_gradient);
  sambaTextFree(&name);
  return status;
}

/* ---- By name ---- */

static SambaStatus find(const SambaSession *session, SambaStringRef name, bool gradient,
                        uint32_t *out_symbol) {
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  if (!name.size)
    return sambaStatusMake(SAMBA_INVALID, "a tensor without a name has no place on the device; "
                                          "give it the name that it was compiled with");
  SAMBA_RETURN_IF_ERROR(sambaFindSymbol(session->loaded, name, out_symbol));
  return gradient ? sambaFindGradient(session->loaded, *out_symbol, out_symbol) : NULL;
}

static SambaStatus readNamed(SambaSession *session, SambaStringRef name, bool gradient,
                             SambaTensor **out_tensor) {
  uint32_t symbol;
  *out_tensor = NULL;
  SAMBA_RETURN_IF_ERROR(find(session, name, gradient, &symbol));
  return readNew(session->loaded, symbol, out_tensor);
}

static SambaStatus writeNamed(SambaSession *session, SambaStringRef name, bool gradient,
                              SambaTensor *tensor) {
  uint32_t symbol;
  SAMBA_RETURN_IF_ERROR(find(session, name, gradient, &symbol));
  return sambaWriteTensor(session->loaded, symbol, tensor);
}

SambaStatus sambaSessionReadTensor(SambaSession *session, SambaStringRef name,
                                   SambaTensor **out_tensor) {
  return readNamed(session, name, false, out_tensor);
}

SambaStatus sambaSessionReadTensors(SambaSession *session, uint32_t count,
                                    const SambaStringRef *names, SambaTensor **out_tensors) {
  SambaStatus status = NULL;
  uint32_t done = 0;
  while (done < count && !status) {
    status = sambaSessionReadTensor(session, names[done], &out_tensors[done]);
    done += !status;
  }
  for (uint32_t i = 0; status && i < count; ++i) {
    if (i < done)
      sambaTensorRelease(out_tensors[i]);
    out_tensors[i] = NULL;
  }
  return status;
}

SambaStatus sambaSessionReadInto(SambaSession *session, SambaStringRef name, SambaTensor *tensor,
                                 bool in_place) {
  uint32_t symbol;
  SAMBA_RETURN_IF_ERROR(find(session, name, false, &symbol));
  return sambaReadTensor(session->loaded, symbol, tensor, in_place);
}

SambaStatus sambaSessionWriteTensor(SambaSession *session, SambaStringRef name,
                                    SambaTensor *tensor) {
  return writeNamed(session, name, false, tensor);
}

SambaStatus sambaSessionReadGrad(SambaSession *session, SambaStringRef name,
                                 SambaTensor **out_tensor) {
  return readNamed(session, name, true, out_tensor);
}

SambaStatus sambaSessionWriteGrad(SambaSession *session, SambaStringRef name, SambaTensor *tensor) {
  return writeNamed(session, name, true, tensor);
}

/* ---- By tensor ---- */

SambaStatus sambaTensorCopyFromDevice(const SambaTensor *tensor, SambaSession *session,
                                      SambaTensor **out_value) {
  return sambaSessionReadTensor(session, sambaTensorGetName(tensor), out_value);
}

SambaStatus sambaTensorCopyToDevice(const SambaTensor *tensor, SambaSession *session,
                                    SambaTensor *value) {
  return sambaSessionWriteTensor(session, sambaTensorGetName(tensor), value);
}

SambaStatus sambaTensorCopyGradFromDevice(const SambaTensor *tensor, SambaSession *session,
                                          SambaTensor **out_value) {
  return sambaSessionReadGrad(session, sambaTensorGetName(tensor), out_value);
}

SambaStatus sambaTensorCopyGradToDevice(const SambaTensor *tensor, SambaSession *session,
                                        SambaTensor *value) {
  return sambaSessionWriteGrad(session, sambaTensorGetName(tensor), value);
}

/* The symbol of the gradient, SAMBA_PEF_NONE when the PEF has none. */
static uint32_t gradientOf(const SambaLoadedPef *loaded, uint32_t symbol) {
  uint32_t gradient;
  SambaStatus status = sambaFindGradient(loaded, symbol, &gradient);
  gradient = status ? SAMBA_PEF_NONE : gradient;
  sambaStatusFree(status);
  return gradient;
}

SambaStatus sambaTensorToDevice(SambaTensor *tensor, SambaSession *session) {
  uint32_t symbol;
  SAMBA_RETURN_IF_ERROR(find(session, sambaTensorGetName(tensor), false, &symbol));
  uint32_t gradient = gradientOf(session->loaded, symbol);
  SambaTensor *grad = sambaTensorGetGrad(tensor);

  SambaOutgoing data = {0}, gradients = {0};
  SambaStatus status = sambaOutgoingPrepare(session->loaded, symbol, tensor, &data);
  bool has_gradient = grad && gradient != SAMBA_PEF_NONE;
  if (!status && has_gradient)
    status = sambaOutgoingPrepare(session->loaded, gradient, grad, &gradients);
  if (!status)
    status = sambaWriteValues(session->loaded, symbol, &data.data);
  if (!status && has_gradient)
    status = sambaWriteValues(session->loaded, gradient, &gradients.data);
  sambaOutgoingFree(&data);
  sambaOutgoingFree(&gradients);
  return status;
}

static bool isWritten(const SambaLoadedPef *loaded, uint32_t symbol) {
  return loaded->device->functions->is_written(loaded->device, symbol);
}

SambaStatus sambaSessionIsWritten(const SambaSession *session, SambaStringRef name,
                                  bool *out_written) {
  uint32_t symbol;
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  SAMBA_RETURN_IF_ERROR(sambaFindSymbol(session->loaded, name, &symbol));
  *out_written = isWritten(session->loaded, symbol);
  return NULL;
}

/* The host's gradient stays where nothing has computed one yet. */
static SambaStatus readGradient(SambaLoadedPef *loaded, uint32_t gradient, SambaTensor *tensor,
                                bool in_place) {
  if (!isWritten(loaded, gradient))
    return NULL;
  SambaTensor *grad = sambaTensorGetGrad(tensor), *fresh = NULL;
  SambaStatus status =
      grad ? sambaReadTensor(loaded, gradient, grad, in_place) : readNew(loaded, gradient, &fresh);
  if (!status && fresh)
    status = sambaTensorSetGrad(tensor, fresh);
  sambaTensorRelease(fresh);
  return status;
}

SambaStatus sambaTensorToHost(SambaTensor *tensor, SambaSession *session, bool in_place) {
  uint32_t symbol;
  SAMBA_RETURN_IF_ERROR(find(session, sambaTensorGetName(tensor), false, &symbol));
  SAMBA_RETURN_IF_ERROR(sambaReadTensor(session->loaded, symbol, tensor, in_place));
  uint32_t gradient = gradientOf(session->loaded, symbol);
  return gradient == SAMBA_PEF_NONE ? NULL
                                    : readGradient(session->loaded, gradient, tensor, in_place);
}
