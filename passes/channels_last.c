/* samba-channels-last: images between convolutions hold the channels of a pixel side by side.
 *
 * As N x C x H x W, the pixels that a tile of a convolution reads lie in as many short rows as
 * there are channels, and a row of the image is seldom a multiple of what an array or a burst
 * takes. As N x H x W x C a tile of pixels is one long row. So convolutions, pools and what is
 * between them, point by point, change together. At the border of such a component values are read
 * through a permutation, and some are copied; a component changes when little lies worse
 * afterwards. Training graphs stay: gradients of convolutions are made for channels first. */
#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/kind.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "passes/passes.h"
#include "support/container/pointer_map.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

/* Channels of fewer bytes make rows that are no burst of memory. */
enum { leastRowBytes = 64 };

/* Arrays take operands of four bytes more slowly than short rows bring them. */
enum { mostElementBytes = 2 };

/* What lies worse afterwards is at most one part of so many. */
enum { partsOfBorder = 4 };

static const int64_t toLast[] = {0, 2, 3, 1}, toFirst[] = {0, 3, 1, 2};

/* An operation that can change, and its component. */
typedef struct Member {
  MlirOperation operation;
  uint32_t component; /* a member of it; itself: the one that stands for it */
} Member;

/* The members of a graph in order, and what their components hold, by the one that stands for it.
 */
typedef struct Members {
  Member *members;
  uint32_t count;
  SambaPointerMap of_value; /* the member that makes a value */
  double *held, *worse;     /* bytes of all results; of what would lie worse */
} Members;

static bool isImage(MlirValue value) {
  SambaTensorType type;
  SambaStatus status = sambaTensorTypeFromMlir(mlirValueGetType(value), &type);
  bool image = !status && type.rank == 4 && sambaDTypeBytes(type.dtype) <= mostElementBytes;
  sambaStatusFree(status);
  return image;
}

static double bytesOf(MlirValue value, double *out_row) {
  SambaTensorType type;
  sambaStatusFree(sambaTensorTypeFromMlir(mlirValueGetType(value), &type));
  double bytes = sambaDTypeBytes(type.dtype);
  *out_row = bytes * (double)type.dims[1];
  for (uint32_t axis = 0; axis < type.rank; ++axis)
    bytes *= (double)type.dims[axis];
  return bytes;
}

static bool isWindow(MlirOperation operation) {
  return sambaOperationIs(operation, "samba.conv2d") ||
         sambaOperationIs(operation, "samba.max_pool2d") ||
         sambaOperationIs(operation, "samba.avg_pool2d");
}

static bool joinsChannels(MlirOperation operation) {
  if (!sambaOperationIs(operation, "samba.cat"))
    return false;
  int64_t dim = mlirIntegerAttrGetValueInt(sambaOperationAttribute(operation, "dim"));
  return dim == 1 || dim == -3;
}

/* The operands that are images: the first of a window, all of others. */
static intptr_t imagesOf(MlirOperation operation) {
  return isWindow(operation) ? 1 : mlirOperationGetNumOperands(operation);
}

static bool mayChange(MlirOperation operation) {
  const SambaOperator *operator = sambaOperatorOf(operation);
  if (!operator || mlirOperationGetNumResults(operation) != 1)
    return false;
  MlirValue result = mlirOperationGetResult(operation, 0);
  if (!isImage(result))
    return false;
  if (isWindow(operation) || joinsChannels(operation))
    return true;

  /* Point by point. */
  bool alike = operator->elementwise;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation) && alike; ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(operation, i));
    alike = mlirShapedTypeHasRank(type) && mlirShapedTypeGetRank(type) == 4;
    for (intptr_t axis = 0; axis < 4 && alike; ++axis)
      alike = mlirShapedTypeGetDimSize(type, axis) ==
              mlirShapedTypeGetDimSize(mlirValueGetType(result), axis);
  }
  return alike;
}

static uint32_t componentOf(Members *members, uint32_t index) {
  while (members->members[index].component != index)
    index = members->members[index].component =
        members->members[members->members[index].component].component;
  return index;
}

/* Collects what may change; who reads whom is one component. */
static void findMembers(MlirBlock body, Members *out) {
  for (MlirOperation operation = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation))
    ++out->count;
  out->members = sambaAllocateZeroed(out->count, sizeof *out->members);
  out->count = 0;

  for (MlirOperation operation = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation)) {
    if (!mayChange(operation))
      continue;
    uint32_t own = out->count++, other;
    out->members[own] = (Member){operation, own};
    for (intptr_t i = 0; i < imagesOf(operation); ++i)
      if (sambaPointerMapGet(&out->of_value, mlirOperationGetOperand(operation, i).ptr, &other))
        out->members[componentOf(out, other)].component = componentOf(out, own);
    sambaPointerMapSet(&out->of_value, mlirOperationGetResult(operation, 0).ptr, own);
  }
}

/* The mean of each plane of an image. */
static bool reducesPlanes(MlirOperation operation) {
  if (!sambaOperationIs(operation, "samba.mean"))
    return false;
  MlirAttribute dim = sambaOperationAttribute(operation, "dim");
  return !mlirAttributeIsNull(dim) && mlirDenseArrayGetNumElements(dim) == 2 &&
         mlirDenseI64ArrayGetElement(dim, 0) == 2 && mlirDenseI64ArrayGetElement(dim, 1) == 3;
}

/* Whether the value is read as it lies by somebody outside of its component. */
static bool isReadOutside(Members *members, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    uint32_t unused;
    bool inside =
        mlirOperationGetNumResults(user) == 1 &&
        sambaPointerMapGet(&members->of_value, mlirOperationGetResult(user, 0).ptr, &unused) &&
        mlirOpOperandGetOperandNumber(use) < imagesOf(user);
    if (!inside && !reducesPlanes(user))
      return true;
  }
  return false;
}

static void weigh(Members *members) {
  members->held = sambaAllocateZeroed(members->count, sizeof *members->held);
  members->worse = sambaAllocateZeroed(members->count, sizeof *members->worse);

  for (uint32_t m = 0; m < members->count; ++m) {
    MlirOperation operation = members->members[m].operation;
    MlirValue result = mlirOperationGetResult(operation, 0);
    uint32_t component = componentOf(members, m), maker;
    double row, bytes = bytesOf(result, &row);
    members->held[component] += bytes;
    if (row < leastRowBytes || isReadOutside(members, result))
      members->worse[component] += bytes;
    /* A convolution that is the first reads its image in any order. */
    for (intptr_t i = 0; i < imagesOf(operation); ++i) {
      MlirValue image = mlirOperationGetOperand(operation, i);
      if (!sambaOperationIs(operation, "samba.conv2d") &&
          !sambaPointerMapGet(&members->of_value, image.ptr, &maker))
        members->worse[component] += bytesOf(image, &row);
    }
  }
}

/* A view with one attribute of four numbers. */
static MlirValue viewOf(MlirValue value, const char *name, const char *attribute,
                        const int64_t *numbers, MlirOperation before) {
  MlirContext context = mlirOperationGetContext(before);
  MlirNamedAttribute named =
      sambaNamedAttribute(context, attribute, mlirDenseI64ArrayGet(context, 4, numbers));
  MlirOperation made =
      sambaOperationCreate(name, mlirOperationGetLocation(before), 1, &value, 1, &named);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, made);
  return mlirOperationGetResult(made, 0);
}

static MlirValue permuted(MlirValue value, const int64_t *dims, MlirOperation before) {
  return viewOf(value, "samba.permute", "dims", dims, before);
}

/* A copy of the operation under this name that reads other operands and has another `dim`, where it
 * has one. */
static MlirOperation copyOf(MlirOperation operation, const char *name, const MlirValue *operands,
                            MlirAttribute dim) {
  intptr_t count = mlirOperationGetNumAttributes(operation);
  MlirNamedAttribute *attributes =
      sambaAllocate(sambaArraySize((size_t)count + 1, sizeof *attributes));
  for (intptr_t i = 0; i < count; ++i) {
    attributes[i] = mlirOperationGetAttribute(operation, i);
    if (mlirStringRefEqual(mlirIdentifierStr(attributes[i].name), sambaMlirString("dim")))
      attributes[i].attribute = dim;
  }
  MlirOperation made =
      sambaOperationCreate(name, mlirOperationGetLocation(operation),
                           mlirOperationGetNumOperands(operation), operands, count, attributes);
  sambaPhaseTake(made, operation);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(operation), operation, made);
  free(attributes);
  return made;
}

/* The operation on channels last. */
static MlirOperation changed(MlirOperation operation, const MlirValue *operands) {
  SambaArena arena = {0};
  SambaStringRef old = sambaFromMlir(sambaOperationName(operation));
  const char *name = sambaArenaFormat(&arena, "%.*s%s", SAMBA_STRING_ARGS(old),
                                      isWindow(operation) ? "_channels_last" : "");
  MlirAttribute dim = {NULL};
  if (joinsChannels(operation))
    dim = mlirIntegerAttrGet(mlirAttributeGetType(sambaOperationAttribute(operation, "dim")), 3);
  MlirOperation made = copyOf(operation, name, operands, dim);
  sambaArenaDestroy(&arena);
  return made;
}

/* Means of planes read the new order; their results are as before. */
static void changeMeans(MlirValue result, MlirValue last) {
  static const int64_t planes[] = {1, 2};
  MlirOpOperand next;
  for (MlirOpOperand use = mlirValueGetFirstUse(result); !mlirOpOperandIsNull(use); use = next) {
    MlirOperation mean = mlirOpOperandGetOwner(use);
    next = mlirOpOperandGetNextUse(use);
    if (!reducesPlanes(mean))
      continue;
    MlirContext context = mlirOperationGetContext(mean);
    MlirValue old = mlirOperationGetResult(mean, 0);
    MlirOperation made =
        copyOf(mean, "samba.mean", &last, mlirDenseI64ArrayGet(context, 2, planes));
    MlirValue value = mlirOperationGetResult(made, 0);
    if (isImage(value)) { /* planes of one element: nothing is permuted */
      int64_t shape[4];
      for (intptr_t axis = 0; axis < 4; ++axis)
        shape[axis] = mlirShapedTypeGetDimSize(mlirValueGetType(old), axis);
      value = viewOf(value, "samba.reshape", "shape", shape, mean);
    }
    mlirValueReplaceAllUsesOfWith(old, value);
    mlirOperationDestroy(mean);
  }
}

/* Changes the members of the components that shall; their values in the new order are `last`. */
static void change(Members *members) {
  MlirValue *last = sambaAllocateZeroed(members->count + 1, sizeof *last);
  for (uint32_t m = 0; m < members->count; ++m) {
    MlirOperation operation = members->members[m].operation;
    uint32_t component = componentOf(members, m), maker;
    if (members->worse[component] * partsOfBorder > members->held[component])
      continue;
    intptr_t count = mlirOperationGetNumOperands(operation);
    MlirValue *operands = sambaAllocate(sambaArraySize((size_t)count + 1, sizeof *operands));
    for (intptr_t i = 0; i < count; ++i) {
      operands[i] = mlirOperationGetOperand(operation, i);
      if (i >= imagesOf(operation))
        continue;
      operands[i] = sambaPointerMapGet(&members->of_value, operands[i].ptr, &maker)
                        ? last[maker]
                        : permuted(operands[i], toLast, operation);
    }
    last[m] = mlirOperationGetResult(changed(operation, operands), 0);
    free(operands);
  }

  /* Readers outside see the value as it was; from the last one on, nobody reads what goes. */
  for (uint32_t m = members->count; m-- > 0;) {
    MlirOperation operation = members->members[m].operation;
    MlirValue result = mlirOperationGetResult(operation, 0);
    if (mlirValueIsNull(last[m]))
      continue;
    changeMeans(result, last[m]);
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(result)))
      mlirValueReplaceAllUsesOfWith(result, permuted(last[m], toFirst, operation));
    mlirOperationDestroy(operation);
  }
  free(last);
}

bool sambaChannelsLast(MlirOperation module) {
  if (!sambaModuleCheckGraphs(module))
    return false;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (!sambaOperationIsGraph(operation) || sambaGraphTrains(operation))
      continue;
    Members members = {0};
    findMembers(sambaBodyOf(operation), &members);
    weigh(&members);
    change(&members);
    sambaPointerMapFree(&members.of_value);
    free(members.members);
    free(members.held);
    free(members.worse);
  }
  return true;
}
