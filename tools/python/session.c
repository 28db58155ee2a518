/* Sessions for Python: a PEF on the simulated device. */
#include "tools/python/session.h"

#include "tools/python/report.h"
#include "tools/python/trace.h"

#include <stdlib.h>

enum { mostSections = 4096 };

typedef struct SambaSessionObject {
  PyObject_HEAD SambaSession *session;
  SambaSimulatedDeviceOptions options; /* which the session borrows */
} SambaSessionObject;

static SambaSessionObject *sessionOf(PyObject *self) { return (SambaSessionObject *)self; }

/* The session with a PEF, or NULL with an exception set. */
static SambaSession *openSession(PyObject *self) {
  SambaSession *session = sessionOf(self)->session;
  if (sambaSessionHasPef(session))
    return session;
  PyErr_SetString(PyExc_RuntimeError, "no PEF loaded; give one to utils.trace_graph(pef=...) or "
                                      "samba.session.reset(pef_path)");
  return NULL;
}

static PyObject *makeSession(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"threads", "values_only", NULL};
  int threads = 1, values_only = 1;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|ip", names, &threads, &values_only))
    return NULL;
  SambaSessionObject *self = (SambaSessionObject *)type->tp_alloc(type, 0);
  if (!self)
    return NULL;
  self->options =
      (SambaSimulatedDeviceOptions){.threads = threads, .values_only = values_only != 0};
  SambaDeviceFactory device = sambaSimulatedDevice(&self->options);
  SambaStatus status = sambaSessionCreate(&device, &self->session);
  if (!status)
    return (PyObject *)self;
  Py_DECREF(self);
  return sambaRaise(status);
}

static void freeSession(PyObject *object) {
  sambaSessionClose(sessionOf(object)->session);
  Py_TYPE(object)->tp_free(object);
}

static PyObject *closePef(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return sambaAnswerStatus(sambaSessionReset(sessionOf(self)->session, NULL));
}

/* load(path): instead of the PEF that is open; that one stays when the new one cannot be read */
static PyObject *loadPef(PyObject *self, PyObject *argument) {
  const char *path = PyUnicode_AsUTF8(argument);
  SambaStatus status;
  if (!path)
    return NULL;

  Py_BEGIN_ALLOW_THREADS;
  status = sambaSessionLoadPef(sessionOf(self)->session, path);
  Py_END_ALLOW_THREADS;
  return sambaAnswerStatus(status);
}

/* ---- Tensors ---- */

static PyObject *describeTensor(const SambaTensorInfo *info) {
  static const char *const kinds[] = {"input",  "weight", "buffer", "optimizer_state", "constant",
                                      "output", "loss",   "update", "activation",      "gradient"};
  return Py_BuildValue(
      "{s:N,s:s,s:s,s:N,s:N,s:N,s:N,s:K}", "name", sambaTextToPython(info->name), "kind",
      kinds[info->kind], "dtype", sambaDTypeName(info->dtype), "shape",
      sambaIntsToTuple(info->rank, info->dims), "region", sambaTextToPython(info->region), "grad",
      info->gradient.size ? sambaTextToPython(info->gradient) : Py_NewRef(Py_None), "has_init",
      PyBool_FromLong(info->has_init), "bytes", (unsigned long long)info->device_bytes);
}

static PyObject *findTensor(PyObject *self, PyObject *argument) {
  const char *name = PyUnicode_AsUTF8(argument);
  SambaSession *session = name ? openSession(self) : NULL;
  SambaTensorInfo info;
  if (!session)
    return NULL;
  SambaStatus status = sambaSessionGetTensorInfo(session, sambaStringRef(name), &info);
  return status ? sambaRaise(status) : describeTensor(&info);
}

static void appendTensor(void *list, const SambaTensorInfo *info) {
  sambaListAppend(list, describeTensor(info));
}

static PyObject *listTensors(PyObject *self, PyObject *ignored) {
  SambaSession *session = openSession(self);
  PyObject *list = session ? PyList_New(0) : NULL;
  (void)ignored;
  if (list)
    sambaSessionForEachTensor(session, ~0u, appendTensor, &list);
  return list;
}

/* write(name, dtype, shape, data) */
static PyObject *writeTensor(PyObject *self, PyObject *arguments) {
  const char *name;
  PyObject *dtype, *shape;
  unsigned long long data;
  SambaTensorType type;
  if (!PyArg_ParseTuple(arguments, "sOOK", &name, &dtype, &shape, &data) ||
      !sambaReadType(dtype, shape, &type))
    return NULL;
  SambaSession *session = openSession(self);
  if (!session)
    return NULL;

  return sambaAnswerStatus(sambaSessionSetInput(session, sambaStringRef(name), type.dtype,
                                                type.rank, type.dims,
                                                (const void *)(uintptr_t)data));
}

/* read(name, data, bytes): into memory of exactly that size */
static PyObject *readTensor(PyObject *self, PyObject *arguments) {
  const char *name;
  unsigned long long data, bytes;
  SambaTensorInfo info;
  SambaTensor *tensor;
  if (!PyArg_ParseTuple(arguments, "sKK", &name, &data, &bytes))
    return NULL;
  SambaSession *session = openSession(self);
  if (!session)
    return NULL;

  SambaStatus status = sambaSessionGetTensorInfo(session, sambaStringRef(name), &info);
  if (status)
    return sambaRaise(status);
  SambaBufferView view = {(void *)(uintptr_t)data, info.dtype, info.rank, info.dims, NULL};
  status = sambaTensorCreateFromBuffer(&view, info.name, &tensor);
  if (status)
    return sambaRaise(status);

  unsigned long long expected = (unsigned long long)sambaTensorGetNumBytes(tensor);
  bool fits = expected == bytes;
  if (fits)
    status = sambaSessionReadInto(session, info.name, tensor, true);
  sambaTensorRelease(tensor);
  if (!fits)
    return PyErr_Format(PyExc_ValueError, "'%s' has %llu bytes, not %llu", name, expected, bytes);
  return sambaAnswerStatus(status);
}

/* ---- Runs ---- */

/* What a run asks for, read from Python. */
typedef struct {
  SambaRunOptions options;
  SambaSectionGroup group;
  uint32_t sections[mostSections];
  SambaSectionType types[64];
  SambaHyperparameter *hyperparameters;
} Request;

static bool readSections(PyObject *object, Request *request) {
  int64_t ids[mostSections];
  size_t count;
  if (!sambaReadInts(object, "section_ids", mostSections, ids, &count))
    return false;
  for (size_t i = 0; i < count; ++i)
    request->sections[i] = ids[i] >= 0 && ids[i] < UINT32_MAX ? (uint32_t)ids[i] : UINT32_MAX;
  request->group = (SambaSectionGroup){(uint32_t)count, request->sections};
  request->options.order.groups = &request->group;
  request->options.order.group_count = count > 0;
  return true;
}

static bool readTypes(PyObject *object, Request *request) {
  Py_ssize_t count = PySequence_Size(object);
  if (count > 64)
    PyErr_SetString(PyExc_ValueError, "section_types has more than 64 entries");
  for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); ++i) {
    PyObject *item = PySequence_GetItem(object, i);
    const char *name = item ? PyUnicode_AsUTF8(item) : NULL;
    if (name && !sambaSectionTypeFromName(sambaStringRef(name), &request->types[i]))
      PyErr_Format(PyExc_ValueError,
                   "there is no section type '%s'; there are ZEROGRAD, FWD, BCKWD, REDUCE, "
                   "GRADNORM and OPT",
                   name);
    Py_XDECREF(item);
  }
  request->options.order.types = request->types;
  request->options.order.type_count = (uint32_t)count;
  return !PyErr_Occurred();
}

static bool readHyperparameters(PyObject *dict, Request *request) {
  PyObject *key, *object;
  Py_ssize_t at = 0;
  uint32_t count = 0;
  request->hyperparameters =
      PyMem_Calloc((size_t)PyDict_Size(dict) + 1, sizeof *request->hyperparameters);
  if (!request->hyperparameters)
    return PyErr_NoMemory() != NULL;
  while (PyDict_Next(dict, &at, &key, &object)) {
    Py_ssize_t size;
    const char *name = PyUnicode_AsUTF8AndSize(key, &size);
    double value = PyFloat_AsDouble(object);
    if (PyErr_Occurred())
      return false;
    request->hyperparameters[count++] = (SambaHyperparameter){{name, (size_t)size}, value};
  }
  request->options.hyperparameters = request->hyperparameters;
  request->options.hyperparameter_count = count;
  return true;
}

static bool readCall(PyObject *object, bool *out_has, uint32_t *out_call) {
  if (object == Py_None)
    return true;
  long long call = PyLong_AsLongLong(object);
  if (PyErr_Occurred())
    return false;
  *out_has = true;
  *out_call = call >= 0 && call < UINT32_MAX ? (uint32_t)call : UINT32_MAX;
  return true;
}

/* (section_ids, section_types, from, until, graph, hyperparameters, evaluate) */
static bool readRequest(PyObject *arguments, Request *request) {
  PyObject *ids, *types, *from, *until, *hyperparameters;
  const char *graph;
  int evaluate;
  memset(&request->options, 0, sizeof request->options);
  request->hyperparameters = NULL;
  if (!PyArg_ParseTuple(arguments, "OOOOzO!p", &ids, &types, &from, &until, &graph, &PyDict_Type,
                        &hyperparameters, &evaluate))
    return false;
  SambaRunOrder *order = &request->options.order;
  request->options.evaluate = evaluate;
  if (graph)
    order->graph = sambaStringRef(graph);
  return readSections(ids, request) && readTypes(types, request) &&
         readCall(from, &order->has_from, &order->from) &&
         readCall(until, &order->has_until, &order->until) &&
         readHyperparameters(hyperparameters, request);
}

/* run(section_ids, section_types, from, until, graph, hyperparameters, evaluate) */
static PyObject *runSections(PyObject *self, PyObject *arguments) {
  Request request;
  SambaStatus status = NULL;
  SambaSession *session = openSession(self);
  if (!session)
    return NULL;

  bool fine = readRequest(arguments, &request);
  if (fine) {
    Py_BEGIN_ALLOW_THREADS;
    status = sambaSessionRun(session, &request.options, NULL, NULL);
    Py_END_ALLOW_THREADS;
  }
  PyMem_Free(request.hyperparameters);
  return fine ? sambaAnswerStatus(status) : NULL;
}

/* check(...): what run refuses of its order, and the first input that has no value, or None */
static PyObject *checkRun(PyObject *self, PyObject *arguments) {
  Request request;
  SambaSession *session = openSession(self);
  if (!session)
    return NULL;
  bool fine = readRequest(arguments, &request);
  PyMem_Free(request.hyperparameters);
  if (!fine)
    return NULL;

  uint32_t *calls, count;
  SambaStatus status = sambaSessionPlanRun(session, &request.options.order, &calls, &count);
  if (status)
    return sambaRaise(status);
  free(calls);
  SambaTensorInfo missing;
  if (!sambaSessionFindMissingInput(session, &request.options.order, &missing))
    Py_RETURN_NONE;
  return sambaTextToPython(missing.name);
}

/* is_written(name): has the tensor a value on the device? */
static PyObject *isWritten(PyObject *self, PyObject *argument) {
  const char *name = PyUnicode_AsUTF8(argument);
  SambaSession *session = name ? openSession(self) : NULL;
  bool written;
  if (!session)
    return NULL;
  SambaStatus status = sambaSessionIsWritten(session, sambaStringRef(name), &written);
  return status ? sambaRaise(status) : PyBool_FromLong(written);
}

static PyObject *skipInput(PyObject *self, PyObject *argument) {
  const char *name = PyUnicode_AsUTF8(argument);
  SambaSession *session = name ? openSession(self) : NULL;
  return session ? PyBool_FromLong(sambaSessionSkipInput(session, sambaStringRef(name))) : NULL;
}

/* check_trace(trace or record): is it that of what the PEF was made from? */
static PyObject *checkTrace(PyObject *self, PyObject *argument) {
  const SambaTraceRecord *record;
  if (PyObject_TypeCheck(argument, &sambaRecordType))
    record = ((SambaRecordObject *)argument)->record;
  else if (PyObject_TypeCheck(argument, &sambaTraceType))
    record = sambaTraceGetRecord(((SambaTraceObject *)argument)->trace);
  else
    return PyErr_Format(PyExc_TypeError, "%R is no trace and no record", argument);
  SambaSession *session = openSession(self);
  if (!session)
    return NULL;
  return sambaAnswerStatus(sambaSessionCheckTrace(session, (SambaStringRef){0}, record));
}

/* ---- What the PEF has ---- */

static void appendArgin(void *list, const SambaArginInfo *info) {
  static const char *const kinds[] = {"other",    "lr",           "weight_decay",
                                      "momentum", "dropout_rate", "dropout_seed"};
  sambaListAppend(list,
                  Py_BuildValue("{s:N,s:s,s:N,s:N,s:d}", "name", sambaTextToPython(info->name),
                                "kind", kinds[info->kind], "group", sambaTextToPython(info->group),
                                "layer", sambaTextToPython(info->layer), "value", info->value));
}

static PyObject *listArgins(PyObject *self, PyObject *ignored) {
  SambaSession *session = openSession(self);
  PyObject *list = session ? PyList_New(0) : NULL;
  (void)ignored;
  if (list)
    sambaSessionForEachArgin(session, ~0u, appendArgin, &list);
  return list;
}

static void appendSection(void *list, const SambaSectionInfo *info) {
  sambaListAppend(
      list, Py_BuildValue("(Ns)", sambaTextToPython(info->name), sambaSectionTypeName(info->type)));
}

static PyObject *listSections(PyObject *self, PyObject *ignored) {
  SambaSession *session = openSession(self);
  PyObject *list = session ? PyList_New(0) : NULL;
  (void)ignored;
  if (list)
    sambaSessionForEachSection(session, appendSection, &list);
  return list;
}

static void appendCall(void *list, uint32_t section) {
  sambaListAppend(list, PyLong_FromUnsignedLong(section));
}

static PyObject *listCalls(PyObject *self, PyObject *ignored) {
  SambaSession *session = openSession(self);
  PyObject *list = session ? PyList_New(0) : NULL;
  (void)ignored;
  if (list)
    sambaSessionForEachCall(session, appendCall, &list);
  return list;
}

static void addOption(void *user, const SambaOptionInfo *info) {
  PyObject **options = user;
  PyObject *key = sambaTextToPython(info->key), *value = sambaTextToPython(info->value);
  if (*options && (!key || !value || PyDict_SetItem(*options, key, value)))
    Py_CLEAR(*options);
  Py_XDECREF(key);
  Py_XDECREF(value);
}

static void takeFirst(void *user, const SambaGraphInfo *info) {
  SambaGraphInfo *first = user;
  if (!first->mapping)
    *first = *info;
}

static PyObject *describePef(PyObject *self, PyObject *ignored) {
  SambaSession *session = openSession(self);
  PyObject *options = session ? PyDict_New() : NULL;
  SambaGraphInfo graph = {0};
  (void)ignored;
  if (options)
    sambaSessionForEachOption(session, addOption, &options);
  if (!options)
    return NULL;
  sambaSessionForEachGraph(session, takeFirst, &graph);
  return Py_BuildValue("{s:N,s:s,s:N,s:s}", "graph", sambaTextToPython(graph.name), "mapping",
                       graph.mapping ? graph.mapping : "section", "options", options, "mode",
                       graph.is_training ? "training" : "inference");
}

static PyObject *getReport(PyObject *self, PyObject *ignored) {
  SambaSession *session = openSession(self);
  (void)ignored;
  return session ? sambaReportToPython(session) : NULL;
}

static PyObject *seedGenerator(PyObject *self, PyObject *seed) {
  SambaSession *session = openSession(self);
  unsigned long long value = session && seed != Py_None ? PyLong_AsUnsignedLongLongMask(seed) : 0;
  if (!session || PyErr_Occurred())
    return NULL;
  if (seed == Py_None)
    sambaSessionResetGenerator(session);
  else
    sambaSessionSeedGenerator(session, value);
  Py_RETURN_NONE;
}

static PyObject *isLoaded(PyObject *self, void *closure) {
  (void)closure;
  return PyBool_FromLong(sambaSessionHasPef(sessionOf(self)->session));
}

static PyMethodDef sessionMethods[] = {
    {"load", loadPef, METH_O, "load(path): opens a PEF instead of the one that is open"},
    {"close", closePef, METH_NOARGS, "frees the device and the PEF"},
    {"find", findTensor, METH_O, "find(name): what the PEF says of a tensor"},
    {"tensors", listTensors, METH_NOARGS, "what the PEF says of all tensors, in its order"},
    {"write", writeTensor, METH_VARARGS, "write(name, dtype, shape, data)"},
    {"read", readTensor, METH_VARARGS, "read(name, data, bytes)"},
    {"is_written", isWritten, METH_O, "is_written(name): has anything written the tensor?"},
    {"run", runSections, METH_VARARGS,
     "run(section_ids, section_types, from, until, graph, hyperparameters, evaluate)"},
    {"check", checkRun, METH_VARARGS,
     "check(...): refuses what run refuses of the order; the first input without a value, or None"},
    {"skip_input", skipInput, METH_O, "skip_input(name): false when a section reads it"},
    {"check_trace", checkTrace, METH_O,
     "check_trace(trace or record): is it that of what the PEF was made from?"},
    {"argins", listArgins, METH_NOARGS, "the hyperparameters, in the order of the PEF"},
    {"sections", listSections, METH_NOARGS, "name and type of each section"},
    {"calls", listCalls, METH_NOARGS, "the section of each call of the schedule"},
    {"describe", describePef, METH_NOARGS, "graph, mapping, mode and options"},
    {"report", getReport, METH_NOARGS, "what ran since the PEF was loaded"},
    {"seed", seedGenerator, METH_O, "seed(number): of dropout; None: again from where it started"},
    {0}};

static PyGetSetDef sessionFields[] = {{"loaded", isLoaded, NULL, "is a PEF open?", NULL}, {0}};

PyTypeObject sambaSessionType = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_samba.Session",
                                 .tp_basicsize = sizeof(SambaSessionObject),
                                 .tp_flags = Py_TPFLAGS_DEFAULT,
                                 .tp_doc = "Session(threads=1, values_only=True): a PEF on the "
                                           "simulated device.",
                                 .tp_new = makeSession,
                                 .tp_dealloc = freeSession,
                                 .tp_methods = sessionMethods,
                                 .tp_getset = sessionFields};
