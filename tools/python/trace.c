/* Traces and their values for Python; see trace.h. */
#include "tools/python/trace.h"

#include "tools/python/attributes.h"
#include "tools/python/compile.h"

enum { mostOperands = 256 };

/* ---- Values ---- */

/* NULL for a value that is NULL: the trace then knows why. */
static PyObject *wrap(SambaTraceObject *trace, SambaTraceValue *value) {
  if (!value) {
    SambaStatus status = sambaTraceStatus(trace->trace);
    PyErr_SetString(PyExc_ValueError, status ? sambaStatusGetMessage(status) : "no value");
    return NULL;
  }
  SambaValueObject *self = PyObject_New(SambaValueObject, &sambaValueType);
  if (!self)
    return NULL;
  Py_INCREF(trace);
  self->trace = trace;
  self->value = value;
  return (PyObject *)self;
}

static void freeValue(PyObject *object) {
  Py_DECREF(((SambaValueObject *)object)->trace);
  PyObject_Free(object);
}

static const SambaTraceValue *valueOf(PyObject *self) { return ((SambaValueObject *)self)->value; }

static PyObject *getDType(PyObject *self, void *closure) {
  (void)closure;
  return PyUnicode_FromString(sambaDTypeName(sambaTraceValueGetDType(valueOf(self))));
}

static PyObject *getShape(PyObject *self, void *closure) {
  (void)closure;
  return sambaIntsToTuple(sambaTraceValueGetRank(valueOf(self)),
                          sambaTraceValueGetDims(valueOf(self)));
}

static PyObject *getName(PyObject *self, void *closure) {
  (void)closure;
  return sambaTextToPython(sambaTraceValueGetName(valueOf(self)));
}

static PyObject *getKind(PyObject *self, void *closure) {
  (void)closure;
  return sambaTextToPython(sambaTraceValueGetKind(valueOf(self)));
}

static PyObject *getRequiresGrad(PyObject *self, void *closure) {
  (void)closure;
  return PyBool_FromLong(sambaTraceValueGetRequiresGrad(valueOf(self)));
}

static PyObject *getId(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromUnsignedLong(sambaTraceValueGetId(valueOf(self)));
}

static PyObject *showValue(PyObject *self) {
  PyObject *shape = getShape(self, NULL);
  if (!shape)
    return NULL;
  PyObject *text =
      PyUnicode_FromFormat("<value %%%u : %s %S>", sambaTraceValueGetId(valueOf(self)),
                           sambaDTypeName(sambaTraceValueGetDType(valueOf(self))), shape);
  Py_DECREF(shape);
  return text;
}

static PyGetSetDef valueFields[] = {
    {"dtype", getDType, NULL, "f32, bf16, ..", NULL},
    {"shape", getShape, NULL, "sizes", NULL},
    {"name", getName, NULL, "of an argument, else ''", NULL},
    {"requires_grad", getRequiresGrad, NULL, "of an argument", NULL},
    {"id", getId, NULL, "its number in the record", NULL},
    {"kind", getKind, NULL, "of an argument, else ''", NULL},
    {0}};

PyTypeObject sambaValueType = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_samba.Value",
                               .tp_basicsize = sizeof(SambaValueObject),
                               .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .tp_doc = "A value of a trace.",
                               .tp_dealloc = freeValue,
                               .tp_repr = showValue,
                               .tp_getset = valueFields};

/* ---- Traces ---- */

static SambaTraceObject *traceOf(PyObject *self) { return (SambaTraceObject *)self; }

static PyObject *makeTrace(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"context", "name", NULL};
  SambaContextObject *context;
  const char *name;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!s", names, &sambaContextType, &context,
                                   &name))
    return NULL;
  SambaTraceObject *self = (SambaTraceObject *)type->tp_alloc(type, 0);
  if (!self)
    return NULL;
  Py_INCREF(context);
  self->context = context;
  self->trace = sambaTraceCreate(context->context, name);
  return (PyObject *)self;
}

static void freeTrace(PyObject *object) {
  SambaTraceObject *self = traceOf(object);
  if (self->trace)
    sambaTraceDestroy(self->trace);
  Py_XDECREF(self->context);
  Py_TYPE(object)->tp_free(object);
}

/* argument(name, kind, dtype, shape, region=None, memory=None, requires_grad=False, data=0) */
static PyObject *addArgument(PyObject *self, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"name",   "kind",          "dtype", "shape", "region",
                          "memory", "requires_grad", "data",  NULL};
  SambaArgument argument = {0};
  const char *name, *region = NULL;
  PyObject *dtype, *shape;
  int requires_grad = 0;
  unsigned long long data = 0;

  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "ssOO|zzpK", names, &name, &argument.kind,
                                   &dtype, &shape, &region, &argument.memory, &requires_grad,
                                   &data) ||
      !sambaReadType(dtype, shape, &argument.type))
    return NULL;
  argument.name = sambaStringRef(name);
  if (region)
    argument.region = sambaStringRef(region);
  argument.requires_grad = requires_grad;
  argument.data = (const void *)(uintptr_t)data;
  return wrap(traceOf(self), sambaTraceArgument(traceOf(self)->trace, &argument));
}

/* argin(name, kind, group, dtype, value, least=0, most=0) */
static PyObject *addArgin(PyObject *self, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"name", "kind", "group", "dtype", "value", "least", "most", NULL};
  SambaTraceArgin argin = {0};
  SambaArgument argument = {.kind = "argin", .argin = &argin};
  const char *name;
  PyObject *dtype;

  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "sssOd|dd", names, &name, &argin.kind,
                                   &argin.group, &dtype, &argin.value, &argin.least, &argin.most) ||
      !sambaReadDType(dtype, &argument.type.dtype))
    return NULL;
  argument.name = sambaStringRef(name);
  return wrap(traceOf(self), sambaTraceArgument(traceOf(self)->trace, &argument));
}

/* constant(dtype, shape, data) */
static PyObject *addConstant(PyObject *self, PyObject *arguments) {
  PyObject *dtype, *shape;
  unsigned long long data;
  SambaTensorType type;
  if (!PyArg_ParseTuple(arguments, "OOK", &dtype, &shape, &data) ||
      !sambaReadType(dtype, shape, &type))
    return NULL;
  return wrap(traceOf(self), sambaTraceConstant(traceOf(self)->trace, &type,
                                                (const void *)(uintptr_t)data, false));
}

/* A number as an element of that type, in a tensor of rank 0; NULL with an exception set. */
static SambaTensor *readNumber(SambaDType dtype, PyObject *number) {
  SambaScalar scalar;
  SambaTensor *tensor = NULL;
  int overflow = 0;
  if (sambaDTypeIsFloatingPoint(dtype) || PyFloat_Check(number))
    scalar = sambaScalarFloat(PyFloat_AsDouble(number));
  else /* 64 bits of an integer are more than a double holds */
    scalar = sambaScalarInt(PyLong_AsLongLongAndOverflow(number, &overflow));
  if (PyErr_Occurred())
    return NULL;
  SambaStatus status = sambaTensorCreateFull(dtype, 0, NULL, scalar, (SambaStringRef){0}, &tensor);
  if (status)
    sambaRaise(status);
  return tensor;
}

/* scalar(dtype, value, shape=()): one number, in every element */
static PyObject *addScalar(PyObject *self, PyObject *arguments) {
  PyObject *dtype, *shape = NULL, *number;
  SambaTensorType type = {0};
  if (!PyArg_ParseTuple(arguments, "OO|O", &dtype, &number, &shape))
    return NULL;
  if (shape ? !sambaReadType(dtype, shape, &type) : !sambaReadDType(dtype, &type.dtype))
    return NULL;
  SambaTensor *element = readNumber(type.dtype, number);
  if (!element)
    return NULL;

  PyObject *value = wrap(traceOf(self), sambaTraceConstant(traceOf(self)->trace, &type,
                                                           sambaTensorGetDataPtr(element), true));
  sambaTensorRelease(element);
  return value;
}

/* The values of a sequence; false with an exception set. */
static bool readValues(SambaTraceObject *self, PyObject *sequence, SambaTraceValue **out_values,
                       uint32_t *out_count) {
  PyObject *list = PySequence_Fast(sequence, "a sequence of values is expected");
  if (!list)
    return false;
  Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
  bool fine = count <= mostOperands;
  if (!fine)
    PyErr_Format(PyExc_ValueError, "there are %zd values, but %d are the most", count,
                 mostOperands);

  for (Py_ssize_t i = 0; i < count && fine; ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(list, i);
    fine = PyObject_TypeCheck(item, &sambaValueType) && ((SambaValueObject *)item)->trace == self;
    if (fine)
      out_values[i] = ((SambaValueObject *)item)->value;
    else
      PyErr_Format(PyExc_TypeError, "%R is no value of this trace", item);
  }
  Py_DECREF(list);
  *out_count = (uint32_t)count;
  return fine;
}

/* call(operator, operands, attributes=None) -> value, or a tuple of the results */
static PyObject *callOperator(PyObject *self, PyObject *arguments) {
  const char *name;
  PyObject *operands, *dict = NULL;
  SambaAttributeList list;
  SambaTraceValue *values[mostOperands], *results[SAMBA_MAX_RESULTS] = {NULL};
  uint32_t count;
  if (!PyArg_ParseTuple(arguments, "sO|O", &name, &operands, &dict))
    return NULL;
  SambaOperatorInfo info;
  if (!sambaOperatorGetInfo(sambaStringRef(name), &info))
    return PyErr_Format(PyExc_NotImplementedError, "there is no operator '%s'", name);
  if (!sambaReadAttributes(&info, dict, &list) ||
      !readValues(traceOf(self), operands, values, &count))
    return NULL;

  SambaStatus status = sambaTraceOperator(traceOf(self)->trace, name, count, values, list.count,
                                          list.attributes, results);
  if (status)
    return sambaRaise(status);
  if (info.result_count == 1)
    return wrap(traceOf(self), results[0]);

  PyObject *tuple = PyTuple_New(info.result_count);
  for (uint32_t i = 0; i < info.result_count && tuple; ++i)
    PyTuple_SET_ITEM(tuple, i, wrap(traceOf(self), results[i]));
  return tuple;
}

static PyObject *setLayer(PyObject *self, PyObject *arguments) {
  const char *name, *file = NULL;
  unsigned line = 0;
  if (!PyArg_ParseTuple(arguments, "s|zI", &name, &file, &line))
    return NULL;
  sambaTraceSetLayer(traceOf(self)->trace, sambaStringRef(name), file, line);
  Py_RETURN_NONE;
}

static PyObject *keepPrecision(PyObject *self, PyObject *keep) {
  sambaTraceKeepPrecision(traceOf(self)->trace, PyObject_IsTrue(keep) > 0);
  Py_RETURN_NONE;
}

/* What the trace remembers as its failure becomes an exception. */
static PyObject *answerTrace(PyObject *self) {
  SambaStatus status = sambaTraceStatus(traceOf(self)->trace);
  if (!status)
    Py_RETURN_NONE;
  PyErr_SetString(PyExc_ValueError, sambaStatusGetMessage(status));
  return NULL;
}

static PyObject *addUpdate(PyObject *self, PyObject *arguments) {
  SambaValueObject *argument, *value;
  if (!PyArg_ParseTuple(arguments, "O!O!", &sambaValueType, &argument, &sambaValueType, &value))
    return NULL;
  sambaTraceUpdate(argument->value, value->value);
  return answerTrace(self);
}

/* freeze(weight): it gets no gradient */
static PyObject *freezeWeight(PyObject *self, PyObject *argument) {
  if (!PyObject_TypeCheck(argument, &sambaValueType))
    return PyErr_Format(PyExc_TypeError, "%R is no value", argument);
  sambaTraceSetRequiresGrad(((SambaValueObject *)argument)->value, false);
  return answerTrace(self);
}

/* result(name, kind, value) */
static PyObject *addResult(PyObject *self, PyObject *arguments) {
  const char *name, *kind;
  SambaValueObject *value;
  if (!PyArg_ParseTuple(arguments, "ssO!", &name, &kind, &sambaValueType, &value))
    return NULL;
  sambaTraceResult(traceOf(self)->trace, sambaStringRef(name), kind, (SambaStringRef){0},
                   value->value);
  return answerTrace(self);
}

static PyObject *selectLosses(PyObject *self, PyObject *indices) {
  int64_t values[mostOperands];
  size_t count;
  if (!sambaReadInts(indices, "loss_indices", mostOperands, values, &count))
    return NULL;
  sambaTraceSelectLosses(traceOf(self)->trace, (uint32_t)count, values);
  return answerTrace(self);
}

/* optimizer(settings, prefix, weights, joins=False) */
static PyObject *addOptimizer(PyObject *self, PyObject *arguments) {
  const char *settings, *prefix;
  PyObject *weights;
  int joins = 0;
  if (!PyArg_ParseTuple(arguments, "ssO|p", &settings, &prefix, &weights, &joins))
    return NULL;
  Py_ssize_t size = PySequence_Size(weights);
  if (size < 0)
    return NULL;

  SambaTraceValue **values = PyMem_Calloc((size_t)size + 1, sizeof(SambaTraceValue *));
  if (!values)
    return PyErr_NoMemory();
  bool fine = true;
  for (Py_ssize_t i = 0; i < size && fine; ++i) {
    PyObject *item = PySequence_GetItem(weights, i);
    fine = item && PyObject_TypeCheck(item, &sambaValueType);
    if (fine)
      values[i] = ((SambaValueObject *)item)->value;
    else if (item)
      PyErr_Format(PyExc_TypeError, "%R is no value of this trace", item);
    Py_XDECREF(item);
  }
  if (fine && joins)
    sambaTraceAddParameterGroup(traceOf(self)->trace, settings, prefix, (uint32_t)size, values);
  else if (fine)
    sambaTraceAddOptimizer(traceOf(self)->trace, settings, prefix, (uint32_t)size, values);
  PyMem_Free(values);
  return fine ? answerTrace(self) : NULL;
}

static PyObject *accumulate(PyObject *self, PyObject *ignored) {
  (void)ignored;
  sambaTraceAccumulateGradients(traceOf(self)->trace);
  Py_RETURN_NONE;
}

static PyObject *getRecord(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return sambaRecordToPython(sambaTraceGetRecord(traceOf(self)->trace));
}

/* compile(path, options, notes): ends the trace and writes the PEF. */
static PyObject *compile(PyObject *object, PyObject *arguments) {
  SambaTraceObject *self = traceOf(object);
  return sambaCompileForPython(self->context->context, self->trace, NULL, arguments);
}

static PyMethodDef traceMethods[] = {
    {"argument", (PyCFunction)(void (*)(void))addArgument, METH_VARARGS | METH_KEYWORDS,
     "argument(name, kind, dtype, shape, region=None, memory=None, requires_grad=False, data=0)"},
    {"argin", (PyCFunction)(void (*)(void))addArgin, METH_VARARGS | METH_KEYWORDS,
     "argin(name, kind, group, dtype, value, least=0, most=0): a hyperparameter"},
    {"constant", addConstant, METH_VARARGS, "constant(dtype, shape, data)"},
    {"scalar", addScalar, METH_VARARGS, "scalar(dtype, value, shape=()): one number everywhere"},
    {"call", callOperator, METH_VARARGS, "call(operator, values, attributes=None)"},
    {"set_layer", setLayer, METH_VARARGS, "set_layer(name, file=None, line=0)"},
    {"keep_precision", keepPrecision, METH_O, "keep_precision(keep)"},
    {"update", addUpdate, METH_VARARGS, "update(argument, value)"},
    {"freeze", freezeWeight, METH_O, "freeze(weight): it gets no gradient"},
    {"result", addResult, METH_VARARGS, "result(name, kind, value)"},
    {"select_losses", selectLosses, METH_O, "select_losses(indices)"},
    {"optimizer", addOptimizer, METH_VARARGS, "optimizer(settings, prefix, weights, joins=False)"},
    {"accumulate_gradients", accumulate, METH_NOARGS, "gradients are summed until ZEROGRAD"},
    {"record", getRecord, METH_NOARGS, "what was traced, as text"},
    {"compile", compile, METH_VARARGS, "compile(path, options, notes)"},
    {0}};

PyTypeObject sambaTraceType = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_samba.Trace",
                               .tp_basicsize = sizeof(SambaTraceObject),
                               .tp_flags = Py_TPFLAGS_DEFAULT,
                               .tp_doc = "Trace(context, name): a graph that is being built.",
                               .tp_new = makeTrace,
                               .tp_dealloc = freeTrace,
                               .tp_methods = traceMethods};
