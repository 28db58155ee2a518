/* Python objects and C values, and errors of Samba as exceptions.
 *
 * The module knows nothing of torch: a tensor of the host is an address, the name of a dtype and
 * sizes. Everything else is done in Python above it. */
#ifndef SAMBA_TOOLS_PYTHON_CONVERT_H
#define SAMBA_TOOLS_PYTHON_CONVERT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "samba/samba.h"

/* Sets the exception of the status, which is freed: ValueError, NotImplementedError, OSError or
 * RuntimeError by its code. Returns NULL. */
PyObject *sambaRaise(SambaStatus status);
/* None, or the exception of the status. */
PyObject *sambaAnswerStatus(SambaStatus status);

/* Python objects as C values; false with an exception set. */
bool sambaReadDType(PyObject *object, SambaDType *out_dtype);
/* At most `most` integers. `what` stands in the error. */
bool sambaReadInts(PyObject *object, const char *what, size_t most, int64_t *out_values,
                   size_t *out_count);
bool sambaReadType(PyObject *dtype, PyObject *sizes, SambaTensorType *out_type);

PyObject *sambaIntsToTuple(size_t count, const int64_t *values);
/* Adds an item, which it takes, to a list; NULL after the first failure. */
void sambaListAppend(PyObject **list, PyObject *item);
PyObject *sambaTextToPython(SambaStringRef text);

#endif
