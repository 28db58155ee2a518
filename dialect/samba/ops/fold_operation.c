/* Folds: operations that are another value, or a simpler form of themselves. Every fold keeps
 * values bit for bit (x + 0 is not x when x is -0, so it stays). A fold that rewrites its operation
 * in place returns the operation's own result. */
#include "dialect/samba/graph.h"
#include "dialect/samba/ops/hook_functions.h"
#include "dialect/samba/samba.h"

typedef struct Fold {
  MlirOperation op;
  MlirAttribute attributes;
  const MlirAttribute *constants;
  MlirValue *out_value;
  MlirAttribute *out_constant;
} Fold;

static MlirValue operand(MlirOperation op, intptr_t index) {
  return mlirOperationGetOperand(op, index);
}
static MlirType resultType(const Fold *fold) {
  return mlirValueGetType(mlirOperationGetResult(fold->op, 0));
}

static bool becomes(const Fold *fold, MlirValue value) {
  if (!mlirTypeEqual(mlirValueGetType(value), resultType(fold)))
    return false;
  *fold->out_value = value;
  return true;
}

/* The op that makes a value, when it is a samba op of that name. */
static MlirOperation producer(MlirValue value, const char *name) {
  if (mlirValueIsAOpResult(value)) {
    MlirOperation op = mlirOpResultGetOwner(value);
    if (mlirStringRefEqual(sambaOperationName(op), mlirStringRefCreateFromCString(name)))
      return op;
  }
  return (MlirOperation){NULL};
}
static MlirOperation sameProducer(const Fold *fold) {
  if (!mlirValueIsAOpResult(operand(fold->op, 0)))
    return (MlirOperation){NULL};
  MlirOperation op = mlirOpResultGetOwner(operand(fold->op, 0));
  return mlirIdentifierEqual(mlirOperationGetName(op), mlirOperationGetName(fold->op))
             ? op
             : (MlirOperation){NULL};
}

static bool inPlace(const Fold *fold) {
  *fold->out_value = mlirOperationGetResult(fold->op, 0);
  return true;
}
/* op(inner(x)) becomes op(x). */
static bool skipInner(const Fold *fold, MlirOperation inner) {
  mlirOperationSetOperand(fold->op, 0, operand(inner, 0));
  return inPlace(fold);
}

/* A list attribute; returns how many numbers there are, or -1 when it is absent or longer than a
 * shape. */
static int64_t listOf(MlirAttribute dictionary, const char *name, int64_t *out) {
  MlirAttribute list = sambaDictionaryFind(dictionary, name);
  if (mlirAttributeIsNull(list) || !mlirAttributeIsADenseI64Array(list) ||
      mlirDenseArrayGetNumElements(list) > SAMBA_MAX_RANK)
    return -1;
  int64_t size = mlirDenseArrayGetNumElements(list);
  for (int64_t i = 0; i < size; ++i)
    out[i] = mlirDenseI64ArrayGetElement(list, i);
  return size;
}
static void setList(const Fold *fold, const char *name, int64_t size, const int64_t *values) {
  MlirContext context = mlirOperationGetContext(fold->op);
  mlirOperationSetAttributeByName(fold->op, mlirStringRefCreateFromCString(name),
                                  mlirDenseI64ArrayGet(context, size, values));
}

/* A constant all of whose elements are `value`, in the result's type or a smaller shape. -0.0 is
 * not 0.0. */
static bool isSplat(const Fold *fold, intptr_t index, double value) {
  MlirAttribute constant = fold->constants[index];
  if (mlirAttributeIsNull(constant) || !mlirAttributeIsADenseElements(constant) ||
      !mlirDenseElementsAttrIsSplat(constant))
    return false;
  MlirAttribute element = mlirDenseElementsAttrGetSplatValue(constant);
  if (mlirAttributeIsAFloat(element)) {
    double actual = mlirFloatAttrGetValueDouble(element);
    return memcmp(&actual, &value, sizeof value) == 0;
  }
  MlirType type = mlirAttributeGetType(element);
  return mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type) &&
         mlirIntegerAttrGetValueInt(element) == (int64_t)value;
}
static bool isFloat(const Fold *fold) {
  return mlirTypeIsAFloat(mlirShapedTypeGetElementType(resultType(fold)));
}

/* A view of a constant: the same elements in another shape (any constant), or anything of equal
 * elements. */
static bool viewOfConstant(const Fold *fold, bool same_order) {
  MlirAttribute constant = fold->constants[0];
  if (mlirAttributeIsNull(constant) || !mlirAttributeIsADenseElements(constant))
    return false;
  if (mlirDenseElementsAttrIsSplat(constant))
    *fold->out_constant = mlirDenseElementsAttrSplatGet(
        resultType(fold), mlirDenseElementsAttrGetSplatValue(constant));
  else if (same_order)
    *fold->out_constant = mlirDenseElementsAttrReshapeGet(constant, resultType(fold));
  else
    return false;
  return true;
}

static bool foldIdentity(const Fold *fold) { return becomes(fold, operand(fold->op, 0)); }

/* A copy into a region is what the region holds from there on, so it stays. */
static bool foldContiguous(const Fold *fold) {
  return mlirAttributeIsNull(sambaOperationAttribute(fold->op, SAMBA_REGION_ATTRIBUTE)) &&
         foldIdentity(fold);
}

/* What means something only where gradients are taken. */
static bool foldUnlessTraining(const Fold *fold) {
  return !sambaGraphTrains(fold->op) && foldIdentity(fold);
}

static bool foldIdempotent(const Fold *fold) {
  MlirOperation inner = sameProducer(fold);
  return inner.ptr && becomes(fold, operand(fold->op, 0));
}

static bool foldInvolution(const Fold *fold) {
  MlirOperation inner = sameProducer(fold);
  return inner.ptr && becomes(fold, operand(inner, 0));
}

static bool foldAbs(const Fold *fold) {
  MlirOperation inner = producer(operand(fold->op, 0), "samba.neg");
  return inner.ptr ? skipInner(fold, inner) : foldIdempotent(fold);
}

/* Every value of `from` is a value of `to`. */
static bool lossless(SambaDType from, SambaDType to) {
  static const uint16_t wider[SAMBA_DTYPE_COUNT] = {
      [SAMBA_DTYPE_BF16] = 1 << SAMBA_DTYPE_F32,
      [SAMBA_DTYPE_F16] = 1 << SAMBA_DTYPE_F32,
      [SAMBA_DTYPE_I8] =
          1 << SAMBA_DTYPE_I16 | 1 << SAMBA_DTYPE_I32 | 1 << SAMBA_DTYPE_I64 | 1 << SAMBA_DTYPE_F32,
      [SAMBA_DTYPE_UI8] =
          1 << SAMBA_DTYPE_I16 | 1 << SAMBA_DTYPE_I32 | 1 << SAMBA_DTYPE_I64 | 1 << SAMBA_DTYPE_F32,
      [SAMBA_DTYPE_I16] = 1 << SAMBA_DTYPE_I32 | 1 << SAMBA_DTYPE_I64 | 1 << SAMBA_DTYPE_F32,
      [SAMBA_DTYPE_I32] = 1 << SAMBA_DTYPE_I64,
  };
  return from < SAMBA_DTYPE_COUNT && to < SAMBA_DTYPE_COUNT &&
         (from == to || wider[from] >> to & 1);
}

static bool foldCast(const Fold *fold) {
  if (foldIdentity(fold))
    return true;
  MlirOperation inner = producer(operand(fold->op, 0), "samba.cast");
  if (!inner.ptr)
    return false;
  SambaDType from =
      sambaDTypeFromType(mlirShapedTypeGetElementType(mlirValueGetType(operand(inner, 0))));
  SambaDType between =
      sambaDTypeFromType(mlirShapedTypeGetElementType(mlirValueGetType(operand(fold->op, 0))));
  if (!lossless(from, between))
    return false;
  return becomes(fold, operand(inner, 0)) || skipInner(fold, inner);
}

static bool foldReshape(const Fold *fold) {
  if (foldIdentity(fold))
    return true;
  MlirOperation inner = sameProducer(fold);
  return inner.ptr ? skipInner(fold, inner) : viewOfConstant(fold, true);
}

static bool foldExpand(const Fold *fold) {
  if (foldIdentity(fold))
    return true;
  MlirOperation inner = sameProducer(fold);
  return inner.ptr ? skipInner(fold, inner) : viewOfConstant(fold, false);
}

/* Axis attributes count from the end when negative. */
static void normalize(int64_t *axes, int64_t size) {
  for (int64_t i = 0; i < size; ++i)
    axes[i] += axes[i] < 0 ? size : 0;
}

static bool foldPermute(const Fold *fold) {
  int64_t outer[SAMBA_MAX_RANK], innerDims[SAMBA_MAX_RANK];
  int64_t rank = listOf(fold->attributes, "dims", outer);

  if (rank < 0)
    return false;
  normalize(outer, rank);
  bool identity = true;
  for (int64_t i = 0; i < rank; ++i)
    identity = identity && outer[i] == i;
  if (identity && foldIdentity(fold))
    return true;
  MlirOperation inner = sameProducer(fold);
  if (!inner.ptr)
    return viewOfConstant(fold, false);
  if (listOf(sambaOperationAttributes(inner), "dims", innerDims) != rank)
    return false;
  normalize(innerDims, rank);
  for (int64_t i = 0; i < rank; ++i)
    outer[i] = innerDims[outer[i]];
  setList(fold, "dims", rank, outer);

  return skipInner(fold, inner);
}

typedef struct Window {
  int64_t rank, starts[SAMBA_MAX_RANK], ends[SAMBA_MAX_RANK], steps[SAMBA_MAX_RANK];
} Window;

/* The window of a slice in plain numbers: starts within the input, steps positive; false for other
 * forms. */
static bool windowOf(MlirAttribute attributes, MlirType input, Window *out) {
  out->rank = listOf(attributes, "starts", out->starts);
  if (out->rank < 0 || listOf(attributes, "ends", out->ends) != out->rank ||
      listOf(attributes, "steps", out->steps) != out->rank)
    return false;
  for (int64_t i = 0; i < out->rank; ++i)
    if (out->starts[i] < 0 || out->steps[i] < 1 || out->ends[i] < 0 ||
        out->ends[i] > mlirShapedTypeGetDimSize(input, i))
      return false;
  return true;
}

static bool foldSlice(const Fold *fold) {
  if (foldIdentity(
          fold)) { /* the same shape: every element, unless a dimension is walked backwards */
    Window window;
    if (windowOf(fold->attributes, mlirValueGetType(operand(fold->op, 0)), &window))
      return true;
    *fold->out_value = (MlirValue){NULL};
  }

  MlirOperation inner = sameProducer(fold);
  Window outer, first;
  if (!inner.ptr)
    return viewOfConstant(fold, false);
  if (!windowOf(fold->attributes, mlirValueGetType(operand(fold->op, 0)), &outer) ||
      !windowOf(sambaOperationAttributes(inner), mlirValueGetType(operand(inner, 0)), &first))
    return false;

  for (int64_t i = 0; i < outer.rank; ++i) {
    int64_t count = (outer.ends[i] - outer.starts[i] + outer.steps[i] - 1) / outer.steps[i];
    outer.starts[i] = first.starts[i] + outer.starts[i] * first.steps[i];
    outer.steps[i] *= first.steps[i];
    outer.ends[i] = outer.starts[i] + (count - 1) * outer.steps[i] + 1;
  }

  setList(fold, "starts", outer.rank, outer.starts);
  setList(fold, "ends", outer.rank, outer.ends);
  setList(fold, "steps", outer.rank, outer.steps);
  return skipInner(fold, inner);
}

static bool foldPad(const Fold *fold) {
  int64_t amounts[2][SAMBA_MAX_RANK];
  int64_t sizes[2] = {listOf(fold->attributes, "low", amounts[0]),
                      listOf(fold->attributes, "high", amounts[1])};
  for (int side = 0; side < 2; ++side)
    for (int64_t i = 0; i < sizes[side]; ++i)
      if (amounts[side][i])
        return false;
  return sizes[0] >= 0 && sizes[1] >= 0 && foldIdentity(fold);
}

static bool foldCat(const Fold *fold) {
  return mlirOperationGetNumOperands(fold->op) == 1 && foldIdentity(fold);
}

static bool foldNeutral(const Fold *fold, double right, bool commutes) {
  if (isSplat(fold, 1, right) && becomes(fold, operand(fold->op, 0)))
    return true;
  return commutes && isSplat(fold, 0, right) && becomes(fold, operand(fold->op, 1));
}
static bool foldAdd(const Fold *fold) {
  return foldNeutral(fold, isFloat(fold) ? -0.0 : 0.0, true);
}
static bool foldSub(const Fold *fold) { return foldNeutral(fold, 0.0, false); }
static bool foldMul(const Fold *fold) { return foldNeutral(fold, 1.0, true); }
static bool foldDiv(const Fold *fold) { return foldNeutral(fold, 1.0, false); }
static bool foldEqualOperands(const Fold *fold) {
  return mlirValueEqual(operand(fold->op, 0), operand(fold->op, 1)) && foldIdentity(fold);
}
static bool foldWhere(const Fold *fold) {
  return mlirValueEqual(operand(fold->op, 1), operand(fold->op, 2)) &&
         becomes(fold, operand(fold->op, 1));
}

typedef struct FoldRow {
  const char *name;
  bool (*fold)(const Fold *);
} FoldRow;

static const FoldRow folds[] = {
    {"samba.contiguous", foldContiguous},
    {"samba.detach", foldUnlessTraining},
    {"samba.contiguous_backward", foldUnlessTraining},
    {"samba.pad", foldPad},
    {"samba.cast", foldCast},
    {"samba.reshape", foldReshape},
    {"samba.expand", foldExpand},
    {"samba.permute", foldPermute},
    {"samba.slice", foldSlice},
    {"samba.cat", foldCat},
    {"samba.relu", foldIdempotent},
    {"samba.floor", foldIdempotent},
    {"samba.ceil", foldIdempotent},
    {"samba.round", foldIdempotent},
    {"samba.sign", foldIdempotent},
    {"samba.abs", foldAbs},
    {"samba.neg", foldInvolution},
    {"samba.logical_not", foldInvolution},
    {"samba.add", foldAdd},
    {"samba.sub", foldSub},
    {"samba.mul", foldMul},
    {"samba.div", foldDiv},
    {"samba.maximum", foldEqualOperands},
    {"samba.minimum", foldEqualOperands},
    {"samba.logical_and", foldEqualOperands},
    {"samba.logical_or", foldEqualOperands},
    {"samba.where", foldWhere},
};

const void *sambaFoldFind(MlirStringRef name) {
  for (size_t i = 0; i < sizeof folds / sizeof *folds; ++i)
    if (mlirStringRefEqual(name, mlirStringRefCreateFromCString(folds[i].name)))
      return &folds[i];
  return NULL;
}

bool sambaFoldOperator(const SambaOpHooks *hooks, MlirOperation op, const MlirAttribute *constants,
                       MlirValue *out_value, MlirAttribute *out_constant) {
  Fold fold = {op, sambaOperationAttributes(op), constants, out_value, out_constant};
  return ((const FoldRow *)hooks->folds)->fold(&fold);
}
