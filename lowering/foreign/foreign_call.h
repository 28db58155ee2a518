/* An operation of another dialect (tosa, tensor, arith ...) that becomes samba operations.
 *
 * A converter sees one operation and writes calls of operators into an expansion
 * (table/calls/expansion.h). A table names the converters; sambaForeignConvert applies it to all
 * operations of a function. Mistakes are remembered in the expansion's status, with the first
 * reason; the driver emits it at the operation. */
#ifndef SAMBA_LOWERING_FOREIGN_FOREIGN_CALL_H
#define SAMBA_LOWERING_FOREIGN_FOREIGN_CALL_H

#include "dialect/samba/table/calls/expansion.h"

#include "mlir-c/IR.h"

#define SAMBA_FOREIGN_NO_VALUE UINT32_MAX

typedef struct SambaForeignCall {
  MlirOperation operation;
  const struct SambaForeignRow *row;
  SambaExpansion expansion;
  uint32_t operand_count;
  /* Their values. A scalar that is known, or comes from a tensor of rank 0, is a value of rank 0;
   * what is neither (a shape, an index) is SAMBA_FOREIGN_NO_VALUE. */
  uint32_t *operands;
  MlirValue *tensors; /* that are given to them; null for constants */
  uint32_t more;      /* a value that is no operand of the operation; SAMBA_FOREIGN_NO_VALUE */
  MlirValue more_tensor;
  uint32_t result_count;
  SambaTensorType types[SAMBA_MAX_RESULTS]; /* of the results, as the operation declares them */
  uint32_t results[SAMBA_MAX_RESULTS];      /* what the converter writes */
} SambaForeignCall;

typedef void (*SambaForeignConverter)(SambaForeignCall *call);

/* One operation. operator: what the converter makes, where one converter makes several. */
typedef struct SambaForeignRow {
  const char *name; /* "tosa.abs" */
  SambaForeignConverter convert;
  const char *operator;
} SambaForeignRow;

/* Replaces each operation of the function that a row names; a scalar result becomes the element of
 * a tensor of rank 0. False after an error was emitted. */
bool sambaForeignConvert(MlirOperation function, const SambaForeignRow *rows, size_t row_count);

/* The same of one operation. */
bool sambaForeignConvertOperation(MlirOperation operation, const SambaForeignRow *row);

/* Remembers why the operation has no form in samba (taken); the first reason stays. */
void sambaForeignFail(SambaForeignCall *call, SambaStatus status);

/* ---- Attributes of the operation ---- */
/* An integer attribute, an enumeration too; 0 when absent. */
int64_t sambaForeignInt(const SambaForeignCall *call, const char *name);
bool sambaForeignFlag(const SambaForeignCall *call, const char *name);
/* A list of integers: array<i64: ..>, array<i32: ..>, dense<..> or [..]. Its length, at most
 * `most`. */
uint32_t sambaForeignInts(SambaForeignCall *call, const char *name, int64_t *out, uint32_t most);
/* A number attribute, of any width. */
double sambaForeignNumber(const SambaForeignCall *call, const char *name);
/* Whether the attribute, when printed, holds the word: for enumerations without a C API. */
bool sambaForeignSays(const SambaForeignCall *call, const char *name, const char *word);

/* ---- Operands that are known ---- */
/* The elements of a value that is a constant, whatever dialect's; null: it is none. */
MlirAttribute sambaForeignElements(MlirValue value);
/* Elements of operand `number` as integers (a shape, a zero point); fails when it is no constant.
 * Their number, at most `most`. */
uint32_t sambaForeignOperandInts(SambaForeignCall *call, uint32_t number, int64_t *out,
                                 uint32_t most);
/* Element `index` of dense elements as a number. */
double sambaForeignElement(MlirAttribute elements, int64_t index);
/* Integers of an array attribute in which the smallest i64 stands for an operand: the next one,
 * from *next on. Fails when it is no constant. */
void sambaForeignMixed(SambaForeignCall *call, const char *name, uint32_t *next, uint32_t count,
                       int64_t *out);
/* An integer or index that is known. */
bool sambaForeignIndex(MlirValue value, int64_t *out);
/* The tensor of rank 0 that a scalar is the element of; null: there is none. */
MlirValue sambaForeignTensorOf(MlirValue scalar);
/* The element of a tensor of rank 0. */
MlirValue sambaForeignExtract(MlirOperation before, MlirLocation location, MlirValue tensor);
/* Whether operand `number` is a constant of this number in every element. */
bool sambaForeignOperandIs(const SambaForeignCall *call, uint32_t number, double wanted);

/* ---- Calls ---- */
/* A call of an operator; attributes as in operator.h. */
#define SAMBA_FOREIGN_CALL(call, name, operands, ...)                                              \
  sambaExpandCall(&(call)->expansion, name, sizeof(operands) / sizeof *(operands), operands,       \
                  sizeof((SambaAttribute[]){__VA_ARGS__}) / sizeof(SambaAttribute),                \
                  (SambaAttribute[]){__VA_ARGS__})
/* A scalar that is no operand (one that a body yields) as a value of rank 0; or
 * SAMBA_FOREIGN_NO_VALUE. */
uint32_t sambaForeignScalar(SambaForeignCall *call, MlirValue scalar);
/* x with elements around it: zeros, or the number that operand `number` is. */
uint32_t sambaForeignPad(SambaForeignCall *call, uint32_t x, const int64_t *low,
                         const int64_t *high, uint32_t number);
/* The same with a value of rank 0. */
uint32_t sambaForeignPadWith(SambaForeignCall *call, uint32_t x, const int64_t *low,
                             const int64_t *high, uint32_t value);
/* The type of a value of the call, by value. */
SambaTensorType sambaForeignType(const SambaForeignCall *call, uint32_t value);

#endif
