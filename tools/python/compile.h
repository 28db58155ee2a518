/* Compiling from Python. */
#ifndef SAMBA_TOOLS_PYTHON_COMPILE_H
#define SAMBA_TOOLS_PYTHON_COMPILE_H

#include "tools/python/convert.h"

/* Compiles a trace, or else the model file of that path. arguments: (path, options, notes), two
 * dicts; options: those of SambaCompileOptions by name, `diagnose` and `progress` callables.
 * Returns None, or NULL with an exception set. */
PyObject *sambaCompileForPython(SambaContext *context, SambaTrace *trace, const char *model,
                                PyObject *arguments);

#endif
