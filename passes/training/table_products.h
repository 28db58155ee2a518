/* The products that read a table, a value of rank 2, as it is or crossed: what passes look at that
 * make a table otherwise than it stands. */
#ifndef SAMBA_PASSES_TRAINING_TABLE_PRODUCTS_H
#define SAMBA_PASSES_TRAINING_TABLE_PRODUCTS_H

#include "support/base/memory.h"

#include "mlir-c/IR.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct SambaTableProduct {
  MlirOperation matmul;
  intptr_t operand; /* which the table is */
  bool crossed;
} SambaTableProduct;

typedef SAMBA_ARRAY(SambaTableProduct) SambaTableProducts;

/* Appends the products of tables that read the value, through permutations and casts. False when
 * anybody else reads it, or a product reads it twice. */
bool sambaTableProductsOf(MlirValue table, SambaTableProducts *products);

/* The dtype in which all products read the table; null when there are several or none. */
MlirType sambaTableProductsElement(const SambaTableProducts *products);

/* Whether the product sums along this axis of the table. */
bool sambaTableProductSums(const SambaTableProduct *product, intptr_t axis);

/* The operand beside the table. */
MlirValue sambaTableProductOther(const SambaTableProduct *product);

/* The product of another table and of another operand beside it, in front of the one that is there;
 * that one stays. */
MlirValue sambaTableProductBuild(const SambaTableProduct *product, MlirValue table,
                                 MlirValue other);

#endif
