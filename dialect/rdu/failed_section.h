/* Sections that could not be placed or routed, and the share of the machine that the copies of a
 * section may take: less after each failure. */
#ifndef SAMBA_DIALECT_RDU_FAILED_SECTION_H
#define SAMBA_DIALECT_RDU_FAILED_SECTION_H

#include "dialect/rdu/rdu_attribute_names.h"

#include "mlir-c/IR.h"

#include <stdbool.h>
#include <stdint.h>

/* Marks a section operation as one that failed. */
void sambaMarkFailedSection(MlirOperation section);
/* The first marked section of a module; null: none is. */
MlirOperation sambaFailedSection(MlirOperation module);

/* N when copies may take 1/N of the units, as rdu.parallel of the operation says; else 1. */
uint32_t sambaParallelDivisor(MlirOperation operation);
void sambaSetParallelDivisor(MlirOperation operation, uint32_t divisor);

#endif
