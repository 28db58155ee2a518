/* The plain text of dictionaries: {stride = [2, 2], eps = 1.0e-05} instead of MLIR's
 * {stride = array<i64: 2, 2>, eps = 1.0e-05 : f64}. Integers are i64, numbers f64, lists of
 * integers dense arrays; anything else keeps MLIR's form. */
#ifndef SAMBA_DIALECT_BRIDGE_PRETTY_H
#define SAMBA_DIALECT_BRIDGE_PRETTY_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where text goes: an AsmPrinter as C sees it. */
typedef struct SambaPrinter {
  void *printer;
  void (*text)(void *printer, MlirStringRef text);
  void (*attribute)(void *printer, MlirAttribute attribute); /* in MLIR's own form */
} SambaPrinter;

/* The attributes of an operation in braces; nothing when there are none. A call prints its callee
 * elsewhere. */
void sambaPrettyPrintAttributes(const SambaPrinter *printer, MlirAttribute dictionary);
/* `<"head", key = value>`; without the head when it is "". */
void sambaPrettyPrintNamed(const SambaPrinter *printer, MlirStringRef head, MlirAttribute body);
/* What MLIR's parser made of the plain form, made right: its arrays of integers become dense. */
MlirAttribute sambaPrettyParsed(MlirAttribute attribute);

#ifdef __cplusplus
}
#endif
#endif
