/* Digests of operations; see operation_digest.h. A walk in the order of the text; values get the
 * number of their definition's place in it. */
#include "dialect/bridge/operation_digest.h"

#include "dialect/bridge/bridge.h"
#include "support/base/memory.h"
#include "support/container/pointer_map.h"

#include "llvm-c/blake3.h"

#include <stdlib.h>
#include <string.h>

enum { wordsAtOnce = 1024 };

typedef struct Walk {
  llvm_blake3_hasher hasher;
  uint64_t words[wordsAtOnce]; /* not hashed yet */
  uint32_t word_count;
  SambaPointerMap number_of; /* values by address, for the time of the walk */
} Walk;

static void flush(Walk *walk) {
  llvm_blake3_hasher_update(&walk->hasher, walk->words, walk->word_count * sizeof *walk->words);
  walk->word_count = 0;
}

static void put(Walk *walk, uint64_t word) {
  if (walk->word_count == wordsAtOnce)
    flush(walk);
  walk->words[walk->word_count++] = word;
}
static void putUnique(Walk *walk, const void *address) { put(walk, (uint64_t)(uintptr_t)address); }

/* Uses may come before definitions in a graph region: both take the next number at the first
 * sight. */
static void putValue(Walk *walk, MlirValue value) {
  uint32_t number;
  if (!sambaPointerMapGet(&walk->number_of, value.ptr, &number)) {
    number = (uint32_t)walk->number_of.size;
    sambaPointerMapSet(&walk->number_of, value.ptr, number);
  }
  put(walk, number);
}

static void putOperation(Walk *walk, MlirOperation operation);

static void putBlock(Walk *walk, MlirBlock block) {
  intptr_t arguments = mlirBlockGetNumArguments(block);
  put(walk, (uint64_t)arguments);
  for (intptr_t i = 0; i < arguments; ++i) {
    MlirValue argument = mlirBlockGetArgument(block, i);
    putValue(walk, argument);
    putUnique(walk, mlirValueGetType(argument).ptr);
    putUnique(walk, mlirValueGetLocation(argument).ptr);
  }

  for (MlirOperation at = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(at);
       at = mlirOperationGetNextInBlock(at))
    putOperation(walk, at);
  put(walk, 0); /* no operation has a name at 0 */
}

static void putOperation(Walk *walk, MlirOperation operation) {
  intptr_t operands = mlirOperationGetNumOperands(operation);
  intptr_t results = mlirOperationGetNumResults(operation);
  intptr_t regions = mlirOperationGetNumRegions(operation);

  putUnique(walk, mlirOperationGetName(operation).ptr);
  putUnique(walk, mlirOperationGetLocation(operation).ptr);
  putUnique(walk, sambaOperationDiscardableAttributes(operation).ptr);
  put(walk, sambaOperationInherentHash(operation));
  put(walk, (uint64_t)operands << 32 | (uint64_t)results);
  for (intptr_t i = 0; i < operands; ++i)
    putValue(walk, mlirOperationGetOperand(operation, i));
  for (intptr_t i = 0; i < results; ++i) {
    MlirValue result = mlirOperationGetResult(operation, i);
    putValue(walk, result);
    putUnique(walk, mlirValueGetType(result).ptr);
  }

  put(walk, (uint64_t)regions);
  for (intptr_t i = 0; i < regions; ++i) {
    MlirRegion region = mlirOperationGetRegion(operation, i);
    for (MlirBlock block = mlirRegionGetFirstBlock(region); !mlirBlockIsNull(block);
         block = mlirBlockGetNextInRegion(block))
      putBlock(walk, block);
    put(walk, UINT64_MAX); /* no block has as many arguments */
  }
}

SambaContentDigest sambaOperationDigest(MlirOperation operation) {
  Walk *walk = sambaAllocate(sizeof *walk);
  SambaContentDigest digest;
  walk->word_count = 0;
  walk->number_of = (SambaPointerMap){0};
  llvm_blake3_hasher_init(&walk->hasher);

  putOperation(walk, operation);
  flush(walk);
  llvm_blake3_hasher_finalize(&walk->hasher, (uint8_t *)digest.words, sizeof digest.words);

  sambaPointerMapFree(&walk->number_of);
  free(walk);
  return digest;
}

SambaContentDigest sambaBytesDigest(const void *data, size_t size) {
  llvm_blake3_hasher hasher;
  SambaContentDigest digest;
  llvm_blake3_hasher_init(&hasher);
  llvm_blake3_hasher_update(&hasher, data, size);
  llvm_blake3_hasher_finalize(&hasher, (uint8_t *)digest.words, sizeof digest.words);
  return digest;
}
