/* Attention whose mask is known to be a causal one: it says so (is_causal) instead of reading it;
 * see raise_idioms.c.
 *
 * Masks are made of constants in many ways: a triangle of ones or of minus infinity (tril, triu),
 * positions that are compared, a constant with every element, and views, choices and arithmetic
 * behind those. What each value is follows from what its operands are: one number, positions along
 * an axis, or one number up to a diagonal and another one behind it. */
#include "dialect/samba/match.h"
#include "passes/raise/idioms.h"
#include "support/base/memory.h"
#include "support/container/pointer_map.h"
#include "support/number/convert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
  FORM_UNKNOWN,
  FORM_NUMBER,    /* `first` everywhere */
  FORM_POSITIONS, /* first + index along an axis */
  FORM_TRIANGLE   /* first where column <= row + diagonal, then second */
} FormKind;

/* Axes count from the end, the last is 1: broadcasting changes nothing. Rows of a triangle run
 * along an axis before that of its columns. */
typedef struct {
  FormKind kind;
  double first, second;
  intptr_t axis; /* of the positions, or of the columns */
  intptr_t row_axis;
  int64_t diagonal;
} Form;

struct SambaMaskForms {
  SambaPointerMap of; /* elements of constants, to an index of the list: layers share a mask */
  SAMBA_ARRAY(Form) list;
  int left; /* operations that may be looked at for this attention */
};

/* Masks are a few operations; what is more is something else. */
enum { mostOperations = 256 };

static Form formOf(SambaMaskForms *forms, MlirValue value);
static Form operandForm(SambaMaskForms *forms, MlirOperation operation, intptr_t operand) {
  return formOf(forms, mlirOperationGetOperand(operation, operand));
}

SambaMaskForms *sambaMaskFormsCreate(void) {
  return sambaAllocateZeroed(1, sizeof(SambaMaskForms));
}

void sambaMaskFormsFree(SambaMaskForms *forms) {
  sambaPointerMapFree(&forms->of);
  sambaArrayFree(&forms->list);
  free(forms);
}

static Form numberForm(double number) { return (Form){.kind = FORM_NUMBER, .first = number}; }

/* A triangle by any two axes. */
static Form triangleForm(intptr_t row_axis, intptr_t column_axis, int64_t diagonal, double first,
                         double second) {
  if (row_axis == column_axis)
    return (Form){0};
  if (row_axis > column_axis)
    return (Form){FORM_TRIANGLE, first, second, column_axis, row_axis, diagonal};
  /* column <= row + d is row >= column - d: up to row = column - d - 1 it is the second one */
  return (Form){FORM_TRIANGLE, second, first, row_axis, column_axis, -diagonal - 1};
}

/*===-- Constants -----------------------------------------------------------------------------===*/

static double elementOf(MlirAttribute elements, SambaDType dtype, int64_t index) {
  if (dtype == SAMBA_DTYPE_I1)
    return mlirDenseElementsAttrGetBoolValue(elements, (intptr_t)index);
  const char *data = mlirDenseElementsAttrGetRawData(elements);
  return sambaScalarToDouble(sambaScalarLoad(dtype, data + index * sambaDTypeBytes(dtype)));
}

/* Whole, and small enough to count with. */
static bool isPosition(double number) { return fabs(number) <= 1e9 && number == trunc(number); }

/* A constant of several values along one axis: positions, if they are whole numbers. */
static Form positionsOf(MlirAttribute elements, SambaDType dtype, intptr_t axis, int64_t count) {
  Form form = {.kind = FORM_POSITIONS, .axis = axis, .first = elementOf(elements, dtype, 0)};
  if (!isPosition(form.first))
    return (Form){0};
  for (int64_t i = 1; i < count; ++i)
    if (elementOf(elements, dtype, i) != form.first + (double)i)
      return (Form){0};
  return form;
}

/* A constant that is a matrix: a triangle whose first row begins with the first number. */
static Form triangleOf(MlirAttribute elements, SambaDType dtype, int64_t rows, int64_t columns) {
  double first = elementOf(elements, dtype, 0);
  int64_t diagonal = 0;
  while (diagonal + 1 < columns && elementOf(elements, dtype, diagonal + 1) == first)
    ++diagonal;
  if (diagonal + 1 == columns)
    return (Form){0};
  Form form = triangleForm(2, 1, diagonal, first, elementOf(elements, dtype, diagonal + 1));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (elementOf(elements, dtype, i * columns + j) !=
          (j <= i + diagonal ? form.first : form.second))
        return (Form){0};
  return form;
}

/* A constant of several values. */
static Form elementsForm(MlirValue value, MlirAttribute elements, SambaDType dtype) {
  int64_t sizes[SAMBA_MAX_RANK], count = 0;
  intptr_t axes[SAMBA_MAX_RANK], rank = sambaMatchRank(value);
  for (intptr_t axis = 0; axis < rank; ++axis)
    if (sambaMatchSize(value, axis) != 1) {
      sizes[count] = sambaMatchSize(value, axis);
      axes[count++] = rank - axis;
    }
  if (count == 1)
    return positionsOf(elements, dtype, axes[0], sizes[0]);
  bool matrix = count == 2 && axes[0] == 2 && axes[1] == 1;
  return matrix ? triangleOf(elements, dtype, sizes[0], sizes[1]) : (Form){0};
}

static Form constantForm(SambaMaskForms *forms, MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  SambaDType dtype = sambaDTypeFromType(mlirShapedTypeGetElementType(mlirValueGetType(value)));
  bool splat = sambaOperationIsSplat(maker);
  MlirAttribute elements = splat ? sambaSplatValue(maker) : sambaOperationAttribute(maker, "value");
  if (mlirAttributeIsNull(elements) || !mlirAttributeIsADenseElements(elements))
    return (Form){0};
  if (splat && dtype == SAMBA_DTYPE_I1)
    return numberForm(mlirDenseElementsAttrGetBoolSplatValue(elements));
  if (splat)
    return numberForm(elementOf(elements, dtype, 0));

  uint32_t index;
  if (!sambaPointerMapGet(&forms->of, elements.ptr, &index)) {
    index = (uint32_t)forms->list.size;
    sambaArrayAppend(&forms->list, elementsForm(value, elements, dtype));
    sambaPointerMapSet(&forms->of, elements.ptr, index);
  }
  return forms->list.data[index];
}

/*===-- Views ---------------------------------------------------------------------------------===*/

/* The axis of the result that an axis of the operand becomes; 0: it is split or joined. */
static intptr_t reshapedAxis(MlirValue from, MlirValue to, intptr_t axis) {
  int64_t before = 1, inner = 1;
  intptr_t rank = sambaMatchRank(from), to_rank = sambaMatchRank(to);
  int64_t size = sambaMatchSize(from, rank - axis);
  for (intptr_t back = 1; back < axis; ++back)
    before *= sambaMatchSize(from, rank - back);
  for (intptr_t back = 1; back <= to_rank; ++back) {
    if (inner == before && sambaMatchSize(to, to_rank - back) == size)
      return back;
    inner *= sambaMatchSize(to, to_rank - back);
  }
  return 0;
}

static intptr_t permutedAxis(MlirOperation permute, intptr_t axis) {
  MlirAttribute dims = sambaOperationAttribute(permute, "dims");
  intptr_t rank = mlirDenseArrayGetNumElements(dims);
  for (intptr_t i = 0; i < rank; ++i)
    if (mlirDenseI64ArrayGetElement(dims, i) == rank - axis)
      return rank - i;
  return 0;
}

/* The form with its axes where a view has them. */
static Form movedForm(Form form, MlirOperation view, bool reshapes) {
  MlirValue from = mlirOperationGetOperand(view, 0), to = sambaMatchResult(view);
  intptr_t axes[2] = {form.axis, form.row_axis};
  for (int i = 0; i < (form.kind == FORM_TRIANGLE ? 2 : 1); ++i) {
    axes[i] = reshapes ? reshapedAxis(from, to, axes[i]) : permutedAxis(view, axes[i]);
    if (!axes[i])
      return (Form){0};
  }
  if (form.kind == FORM_TRIANGLE)
    return triangleForm(axes[1], axes[0], form.diagonal, form.first, form.second);
  form.axis = axes[0];
  return form;
}

/* The form without what stands before a slice. */
static Form slicedForm(Form form, MlirOperation slice) {
  MlirAttribute starts = sambaOperationAttribute(slice, "starts");
  MlirAttribute steps = sambaOperationAttribute(slice, "steps");
  intptr_t rank = mlirDenseArrayGetNumElements(starts);
  for (intptr_t axis = 0; axis < rank; ++axis)
    if (mlirDenseI64ArrayGetElement(steps, axis) != 1)
      return (Form){0};
  int64_t start = mlirDenseI64ArrayGetElement(starts, rank - form.axis);
  if (form.kind == FORM_POSITIONS)
    form.first += (double)start;
  else
    form.diagonal += mlirDenseI64ArrayGetElement(starts, rank - form.row_axis) - start;
  return form;
}

static Form viewForm(SambaMaskForms *forms, MlirOperation view, SambaStringRef name) {
  Form form = operandForm(forms, view, 0);
  bool moves = form.kind == FORM_POSITIONS || form.kind == FORM_TRIANGLE;
  bool same = sambaStringRefEqualC(name, "expand") || sambaStringRefEqualC(name, "contiguous");
  if (same || !moves)
    return form;
  if (sambaStringRefEqualC(name, "slice"))
    return slicedForm(form, view);
  return movedForm(form, view, sambaStringRefEqualC(name, "reshape"));
}

/*===-- Computations --------------------------------------------------------------------------===*/

static double computed(const char *name, double a, double b) {
  if (strcmp(name, "add") == 0)
    return a + b;
  if (strcmp(name, "sub") == 0)
    return a - b;
  if (strcmp(name, "mul") == 0)
    return a * b;
  if (strcmp(name, "eq") == 0)
    return a == b;
  if (strcmp(name, "ne") == 0)
    return a != b;
  if (strcmp(name, "lt") == 0)
    return a < b;
  if (strcmp(name, "le") == 0)
    return a <= b;
  if (strcmp(name, "gt") == 0)
    return a > b;
  if (strcmp(name, "ge") == 0)
    return a >= b;
  if (strcmp(name, "logical_and") == 0)
    return a && b;
  return a || b; /* logical_or */
}

/* Positions compared with positions. */
static Form comparedForm(const char *name, Form a, Form b) {
  int64_t ahead = (int64_t)(b.first - a.first);
  if (a.axis == b.axis)
    return (Form){0};
  if (strcmp(name, "le") == 0) /* a + j <= b + i */
    return triangleForm(b.axis, a.axis, ahead, 1, 0);
  if (strcmp(name, "gt") == 0)
    return triangleForm(b.axis, a.axis, ahead, 0, 1);
  if (strcmp(name, "lt") == 0)
    return triangleForm(b.axis, a.axis, ahead - 1, 1, 0);
  if (strcmp(name, "ge") == 0)
    return triangleForm(b.axis, a.axis, ahead - 1, 0, 1);
  return (Form){0};
}

/* Two triangles with one diagonal, or one and a number. */
static bool sameDiagonal(const Form *a, const Form *b) {
  return a->kind == FORM_NUMBER || b->kind == FORM_NUMBER ||
         (a->diagonal == b->diagonal && a->axis == b->axis && a->row_axis == b->row_axis);
}

static double behind(const Form *form) {
  return form->kind == FORM_NUMBER ? form->first : form->second;
}

static Form binaryForm(const char *name, Form a, Form b) {
  bool positions = a.kind == FORM_POSITIONS || b.kind == FORM_POSITIONS;
  if (a.kind == FORM_UNKNOWN || b.kind == FORM_UNKNOWN)
    return (Form){0};
  if (a.kind == FORM_POSITIONS && b.kind == FORM_POSITIONS)
    return comparedForm(name, a, b);
  if (positions) { /* and a whole number beside them */
    Form *moved = a.kind == FORM_POSITIONS ? &a : &b;
    double number = a.kind == FORM_POSITIONS ? b.first : a.first;
    bool subtracts = strcmp(name, "sub") == 0;
    if ((strcmp(name, "add") != 0 && !(subtracts && moved == &a)) || !isPosition(number) ||
        (moved == &a ? b.kind : a.kind) != FORM_NUMBER)
      return (Form){0};
    moved->first += subtracts ? -number : number;
    return *moved;
  }
  if (!sameDiagonal(&a, &b))
    return (Form){0};
  Form form = a.kind == FORM_TRIANGLE ? a : b;
  form.first = computed(name, a.first, b.first);
  form.second = computed(name, behind(&a), behind(&b));
  return form;
}

/* where(c, x, y) of triangles with one diagonal and numbers. */
static Form chosenForm(Form c, Form x, Form y) {
  const Form *all[] = {&c, &x, &y};
  Form form = c;
  for (int i = 0; i < 3; ++i) {
    if (all[i]->kind != FORM_NUMBER && all[i]->kind != FORM_TRIANGLE)
      return (Form){0};
    if (!sameDiagonal(&form, all[i]))
      return (Form){0};
    form = form.kind == FORM_TRIANGLE ? form : *all[i];
  }
  form.first = c.first != 0 ? x.first : y.first;
  form.second = behind(&c) != 0 ? behind(&x) : behind(&y);
  return form;
}

/* tril or triu of a number. */
static Form halfForm(SambaMaskForms *forms, MlirOperation operation, bool lower) {
  Form form = operandForm(forms, operation, 0);
  MlirAttribute attribute = sambaOperationAttribute(operation, "diagonal");
  int64_t diagonal = mlirAttributeIsNull(attribute) ? 0 : mlirIntegerAttrGetValueInt(attribute);
  if (form.kind != FORM_NUMBER || mlirOperationGetNumOperands(operation) != 1)
    return (Form){0};
  return lower ? triangleForm(2, 1, diagonal, form.first, 0)
               : triangleForm(2, 1, diagonal - 1, 0, form.first);
}

static Form operatorForm(SambaMaskForms *forms, MlirOperation operation, SambaStringRef name) {
  static const char *const views[] = {"reshape", "permute", "expand", "slice", "contiguous", NULL};
  static const char *const binary[] = {"add", "sub", "mul", "eq",          "ne",         "lt",
                                       "le",  "gt",  "ge",  "logical_and", "logical_or", NULL};
  if (sambaStringRefIsOneOf(name, views))
    return viewForm(forms, operation, name);
  if (sambaStringRefEqualC(name, "tril") || sambaStringRefEqualC(name, "triu"))
    return halfForm(forms, operation, sambaStringRefEqualC(name, "tril"));
  if (sambaStringRefEqualC(name, "where"))
    return chosenForm(operandForm(forms, operation, 0), operandForm(forms, operation, 1),
                      operandForm(forms, operation, 2));
  if (sambaStringRefEqualC(name, "logical_not"))
    return binaryForm("eq", operandForm(forms, operation, 0), numberForm(0));
  for (const char *const *known = binary; *known; ++known)
    if (sambaStringRefEqualC(name, *known))
      return binaryForm(*known, operandForm(forms, operation, 0), operandForm(forms, operation, 1));
  return (Form){0};
}

/* Whether the number stays what it is, or as good as that, in another dtype. */
static bool survives(double number, SambaDType dtype) {
  if (dtype == SAMBA_DTYPE_F32 || number == 0 || fabs(number) == 1)
    return true;
  return sambaDTypeIsFloat(dtype) ? fabs(number) >= 1e30
                                  : number == trunc(number) && fabs(number) < 100;
}

static Form castForm(SambaMaskForms *forms, MlirOperation cast) {
  Form form = operandForm(forms, cast, 0);
  SambaDType to =
      sambaDTypeFromType(mlirShapedTypeGetElementType(mlirValueGetType(sambaMatchResult(cast))));
  if (form.kind == FORM_POSITIONS)
    return to == SAMBA_DTYPE_I64 || to == SAMBA_DTYPE_I32 ? form : (Form){0};
  if (to == SAMBA_DTYPE_I1)
    return binaryForm("ne", form, numberForm(0));
  bool same = survives(form.first, to) && (form.kind == FORM_NUMBER || survives(form.second, to));
  return same ? form : (Form){0};
}

static Form formOf(SambaMaskForms *forms, MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  if (mlirOperationIsNull(maker) || forms->left == 0)
    return (Form){0};
  --forms->left;
  if (sambaOperationIsSplat(maker) || sambaOperationIsConstant(maker))
    return constantForm(forms, value);
  SambaStringRef name = sambaOperatorNameOf(maker);
  return sambaStringRefEqualC(name, "cast") ? castForm(forms, maker)
                                            : operatorForm(forms, maker, name);
}

/*===-- Attention -----------------------------------------------------------------------------===*/

/* Added to a score, or put in its place, it leaves nothing of any score that is a number: its
 * power is 0 beside the score of a place that takes part. */
static bool hides(double number) { return number <= -1e30; }

/* Whether a triangle of masks lets each query see the keys up to its diagonal, and no others. */
static bool isCausal(MlirOperation attention, const Form *form) {
  MlirValue query = mlirOperationGetOperand(attention, 0);
  MlirValue key = mlirOperationGetOperand(attention, 1);
  MlirValue mask = mlirOperationGetOperand(attention, 3);
  intptr_t rank = sambaMatchRank(mask);
  if (form->kind != FORM_TRIANGLE || form->axis != 1 || form->row_axis != 2 || rank < 2 ||
      form->diagonal < 0 ||
      sambaMatchSize(mask, rank - 1) != sambaMatchSize(key, sambaMatchRank(key) - 2) ||
      sambaMatchSize(mask, rank - 2) != sambaMatchSize(query, sambaMatchRank(query) - 2))
    return false;

  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(mask));
  SambaDType dtype = sambaDTypeFromType(element);
  if (dtype != SAMBA_DTYPE_I1) /* scores are as wide as the mask */
    return mlirTypeEqual(element, mlirShapedTypeGetElementType(mlirValueGetType(query))) &&
           form->first == 0 && hides(form->second);
  MlirAttribute fill = sambaOperationAttribute(attention, "fill");
  return form->first == 1 && form->second == 0 &&
         (mlirAttributeIsNull(fill) || hides(mlirFloatAttrGetValueDouble(fill)));
}

MlirOperation sambaRaiseCausal(MlirOperation attention, SambaMaskForms *forms) {
  MlirAttribute given = sambaOperationAttribute(attention, "is_causal");
  if (mlirOperationGetNumOperands(attention) != 4 ||
      (!mlirAttributeIsNull(given) && mlirBoolAttrGetValue(given)))
    return attention;
  forms->left = mostOperations;
  Form form = operandForm(forms, attention, 3);
  if (!isCausal(attention, &form))
    return attention;

  MlirContext context = mlirOperationGetContext(attention);
  MlirNamedAttribute attributes[3];
  MlirValue operands[3];
  MlirAttribute scale = sambaOperationAttribute(attention, "scale");
  intptr_t count = 0;
  for (intptr_t i = 0; i < 3; ++i)
    operands[i] = mlirOperationGetOperand(attention, i);
  if (!mlirAttributeIsNull(scale))
    attributes[count++] = sambaNamedAttribute(context, "scale", scale);
  attributes[count++] = sambaNamedAttribute(context, "is_causal", mlirBoolAttrGet(context, true));
  if (form.diagonal)
    attributes[count++] =
        sambaNamedAttribute(context, "causal_offset",
                            mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), form.diagonal));
  MlirValue made = sambaRaiseBuild(attention, "samba.scaled_dot_product_attention", 3, operands,
                                   count, attributes);
  mlirValueReplaceAllUsesOfWith(sambaMatchResult(attention), made);
  return sambaDefiningOperation(made);
}
