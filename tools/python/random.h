/* The numbers of lazy parameters, for Python. */
#ifndef SAMBA_TOOLS_PYTHON_RANDOM_H
#define SAMBA_TOOLS_PYTHON_RANDOM_H

#include "tools/python/convert.h"

/* fill_random(data, dtype, shape, name, kind, first, second, seed, threads, inverse, rounding):
 * writes uniform or normal numbers into memory of that type and shape. */
PyObject *sambaFillRandom(PyObject *module, PyObject *arguments);

#endif
