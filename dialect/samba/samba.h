/* The samba dialect from C: conversions between MLIR and the operator table's structs, building
 * ops, emitting errors. */
#ifndef SAMBA_DIALECT_SAMBA_SAMBA_H
#define SAMBA_DIALECT_SAMBA_SAMBA_H

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/dictionary_attribute.h"
#include "dialect/bridge/hooks.h"
#include "dialect/samba/samba_attribute_names.h"
#include "dialect/samba/table/registry/registry.h"

/* ---- Strings ---- */
static inline SambaStringRef sambaFromMlir(MlirStringRef text) {
  return (SambaStringRef){text.data, text.length};
}
static inline MlirStringRef sambaToMlir(SambaStringRef text) {
  return mlirStringRefCreate(text.data, text.size);
}
#define SAMBA_MLIR_STRING_ARGS(s) (int)(s).length, (s).data
MlirStringRef sambaOperationName(MlirOperation op); /* "samba.linear" */

/* ---- Types ---- */
/* SAMBA_DTYPE_COUNT when Samba has no such element type (f64, index, si8 ...). */
SambaDType sambaDTypeFromType(MlirType type);
MlirType sambaDTypeToType(MlirContext context, SambaDType dtype);
/* A static ranked tensor without encoding, of rank <= SAMBA_MAX_RANK and an element type of ours;
 * else an error that says what it is. It may have no elements: arguments, constants and results of
 * a graph may, operators' operands not. */
SambaStatus sambaTensorTypeFromMlir(MlirType type, SambaTensorType *out_type);
MlirType sambaTensorTypeToMlir(MlirContext context, const SambaTensorType *type);

/* ---- Attributes ---- */
/* An attribute of an operator's call. name and string values are borrowed from IR, lists copied to
 * the arena. */
SambaStatus sambaAttributeFromMlir(SambaArena *arena, MlirNamedAttribute attribute,
                                   SambaAttribute *out_attribute);
MlirAttribute sambaAttributeToMlir(MlirContext context, const SambaAttribute *attribute);
/* A dense attribute of raw row-major elements, i1 one byte each; of one element when splat. */
MlirAttribute sambaDenseAttribute(MlirContext context, const SambaTensorType *type,
                                  const void *data, bool splat);
/* Looks up in a dictionary; null attribute when absent. */
MlirAttribute sambaDictionaryFind(MlirAttribute dictionary, const char *name);
MlirNamedAttribute sambaNamedAttribute(MlirContext context, const char *name, MlirAttribute value);
/* A plain text of an attribute, in the arena. */
const char *sambaPrintAttribute(SambaArena *arena, MlirAttribute attribute);

/* ---- Operations ---- */
/* Operands of one samba.cat: each is an address generator, of which a section needs others too. A
 * longer one is cut by samba-decompose-composites, and canonicalization makes none. */
enum { SAMBA_MAX_CAT_OPERANDS = 16 };
/* The table's row of a samba op; NULL for ops that have none (constant, section, call, yield) and
 * for other dialects. */
const SambaOperator *sambaOperatorOf(MlirOperation op);
/* The op as the table sees it, arrays in the arena. The op must have a row. */
SambaStatus sambaOperatorCallFromOperation(SambaArena *arena, MlirOperation op,
                                           SambaOperatorCall *out_call);
/* Creates `samba.name` with inferred result type and appends nothing: the caller owns the op and
 * inserts it. On a failed inference the error has been emitted at location and the op is null. */
MlirOperation sambaOperationCreate(const char *name, MlirLocation location, intptr_t operand_count,
                                   const MlirValue *operands, intptr_t attribute_count,
                                   const MlirNamedAttribute *attributes);

/* ---- Diagnostics ---- */
/* Emit "'samba.linear' op message" at the op, with the status's notes attached; both return false.
 * The status is freed. */
bool sambaEmitOpError(MlirOperation op, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool sambaEmitOpStatus(MlirOperation op, SambaStatus status);

/* ---- Hooks of operators and constants (for dialect/samba/ops/samba_hooks.c) ---- */
bool sambaVerifyOperator(const SambaOpHooks *hooks, MlirOperation op);
bool sambaInferOperator(const SambaOpHooks *hooks, const SambaInference *inference,
                        MlirType *out_type);
bool sambaVerifyConstant(const SambaOpHooks *hooks, MlirOperation op);
bool sambaInferConstant(const SambaOpHooks *hooks, const SambaInference *inference,
                        MlirType *out_type);
bool sambaFoldConstant(const SambaOpHooks *hooks, MlirOperation op, const MlirAttribute *constants,
                       MlirValue *out_value, MlirAttribute *out_constant);

#endif
