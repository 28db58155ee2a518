/* Conversions between MLIR's types and attributes and the structs of the operator table. */
#include "dialect/samba/samba.h"

#include "dialect/bridge/text_sink.h"
#include "support/number/shape.h"

#include <stdlib.h>

MlirStringRef sambaOperationName(MlirOperation op) {
  return mlirIdentifierStr(mlirOperationGetName(op));
}

static const char *printType(SambaArena *arena, MlirType type) {
  SambaText text = {0};
  mlirTypePrint(type, sambaTextSink, &text);
  return sambaTextToArena(&text, arena);
}

const char *sambaPrintAttribute(SambaArena *arena, MlirAttribute attribute) {
  SambaText text = {0};
  mlirAttributePrint(attribute, sambaTextSink, &text);
  return sambaTextToArena(&text, arena);
}

SambaDType sambaDTypeFromType(MlirType type) {
  if (mlirTypeIsAF32(type))
    return SAMBA_DTYPE_F32;
  if (mlirTypeIsABF16(type))
    return SAMBA_DTYPE_BF16;
  if (mlirTypeIsAF16(type))
    return SAMBA_DTYPE_F16;
  if (!mlirTypeIsAInteger(type) || mlirIntegerTypeIsSigned(type))
    return SAMBA_DTYPE_COUNT;
  bool is_unsigned = mlirIntegerTypeIsUnsigned(type);

  switch (mlirIntegerTypeGetWidth(type)) {
  case 1:
    return is_unsigned ? SAMBA_DTYPE_COUNT : SAMBA_DTYPE_I1;
  case 8:
    return is_unsigned ? SAMBA_DTYPE_UI8 : SAMBA_DTYPE_I8;
  case 16:
    return is_unsigned ? SAMBA_DTYPE_COUNT : SAMBA_DTYPE_I16;
  case 32:
    return is_unsigned ? SAMBA_DTYPE_COUNT : SAMBA_DTYPE_I32;
  case 64:
    return is_unsigned ? SAMBA_DTYPE_COUNT : SAMBA_DTYPE_I64;
  default:
    return SAMBA_DTYPE_COUNT;
  }
}

MlirType sambaDTypeToType(MlirContext context, SambaDType dtype) {
  switch (dtype) {
  case SAMBA_DTYPE_F32:
    return mlirF32TypeGet(context);
  case SAMBA_DTYPE_BF16:
    return mlirBF16TypeGet(context);
  case SAMBA_DTYPE_F16:
    return mlirF16TypeGet(context);
  case SAMBA_DTYPE_I1:
    return mlirIntegerTypeGet(context, 1);
  case SAMBA_DTYPE_UI8:
    return mlirIntegerTypeUnsignedGet(context, 8);
  case SAMBA_DTYPE_I8:
  case SAMBA_DTYPE_I16:
  case SAMBA_DTYPE_I32:
  case SAMBA_DTYPE_I64:
    return mlirIntegerTypeGet(context, 8 * sambaDTypeBytes(dtype));
  default:
    return (MlirType){NULL};
  }
}

SambaStatus sambaTensorTypeFromMlir(MlirType type, SambaTensorType *out_type) {
  static const char expected[] =
      "a tensor with static dimensions, rank 8 at most, elements f32, bf16, f16, i1, i8, "
      "ui8, i16, i32 or i64";
  SambaDType dtype = SAMBA_DTYPE_COUNT;
  bool fits = mlirTypeIsARankedTensor(type) && mlirShapedTypeHasStaticShape(type) &&
              mlirShapedTypeGetRank(type) <= SAMBA_MAX_RANK &&
              mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type));
  if (fits)
    dtype = sambaDTypeFromType(mlirShapedTypeGetElementType(type));
  *out_type = (SambaTensorType){.dtype = dtype};
  if (fits && dtype != SAMBA_DTYPE_COUNT) {
    out_type->rank = (uint32_t)mlirShapedTypeGetRank(type);
    for (uint32_t axis = 0; axis < out_type->rank; ++axis)
      out_type->dims[axis] = mlirShapedTypeGetDimSize(type, axis);
    return NULL;
  }

  SambaArena arena = {0};
  SambaStatus status =
      sambaStatusMake(SAMBA_UNSUPPORTED, "%s is not %s", printType(&arena, type), expected);
  sambaArenaDestroy(&arena);

  return status;
}

MlirType sambaTensorTypeToMlir(MlirContext context, const SambaTensorType *type) {
  return mlirRankedTensorTypeGet(type->rank, type->dims, sambaDTypeToType(context, type->dtype),
                                 mlirAttributeGetNull());
}

SambaStatus sambaAttributeFromMlir(SambaArena *arena, MlirNamedAttribute attribute,
                                   SambaAttribute *out_attribute) {
  MlirAttribute value = attribute.attribute;
  *out_attribute = (SambaAttribute){.name = sambaFromMlir(mlirIdentifierStr(attribute.name))};
  if (mlirAttributeIsABool(value)) {
    out_attribute->kind = SAMBA_ATTRIBUTE_BOOL;
    out_attribute->value.integer = mlirBoolAttrGetValue(value);
  } else if (mlirAttributeIsAInteger(value) &&
             mlirTypeEqual(mlirAttributeGetType(value),
                           mlirIntegerTypeGet(mlirAttributeGetContext(value), 64))) {
    out_attribute->kind = SAMBA_ATTRIBUTE_INT;
    out_attribute->value.integer = mlirIntegerAttrGetValueInt(value);
  } else if (mlirAttributeIsAFloat(value) && mlirTypeIsAF64(mlirAttributeGetType(value))) {
    out_attribute->kind = SAMBA_ATTRIBUTE_FLOAT;
    out_attribute->value.real = mlirFloatAttrGetValueDouble(value);
  } else if (mlirAttributeIsADenseI64Array(value)) {
    intptr_t size = mlirDenseArrayGetNumElements(value);
    int64_t *data = SAMBA_ARENA_ARRAY(arena, int64_t, (size_t)size);
    for (intptr_t i = 0; i < size; ++i)
      data[i] = mlirDenseI64ArrayGetElement(value, i);
    out_attribute->kind = SAMBA_ATTRIBUTE_INTS;
    out_attribute->value.integers.data = data;
    out_attribute->value.integers.size = (size_t)size;
  } else if (mlirAttributeIsADenseF64Array(value)) {
    intptr_t size = mlirDenseArrayGetNumElements(value);
    double *data = SAMBA_ARENA_ARRAY(arena, double, (size_t)size);
    for (intptr_t i = 0; i < size; ++i)
      data[i] = mlirDenseF64ArrayGetElement(value, i);
    out_attribute->kind = SAMBA_ATTRIBUTE_FLOATS;
    out_attribute->value.reals.data = data;
    out_attribute->value.reals.size = (size_t)size;
  } else if (mlirAttributeIsAString(value)) {
    out_attribute->kind = SAMBA_ATTRIBUTE_STRING;
    out_attribute->value.string = sambaFromMlir(mlirStringAttrGetValue(value));
  } else if (mlirAttributeIsAType(value)) {
    SambaDType dtype = sambaDTypeFromType(mlirTypeAttrGetValue(value));
    if (dtype == SAMBA_DTYPE_COUNT)
      return sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "attribute '%.*s' is %s; element types are f32, bf16, f16, i1, i8, ui8, i16, i32, i64",
          SAMBA_STRING_ARGS(out_attribute->name), sambaPrintAttribute(arena, value));
    out_attribute->kind = SAMBA_ATTRIBUTE_DTYPE;
    out_attribute->value.dtype = dtype;
  } else {
    return sambaStatusMake(
        SAMBA_INVALID,
        "attribute '%.*s' is %s; attributes are integers (i64), numbers (f64), booleans, lists of "
        "integers or numbers, strings or element types",
        SAMBA_STRING_ARGS(out_attribute->name), sambaPrintAttribute(arena, value));
  }

  return NULL;
}

MlirAttribute sambaAttributeToMlir(MlirContext context, const SambaAttribute *attribute) {
  switch (attribute->kind) {
  case SAMBA_ATTRIBUTE_INT:
    return mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), attribute->value.integer);
  case SAMBA_ATTRIBUTE_FLOAT:
    return mlirFloatAttrDoubleGet(context, mlirF64TypeGet(context), attribute->value.real);
  case SAMBA_ATTRIBUTE_BOOL:
    return mlirBoolAttrGet(context, attribute->value.integer != 0);
  case SAMBA_ATTRIBUTE_INTS:
    return mlirDenseI64ArrayGet(context, (intptr_t)attribute->value.integers.size,
                                attribute->value.integers.data);
  case SAMBA_ATTRIBUTE_FLOATS:
    return mlirDenseF64ArrayGet(context, (intptr_t)attribute->value.reals.size,
                                attribute->value.reals.data);
  case SAMBA_ATTRIBUTE_STRING:
    return mlirStringAttrGet(context, sambaToMlir(attribute->value.string));
  case SAMBA_ATTRIBUTE_DTYPE:
    return mlirTypeAttrGet(sambaDTypeToType(context, attribute->value.dtype));
  }

  return mlirAttributeGetNull();
}

MlirAttribute sambaDictionaryFind(MlirAttribute dictionary, const char *name) {
  return mlirDictionaryAttrGetElementByName(dictionary, mlirStringRefCreateFromCString(name));
}

MlirAttribute sambaDenseAttribute(MlirContext context, const SambaTensorType *type,
                                  const void *data, bool splat) {
  MlirType shaped = sambaTensorTypeToMlir(context, type);
  int64_t elements = sambaShapeElements(type->rank, type->dims);

  if (elements == 0)
    return mlirDenseElementsAttrGet(shaped, 0, NULL);
  if (type->dtype != SAMBA_DTYPE_I1)
    return mlirDenseElementsAttrRawBufferGet(
        shaped, (size_t)(splat ? 1 : elements) * sambaDTypeBytes(type->dtype), data);
  const uint8_t *bytes = data; /* MLIR packs i1, so booleans go through its own builder */
  if (splat)
    return mlirDenseElementsAttrBoolSplatGet(shaped, bytes[0] != 0);
  int *flags = sambaAllocate(sambaArraySize((size_t)elements, sizeof *flags));
  for (int64_t i = 0; i < elements; ++i)
    flags[i] = bytes[i] != 0;
  MlirAttribute attribute = mlirDenseElementsAttrBoolGet(shaped, elements, flags);
  free(flags);

  return attribute;
}

MlirNamedAttribute sambaNamedAttribute(MlirContext context, const char *name, MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(context, mlirStringRefCreateFromCString(name)),
                               value);
}
