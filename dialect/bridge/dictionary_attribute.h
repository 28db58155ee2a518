/* Attributes that are a dictionary with a name, `#samba.external<"head", key = value>`: declared by
 * Samba_DictionaryAttr of Bridge.td. */
#ifndef SAMBA_DIALECT_BRIDGE_DICTIONARY_ATTRIBUTE_H
#define SAMBA_DIALECT_BRIDGE_DICTIONARY_ATTRIBUTE_H

#include "mlir-c/IR.h"

/* kind is "dialect.mnemonic". Checks with the dialect's hook, emits an error at location and
 * returns null when that refuses. */
MlirAttribute sambaAttributeGet(MlirLocation location, const char *kind, MlirStringRef head,
                                MlirAttribute body);
MlirStringRef sambaAttributeHead(MlirAttribute attribute); /* "" when there is none */
MlirAttribute sambaAttributeBody(MlirAttribute attribute); /* a dictionary */

#endif
