/* The operators of the table, for programs that learn their names only when they run: how many
 * operands and results a call has, which attributes, of which kind.
 *
 *   SambaOperatorInfo info;
 *   SambaAttributeInfo attribute;
 *   if (sambaOperatorGetInfo(sambaStringRef("softmax"), &info) &&
 *       sambaOperatorGetAttribute(&info, sambaStringRef("dim"), &attribute)) ...
 *   sambaTraceOperator(trace, info.name, ...); */
#ifndef SAMBA_OPERATOR_INFO_H
#define SAMBA_OPERATOR_INFO_H

#include "samba/attribute.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An operator. Texts live as long as the library. */
typedef struct SambaOperatorInfo {
  const char *name;    /* as sambaTraceOperator takes it: without "samba." */
  const char *summary; /* one line; "" for an elementwise operator, whose formula says it */
  const char *formula; /* of an elementwise operator, else "" */
  uint32_t least_operands, most_operands; /* UINT32_MAX: any number */
  uint32_t attribute_count, result_count;
} SambaOperatorInfo;

/* False when there is no such operator. */
SAMBA_EXPORT bool sambaOperatorGetInfo(SambaStringRef name, SambaOperatorInfo *out_info);
/* All operators, in alphabetical order. */
SAMBA_EXPORT void sambaForEachOperator(void (*visit)(void *user, const SambaOperatorInfo *info),
                                       void *user);

/* An attribute of an operator. */
typedef struct SambaAttributeInfo {
  const char *name;
  SambaAttributeKind kind;
  bool required;       /* a call without it is refused */
  const char *choices; /* of a string: "mean, sum, none"; "": any text */
} SambaAttributeInfo;

/* False when the operator has no such attribute. */
SAMBA_EXPORT bool sambaOperatorGetAttribute(const SambaOperatorInfo *info, SambaStringRef name,
                                            SambaAttributeInfo *out_attribute);
/* All attributes of the operator. */
SAMBA_EXPORT void sambaOperatorForEachAttribute(const SambaOperatorInfo *info,
                                                void (*visit)(void *user,
                                                              const SambaAttributeInfo *attribute),
                                                void *user);

#ifdef __cplusplus
}
#endif

#endif
