/* Python objects and C values, and errors as exceptions; see convert.h. */
#include "tools/python/convert.h"

PyObject *sambaRaise(SambaStatus status) {
  PyObject *kind = PyExc_RuntimeError;
  switch (sambaStatusGetCode(status)) {
  case SAMBA_INVALID:
    kind = PyExc_ValueError;
    break;
  case SAMBA_UNSUPPORTED:
    kind = PyExc_NotImplementedError;
    break;
  case SAMBA_IO:
    kind = PyExc_OSError;
    break;
  default:
    break;
  }
  PyErr_SetString(kind, sambaStatusGetMessage(status));
  sambaStatusFree(status);
  return NULL;
}

PyObject *sambaAnswerStatus(SambaStatus status) {
  if (status)
    return sambaRaise(status);
  Py_RETURN_NONE;
}

bool sambaReadDType(PyObject *object, SambaDType *out_dtype) {
  Py_ssize_t size;
  const char *name = PyUnicode_AsUTF8AndSize(object, &size);
  if (!name)
    return false;
  SambaStatus status = sambaDTypeParse((SambaStringRef){name, (size_t)size}, out_dtype);
  bool found = !status && *out_dtype < SAMBA_DTYPE_COUNT;
  sambaStatusFree(status);
  if (found)
    return true;
  PyErr_Format(PyExc_ValueError, "there is no dtype '%s' on the device", name);
  return false;
}

bool sambaReadInts(PyObject *object, const char *what, size_t most, int64_t *out_values,
                   size_t *out_count) {
  PyObject *list = PySequence_Fast(object, "a sequence of integers is expected");
  if (!list)
    return false;
  Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
  bool fits = (size_t)count <= most;
  if (!fits)
    PyErr_Format(PyExc_ValueError, "%s has %zd numbers, but may have %zu at most", what, count,
                 most);

  for (Py_ssize_t i = 0; i < count && fits; ++i) {
    out_values[i] = PyLong_AsLongLong(PySequence_Fast_GET_ITEM(list, i));
    fits = out_values[i] != -1 || !PyErr_Occurred();
  }
  Py_DECREF(list);
  *out_count = (size_t)count;
  return fits;
}

bool sambaReadType(PyObject *dtype, PyObject *sizes, SambaTensorType *out_type) {
  size_t rank;
  *out_type = (SambaTensorType){0};
  if (!sambaReadDType(dtype, &out_type->dtype) ||
      !sambaReadInts(sizes, "the shape", SAMBA_MAX_RANK, out_type->dims, &rank))
    return false;
  out_type->rank = (uint32_t)rank;
  return true;
}

PyObject *sambaIntsToTuple(size_t count, const int64_t *values) {
  PyObject *tuple = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; i < count && tuple; ++i)
    PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, PyLong_FromLongLong(values[i]));
  return tuple;
}

void sambaListAppend(PyObject **list, PyObject *item) {
  if (*list && (!item || PyList_Append(*list, item)))
    Py_CLEAR(*list);
  Py_XDECREF(item);
}

PyObject *sambaTextToPython(SambaStringRef text) {
  return PyUnicode_DecodeUTF8(text.data ? text.data : "", (Py_ssize_t)text.size, "replace");
}
