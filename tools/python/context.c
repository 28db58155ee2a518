/* Contexts and records for Python; see context.h. */
#include "tools/python/context.h"

#include "tools/python/compile.h"

/* ---- Records ---- */

PyObject *sambaRecordToPython(const SambaTraceRecord *record) {
  PyObject *lines = PyList_New(0), *newline = PyUnicode_FromString("\n"), *text = NULL;
  uint32_t count = sambaTraceRecordGetLineCount(record);
  for (uint32_t i = 0; i < count; ++i)
    sambaListAppend(&lines, sambaTextToPython(sambaStringRef(sambaTraceRecordGetLine(record, i))));
  sambaListAppend(&lines, PyUnicode_FromString("")); /* the last line ends, too */
  if (lines && newline)
    text = PyUnicode_Join(newline, lines);
  Py_XDECREF(newline);
  Py_XDECREF(lines);
  return text;
}

static void freeRecord(PyObject *object) {
  sambaTraceRecordDestroy(((SambaRecordObject *)object)->record);
  PyObject_Free(object);
}

static PyObject *showRecord(PyObject *self) {
  return sambaRecordToPython(((SambaRecordObject *)self)->record);
}

PyTypeObject sambaRecordType = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_samba.Record",
                                .tp_basicsize = sizeof(SambaRecordObject),
                                .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .tp_doc = "The trace record of a model file; str() is its text.",
                                .tp_dealloc = freeRecord,
                                .tp_str = showRecord};

/* ---- Contexts ---- */

static PyObject *makeContext(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {NULL};
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "", names))
    return NULL;
  SambaContextObject *self = (SambaContextObject *)type->tp_alloc(type, 0);
  if (!self)
    return NULL;
  SambaStatus status = sambaContextCreate(&self->context);
  if (!status)
    return (PyObject *)self;
  Py_DECREF(self);
  return sambaRaise(status);
}

static void freeContext(PyObject *object) {
  sambaContextDestroy(((SambaContextObject *)object)->context);
  Py_TYPE(object)->tp_free(object);
}

/* record(model): what a trace of the file would have recorded */
static PyObject *recordFile(PyObject *object, PyObject *argument) {
  const char *path = PyUnicode_AsUTF8(argument);
  SambaTraceRecord *record;
  if (!path)
    return NULL;
  SambaStatus status =
      sambaTraceRecordCreateFromFile(((SambaContextObject *)object)->context, path, NULL, &record);
  if (status)
    return sambaRaise(status);
  SambaRecordObject *self = PyObject_New(SambaRecordObject, &sambaRecordType);
  if (self)
    self->record = record;
  else
    sambaTraceRecordDestroy(record);
  return (PyObject *)self;
}

/* compile(model, path, options, notes) */
static PyObject *compileFile(PyObject *object, PyObject *arguments) {
  const char *model =
      PyTuple_GET_SIZE(arguments) ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(arguments, 0)) : NULL;
  PyObject *others = PyTuple_GetSlice(arguments, 1, PyTuple_GET_SIZE(arguments));
  PyObject *result = NULL;
  if (model && others)
    result = sambaCompileForPython(((SambaContextObject *)object)->context, NULL, model, others);
  else if (!PyErr_Occurred())
    PyErr_SetString(PyExc_TypeError, "compile() needs a model, a path, options and notes");
  Py_XDECREF(others);
  return result;
}

/* set_target(name): the machine that is compiled for unless options name another */
static PyObject *setTarget(PyObject *object, PyObject *argument) {
  const char *target = PyUnicode_AsUTF8(argument);
  if (!target)
    return NULL;
  sambaContextSetTarget(((SambaContextObject *)object)->context, target);
  Py_RETURN_NONE;
}

static PyMethodDef contextMethods[] = {
    {"record", recordFile, METH_O, "record(model): the trace record of an ONNX file"},
    {"compile", compileFile, METH_VARARGS, "compile(model, path, options, notes): of a file"},
    {"set_target", setTarget, METH_O, "set_target(name): unless options name another machine"},
    {0}};

PyTypeObject sambaContextType = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_samba.Context",
                                 .tp_basicsize = sizeof(SambaContextObject),
                                 .tp_flags = Py_TPFLAGS_DEFAULT,
                                 .tp_doc = "What traces and compilations live in.",
                                 .tp_new = makeContext,
                                 .tp_dealloc = freeContext,
                                 .tp_methods = contextMethods};
