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

enum { SAMBA_FOREIGN_NO_VALUE = -1 };

typedef struct SambaForeignCall {
  MlirOperation operation;
  const struct SambaForeignRow *row;
  SambaExpansion expansion;
  uint32_t operand_count;
  uint32_t *operands; /* their values; what is no tensor (a shape, a scalar) is (uint32_t)-1 */
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

/* Replaces each operation of the function that a row names. False after an error was emitted. */
bool sambaForeignConvert(MlirOperation function, const SambaForeignRow *rows, size_t row_count);

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
/* Whether operand `number` is a constant of this number in every element. */
bool sambaForeignOperandIs(const SambaForeignCall *call, uint32_t number, double wanted);

/* ---- Calls ---- */
/* A call of an operator; attributes as in operator.h. */
#define SAMBA_FOREIGN_CALL(call, name, operands, ...)                                              \
  sambaExpandCall(&(call)->expansion, name, sizeof(operands) / sizeof *(operands), operands,       \
                  sizeof((SambaAttribute[]){__VA_ARGS__}) / sizeof(SambaAttribute),                \
                  (SambaAttribute[]){__VA_ARGS__})
/* The type of a value of the call, by value. */
SambaTensorType sambaForeignType(const SambaForeignCall *call, uint32_t value);

#endif
