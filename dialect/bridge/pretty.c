/* The plain text of attributes and types: dictionaries as {stride = [2, 2], eps = 1.0e-05} instead
 * of MLIR's {stride = array<i64: 2, 2>, eps = 1.0e-05 : f64}. Integers are i64, numbers f64, lists
 * of integers dense arrays; anything else keeps MLIR's form. Reading goes through MLIR's parser,
 * which makes arrays of integers; those become dense arrays. */
#include "dialect/bridge/bridge.h"

#include "support/base/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const SambaPrinter *p, const char *text) {
  p->text(p->printer, mlirStringRefCreateFromCString(text));
}

static bool isPlainInteger(MlirAttribute value) {
  if (!mlirAttributeIsAInteger(value))
    return false;
  MlirType type = mlirAttributeGetType(value);
  return mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type) &&
         mlirIntegerTypeGetWidth(type) == 64;
}

/* MLIR's own digits, without the type behind them. */
static void appendDigits(MlirStringRef part, void *user_data) {
  char *text = user_data;
  size_t used = strlen(text);
  snprintf(text + used, 64 - used, "%.*s", (int)part.length, part.data);
}
static void printNumber(const SambaPrinter *p, MlirAttribute value) {
  char text[64] = "";
  mlirAttributePrint(value, appendDigits, text);
  text[strcspn(text, " ")] = 0;
  say(p, text);
}

static void printInteger(const SambaPrinter *p, int64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, value);
  say(p, text);
}

static void printKey(const SambaPrinter *p, MlirContext context, MlirStringRef key) {
  bool bare = key.length && (isalpha((unsigned char)key.data[0]) || key.data[0] == '_');
  for (size_t i = 0; bare && i < key.length; ++i)
    bare = isalnum((unsigned char)key.data[i]) || memchr("_$.", key.data[i], 3);
  if (bare)
    p->text(p->printer, key);
  else
    p->attribute(p->printer, mlirStringAttrGet(context, key));
}

static void printValue(const SambaPrinter *p, MlirAttribute value) {
  if (isPlainInteger(value)) {
    printInteger(p, mlirIntegerAttrGetValueInt(value));
  } else if (mlirAttributeIsAFloat(value) && mlirTypeIsAF64(mlirAttributeGetType(value))) {
    printNumber(p, value);
  } else if (mlirAttributeIsADenseI64Array(value) || mlirAttributeIsAArray(value)) {
    bool dense = mlirAttributeIsADenseI64Array(value);
    intptr_t count =
        dense ? mlirDenseArrayGetNumElements(value) : mlirArrayAttrGetNumElements(value);
    say(p, "[");
    for (intptr_t i = 0; i < count; ++i) {
      say(p, i ? ", " : "");
      if (dense)
        printInteger(p, mlirDenseI64ArrayGetElement(value, i));
      else
        printValue(p, mlirArrayAttrGetElement(value, i));
    }
    say(p, "]");
  } else if (mlirAttributeIsADictionary(value)) {
    say(p, "{");
    sambaPrettyPrintEntries(p, value);
    say(p, "}");
  } else {
    p->attribute(p->printer, value);
  }
}

void sambaPrettyPrintEntries(const SambaPrinter *p, MlirAttribute dictionary) {
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(dictionary); ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(dictionary, i);
    say(p, i ? ", " : "");
    printKey(p, mlirAttributeGetContext(dictionary), mlirIdentifierStr(entry.name));
    if (mlirAttributeIsAUnit(entry.attribute))
      continue;
    say(p, " = ");
    printValue(p, entry.attribute);
  }
}

static MlirAttribute parsedArray(MlirAttribute array) {
  MlirContext context = mlirAttributeGetContext(array);
  intptr_t count = mlirArrayAttrGetNumElements(array);
  intptr_t integers = 0;
  int64_t *numbers = sambaAllocate(sambaArraySize((size_t)count, sizeof *numbers));
  MlirAttribute *elements = sambaAllocate(sambaArraySize((size_t)count, sizeof *elements));

  for (intptr_t i = 0; i < count; ++i) {
    MlirAttribute element = mlirArrayAttrGetElement(array, i);
    if (isPlainInteger(element))
      numbers[integers++] = mlirIntegerAttrGetValueInt(element);
    elements[i] = sambaPrettyParsed(element);
  }

  MlirAttribute result = integers == count ? mlirDenseI64ArrayGet(context, count, numbers)
                                           : mlirArrayAttrGet(context, count, elements);
  free(numbers);
  free(elements);

  return result;
}

MlirAttribute sambaPrettyParsed(MlirAttribute attribute) {
  if (mlirAttributeIsAArray(attribute))
    return parsedArray(attribute);
  if (!mlirAttributeIsADictionary(attribute))
    return attribute;
  intptr_t count = mlirDictionaryAttrGetNumElements(attribute);
  MlirNamedAttribute *entries = sambaAllocate(sambaArraySize((size_t)count, sizeof *entries));
  for (intptr_t i = 0; i < count; ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(attribute, i);
    entries[i] = mlirNamedAttributeGet(entry.name, sambaPrettyParsed(entry.attribute));
  }
  MlirAttribute result = mlirDictionaryAttrGet(mlirAttributeGetContext(attribute), count, entries);
  free(entries);
  return result;
}

/*===-- Types of the rdu dialect --------------------------------------------------------------===*/

static void forwardText(MlirStringRef part, void *user_data) {
  const SambaPrinter *p = user_data;
  p->text(p->printer, part);
}

void sambaRduTypePrint(const SambaPrinter *p, SambaRduTypeKind kind, intptr_t rank,
                       const int64_t *shape, MlirType element) {
  say(p, kind == SAMBA_RDU_CONTROL ? "<control" : kind == SAMBA_RDU_SCALAR ? "<scalar " : "<");
  for (intptr_t i = 0; i < rank; ++i) {
    printInteger(p, shape[i]);
    say(p, "x");
  }
  if (element.ptr)
    mlirTypePrint(element, forwardText, (void *)p);
  say(p, ">");
}

SambaStatus sambaRduTypeCheck(SambaRduTypeKind kind, intptr_t rank, const int64_t *shape,
                              MlirType element) {
  bool fits = kind == SAMBA_RDU_CONTROL || mlirTypeIsAF32(element) || mlirTypeIsABF16(element) ||
              mlirTypeIsAF16(element) || mlirTypeIsAInteger(element);
  if (!fits)
    return sambaStatusMake(SAMBA_INVALID, "element type must be f32, bf16, f16 or an integer");
  for (intptr_t i = 0; i < rank; ++i)
    if (shape[i] < 1)
      return sambaStatusMake(SAMBA_INVALID, "every extent must be at least 1, but one is %" PRId64,
                             shape[i]);
  return NULL;
}
