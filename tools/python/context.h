/* Contexts for Python: what traces and compilations live in. Trace records, too. */
#ifndef SAMBA_TOOLS_PYTHON_CONTEXT_H
#define SAMBA_TOOLS_PYTHON_CONTEXT_H

#include "tools/python/convert.h"

typedef struct SambaContextObject {
  PyObject_HEAD SambaContext *context;
} SambaContextObject;

/* The record of a model file. */
typedef struct SambaRecordObject {
  PyObject_HEAD SambaTraceRecord *record;
} SambaRecordObject;

extern PyTypeObject sambaContextType, sambaRecordType;

/* The lines of a record, each with its newline. */
PyObject *sambaRecordToPython(const SambaTraceRecord *record);

#endif
