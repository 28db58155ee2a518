/* What no graph can hold, refused by name. samba-check-foreign does so before anything is
 * simplified away, samba-enter-linalg looks at types when all functions are inlined. */
#include "lowering/enter/enter.h"
#include "lowering/passes.h"

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"

#include "mlir-c/BuiltinTypes.h"

#include <string.h>

/* Dialects that stand for what a dataflow graph has not, and what to do about it. */
static const struct {
  const char *dialect, *advice;
} refused[] = {
    {"scf.", "is control flow; a graph has none: unroll loops, compute both sides of a branch and "
             "choose with arith.select"},
    {"cf.", "is control flow between blocks; a graph is one block: inline it, compute both sides "
            "and choose with arith.select"},
    {"affine.", "is a loop or an access of one; hand over linalg on tensors, before the lowering "
                "to loops"},
    {"memref.", "works on memory; hand over linalg on tensors, before bufferization"},
    {"bufferization.", "works on memory; hand over linalg on tensors, before bufferization"},
    {"vector.", "works on vectors; hand over linalg on tensors, before vectorization"},
    {"sparse_tensor.", "works on sparse tensors; hand over dense ones"},
    {"complex.", "computes complex numbers, which samba has not; hand over real and imaginary "
                 "parts as tensors of their own"},
    {"quant.", "works on quantized types; compile the network before quantization"},
    {"shape.", "computes shapes, which are known when a model is compiled; give static shapes"},
    {"gpu.", "is for another machine; hand over linalg on tensors"},
    {"llvm.", "is for another machine; hand over linalg on tensors"},
    {"spirv.", "is for another machine; hand over linalg on tensors"},
    {"async.", "is concurrency of a host; hand over linalg on tensors"},
    {"stablehlo.", "is no operation of linalg or TOSA; run StableHLO's conversion to linalg first"},
    {"torch.", "is no operation of linalg or TOSA; run torch-mlir's lowering to linalg first"},
};

static const char *adviceFor(MlirOperation operation) {
  MlirStringRef name = sambaOperationName(operation);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
    size_t size = strlen(refused[i].dialect);
    if (name.length > size && memcmp(name.data, refused[i].dialect, size) == 0)
      return refused[i].advice;
  }
  return NULL;
}

/* What to do about a type that no tensor of a graph has. */
static const char *adviceForType(MlirType type) {
  if (mlirTypeIsAMemRef(type) || mlirTypeIsAUnrankedMemRef(type))
    return "hand over linalg on tensors, before bufferization";
  if (mlirTypeIsAVector(type))
    return "hand over linalg on tensors, before vectorization";
  if (mlirTypeIsAUnrankedTensor(type) ||
      (mlirTypeIsARankedTensor(type) && !mlirShapedTypeHasStaticShape(type)))
    return "give the model static shapes before it is compiled";
  MlirType element = mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type;
  if (mlirTypeIsAF64(element))
    return "convert the model to f32";
  if (mlirTypeIsAComplex(element))
    return "compute real and imaginary parts as tensors of their own";
  return NULL;
}

static bool emitType(MlirOperation operation, SambaStatus status, MlirType type, const char *role,
                     intptr_t index) {
  const char *advice = adviceForType(type);
  if (advice)
    sambaStatusNote(status, "%s", advice);
  return sambaEmitOpStatus(operation, sambaStatusAnnotate(status, "%s %ld", role, (long)index));
}

/* Tensors between operations; scalars and indices are the values of bodies. */
static bool checkResults(MlirOperation operation) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(operation); ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(operation, i));
    SambaTensorType unused;
    if (!mlirTypeIsAShaped(type) && !sambaTypeIs(type, "complex"))
      continue;
    if (mlirTypeIsARankedTensor(type) && mlirTypeIsAIndex(mlirShapedTypeGetElementType(type)))
      continue; /* a shape; whoever needs it asks for a constant */
    SambaStatus status = sambaTensorTypeFromMlir(type, &unused);
    if (status)
      return emitType(operation, status, type, "result", i);
  }
  return true;
}

static bool checkOperation(MlirOperation operation) {
  if (sambaOperationIs(operation, "func.call") || sambaOperationIs(operation, "func.call_indirect"))
    return sambaEmitOpError(
        operation, "calls a function that cannot be inlined: it has no body in this module, or it "
                   "calls itself; give it a body without recursion");
  return checkResults(operation);
}

static MlirWalkResult checkInside(MlirOperation operation, void *user) {
  bool *fine = user;
  *fine = checkOperation(operation);
  return *fine ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

static bool checkFunction(MlirOperation function) {
  MlirBlock body = sambaBodyOf(function);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(body, i));
    SambaTensorType unused;
    if (sambaDTypeFromType(type) != SAMBA_DTYPE_COUNT)
      continue; /* a scalar, which becomes a tensor of rank 0 */
    SambaStatus status = sambaTensorTypeFromMlir(type, &unused);
    if (status)
      return emitType(function, status, type, "argument", i);
  }
  for (MlirOperation operation = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation)) {
    bool fine = true;
    mlirOperationWalk(operation, checkInside, &fine, MlirWalkPreOrder);
    if (!fine)
      return false;
  }
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(body)))
    return sambaEmitOpError(function,
                            "has several blocks, but a graph is one block without control flow");
  return true;
}

bool sambaEnterCheck(MlirOperation module) {
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation) && !checkFunction(operation))
      return false;
  return true;
}

static MlirWalkResult checkDialect(MlirOperation operation, void *user) {
  bool *fine = user;
  const char *advice = adviceFor(operation);
  *fine = !advice || sambaEmitOpError(operation, "%s", advice);
  return *fine ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

bool sambaCheckForeign(MlirOperation module) {
  bool fine = true;
  mlirOperationWalk(module, checkDialect, &fine, MlirWalkPreOrder);
  return fine;
}
