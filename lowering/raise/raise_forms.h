/* Operators from two or three that raised operations left; see raise_forms.c. */
#ifndef SAMBA_LOWERING_RAISE_RAISE_FORMS_H
#define SAMBA_LOWERING_RAISE_RAISE_FORMS_H

#include "mlir-c/IR.h"

void sambaRaiseForms(MlirOperation function);

#endif
