/* The content of an operation as 128 bits: what is made from an operation is valid as long as its
 * digest is the same, whoever changed it in between. */
#ifndef SAMBA_DIALECT_BRIDGE_OPERATION_DIGEST_H
#define SAMBA_DIALECT_BRIDGE_OPERATION_DIGEST_H

#include "support/container/result_store.h"

#include "mlir-c/IR.h"

/* Covers everything that is printed, with all locations: names, attributes, types, operands by
 * number, regions. Not where the operation stands in memory or in its block. Digests of one context
 * may be compared with each other, and mean nothing outside it: attributes, types, names and
 * locations exist once per context for each content, and stand for that content here. Operands must
 * be made inside the operation, as those of sections are. */
SambaContentDigest sambaOperationDigest(MlirOperation operation);

/* Of bytes. */
SambaContentDigest sambaBytesDigest(const void *data, size_t size);

#endif
