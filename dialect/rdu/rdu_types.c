/* Types of the rdu dialect; see rdu_types.h.
 *
 * A type has one part: the tensor of a token or symbol, whose encoding is the word "scalar" for
 * scalar streams, or `none` for control streams. A type is made by writing its text and having it
 * parsed, as attributes are. */
#include "dialect/rdu/rdu_types.h"

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
    bool vector = mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(token));
    sambaTextAppendC(&whole, vector ? "<" : "<scalar ");
    for (intptr_t i = 0; i < mlirShapedTypeGetRank(token); ++i)
      sambaTextFormat(&whole, "%lldx", (long long)mlirShapedTypeGetDimSize(token, i));
    mlirTypePrint(mlirShapedTypeGetElementType(token), sambaTextSink, &whole);
    sambaTextAppendC(&whole, ">");
  }
  snprintf(text, SAMBA_RDU_TYPE_SIZE, "%s", sambaTextGet(&whole));
  sambaTextFree(&whole);
  return text;
}

MlirType sambaRduTypeGet(MlirContext context, SambaRduTypeKind kind, intptr_t rank,
                         const int64_t *shape, MlirType element) {
  MlirStringRef scalar = mlirStringRefCreateFromCString("scalar");
  MlirAttribute encoding =
      kind == SAMBA_RDU_SCALAR ? mlirStringAttrGet(context, scalar) : mlirAttributeGetNull();
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
  bool vector = mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(token));
  return vector ? SAMBA_RDU_VECTOR : SAMBA_RDU_SCALAR;
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

SambaStatus sambaRduTypeCheck(intptr_t rank, const int64_t *shape, MlirType element) {
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
