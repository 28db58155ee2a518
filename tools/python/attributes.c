/* Attributes of operators from Python; see attributes.h. */
#include "tools/python/attributes.h"

static bool readReals(PyObject *object, double *values, size_t *out_count) {
  PyObject *list = PySequence_Fast(object, "a sequence of numbers is expected");
  if (!list)
    return false;
  Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
  bool fine = count <= SAMBA_MOST_NUMBERS;
  for (Py_ssize_t i = 0; i < count && fine; ++i) {
    values[i] = PyFloat_AsDouble(PySequence_Fast_GET_ITEM(list, i));
    fine = values[i] != -1 || !PyErr_Occurred();
  }
  Py_DECREF(list);
  *out_count = (size_t)count;
  return fine;
}

/* Converts the object to what the operator's row says of the attribute. */
static bool readAttribute(const SambaAttributeInfo *row, PyObject *object,
                          SambaAttributeList *list) {
  SambaAttribute *attribute = &list->attributes[list->count];
  size_t count;
  *attribute = (SambaAttribute){.name = sambaStringRef(row->name), .kind = row->kind};

  switch (row->kind) {
  case SAMBA_ATTRIBUTE_INT:
    attribute->value.integer = PyLong_AsLongLong(object);
    break;
  case SAMBA_ATTRIBUTE_BOOL:
    attribute->value.integer = PyObject_IsTrue(object);
    break;
  case SAMBA_ATTRIBUTE_FLOAT:
    attribute->value.real = PyFloat_AsDouble(object);
    break;
  case SAMBA_ATTRIBUTE_INTS:
    if (!sambaReadInts(object, row->name, SAMBA_MOST_NUMBERS, list->integers[list->count], &count))
      return false;
    attribute->value.integers.data = list->integers[list->count];
    attribute->value.integers.size = count;
    break;
  case SAMBA_ATTRIBUTE_FLOATS:
    if (!readReals(object, list->reals[list->count], &count))
      return false;
    attribute->value.reals.data = list->reals[list->count];
    attribute->value.reals.size = count;
    break;
  case SAMBA_ATTRIBUTE_STRING: {
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(object, &size);
    attribute->value.string = (SambaStringRef){text, (size_t)size};
    break;
  }
  case SAMBA_ATTRIBUTE_DTYPE:
    if (!sambaReadDType(object, &attribute->value.dtype))
      return false;
  }

  ++list->count;
  return !PyErr_Occurred();
}

/* The attributes of a dict; those that are None are left out. */
bool sambaReadAttributes(const SambaOperatorInfo *info, PyObject *dict, SambaAttributeList *list) {
  PyObject *key, *object;
  Py_ssize_t at = 0;
  list->count = 0;

  while (dict && dict != Py_None && PyDict_Next(dict, &at, &key, &object)) {
    const char *name = PyUnicode_AsUTF8(key);
    if (!name)
      return false;
    if (object == Py_None)
      continue;
    SambaAttributeInfo row;
    if (!sambaOperatorGetAttribute(info, sambaStringRef(name), &row) ||
        list->count == SAMBA_MOST_ATTRIBUTES) {
      PyErr_Format(PyExc_TypeError, "operator %s has no attribute '%s'", info->name, name);
      return false;
    }
    if (!readAttribute(&row, object, list))
      return false;
  }
  return true;
}
