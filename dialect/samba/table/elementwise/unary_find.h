/* The elementwise operators with one operand, for other families that are made of such functions.
 */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_ELEMENTWISE_UNARY_FIND_H
#define SAMBA_DIALECT_SAMBA_TABLE_ELEMENTWISE_UNARY_FIND_H

#include "dialect/samba/table/core/operator.h"

/* NULL: there is no such operator. */
const SambaOperator *sambaUnaryFind(const char *name);

#endif
