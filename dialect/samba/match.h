/* Looking at the operations around a value, and putting another operation in place of what was
 * found; for the passes that raise. */
#ifndef SAMBA_DIALECT_SAMBA_MATCH_H
#define SAMBA_DIALECT_SAMBA_MATCH_H

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"

/* The operation that makes the value when it is samba.NAME and no other phase reads the value, else
 * null: what one phase hands to another stays. */
MlirOperation sambaMatchMaker(MlirValue value, const char *name);
/* The first result. */
MlirValue sambaMatchResult(MlirOperation operation);

bool sambaMatchSameType(MlirValue a, MlirValue b);
intptr_t sambaMatchRank(MlirValue value);
int64_t sambaMatchSize(MlirValue value, intptr_t axis);

/* Whether the operation's attribute dim names the last axis of its result. */
bool sambaMatchLastAxis(MlirOperation operation);

/* A float that every element of the value has. */
bool sambaMatchSplat(MlirValue value, double *out_number);
/* Whether the numbers agree but for rounding. */
bool sambaMatchNear(double number, double wanted);
/* Whether every element of the value is the number. */
bool sambaMatchNumber(MlirValue value, double wanted);

/* Of an operation with two operands in any order: the operand beside `value`, beside a number that
 * is repeated, beside any number that is repeated. False when there is none. */
bool sambaMatchBeside(MlirOperation operation, MlirValue value, MlirValue *out_other);
bool sambaMatchBesideNumber(MlirOperation operation, double number, MlirValue *out_other);
bool sambaMatchBesideSplat(MlirOperation operation, double *out_number, MlirValue *out_other);

/* Whether one operation that is needed uses the value, once. */
bool sambaMatchUsedOnce(MlirValue value);

/* The result of samba.NAME, built before root. */
MlirValue sambaRaiseBuild(MlirOperation root, const char *name, intptr_t count,
                          const MlirValue *operands, intptr_t attribute_count,
                          const MlirNamedAttribute *attributes);
/* The value with these dimensions, or with those of `like`: itself where it has them. */
MlirValue sambaRaiseReshape(MlirOperation root, MlirValue value, intptr_t rank,
                            const int64_t *dims);
MlirValue sambaRaiseReshapeLike(MlirOperation root, MlirValue value, MlirValue like);
/* Root's users take that result instead of root's. */
void sambaRaiseReplace(MlirOperation root, const char *name, intptr_t count,
                       const MlirValue *operands, intptr_t attribute_count,
                       const MlirNamedAttribute *attributes);

#endif
