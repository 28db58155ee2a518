/* samba-assign-memory; see passes.h. Activations share addresses by their lifetimes in
 * calls; arguments, constants and outputs keep theirs for themselves. Fast memory first:
 * activations, then what is read most often per byte. */
#include "backend/address/address_assignment.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/machine_file.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "passes/passes.h"
#include "support/container/pointer_map.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>

/* A tensor that keeps its bytes. */
typedef struct {
  MlirValue value;
  uint64_t bytes, address;
  uint32_t uses, index;
} Persistent;

typedef struct {
  MlirOperation function;
  SAMBA_ARRAY(Persistent) persistent;
  SAMBA_ARRAY(SambaMemoryInterval) activations;
  SAMBA_ARRAY(MlirValue) activation_values;
  SambaPointerMap place; /* value -> 2 * index (persistent) or 2 * index + 1 (activation) */
  uint64_t activation_bytes, activation_start;
} Assignment;

static SambaStatus bytesOf(MlirValue value, uint64_t *out_bytes) {
  SambaTensorType type;
  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirValueGetType(value), &type));
  *out_bytes = sambaDTypeBytes(type.dtype);
  for (uint32_t a = 0; a < type.rank; ++a)
    if (__builtin_mul_overflow(*out_bytes, (uint64_t)type.dims[a], out_bytes) ||
        *out_bytes > UINT64_MAX / 4)
      return sambaStatusMake(SAMBA_EXHAUSTED, "a tensor has more bytes than 64 bits can count");
  return NULL;
}

static SambaStatus addPersistent(Assignment *a, MlirValue value) {
  Persistent persistent = {.value = value, .index = (uint32_t)a->persistent.size};
  SAMBA_RETURN_IF_ERROR(bytesOf(value, &persistent.bytes));
  persistent.bytes +=
      persistent.bytes == 0; /* a tensor without elements has an address all the same */
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    ++persistent.uses;
  sambaPointerMapSet(&a->place, value.ptr, 2 * persistent.index);
  sambaArrayAppend(&a->persistent, persistent);
  return NULL;
}

static bool isReturned(MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    if (sambaOperationIs(mlirOpOperandGetOwner(use), "func.return"))
      return true;
  return false;
}

static SambaStatus collect(Assignment *a) {
  MlirBlock body = sambaBodyOf(a->function);
  uint32_t calls = 0, place;

  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i)
    if (!sambaValueIsArgin(mlirBlockGetArgument(body, i))) /* comes with the launch */
      SAMBA_RETURN_IF_ERROR(addPersistent(a, mlirBlockGetArgument(body, i)));
  MlirOperation operation = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (sambaOperationIs(operation, "samba.constant"))
      SAMBA_RETURN_IF_ERROR(addPersistent(a, mlirOperationGetResult(operation, 0)));
    if (!sambaOperationIs(operation, "samba.call"))
      continue;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i)
      if (sambaPointerMapGet(&a->place, mlirOperationGetOperand(operation, i).ptr, &place) &&
          place % 2)
        a->activations.data[place / 2].last_call = calls;
    for (intptr_t r = 0; r < mlirOperationGetNumResults(operation); ++r) {
      MlirValue value = mlirOperationGetResult(operation, r);
      if (isReturned(value)) {
        SAMBA_RETURN_IF_ERROR(addPersistent(a, value));
        continue;
      }
      SambaMemoryInterval interval = {.first_call = calls, .last_call = calls};
      SAMBA_RETURN_IF_ERROR(bytesOf(value, &interval.bytes));
      sambaPointerMapSet(&a->place, value.ptr, 2 * (uint32_t)a->activations.size + 1);
      sambaArrayAppend(&a->activations, interval);
      sambaArrayAppend(&a->activation_values, value);
    }
    ++calls;
  }

  return NULL;
}

static int mostUsedFirst(const void *left, const void *right) {
  const Persistent *const *a = left, *const *b = right;
  if ((*a)->uses != (*b)->uses)
    return (*a)->uses < (*b)->uses ? 1 : -1;
  return (*a)->index < (*b)->index ? -1 : 1;
}

/* Addresses: the fast memory is filled from 0, the slow one starts behind it. */
static SambaStatus place(Assignment *a, const SambaMachine *machine) {
  uint64_t fast = (uint64_t)machine->hbm_bytes;
  uint64_t slow = (uint64_t)machine->ddr_bytes;
  uint64_t usedFast = 0;
  uint64_t usedSlow = 0;
  size_t count = a->persistent.size;

  Persistent **order = sambaAllocate(sambaArraySize(count + 1, sizeof *order));
  SambaStatus status = NULL;
  a->activation_bytes = sambaMemoryRound(a->activation_bytes);
  bool activations_fast = a->activation_bytes <= fast;
  if (activations_fast)
    a->activation_start = usedFast, usedFast += a->activation_bytes;
  else
    a->activation_start = fast + usedSlow, usedSlow += a->activation_bytes;
  for (size_t i = 0; i < count; ++i)
    order[i] = &a->persistent.data[i];
  bool everything = usedFast <= fast;
  uint64_t sum = usedFast;
  for (size_t i = 0; i < count && everything; ++i)
    everything = (sum += sambaMemoryRound(a->persistent.data[i].bytes)) <= fast;
  if (!everything) /* only then does the order matter; otherwise keep that of the graph */
    qsort(order, count, sizeof *order, mostUsedFirst);

  for (size_t i = 0; i < count; ++i) {
    uint64_t bytes = sambaMemoryRound(order[i]->bytes);
    bool is_fast = bytes <= fast - (usedFast < fast ? usedFast : fast);
    order[i]->address = is_fast ? usedFast : fast + usedSlow;
    *(is_fast ? &usedFast : &usedSlow) += bytes;
  }

  free(order);
  if (usedSlow > slow)
    status = sambaStatusMake(SAMBA_EXHAUSTED,
                             "the graph needs %llu bytes of device memory, but %s has %llu",
                             (unsigned long long)(usedFast + usedSlow), machine->name,
                             (unsigned long long)(fast + slow));
  return status;
}

static void write(Assignment *a) {
  MlirContext context = mlirOperationGetContext(a->function);
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  MlirBlock body = sambaBodyOf(a->function);
  intptr_t arguments = mlirBlockGetNumArguments(body);
  uint32_t place;
  MlirAttribute given = sambaOperationAttribute(a->function, "arg_attrs");
  MlirAttribute *dictionaries =
      sambaAllocate(sambaArraySize((size_t)arguments + 1, sizeof *dictionaries));

  for (intptr_t i = 0; i < arguments; ++i) {
    MlirAttribute old = mlirAttributeIsNull(given) ? mlirDictionaryAttrGet(context, 0, NULL)
                                                   : mlirArrayAttrGetElement(given, i);
    intptr_t count = mlirDictionaryAttrGetNumElements(old);
    intptr_t kept = 0;
    MlirNamedAttribute *entries = sambaAllocate(sambaArraySize((size_t)count + 1, sizeof *entries));
    for (intptr_t k = 0; k < count; ++k) {
      entries[kept] = mlirDictionaryAttrGetElement(old, k);
      kept += !mlirStringRefEqual(mlirIdentifierStr(entries[kept].name),
                                  sambaMlirString(SAMBA_ADDRESS_ATTRIBUTE));
    }

    if (sambaPointerMapGet(&a->place, mlirBlockGetArgument(body, i).ptr, &place))
      entries[kept++] = sambaNamedAttribute(
          context, SAMBA_ADDRESS_ATTRIBUTE,
          mlirIntegerAttrGet(i64, (int64_t)a->persistent.data[place / 2].address));
    dictionaries[i] = mlirDictionaryAttrGet(context, kept, entries);
    free(entries);
  }

  if (arguments)
    mlirOperationSetAttributeByName(a->function, sambaMlirString("arg_attrs"),
                                    mlirArrayAttrGet(context, arguments, dictionaries));
  free(dictionaries);
  MlirOperation operation = mlirBlockGetFirstOperation(body);

  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    intptr_t results = mlirOperationGetNumResults(operation);
    int64_t *addresses = sambaAllocate(sambaArraySize((size_t)results + 1, sizeof *addresses));
    for (intptr_t r = 0; r < results; ++r)
      if (sambaPointerMapGet(&a->place, mlirOperationGetResult(operation, r).ptr, &place))
        addresses[r] = place % 2
                           ? (int64_t)(a->activation_start + a->activations.data[place / 2].offset)
                           : (int64_t)a->persistent.data[place / 2].address;
    if (sambaOperationIs(operation, "samba.call"))
      mlirOperationSetDiscardableAttributeByName(operation,
                                                 sambaMlirString(SAMBA_ADDRESSES_ATTRIBUTE),
                                                 mlirDenseI64ArrayGet(context, results, addresses));
    else if (sambaOperationIs(operation, "samba.constant"))
      mlirOperationSetDiscardableAttributeByName(operation,
                                                 sambaMlirString(SAMBA_ADDRESS_ATTRIBUTE),
                                                 mlirIntegerAttrGet(i64, addresses[0]));
    free(addresses);
  }

  int64_t shared[] = {(int64_t)a->activation_start, (int64_t)a->activation_bytes};
  mlirOperationSetDiscardableAttributeByName(a->function,
                                             sambaMlirString(SAMBA_ACTIVATIONS_ATTRIBUTE),
                                             mlirDenseI64ArrayGet(context, 2, shared));
}

static SambaStatus assignFunction(MlirOperation function, const SambaMachine *machine) {
  Assignment assignment = {.function = function};
  Assignment *a = &assignment;
  SambaStatus status = collect(a);

  if (!status)
    status = sambaMemoryAssign(a->activations.data, (uint32_t)a->activations.size,
                               SAMBA_MEMORY_ALIGNMENT, &a->activation_bytes);
  if (!status)
    status = sambaMemoryCheck(a->activations.data, (uint32_t)a->activations.size,
                              SAMBA_MEMORY_ALIGNMENT, a->activation_bytes);
  if (!status)
    status = place(a, machine);
  if (!status)
    write(a);
  sambaArrayFree(&a->persistent);
  sambaArrayFree(&a->activations);
  sambaArrayFree(&a->activation_values);
  sambaPointerMapFree(&a->place);

  return status;
}

bool sambaAssignMemory(MlirOperation module) {
  SambaMachine machine;
  SambaStatus status = sambaModuleMachine(module, &machine);
  if (status)
    return sambaEmitOpStatus(module, status);
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (!sambaOperationIsGraph(operation))
      continue;
    status = assignFunction(operation, &machine);
    if (status)
      return sambaEmitOpStatus(operation, status);
  }
  return true;
}
