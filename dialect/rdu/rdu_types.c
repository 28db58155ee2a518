/* Types of the rdu dialect; see rdu_types.h.
 *
 * A type has one part: the tensor of a token or symbol, whose encoding is the word "scalar" for
 * scalar streams and a list of steps where the order of a stream is stated, or `none` for control
 * streams. A type is made by writing its text and having it
 * parsed, as attributes are. */
#include "dialect/rdu/rdu_types.h"

#include "backend/section/access.h"
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/text_sink.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdio.h>

bool sambaTypeIsRdu(MlirType type) {
  return sambaTypeIs(type, "rdu.stream") || sambaTypeIs(type, "rdu.symbol");
}

const char *sambaRduTypeText(MlirType token, char text[SAMBA_RDU_TYPE_SIZE]) {
  SambaText whole = {0};
  if (mlirTypeIsANone(token)) {
    sambaTextAppendC(&whole, "<control>");
  } else {
    MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(token);
    bool scalar = !mlirAttributeIsNull(encoding) && mlirAttributeIsAString(encoding);
    sambaTextAppendC(&whole, scalar ? "<scalar " : "<");
    for (intptr_t i = 0; i < mlirShapedTypeGetRank(token); ++i)
      sambaTextFormat(&whole, "%lldx", (long long)mlirShapedTypeGetDimSize(token, i));
    mlirTypePrint(mlirShapedTypeGetElementType(token), sambaTextSink, &whole);
    if (!scalar && !mlirAttributeIsNull(encoding)) {
      sambaTextAppendC(&whole, " by [");
      for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(encoding); ++i)
        sambaTextFormat(
            &whole, "%s%lld", i ? ", " : "",
            (long long)mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(encoding, i)));
      sambaTextAppendC(&whole, "]");
    }
    sambaTextAppendC(&whole, ">");
  }
  snprintf(text, SAMBA_RDU_TYPE_SIZE, "%s", sambaTextGet(&whole));
  sambaTextFree(&whole);
  return text;
}

MlirType sambaRduTypeGet(MlirContext context, SambaRduTypeKind kind, intptr_t rank,
                         const int64_t *shape, const int64_t *steps, MlirType element) {
  MlirAttribute encoding = mlirAttributeGetNull();
  if (kind == SAMBA_RDU_SCALAR) {
    encoding = mlirStringAttrGet(context, mlirStringRefCreateFromCString("scalar"));
  } else if (kind == SAMBA_RDU_VECTOR && steps) {
    MlirAttribute list[SAMBA_MAX_COUNTERS];
    for (intptr_t i = 0; i < rank; ++i)
      list[i] = mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), steps[i]);
    encoding = mlirArrayAttrGet(context, rank, list);
  }
  MlirType token = kind == SAMBA_RDU_CONTROL
                       ? mlirNoneTypeGet(context)
                       : mlirRankedTensorTypeGet(rank, shape, element, encoding);
  SambaText text = {0};
  sambaTextAppendC(&text, kind == SAMBA_RDU_SYMBOL ? "!rdu.symbol" : "!rdu.stream");
  char shown[SAMBA_RDU_TYPE_SIZE];
  sambaTextAppendC(&text, sambaRduTypeText(token, shown));
  MlirType made = mlirTypeParseGet(context, mlirStringRefCreate(text.data, text.size));
  sambaTextFree(&text);
  return made;
}

SambaRduTypeKind sambaRduTypeKind(MlirType type) {
  if (sambaTypeIs(type, "rdu.symbol"))
    return SAMBA_RDU_SYMBOL;
  MlirType token = sambaTypePart(type);
  if (mlirTypeIsANone(token))
    return SAMBA_RDU_CONTROL;
  MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(token);
  bool scalar = !mlirAttributeIsNull(encoding) && mlirAttributeIsAString(encoding);
  return scalar ? SAMBA_RDU_SCALAR : SAMBA_RDU_VECTOR;
}

intptr_t sambaRduTypeRank(MlirType type) {
  MlirType token = sambaTypePart(type);
  return mlirTypeIsANone(token) ? 0 : mlirShapedTypeGetRank(token);
}

int64_t sambaRduTypeDim(MlirType type, intptr_t axis) {
  return mlirShapedTypeGetDimSize(sambaTypePart(type), axis);
}

MlirType sambaRduTypeElement(MlirType type) {
  MlirType token = sambaTypePart(type);
  return mlirTypeIsANone(token) ? (MlirType){NULL} : mlirShapedTypeGetElementType(token);
}

bool sambaRduTypeStep(MlirType type, intptr_t axis, int64_t *out_step) {
  MlirType token = sambaTypePart(type);
  if (mlirTypeIsANone(token))
    return false;
  MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(token);
  if (mlirAttributeIsNull(encoding) || !mlirAttributeIsAArray(encoding))
    return false;
  *out_step = mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(encoding, axis));
  return true;
}

/* `by [8, 1]`: an integer of 64 bits for each dimension. */
static bool areSteps(MlirAttribute steps, intptr_t rank) {
  if (mlirArrayAttrGetNumElements(steps) != rank)
    return false;
  for (intptr_t i = 0; i < rank; ++i) {
    MlirAttribute step = mlirArrayAttrGetElement(steps, i);
    MlirType type = mlirAttributeGetType(step);
    if (!mlirAttributeIsAInteger(step) || !mlirTypeIsAInteger(type) ||
        mlirIntegerTypeGetWidth(type) != 64)
      return false;
  }
  return true;
}

SambaStatus sambaRduTypeCheck(intptr_t rank, const int64_t *shape, MlirType element,
                              MlirAttribute steps) {
  if (rank > SAMBA_MAX_COUNTERS)
    return sambaStatusMake(SAMBA_INVALID, "has %lld dimensions, expected at most %d",
                           (long long)rank, SAMBA_MAX_COUNTERS);
  if (!mlirAttributeIsNull(steps) && !areSteps(steps, rank))
    return sambaStatusMake(SAMBA_INVALID,
                           "the order must be a list of %lld integers, one per dimension",
                           (long long)rank);
  bool fits = mlirTypeIsAF32(element) || mlirTypeIsABF16(element) || mlirTypeIsAF16(element) ||
              mlirTypeIsAInteger(element);
  if (!fits)
    return sambaStatusMake(SAMBA_INVALID, "element type must be f32, bf16, f16 or an integer");
  for (intptr_t i = 0; i < rank; ++i)
    if (shape[i] < 1)
      return sambaStatusMake(SAMBA_INVALID, "every extent must be at least 1, but one is %lld",
                             (long long)shape[i]);
  return NULL;
}
