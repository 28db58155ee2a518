/* The C bodies of a dialect: what the C++ classes that TableGen declares forward to.
 *
 * A dialect's register.cpp hands its SambaDialectHooks to the bridge (addInterface), which finds
 * them again from any operation or attribute of the dialect. The bridge knows no dialect. */
#ifndef SAMBA_DIALECT_BRIDGE_HOOKS_H
#define SAMBA_DIALECT_BRIDGE_HOOKS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif
#include "support/base/status.h"
#include "support/container/result_store.h"

typedef struct SambaOpHooks SambaOpHooks;

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
  MlirStringRef name;    /* "dialect.linear" */
  const void *data;      /* the dialect's own: the op's row in its table */
  const void *folds;     /* likewise: its row in the table of folds */
  intptr_t result_count; /* of ops whose types are inferred */
  bool (*verify)(const SambaOpHooks *hooks, MlirOperation op);
  /* For ops that calls name: whether the call fits the op. */
  bool (*verify_call)(MlirOperation op, MlirOperation call);
  /* Fills result_count types. */
  bool (*infer)(const SambaOpHooks *hooks, const SambaInference *inference, MlirType *out_types);
  /* Tries to fold a one-result op; constants[i] is null unless operand i is constant. Sets exactly
   * one of the outs and returns true, or returns false. */
  bool (*fold)(const SambaOpHooks *hooks, MlirOperation op, const MlirAttribute *constants,
               MlirValue *out_value, MlirAttribute *out_constant);
};

typedef enum { SAMBA_ON_OPERATION, SAMBA_ON_ARGUMENT, SAMBA_ON_RESULT } SambaAttributePlace;

typedef struct SambaDialectHooks {
  /* The hooks of an op by its full name; all NULL when it has none. The result is kept. */
  SambaOpHooks (*find_op)(MlirStringRef name);
  /* Checks an attribute `dialect.name` of an operation, of its argument or of its result number
   * index. */
  bool (*verify_attribute)(MlirOperation op, SambaAttributePlace place, unsigned index,
                           MlirNamedAttribute attribute);
  /* Checks the contents of a dictionary attribute of the dialect by mnemonic ("external"). head is
   * "" when there is none. */
  SambaStatus (*check_dictionary)(MlirStringRef mnemonic, MlirStringRef head, MlirAttribute body);
} SambaDialectHooks;

/* The hooks of the dialect to which the name of an op or attribute belongs, or whose name it is;
 * NULL when that is none of ours. Loads the dialect. */
const SambaDialectHooks *sambaDialectHooks(MlirContext context, MlirStringRef name);
/* Likewise what is kept of the work on the dialect's IR from pass to pass, by digest
 * (operation_digest.h). It goes with the context. */
SambaResultStore *sambaDialectResults(MlirContext context, MlirStringRef name);

#ifdef __cplusplus
}
#endif
#endif
