/* Lazy tensors for Python: tensors that are computed when somebody wants their values, and the
 * schedules that compute them. */
#ifndef SAMBA_TOOLS_PYTHON_LAZY_H
#define SAMBA_TOOLS_PYTHON_LAZY_H

#include "tools/python/context.h"

extern PyTypeObject sambaTensorType, sambaScheduleType;

/* call(context, operator, tensors, attributes=None) -> tensor, or a tuple of the results */
PyObject *sambaCallLazily(PyObject *module, PyObject *arguments);
/* schedule(tensors): compiled, and not run yet */
PyObject *sambaScheduleTensors(PyObject *module, PyObject *tensors);
/* realize(tensors, keep_statistics=False) */
PyObject *sambaRealizeTensors(PyObject *module, PyObject *arguments);
/* shard_shape(shape, count, axis=None, splits=None) -> [(shape, strides, start)] */
PyObject *sambaShardShapeForPython(PyObject *module, PyObject *arguments);
/* statistics(context): what realizing and backward did */
PyObject *sambaLazyStatistics(PyObject *module, PyObject *context);

#endif
