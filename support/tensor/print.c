/* Tensors as text. */
#include "support/number/convert.h"
#include "support/number/shape.h"
#include "support/tensor/tensor_state.h"
#include "support/text/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Elements ---- */

/* Does the text give the number back, in the type? */
static bool givesBack(SambaDType dtype, double number, const char *text) {
  uint64_t bits = 0;
  sambaScalarStore(sambaScalarFloat(strtod(text, NULL)), dtype, &bits);
  return sambaScalarLoad(dtype, &bits).number == number;
}

static void printFloat(SambaText *text, SambaDType dtype, double number) {
  char digits[40];
  if (isnan(number) || isinf(number)) {
    const char *infinity = number < 0 ? "-inf" : "inf";
    sambaTextAppendC(text, isnan(number) ? "nan" : infinity);
    return;
  }
  for (int precision = 1; precision <= 17; ++precision) {
    snprintf(digits, sizeof digits, "%.*g", precision, number);
    if (givesBack(dtype, number, digits))
      break;
  }
  sambaTextAppendC(text, digits);
  if (!strpbrk(digits, ".e"))
    sambaTextAppendC(text, ".0");
}

static void printElement(SambaText *text, SambaDType dtype, const uint8_t *data) {
  SambaScalar item = sambaScalarLoad(dtype, data);
  if (item.dtype == SAMBA_DTYPE_F64)
    printFloat(text, dtype, item.number);
  else if (item.dtype == SAMBA_DTYPE_I1)
    sambaTextAppendC(text, item.integer ? "True" : "False");
  else
    sambaTextFormat(text, "%lld", (long long)item.integer);
}

/* ---- Lists ---- */

/* A writer hands its text on when it has grown: tensors can be large. */
typedef struct Writer {
  SambaText text;
  SambaTextSink sink;
  void *user;
} Writer;

static void flush(Writer *writer, size_t least) {
  if (writer->text.size <= least)
    return;
  writer->sink(writer->user, writer->text.data, writer->text.size);
  sambaTextClear(&writer->text);
}

static void printDimension(Writer *writer, const SambaTensor *tensor, uint32_t axis,
                           const uint8_t *data) {
  if (axis == tensor->rank) {
    printElement(&writer->text, tensor->dtype, data);
    return;
  }
  sambaTextAppendC(&writer->text, "[");
  for (int64_t i = 0; i < tensor->dims[axis]; ++i) {
    if (i)
      sambaTextAppendC(&writer->text, ", ");
    printDimension(writer, tensor, axis + 1,
                   data + i * tensor->strides[axis] * sambaDTypeBytes(tensor->dtype));
  }
  sambaTextAppendC(&writer->text, "]");
  flush(writer, 1 << 16);
}

/* A tensor without elements can have more lists than there are bytes in memory. */
static SambaStatus checkLists(const SambaTensor *tensor) {
  const int64_t most = 1 << 24;
  char text[SAMBA_TENSOR_TEXT_BYTES];
  int64_t lists = 1;
  for (uint32_t axis = 0; axis < tensor->rank && tensor->dims[axis]; ++axis)
    lists *= tensor->dims[axis];
  if (tensor->elements || lists <= most)
    return NULL;
  return sambaStatusMake(SAMBA_EXHAUSTED, "printing %s: it has no elements, but %lld empty lists",
                         sambaTensorDescribe(tensor, text), (long long)lists);
}

SambaStatus sambaTensorPrintList(const SambaTensor *tensor, SambaTextSink sink, void *user) {
  SAMBA_RETURN_IF_ERROR(sambaTensorNeedData(tensor, "printing"));
  SAMBA_RETURN_IF_ERROR(checkLists(tensor));
  Writer writer = {.sink = sink, .user = user};
  printDimension(&writer, tensor, 0, sambaTensorGetDataPtr(tensor));
  flush(&writer, 0);
  sambaTextFree(&writer.text);
  return NULL;
}

/* ---- What a tensor is ---- */

static const char *dataOf(const SambaTensor *tensor) {
  const SambaTensorStorage *storage = tensor->storage;
  if (storage->data)
    return storage->release ? "owned" : "borrowed";
  return storage->maker ? "lazy" : "none";
}

static void printName(SambaText *text, const char *what, SambaStringRef name) {
  if (name.size)
    sambaTextFormat(text, "%s '%.*s'", what, SAMBA_STRING_ARGS(name));
}

void sambaTensorPrint(const SambaTensor *tensor, SambaTextSink sink, void *user) {
  static const char *const memories[] = {"", ", in DDR", ", in HBM", ", in host memory"};
  SambaText text = {0};
  char shape[SAMBA_TENSOR_TEXT_BYTES];
  SambaStringRef name = sambaTensorGetName(tensor), region = sambaTensorGetRegionName(tensor);

  sambaTextAppendC(&text, "tensor");
  printName(&text, "", name);
  if (!sambaStringRefEqual(name, region))
    printName(&text, ", region", region);
  sambaTextFormat(&text, ", %s",
                  sambaShapeFormat(shape, sizeof shape, tensor->rank, tensor->dims,
                                   sambaDTypeName(tensor->dtype)));
  sambaTextAppendC(&text, memories[tensor->memory]);
  if (tensor->requires_grad)
    sambaTextAppendC(&text, ", requires a gradient");
  if (tensor->shards)
    sambaTextFormat(&text, ", on %u devices", tensor->shards->device_count);
  sambaTextFormat(&text, ", data: %s", dataOf(tensor));

  sink(user, sambaTextGet(&text), text.size);
  sambaTextFree(&text);
}
