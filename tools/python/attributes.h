/* Attributes of operators from Python. */
#ifndef SAMBA_TOOLS_PYTHON_ATTRIBUTES_H
#define SAMBA_TOOLS_PYTHON_ATTRIBUTES_H

#include "tools/python/convert.h"

enum { SAMBA_MOST_ATTRIBUTES = 12, SAMBA_MOST_NUMBERS = 64 };

/* The attributes of one call, and the numbers that they point to; texts are the dict's. */
typedef struct SambaAttributeList {
  SambaAttribute attributes[SAMBA_MOST_ATTRIBUTES];
  uint32_t count;
  int64_t integers[SAMBA_MOST_ATTRIBUTES][SAMBA_MOST_NUMBERS];
  double reals[SAMBA_MOST_ATTRIBUTES][SAMBA_MOST_NUMBERS];
} SambaAttributeList;

/* The attributes of a dict, which may be NULL or None, as the operator wants them; those that are
 * None are left out. False with an exception set. */
bool sambaReadAttributes(const SambaOperatorInfo *info, PyObject *dict, SambaAttributeList *list);

#endif
