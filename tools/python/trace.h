/* Traces and their values for Python. */
#ifndef SAMBA_TOOLS_PYTHON_TRACE_H
#define SAMBA_TOOLS_PYTHON_TRACE_H

#include "tools/python/context.h"

typedef struct SambaTraceObject {
  PyObject_HEAD SambaContextObject *context;
  SambaTrace *trace;
} SambaTraceObject;

typedef struct SambaValueObject {
  PyObject_HEAD SambaTraceObject *trace; /* which owns the value */
  SambaTraceValue *value;
} SambaValueObject;

extern PyTypeObject sambaTraceType, sambaValueType;

#endif
