/* The bridge between MLIR's C++ and the dialects' C bodies: what each side calls of the other,
 * nothing but mlir-c types.
 *
 * C++ (bridge.cpp) declares ops, types and attributes from TableGen and forwards every body to the
 * hooks below, which C finds once per op name. C reaches through the second half what mlir-c does
 * not have: diagnostics with notes, our attributes and types, registration. */
#ifndef SAMBA_DIALECT_BRIDGE_BRIDGE_H
#define SAMBA_DIALECT_BRIDGE_BRIDGE_H

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#include "mlir-c/Rewrite.h"

#ifdef __cplusplus
extern "C" {
#endif
#include "support/base/status.h"

/*===-- What C++ asks of C --------------------------------------------------------------------===*/

typedef struct SambaOpHooks SambaOpHooks;
typedef enum {
  SAMBA_RDU_VECTOR,
  SAMBA_RDU_SCALAR,
  SAMBA_RDU_CONTROL,
  SAMBA_RDU_SYMBOL
} SambaRduTypeKind;

/* One inference: the op may not exist yet. attributes: a dictionary of all, inherent ones
 * included. */
typedef struct SambaInference {
  MlirContext context;
  MlirLocation location; /* null: do not report */
  intptr_t operand_count;
  const MlirValue *operands;
  MlirAttribute attributes;
} SambaInference;

/* The C bodies of one kind of op; absent ones are NULL. Functions return false after having emitted
 * an error. */
struct SambaOpHooks {
  MlirStringRef name;    /* "samba.linear" */
  const void *data;      /* the op's row in its table */
  intptr_t result_count; /* of ops whose types are inferred */
  const void *folds;     /* its row in the table of folds; fold is NULL without one */
  bool (*verify)(const SambaOpHooks *hooks, MlirOperation op);
  /* Fills result_count types. */
  bool (*infer)(const SambaOpHooks *hooks, const SambaInference *inference, MlirType *out_types);
  /* Tries to fold a one-result op; constants[i] is null unless operand i is constant. Sets exactly
   * one of the outs and returns true, or returns false. */
  bool (*fold)(const SambaOpHooks *hooks, MlirOperation op, const MlirAttribute *constants,
               MlirValue *out_value, MlirAttribute *out_constant);
  void (*patterns)(const SambaOpHooks *hooks, MlirContext context, MlirRewritePatternSet set);
};

/* The hooks of an op by its full name. Called once per op; the result is kept. */
SambaOpHooks sambaOpHooks(MlirStringRef name);
/* Checks a `samba.*` or `rdu.*` attribute of an operation, of its argument or of its result number
 * index. */
typedef enum { SAMBA_ON_OPERATION, SAMBA_ON_ARGUMENT, SAMBA_ON_RESULT } SambaAttributePlace;
bool sambaVerifyDialectAttribute(MlirOperation op, SambaAttributePlace place, unsigned index,
                                 MlirNamedAttribute attribute);
/* Checks the contents of a dictionary attribute of ours by mnemonic ("external"). head is "" when
 * there is none. */
SambaStatus sambaCheckDictionaryAttribute(MlirStringRef mnemonic, MlirStringRef head,
                                          MlirAttribute body);
/* The plain text form of dictionaries (pretty.c). An AsmPrinter as C sees it: */
typedef struct SambaPrinter {
  void *printer;
  void (*text)(void *printer, MlirStringRef text);
  void (*attribute)(void *printer, MlirAttribute attribute); /* in MLIR's own form */
} SambaPrinter;
void sambaPrettyPrintEntries(const SambaPrinter *printer,
                             MlirAttribute dictionary); /* without the braces */
MlirAttribute sambaPrettyParsed(
    MlirAttribute attribute); /* what MLIR's parser made of the plain form, made right */
void sambaRduTypePrint(const SambaPrinter *printer, SambaRduTypeKind kind, intptr_t rank,
                       const int64_t *shape, MlirType element);
SambaStatus sambaRduTypeCheck(SambaRduTypeKind kind, intptr_t rank, const int64_t *shape,
                              MlirType element);

/* callee is null when the symbol does not exist. */
bool sambaVerifyCall(MlirOperation call, MlirOperation callee);

/*===-- What C asks of C++ --------------------------------------------------------------------===*/

/* Inserts samba, rdu and the upstream dialects that our passes make into the registry
 * (attribute.c). */
void sambaRegisterDialects(MlirDialectRegistry registry);
void sambaInsertSamba(MlirDialectRegistry registry);
void sambaInsertRdu(MlirDialectRegistry registry);
/* Calls back with the name of every op of a loaded dialect, and with the inherent attributes' names
 * of a registered op. */
void sambaDialectOperations(MlirContext context, MlirStringRef dialect,
                            void (*callback)(MlirStringRef, void *), void *user_data);
void sambaOperationAttributeNames(MlirContext context, MlirStringRef op,
                                  void (*callback)(MlirStringRef, void *), void *user_data);

/* An op's attribute by name, inherent or not; null when absent. */
static inline MlirAttribute sambaOperationAttribute(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(name));
}
/* All attributes of an op, inherent ones included, as one dictionary. */
MlirAttribute sambaOperationAttributes(MlirOperation op);

/* The same for comparing: attributes that are not inherent, and a hash of the inherent ones, which
 * costs less than making a dictionary of them. */
MlirAttribute sambaOperationDiscardableAttributes(MlirOperation op);
uint64_t sambaOperationInherentHash(MlirOperation op);

/* What is kept of the work on this context's IR from pass to pass, until the context goes
 * (dialect/bridge/digest.h); NULL when the rdu dialect is not loaded. */
struct SambaResultStore *sambaContextResults(MlirContext context);

/* Emits a diagnostic; notes become attached notes. */
void sambaDiagnose(MlirLocation location, MlirDiagnosticSeverity severity, MlirStringRef message,
                   intptr_t note_count, const MlirStringRef *notes);

/* Attributes that are a dictionary with a name, `#samba.external<"head", key = value>`: kind is
 * "samba.external", "samba.derived", "samba.argin", "rdu.machine" or "rdu.mapping". Get checks,
 * emits at location and returns null on error. */
bool sambaAttributeIs(MlirAttribute attribute, const char *kind);
MlirAttribute sambaAttributeGet(MlirLocation location, const char *kind, MlirStringRef head,
                                MlirAttribute body);
MlirStringRef sambaAttributeHead(MlirAttribute attribute); /* "" when there is none */
MlirAttribute sambaAttributeBody(MlirAttribute attribute); /* a dictionary */

/* !rdu.stream<64x64xbf16>, <scalar 1xi32>, <control> (no element type);
 * !rdu.symbol<128x128xbf16>. */
bool sambaTypeIsRdu(MlirType type);
MlirType sambaRduTypeGet(MlirContext context, SambaRduTypeKind kind, intptr_t rank,
                         const int64_t *shape, MlirType element);
SambaRduTypeKind sambaRduTypeKind(MlirType type);
intptr_t sambaRduTypeRank(MlirType type);
const int64_t *sambaRduTypeShape(MlirType type);
MlirType sambaRduTypeElement(MlirType type); /* null for control */

#ifdef __cplusplus
}
#endif
#endif
