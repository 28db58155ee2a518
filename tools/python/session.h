/* Sessions for Python. */
#ifndef SAMBA_TOOLS_PYTHON_SESSION_H
#define SAMBA_TOOLS_PYTHON_SESSION_H

#include "tools/python/convert.h"

extern PyTypeObject sambaSessionType;

#endif
