/* Attention written with einsum: both products become matmul, which raise_attention.c reads; see
 * raise_idioms.c. */
#include "dialect/samba/match.h"
#include "passes/raise/idioms.h"

#include <string.h>

/* The terms of an equation of two operands; letters only. */
typedef struct {
  char terms[3][SAMBA_MAX_RANK + 1]; /* the operands', the result's */
} Equation;

static bool readEquation(MlirOperation einsum, Equation *out) {
  MlirStringRef text = mlirStringAttrGetValue(sambaOperationAttribute(einsum, "equation"));
  size_t counts[3] = {0}, term = 0;

  *out = (Equation){0};
  for (size_t i = 0; i < text.length; ++i) {
    char c = text.data[i];
    if (c == ',' || c == '-') {
      if (c == ',' ? term != 0 : term != 1 || i + 1 == text.length || text.data[++i] != '>')
        return false;
      ++term;
    } else if (c != ' ') {
      if (c == '.' || counts[term] == SAMBA_MAX_RANK || strchr(out->terms[term], c))
        return false;
      out->terms[term][counts[term]++] = c;
    }
  }

  return term == 2 && mlirOperationGetNumOperands(einsum) == 2;
}

/* Whether every label has one size in both operands. */
static bool sizesAgree(MlirOperation einsum, const Equation *equation) {
  for (intptr_t axis = 0; equation->terms[0][axis]; ++axis) {
    const char *other = strchr(equation->terms[1], equation->terms[0][axis]);
    if (other && sambaMatchSize(mlirOperationGetOperand(einsum, 1), other - equation->terms[1]) !=
                     sambaMatchSize(mlirOperationGetOperand(einsum, 0), axis))
      return false;
  }
  return true;
}

/* The value with the dimensions `from` in the order `to`. */
static MlirValue permuted(MlirOperation root, MlirValue value, const char *from, const char *to) {
  if (strcmp(from, to) == 0)
    return value;
  int64_t dims[SAMBA_MAX_RANK];
  intptr_t rank = (intptr_t)strlen(to);
  for (intptr_t axis = 0; axis < rank; ++axis)
    dims[axis] = strchr(from, to[axis]) - from;
  MlirContext context = mlirOperationGetContext(root);
  MlirNamedAttribute attribute =
      sambaNamedAttribute(context, "dims", mlirDenseI64ArrayGet(context, rank, dims));
  return sambaRaiseBuild(root, "samba.permute", 1, &value, 1, &attribute);
}

/* The einsum as matmul: one label that only the left operand and the result have, one of the right
 * and the result, one of both operands alone, and any that all three have, in the order that
 * `order` names them. Null: it is another product. */
static bool lowerEinsum(MlirOperation einsum, int left, const Equation *equation,
                        const char *order) {
  const char *a = equation->terms[left];
  const char *b = equation->terms[1 - left];
  const char *out = equation->terms[2];
  char batch[SAMBA_MAX_RANK + 1] = "";
  char rows = 0;
  char columns = 0;
  char inner = 0;
  size_t count = 0;

  for (const char *c = order; *c; ++c)
    if (strchr(a, *c) && strchr(b, *c) && strchr(out, *c))
      batch[count++] = *c;
  size_t seen = count;

  for (const char *c = a; *c; ++c) {
    rows = !strchr(b, *c) && strchr(out, *c) ? *c : rows;
    inner = strchr(b, *c) && !strchr(out, *c) ? *c : inner;
  }

  for (const char *c = b; *c; ++c)
    columns = !strchr(a, *c) && strchr(out, *c) ? *c : columns;
  if (!rows || !columns || !inner || strlen(a) != seen + 2 || strlen(b) != seen + 2 ||
      strlen(out) != seen + 2 || seen + 2 > SAMBA_MAX_RANK || !sizesAgree(einsum, equation))
    return false;
  char wanted[3][SAMBA_MAX_RANK + 1];
  const char last[3][2] = {{rows, inner}, {inner, columns}, {rows, columns}};

  for (int t = 0; t < 3; ++t) {
    memcpy(wanted[t], batch, count);
    memcpy(wanted[t] + count, last[t], 2);
    wanted[t][count + 2] = 0;
  }

  MlirValue operands[] = {
      permuted(einsum, mlirOperationGetOperand(einsum, left), a, wanted[0]),
      permuted(einsum, mlirOperationGetOperand(einsum, 1 - left), b, wanted[1])};
  MlirValue product = sambaRaiseBuild(einsum, "samba.matmul", 2, operands, 0, NULL);

  mlirValueReplaceAllUsesOfWith(sambaMatchResult(einsum),
                                permuted(einsum, product, wanted[2], out));
  return true;
}

/* The einsum that scores are made of: numbers, masks and reshapes stand between. */
static MlirOperation findEinsum(MlirValue value, unsigned depth) {
  static const char *const between[] = {"add", "sub", "where", "mul", "div", "reshape"};
  MlirOperation found = sambaMatchMaker(value, "einsum");
  for (size_t i = 0; i < sizeof between / sizeof *between && mlirOperationIsNull(found) && depth;
       ++i) {
    MlirOperation operation = sambaMatchMaker(value, between[i]);
    intptr_t count = mlirOperationIsNull(operation) ? 0 : mlirOperationGetNumOperands(operation);
    for (intptr_t k = 0; k < count && mlirOperationIsNull(found); ++k)
      found = findEinsum(mlirOperationGetOperand(operation, k), depth - 1);
  }
  return found;
}

/* Scores: the result's last label is of the right operand. */
static void lowerScores(MlirOperation softmax) {
  MlirOperation einsum = findEinsum(mlirOperationGetOperand(softmax, 0), 6);
  Equation equation;
  if (mlirOperationIsNull(einsum) || !readEquation(einsum, &equation) || !equation.terms[2][0])
    return;
  char last = equation.terms[2][strlen(equation.terms[2]) - 1];
  if (lowerEinsum(einsum, strchr(equation.terms[0], last) ? 1 : 0, &equation, equation.terms[2]))
    mlirOperationDestroy(einsum);
}

void sambaLowerAttentionEinsums(MlirOperation function) {
  MlirOperation next;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    bool einsum = sambaOperationIs(operation, "samba.einsum");
    Equation equation;
    if (!(einsum ? readEquation(operation, &equation)
                 : sambaOperationIs(operation, "samba.matmul")))
      continue;
    for (int i = 0; i < 2; ++i) {
      MlirOperation softmax = sambaMatchMaker(mlirOperationGetOperand(operation, i), "softmax");
      if (mlirOperationIsNull(softmax))
        continue;
      lowerScores(softmax);
      if (einsum && lowerEinsum(operation, i, &equation, equation.terms[i]))
        mlirOperationDestroy(operation);
      break;
    }
  }
}
