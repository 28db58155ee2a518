/* Types of the rdu dialect; see rdu_types.h.
 *
 * A type has one part: the tensor of a token or symbol, whose encoding is the word "scalar" for
 * scalar streams and a list of steps where the order of a stream is stated (of a copy: two lists),
 * or `none` for control streams. A step is an integer, one of type `index` where the place comes
 * from indices, or both. A type is made by writing its text and having it parsed, as attributes
 * are. */
#include "dialect/rdu/rdu_types.h"

#include "backend/section/stated_order.h"
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/text_sink.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdio.h>

bool sambaTypeIsRdu(MlirType type) {
  return sambaTypeIs(type, "rdu.stream") || sambaTypeIs(type, "rdu.symbol");
}

/*===-- Orders --------------------------------------------------------------------------------===*/

static bool isStep(MlirAttribute step, bool of_index) {
  if (!mlirAttributeIsAInteger(step))
    return false;
  MlirType type = mlirAttributeGetType(step);
  return of_index ? mlirTypeIsAIndex(type)
                  : mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 64;
}

/* `8`, `8 : index` or `[8 : index, 1]`. */
static bool readStep(MlirAttribute step, SambaPlaceStep *out) {
  *out = (SambaPlaceStep){0};
  if (mlirAttributeIsAArray(step)) {
    if (mlirArrayAttrGetNumElements(step) != 2)
      return false;
    MlirAttribute index = mlirArrayAttrGetElement(step, 0),
                  place = mlirArrayAttrGetElement(step, 1);
    if (!isStep(index, true) || !isStep(place, false))
      return false;
    out->index = mlirIntegerAttrGetValueInt(index);
    out->place = mlirIntegerAttrGetValueInt(place);
    return true;
  }

  bool of_index = isStep(step, true);
  if (!of_index && !isStep(step, false))
    return false;
  *(of_index ? &out->index : &out->place) = mlirIntegerAttrGetValueInt(step);
  return true;
}

/* A list with a step for each of `rank` dimensions; out may be NULL. */
static bool readSteps(MlirAttribute list, intptr_t rank, SambaPlaces places, SambaOrderStep *out) {
  if (mlirAttributeIsNull(list) || !mlirAttributeIsAArray(list) ||
      mlirArrayAttrGetNumElements(list) != rank)
    return false;
  for (intptr_t i = 0; i < rank; ++i) {
    SambaPlaceStep step;
    if (!readStep(mlirArrayAttrGetElement(list, i), &step))
      return false;
    if (out)
      *(places == SAMBA_PLACES_FROM ? &out[i].from : &out[i].to) = step;
  }
  return true;
}

/* What stands behind `by`; SAMBA_ORDER_NONE where that is no order. */
static SambaOrderKind readOrder(MlirAttribute order, intptr_t rank, SambaOrderStep *out) {
  if (!mlirAttributeIsADictionary(order)) {
    bool fits = readSteps(order, rank, SAMBA_PLACES_FROM, out) &&
                readSteps(order, rank, SAMBA_PLACES_TO, out);
    return fits ? SAMBA_ORDER_PLACES : SAMBA_ORDER_NONE;
  }

  MlirAttribute from =
      mlirDictionaryAttrGetElementByName(order, mlirStringRefCreateFromCString("from"));
  MlirAttribute to =
      mlirDictionaryAttrGetElementByName(order, mlirStringRefCreateFromCString("to"));
  bool fits = mlirDictionaryAttrGetNumElements(order) == 2 &&
              readSteps(from, rank, SAMBA_PLACES_FROM, out) &&
              readSteps(to, rank, SAMBA_PLACES_TO, out);
  return fits ? SAMBA_ORDER_MOVES : SAMBA_ORDER_NONE;
}

SambaOrderKind sambaRduTypeOrder(MlirType type, SambaOrderStep *out_steps) {
  if (sambaRduTypeKind(type) != SAMBA_RDU_VECTOR)
    return SAMBA_ORDER_NONE;
  MlirType token = sambaTypePart(type);
  MlirAttribute order = mlirRankedTensorTypeGetEncoding(token);
  intptr_t rank = mlirShapedTypeGetRank(token);
  for (intptr_t i = 0; i < rank; ++i)
    out_steps[i] = (SambaOrderStep){.trips = (uint64_t)mlirShapedTypeGetDimSize(token, i)};
  return mlirAttributeIsNull(order) ? SAMBA_ORDER_SHAPE : readOrder(order, rank, out_steps);
}

/*===-- Types ---------------------------------------------------------------------------------===*/

/* Writes the text of a type without its name. order: NULL: none is stated. */
static void writeType(SambaText *text, bool scalar, intptr_t rank, const int64_t *shape,
                      MlirType element, const char *order) {
  sambaTextAppendC(text, scalar ? "<scalar " : "<");
  for (intptr_t i = 0; i < rank; ++i)
    sambaTextFormat(text, "%lldx", (long long)shape[i]);
  mlirTypePrint(element, sambaTextSink, text);
  if (order)
    sambaTextFormat(text, " by %s", order);
  sambaTextAppendC(text, ">");
}

const char *sambaRduTypeText(MlirType token, char text[SAMBA_RDU_TYPE_SIZE]) {
  SambaText whole = {0};
  if (mlirTypeIsANone(token)) {
    sambaTextAppendC(&whole, "<control>");
  } else {
    SambaArena arena = {0};
    MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(token);
    bool scalar = !mlirAttributeIsNull(encoding) && mlirAttributeIsAString(encoding);
    const char *order = NULL;
    int64_t shape[SAMBA_MAX_COUNTERS];
    intptr_t rank = mlirShapedTypeGetRank(token);
    for (intptr_t i = 0; i < rank; ++i)
      shape[i] = mlirShapedTypeGetDimSize(token, i);
    if (!scalar && !mlirAttributeIsNull(encoding)) {
      SambaOrderStep steps[SAMBA_MAX_COUNTERS];
      SambaOrderKind kind = readOrder(encoding, rank, steps);
      order = sambaOrderStepsText(&arena, kind, (uint32_t)rank, steps);
    }
    writeType(&whole, scalar, rank, shape, mlirShapedTypeGetElementType(token), order);
    sambaArenaDestroy(&arena);
  }
  snprintf(text, SAMBA_RDU_TYPE_SIZE, "%s", sambaTextGet(&whole));
  sambaTextFree(&whole);
  return text;
}

MlirType sambaRduTypeGet(MlirContext context, SambaRduTypeKind kind, intptr_t rank,
                         const int64_t *shape, SambaOrderKind order_kind,
                         const SambaOrderStep *order, MlirType element) {
  SambaArena arena = {0};
  SambaText text = {0};
  sambaTextAppendC(&text, kind == SAMBA_RDU_SYMBOL ? "!rdu.symbol" : "!rdu.stream");
  bool stated = kind == SAMBA_RDU_VECTOR && order_kind >= SAMBA_ORDER_PLACES;
  if (kind == SAMBA_RDU_CONTROL)
    sambaTextAppendC(&text, "<control>");
  else
    writeType(&text, kind == SAMBA_RDU_SCALAR, rank, shape, element,
              stated ? sambaOrderStepsText(&arena, order_kind, (uint32_t)rank, order) : NULL);
  MlirType made = mlirTypeParseGet(context, mlirStringRefCreate(text.data, text.size));
  sambaTextFree(&text);
  sambaArenaDestroy(&arena);
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

SambaStatus sambaRduTypeCheck(intptr_t rank, const int64_t *shape, MlirType element,
                              MlirAttribute order) {
  if (rank > SAMBA_MAX_COUNTERS)
    return sambaStatusMake(SAMBA_INVALID, "has %lld dimensions, expected at most %d",
                           (long long)rank, SAMBA_MAX_COUNTERS);
  if (!mlirAttributeIsNull(order) && readOrder(order, rank, NULL) == SAMBA_ORDER_NONE)
    return sambaStatusMake(SAMBA_INVALID,
                           "the order must be a list of %lld integers, one per dimension, or two "
                           "of a copy: {from = [...], to = [...]}",
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
