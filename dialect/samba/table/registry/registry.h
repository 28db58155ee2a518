/* The operator table: the rows of all families. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_REGISTRY_REGISTRY_H
#define SAMBA_DIALECT_SAMBA_TABLE_REGISTRY_REGISTRY_H

#include "dialect/samba/table/core/operator.h"

/* The operator of a name without "samba."; NULL when there is none. */
const SambaOperator *sambaOperatorFind(SambaStringRef name);
/* Operators in alphabetical order; NULL past the end. */
const SambaOperator *sambaOperatorAt(uint32_t index);

#endif
