/* The extension module `_samba`: contexts, traces, sessions and lazy tensors for Python. The
 * package `samba` is written in Python above it. */
#include "tools/python/lazy.h"
#include "tools/python/random.h"
#include "tools/python/session.h"
#include "tools/python/trace.h"

static PyMethodDef functions[] = {
    {"fill_random", sambaFillRandom, METH_VARARGS,
     "fill_random(data, dtype, shape, name, kind, first, second, "
     "seed, threads, inverse, rounding)"},
    {"call", sambaCallLazily, METH_VARARGS, "call(context, operator, tensors, attributes=None)"},
    {"schedule", sambaScheduleTensors, METH_O, "schedule(tensors)"},
    {"realize", sambaRealizeTensors, METH_VARARGS, "realize(tensors, keep_statistics=False)"},
    {"shard_shape", sambaShardShapeForPython, METH_VARARGS,
     "shard_shape(shape, count, axis=None, splits=None)"},
    {"statistics", sambaLazyStatistics, METH_O,
     "statistics(context): what computing lazy tensors took"},
    {0}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_samba",
                                        .m_doc = "Samba for Python: see the package samba.",
                                        .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__samba(void) {
  PyTypeObject *const types[] = {&sambaContextType, &sambaRecordType,  &sambaTraceType,
                                 &sambaValueType,   &sambaSessionType, &sambaTensorType,
                                 &sambaScheduleType};
  PyObject *module = PyModule_Create(&definition);

  for (size_t i = 0; i < sizeof types / sizeof *types && module; ++i)
    if (PyModule_AddType(module, types[i]))
      Py_CLEAR(module);
  if (module && PyModule_AddStringConstant(module, "__version__", sambaGetVersion()))
    Py_CLEAR(module);
  return module;
}
