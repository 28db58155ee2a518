/* Contexts for Python: what traces and compilations live in, and what the compiler says. */
#ifndef SAMBA_TOOLS_PYTHON_CONTEXT_H
#define SAMBA_TOOLS_PYTHON_CONTEXT_H

#include "support/base/memory.h"
#include "tools/python/convert.h"

#include <pthread.h>

typedef struct SambaDiagnosticText {
  const char *severity;
  char *text; /* owned */
} SambaDiagnosticText;

typedef struct SambaContextObject {
  PyObject_HEAD MlirContext context;
  pthread_mutex_t lock; /* of the list: passes run on several threads */
  SAMBA_ARRAY(SambaDiagnosticText) diagnostics;
} SambaContextObject;

extern PyTypeObject sambaContextType;

#endif
