/* samba-generate: what the rows of the operator table say, in the forms that other parts of Samba
 * are built from. It runs while Samba is built.
 *
 *   --ops       TableGen entries of the dialect's operations (included by dialect/samba/Ops.td)
 *   --declare   declarations of the C builders (samba/operators.h)
 *   --define    their definitions (frontend/trace/operators.c)
 *   --names     names, one a line (for tests)
 *   --onnx      rows of the ONNX importer's table (frontend/onnx/core/table.c) */
#include "dialect/samba/table/registry/registry.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* "max_pool2d" as "MaxPool2d". */
static const char *pascalCase(const char *name, char buffer[80]) {
  size_t used = 0;
  bool start = true;
  for (; *name && used < 79; ++name) {
    if (*name != '_')
      buffer[used++] = start ? (char)toupper((unsigned char)*name) : *name;
    start = *name == '_';
  }
  buffer[used] = 0;
  return buffer;
}

/* The length of an operand's name without the mark of its form. */
static int nameLength(const char *operand) { return (int)strcspn(operand, "?*"); }

/* ---- TableGen ---- */

static const char *const attributeTypes[] = {"Samba_Int",  "Samba_Float",  "Samba_Bool",
                                             "Samba_Ints", "Samba_Floats", "Samba_String",
                                             "Samba_DType"};

/* Several operands that may be left out are one list to MLIR. */
static void printArguments(const SambaOperator *operator) {
  uint32_t least = sambaOperatorLeastOperands(operator);
  uint32_t most = sambaOperatorMostOperands(operator);
  const char *separator = "";

  printf("  let arguments = (ins ");
  for (uint32_t i = 0; i < least; ++i, separator = ", ")
    printf(most == UINT32_MAX ? "%sVariadic<Samba_Tensor>:$%.*s" : "%sSamba_Tensor:$%.*s",
           separator, nameLength(operator->operands[i]), operator->operands[i]);
  if (most == least + 1)
    printf("%sOptional<Samba_Tensor>:$%.*s", separator, nameLength(operator->operands[least]),
           operator->operands[least]);
  else if (most != least && most != UINT32_MAX)
    printf("%sVariadic<Samba_Tensor>:$optional_operands", separator);

  for (const SambaAttributeRow *row = operator->attributes; row->name; ++row, separator = ", ")
    printf(row->absence == SAMBA_ABSENT_REFUSED ? "%s%s:$%s" : "%sOptionalAttr<%s>:$%s", separator,
           attributeTypes[row->kind], row->name);
  printf(");\n");
}

static void printDefault(const SambaAttributeRow *row) {
  switch (row->kind) {
  case SAMBA_ATTRIBUTE_BOOL:
    printf("%s", row->otherwise.integer ? "true" : "false");
    break;
  case SAMBA_ATTRIBUTE_INT:
  case SAMBA_ATTRIBUTE_INTS:
    printf("%lld", (long long)row->otherwise.integer);
    break;
  case SAMBA_ATTRIBUTE_STRING:
    printf("\"%s\"", row->otherwise.string);
    break;
  default:
    printf("%.9g", row->otherwise.real);
  }
}

static void printAttributes(const SambaOperator *operator) {
  for (const SambaAttributeRow *row = operator->attributes; row->name; ++row) {
    printf("%s- `%s`: %s", row == operator->attributes ? "Attributes:\n\n" : "", row->name,
           row->meaning);
    if (row->choices)
      printf("%sone of %s", row->meaning[0] ? "; " : "", row->choices);
    if (row->absence == SAMBA_ABSENT_DEFAULT) {
      printf(row->meaning[0] || row->choices ? "; default " : "default ");
      printDefault(row);
    }
    printf(".\n");
  }
  if (operator->attributes[0].name)
    printf("\n");
}

static void printDTypes(const SambaOperator *operator) {
  const char *separator = ": ";
  printf("Element types of `%.*s`", nameLength(operator->operands[0]), operator->operands[0]);
  for (unsigned dtype = 0; dtype < SAMBA_DTYPE_COUNT; ++dtype)
    if (operator->dtypes >> dtype & 1) {
      printf("%s%s", separator, sambaDTypeName((SambaDType)dtype));
      separator = ", ";
    }
  printf(".\n\n");
}

static void printConstraints(const SambaOperator *operator) {
  size_t most = sizeof operator->constraints / sizeof *operator->constraints;
  for (size_t i = 0; i < most && operator->constraints[i]; ++i)
    printf("%s(C%zu) %s", i ? "; " : "Constraints: ", i + 1, operator->constraints[i]);
  printf(".\n\n");
}

static const char *exampleElement(const SambaOperator *operator) {
  if (operator->dtypes >> SAMBA_DTYPE_F32 & 1)
    return "f32";
  return operator->dtypes >> SAMBA_DTYPE_I32 & 1 ? "i32" : "i1";
}

static void printExample(const SambaOperator *operator) {
  const char *name = operator->name, *element = exampleElement(operator);
  printf("```mlir\n");
  if (operator->example)
    printf("%s", operator->example);
  else if (sambaOperatorMostOperands(operator) == 1)
    printf("%%y = samba.%s %%x : tensor<2x3x%s>", name, element);
  else
    printf("%%y = samba.%s %%a, %%b : tensor<2x3x%s>, tensor<3x%s>", name, element, element);
  printf("\n```\n\n");
}

static void printDescription(const SambaOperator *operator) {
  uint32_t least = sambaOperatorLeastOperands(operator);
  uint32_t most = sambaOperatorMostOperands(operator);

  if (operator->elementwise)
    printf("Element-wise%s: result[i] = %s%s.\n\n", most > 1 ? " with numpy's broadcasting" : "",
           operator->formula, operator->predicate ? ", as i1" : "");
  if (operator->computes)
    printf("%s\n\n", operator->computes);
  for (uint32_t i = least; most != UINT32_MAX && i < most; ++i)
    printf("%s`%.*s`%s", i == least ? "May be left out: " : ", ", nameLength(operator->operands[i]),
           operator->operands[i], i + 1 == most ? ".\n\n" : "");
  printAttributes(operator);
  printDTypes(operator);
  printConstraints(operator);
  printExample(operator);
  printf("Source: %s%s.\n", operator->source ? "" : "torch.",
         operator->source ? operator->source : operator->name);
}

static void printQuoted(const char *text) {
  putchar('"');
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\')
      putchar('\\');
    putchar(*text);
  }
  putchar('"');
}

static void printOp(const SambaOperator *operator) {
  char class_name[80];
  pascalCase(operator->name, class_name);
  if (!operator->results[0]) {
    printf("def Samba_%sOp : Samba_Op<\"%s\"> {\n", class_name, operator->name);
  } else {
    printf("def Samba_%sOp : Samba_ResultsOp<\"%s\", (outs ", class_name, operator->name);
    for (uint32_t i = 0; i < sambaOperatorResults(operator); ++i)
      printf("%sSamba_Tensor:$%s", i ? ", " : "", operator->results[i]);
    printf(")> {\n");
  }
  printArguments(operator);
  printf("  let summary = ");
  printQuoted(operator->formula ? operator->formula : operator->summary);
  printf(";\n  let description = [{\n");
  printDescription(operator);
  printf("}];\n}\n\n");
}

/* ---- Builders ---- */

static void printSignature(const SambaOperator *operator, const char *end) {
  char class_name[80];
  printf("SambaTraceValue *samba%s(", pascalCase(operator->name, class_name));
  for (uint32_t i = 0; i < sambaOperatorMostOperands(operator); ++i)
    printf("%sSambaTraceValue *%.*s%s", i ? ", " : "", nameLength(operator->operands[i]),
           operator->operands[i], i < sambaOperatorLeastOperands(operator) ? "" : "_or_null");
  for (const SambaAttributeRow *row = operator->attributes;
       operator->builder == SAMBA_BUILDER_ALL && row->name; ++row)
    switch (row->kind) {
    case SAMBA_ATTRIBUTE_INT:
      printf(", int64_t %s", row->name);
      break;
    case SAMBA_ATTRIBUTE_FLOAT:
      printf(", double %s", row->name);
      break;
    case SAMBA_ATTRIBUTE_BOOL:
      printf(", bool %s", row->name);
      break;
    case SAMBA_ATTRIBUTE_INTS:
      printf(", size_t %s_count, const int64_t *%s", row->name, row->name);
      break;
    case SAMBA_ATTRIBUTE_FLOATS:
      printf(", size_t %s_count, const double *%s", row->name, row->name);
      break;
    case SAMBA_ATTRIBUTE_STRING:
      printf(", const char *%s", row->name);
      break;
    case SAMBA_ATTRIBUTE_DTYPE:
      printf(", SambaDType %s", row->name);
    }
  printf(")%s", end);
}

static void printDeclaration(const SambaOperator *operator) {
  if (operator->builder == SAMBA_BUILDER_BY_HAND)
    return;
  printf("/* samba.%s: %s */\n", operator->name,
         operator->formula ? operator->formula : operator->summary);
  printf("SAMBA_EXPORT ");
  printSignature(operator, ";\n");
}

static void printDefinition(const SambaOperator *operator) {
  static const char *const kinds[] = {"Int", "Float", "Bool", "Ints", "Floats", "String", "DType"};
  uint32_t operands = sambaOperatorMostOperands(operator);
  uint32_t attributes = 0;

  if (operator->builder == SAMBA_BUILDER_BY_HAND)
    return;
  printSignature(operator, " {\n");
  if (operator->builder == SAMBA_BUILDER_PROMOTING) {
    printf("  return promoting(\"%s\", %s, %s);\n}\n", operator->name, operator->operands[0],
           operator->operands[1]);
    return;
  }

  printf("  SambaTraceValue *operands[] = {");
  for (uint32_t i = 0; i < operands; ++i)
    printf("%s%.*s%s", i ? ", " : "", nameLength(operator->operands[i]), operator->operands[i],
           i < sambaOperatorLeastOperands(operator) ? "" : "_or_null");
  printf("};\n");
  for (const SambaAttributeRow *row = operator->attributes;
       operator->builder == SAMBA_BUILDER_ALL && row->name; ++row, ++attributes) {
    bool list = row->kind == SAMBA_ATTRIBUTE_INTS || row->kind == SAMBA_ATTRIBUTE_FLOATS;
    printf("%ssamba%sAttribute(\"%s\", %s", attributes ? ", " : "  SambaAttribute attributes[] = {",
           kinds[row->kind], row->name, row->name);
    printf(list ? ", %s_count)" : ")", row->name);
  }
  printf(attributes ? "};\n" : "");
  printf("  return sambaTraceBuild(\"%s\", %u, %u, operands, %u, %s);\n}\n", operator->name,
         sambaOperatorLeastOperands(operator), operands, attributes,
         attributes ? "attributes" : "NULL");
}

/* ---- ONNX ---- */

/* ROW(onnx, first, last, samba, operands), last 0: the latest. */
static void printOnnxRows(const SambaOperator *operator) {
  for (const SambaOnnxForm *form = operator->onnx; form->name; ++form)
    printf("ROW(\"%s\", %lld, %lld, \"%s\", %u)\n", form->name, (long long)form->first,
           (long long)form->last, operator->name, sambaOperatorMostOperands(operator));
}

static void printName(const SambaOperator *operator) { printf("%s\n", operator->name); }

int main(int argc, char **argv) {
  static const struct {
    const char *option;
    void (*print)(const SambaOperator *operator);
  } forms[] = {{"--ops", printOp},
               {"--declare", printDeclaration},
               {"--define", printDefinition},
               {"--names", printName},
               {"--onnx", printOnnxRows}};

  for (size_t f = 0; argc == 2 && f < sizeof forms / sizeof *forms; ++f) {
    if (strcmp(argv[1], forms[f].option) != 0)
      continue;
    if (forms[f].print != printName)
      printf("// Made from the rows of dialect/samba/table by samba-generate.\n\n");
    for (uint32_t i = 0; sambaOperatorAt(i); ++i)
      forms[f].print(sambaOperatorAt(i));
    return fflush(stdout) || ferror(stdout);
  }
  fprintf(stderr, "usage: samba-generate --ops|--declare|--define|--names|--onnx\n");
  return 1;
}
