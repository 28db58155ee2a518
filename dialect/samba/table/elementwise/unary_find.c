/* Finding elementwise operators with one operand; see unary_find.h. */
#include "dialect/samba/table/elementwise/unary_find.h"

#include <string.h>

extern const SambaOperator sambaActivationOperators[];
extern const SambaOperator sambaTrigonometricOperators[];
extern const SambaOperator sambaUnaryOperators[];

const SambaOperator *sambaUnaryFind(const char *name) {
  const SambaOperator *const families[] = {sambaUnaryOperators, sambaActivationOperators,
                                           sambaTrigonometricOperators};
  for (size_t i = 0; i < sizeof families / sizeof *families; ++i)
    for (const SambaOperator *row = families[i]; row->name; ++row)
      if (strcmp(row->name, name) == 0)
        return row;
  return NULL;
}
