/* The plain text of dictionaries; see pretty.h. */
#include "dialect/bridge/pretty.h"

#include "support/base/memory.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const SambaPrinter *printer, const char *text) {
  printer->text(printer->printer, mlirStringRefCreateFromCString(text));
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
static void printNumber(const SambaPrinter *printer, MlirAttribute value) {
  char text[64] = "";
  mlirAttributePrint(value, appendDigits, text);
  text[strcspn(text, " ")] = 0;
  say(printer, text);
}

static void printInteger(const SambaPrinter *printer, int64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)value);
  say(printer, text);
}

static void printKey(const SambaPrinter *printer, MlirContext context, MlirStringRef key) {
  bool bare = key.length && (isalpha((unsigned char)key.data[0]) || key.data[0] == '_');
  for (size_t i = 0; bare && i < key.length; ++i)
    bare = isalnum((unsigned char)key.data[i]) || memchr("_$.", key.data[i], 3);
  if (bare)
    printer->text(printer->printer, key);
  else
    printer->attribute(printer->printer, mlirStringAttrGet(context, key));
}

static void printEntries(const SambaPrinter *printer, MlirAttribute dictionary,
                         MlirStringRef hidden);

static void printValue(const SambaPrinter *printer, MlirAttribute value) {
  if (isPlainInteger(value)) {
    printInteger(printer, mlirIntegerAttrGetValueInt(value));
  } else if (mlirAttributeIsAFloat(value) && mlirTypeIsAF64(mlirAttributeGetType(value))) {
    printNumber(printer, value);
  } else if (mlirAttributeIsADenseI64Array(value) || mlirAttributeIsAArray(value)) {
    bool dense = mlirAttributeIsADenseI64Array(value);
    intptr_t count =
        dense ? mlirDenseArrayGetNumElements(value) : mlirArrayAttrGetNumElements(value);
    say(printer, "[");
    for (intptr_t i = 0; i < count; ++i) {
      say(printer, i ? ", " : "");
      if (dense)
        printInteger(printer, mlirDenseI64ArrayGetElement(value, i));
      else
        printValue(printer, mlirArrayAttrGetElement(value, i));
    }
    say(printer, "]");
  } else if (mlirAttributeIsADictionary(value)) {
    say(printer, "{");
    printEntries(printer, value, (MlirStringRef){NULL, 0});
    say(printer, "}");
  } else {
    printer->attribute(printer->printer, value);
  }
}

/* Without the entry that is called `hidden`. */
static void printEntries(const SambaPrinter *printer, MlirAttribute dictionary,
                         MlirStringRef hidden) {
  const char *separator = "";
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(dictionary); ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(dictionary, i);
    if (mlirStringRefEqual(mlirIdentifierStr(entry.name), hidden))
      continue;
    say(printer, separator);
    separator = ", ";
    printKey(printer, mlirAttributeGetContext(dictionary), mlirIdentifierStr(entry.name));
    if (mlirAttributeIsAUnit(entry.attribute))
      continue;
    say(printer, " = ");
    printValue(printer, entry.attribute);
  }
}

void sambaPrettyPrintNamed(const SambaPrinter *printer, MlirStringRef head, MlirAttribute body) {
  say(printer, "<");
  if (head.length)
    printer->attribute(printer->printer, mlirStringAttrGet(mlirAttributeGetContext(body), head));
  if (head.length && mlirDictionaryAttrGetNumElements(body))
    say(printer, ", ");
  printEntries(printer, body, (MlirStringRef){NULL, 0});
  say(printer, ">");
}

void sambaPrettyPrintAttributes(const SambaPrinter *printer, MlirAttribute dictionary) {
  if (!mlirDictionaryAttrGetNumElements(dictionary))
    return;
  say(printer, "{");
  printEntries(printer, dictionary, mlirStringRefCreateFromCString("callee"));
  say(printer, "}");
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
