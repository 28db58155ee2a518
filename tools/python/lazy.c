/* Lazy tensors for Python; see lazy.h. The interpreter's lock is held while tensors are computed: a
 * context is used by one thread at a time, and any thread may let go of a tensor. */
#include "tools/python/lazy.h"

#include "tools/python/attributes.h"

enum { mostTensors = 1024, mostDevices = 256 };

typedef struct SambaTensorObject {
  PyObject_HEAD SambaContextObject *context;
  SambaTensor *tensor; /* one reference */
} SambaTensorObject;

typedef struct SambaScheduleObject {
  PyObject_HEAD SambaContextObject *context; /* NULL: there was nothing to compute */
  SambaSchedule *schedule;
} SambaScheduleObject;

static SambaTensor *tensorOf(PyObject *self) { return ((SambaTensorObject *)self)->tensor; }

/* Takes the reference; NULL with an exception set. */
static PyObject *wrap(SambaContextObject *context, SambaTensor *tensor) {
  SambaTensorObject *self = PyObject_New(SambaTensorObject, &sambaTensorType);
  if (!self) {
    sambaTensorRelease(tensor);
    return NULL;
  }
  Py_INCREF(context);
  self->context = context;
  self->tensor = tensor;
  return (PyObject *)self;
}

/* The tensor that a function made beside this one, or its exception. */
static PyObject *answer(PyObject *self, SambaStatus status, SambaTensor *made) {
  return status ? sambaRaise(status) : wrap(((SambaTensorObject *)self)->context, made);
}

/* Tensors of a tuple, which keeps them; false with an exception set. */
static bool readTensors(PyObject *tuple, SambaTensor **out_tensors, uint32_t *out_count,
                        SambaContextObject **out_context) {
  Py_ssize_t count = PyTuple_Check(tuple) ? PyTuple_GET_SIZE(tuple) : mostTensors + 1;
  bool fine = count <= mostTensors;
  if (!fine)
    PyErr_Format(PyExc_ValueError, "expected a tuple of at most %d tensors", mostTensors);
  for (Py_ssize_t i = 0; i < count && fine; ++i) {
    PyObject *item = PyTuple_GET_ITEM(tuple, i);
    fine = PyObject_TypeCheck(item, &sambaTensorType);
    if (fine)
      out_tensors[i] = tensorOf(item);
    else
      PyErr_Format(PyExc_TypeError, "%R is no lazy tensor", item);
    if (fine && out_context)
      *out_context = ((SambaTensorObject *)item)->context;
  }
  *out_count = (uint32_t)count;
  return fine;
}

static SambaTensor *readTensor(PyObject *object) {
  if (PyObject_TypeCheck(object, &sambaTensorType))
    return tensorOf(object);
  PyErr_Format(PyExc_TypeError, "%R is no lazy tensor", object);
  return NULL;
}

/* ---- Creation ---- */

static bool readHostDType(PyObject *object, SambaDType *out_dtype) {
  Py_ssize_t size;
  const char *name = PyUnicode_AsUTF8AndSize(object, &size);
  SambaStatus status =
      name ? sambaDTypeParse((SambaStringRef){name, (size_t)size}, out_dtype) : NULL;
  if (status)
    sambaRaise(status);
  return name && !status;
}

/* The memory of a tensor is no longer needed by the library. */
static void releaseOwner(void *owner) {
  PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF((PyObject *)owner);
  PyGILState_Release(state);
}

/* Tensor(context, dtype, shape, data, owner): over row-major data, which the owner keeps */
static PyObject *makeTensor(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"context", "dtype", "shape", "data", "owner", NULL};
  SambaContextObject *context;
  PyObject *dtype, *shape, *owner;
  unsigned long long data;
  int64_t dims[SAMBA_TENSOR_MAX_RANK];
  SambaBufferView view = {.dims = dims};
  size_t rank;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!OOKO", names, &sambaContextType,
                                   &context, &dtype, &shape, &data, &owner) ||
      !readHostDType(dtype, &view.dtype) ||
      !sambaReadInts(shape, "the shape", SAMBA_TENSOR_MAX_RANK, dims, &rank))
    return NULL;

  /* Without elements there is no address, but there are data. */
  static char nothing;
  view.data = data ? (void *)(uintptr_t)data : &nothing;
  view.rank = (uint32_t)rank;
  SambaTensor *tensor;
  Py_INCREF(owner);
  SambaStatus status =
      sambaTensorCreateFromBufferOwned(&view, releaseOwner, owner, (SambaStringRef){0}, &tensor);
  return status ? sambaRaise(status) : wrap(context, tensor);
}

static void freeTensor(PyObject *object) {
  SambaTensorObject *self = (SambaTensorObject *)object;
  sambaTensorRelease(self->tensor);
  Py_DECREF(self->context);
  PyObject_Free(object);
}

PyObject *sambaCallLazily(PyObject *module, PyObject *arguments) {
  SambaContextObject *context;
  const char *name;
  PyObject *operands, *dict = NULL;
  SambaOperatorInfo info;
  SambaAttributeList list;
  SambaTensor *tensors[mostTensors], *results[SAMBA_MAX_RESULTS] = {NULL};
  uint32_t count;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!sO|O", &sambaContextType, &context, &name, &operands, &dict))
    return NULL;
  if (!sambaOperatorGetInfo(sambaStringRef(name), &info))
    return PyErr_Format(PyExc_NotImplementedError, "there is no operator '%s'", name);
  if (!sambaReadAttributes(&info, dict, &list) || !readTensors(operands, tensors, &count, NULL))
    return NULL;

  SambaStatus status = sambaTensorOperator(context->context, name, count, tensors, list.count,
                                           list.attributes, results);
  if (status)
    return sambaRaise(status);
  if (info.result_count == 1)
    return wrap(context, results[0]);
  PyObject *tuple = PyTuple_New(info.result_count);
  for (uint32_t i = 0; i < info.result_count; ++i) {
    PyObject *result = wrap(context, results[i]);
    if (tuple && result)
      PyTuple_SET_ITEM(tuple, i, result);
    else
      Py_XDECREF(result);
  }
  if (PyErr_Occurred())
    Py_CLEAR(tuple);
  return tuple;
}

/* ---- What a tensor is ---- */

static PyObject *getDType(PyObject *self, void *closure) {
  (void)closure;
  return PyUnicode_FromString(sambaDTypeName(sambaTensorGetDType(tensorOf(self))));
}

static PyObject *getShape(PyObject *self, void *closure) {
  (void)closure;
  return sambaIntsToTuple(sambaTensorGetRank(tensorOf(self)), sambaTensorGetDims(tensorOf(self)));
}

static PyObject *getDevices(PyObject *self, void *closure) {
  uint32_t count = sambaTensorGetDeviceCount(tensorOf(self));
  PyObject *tuple = PyTuple_New(count);
  (void)closure;
  for (uint32_t i = 0; i < count && tuple; ++i)
    PyTuple_SET_ITEM(tuple, i, sambaTextToPython(sambaTensorGetDevice(tensorOf(self), i)));
  return tuple;
}

static PyObject *isRealized(PyObject *self, void *closure) {
  (void)closure;
  return PyBool_FromLong(sambaTensorIsRealized(tensorOf(self)));
}

static PyObject *getAddress(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromVoidPtr(sambaTensorGetDataPtr(tensorOf(self)));
}

static PyObject *getRequiresGrad(PyObject *self, void *closure) {
  (void)closure;
  return PyBool_FromLong(sambaTensorGetRequiresGrad(tensorOf(self)));
}

static int setRequiresGrad(PyObject *self, PyObject *value, void *closure) {
  (void)closure;
  SambaStatus status =
      sambaTensorSetRequiresGrad(tensorOf(self), value && PyObject_IsTrue(value) > 0);
  if (status)
    sambaRaise(status);
  return PyErr_Occurred() ? -1 : 0;
}

static PyObject *getGrad(PyObject *self, void *closure) {
  SambaTensor *grad = sambaTensorGetGrad(tensorOf(self));
  (void)closure;
  if (!grad)
    Py_RETURN_NONE;
  return wrap(((SambaTensorObject *)self)->context, sambaTensorRetain(grad));
}

static int setGrad(PyObject *self, PyObject *value, void *closure) {
  SambaTensor *grad = NULL;
  (void)closure;
  if (value && value != Py_None && !(grad = readTensor(value)))
    return -1;
  SambaStatus status = sambaTensorSetGrad(tensorOf(self), grad);
  if (status)
    sambaRaise(status);
  return status ? -1 : 0;
}

/* read(data, bytes): the values of a realized tensor, row-major */
static PyObject *readValues(PyObject *self, PyObject *arguments) {
  unsigned long long data;
  long long bytes;
  if (!PyArg_ParseTuple(arguments, "KL", &data, &bytes))
    return NULL;
  return sambaAnswerStatus(
      sambaTensorReadData(tensorOf(self), (void *)(uintptr_t)data, (int64_t)bytes));
}

/* ---- New values, gradients ---- */

static PyObject *replace(PyObject *self, PyObject *argument) {
  SambaTensor *source = readTensor(argument);
  return source ? sambaAnswerStatus(sambaTensorReplace(tensorOf(self), source)) : NULL;
}

static PyObject *assign(PyObject *self, PyObject *argument) {
  SambaTensor *source = readTensor(argument);
  return source ? sambaAnswerStatus(sambaTensorAssign(tensorOf(self), source)) : NULL;
}

/* backward(gradient, retain) */
static PyObject *backward(PyObject *self, PyObject *arguments) {
  PyObject *object;
  SambaTensor *gradient = NULL;
  int retain;
  if (!PyArg_ParseTuple(arguments, "Op", &object, &retain))
    return NULL;
  if (object != Py_None && !(gradient = readTensor(object)))
    return NULL;
  return sambaAnswerStatus(sambaTensorBackward(tensorOf(self), gradient, retain != 0));
}

/* ---- Devices ---- */

/* What a sharding points to. */
typedef struct {
  SambaSharding sharding;
  SambaStringRef devices[mostDevices];
  int64_t splits[mostDevices];
} Sharding;

/* The names of devices; `names` keeps them. */
static bool readDevices(PyObject *names, Sharding *out) {
  Py_ssize_t count = PyTuple_GET_SIZE(names);
  if (count > mostDevices)
    PyErr_Format(PyExc_ValueError, "there are %zd devices, but %d are the most", count,
                 mostDevices);
  for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); ++i) {
    Py_ssize_t size;
    const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(names, i), &size);
    out->devices[i] = (SambaStringRef){name, (size_t)size};
  }
  out->sharding.device_count = (uint32_t)count;
  out->sharding.devices = out->devices;
  return !PyErr_Occurred();
}

/* axis: None: the whole tensor everywhere. splits: None: even ones */
static bool readParts(PyObject *axis, PyObject *splits, Sharding *out) {
  size_t count = out->sharding.device_count;
  out->sharding.replicated = axis == Py_None;
  if (axis != Py_None)
    out->sharding.axis = PyLong_AsLongLong(axis);
  if (PyErr_Occurred() || splits == Py_None)
    return !PyErr_Occurred();
  if (!sambaReadInts(splits, "splits", mostDevices, out->splits, &count))
    return false;
  out->sharding.splits = out->splits;
  if (count == out->sharding.device_count)
    return true;
  PyErr_Format(PyExc_ValueError, "splits are %zu, but there are %u devices", count,
               out->sharding.device_count);
  return false;
}

static PyObject *toDevices(PyObject *self, PyObject *names) {
  Sharding to = {0};
  SambaTensor *moved = NULL;
  if (!readDevices(names, &to))
    return NULL;
  SambaStatus status =
      sambaTensorToDevices(tensorOf(self), to.sharding.device_count, to.devices, &moved);
  return answer(self, status, moved);
}

static PyObject *toDevicesInPlace(PyObject *self, PyObject *names) {
  Sharding to = {0};
  if (!readDevices(names, &to))
    return NULL;
  return sambaAnswerStatus(
      sambaTensorToDevicesInPlace(tensorOf(self), to.sharding.device_count, to.devices));
}

/* shard(devices, axis, splits, in_place) */
static PyObject *shard(PyObject *self, PyObject *arguments) {
  Sharding to = {0};
  PyObject *names, *axis, *splits;
  SambaTensor *made = NULL;
  int in_place;
  if (!PyArg_ParseTuple(arguments, "O!OOp", &PyTuple_Type, &names, &axis, &splits, &in_place) ||
      !readDevices(names, &to) || !readParts(axis, splits, &to))
    return NULL;
  if (in_place)
    return sambaAnswerStatus(sambaTensorShardInPlace(tensorOf(self), &to.sharding));
  SambaStatus status = sambaTensorShard(tensorOf(self), &to.sharding, &made);
  return answer(self, status, made);
}

/* The parts, each on its device. */
static PyObject *getShards(PyObject *self, PyObject *ignored) {
  SambaTensor *tensor = tensorOf(self);
  PyObject *list = PyList_New(0);
  (void)ignored;
  for (uint32_t i = 0; i < sambaTensorGetDeviceCount(tensor) && list; ++i) {
    SambaStringRef device = sambaTensorGetDevice(tensor, i);
    SambaTensor *part = NULL;
    SambaStatus status = sambaTensorGetShard(tensor, i, &part);
    if (!status)
      status = sambaTensorToDevicesInPlace(part, 1, &device);
    if (status)
      sambaTensorRelease(part);
    sambaListAppend(&list, answer(self, status, part));
  }
  return list;
}

PyObject *sambaShardShapeForPython(PyObject *module, PyObject *arguments) {
  PyObject *shape, *axis = Py_None, *splits = Py_None;
  unsigned count;
  Sharding to = {0};
  int64_t dims[SAMBA_TENSOR_MAX_RANK];
  size_t rank;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OI|OO", &shape, &count, &axis, &splits) ||
      !sambaReadInts(shape, "the shape", SAMBA_TENSOR_MAX_RANK, dims, &rank))
    return NULL;
  if (count > mostDevices)
    return PyErr_Format(PyExc_ValueError, "there are %u devices, but %d are the most", count,
                        mostDevices);
  to.sharding.device_count = count;
  if (!readParts(axis, splits, &to))
    return NULL;

  SambaShard *shards = PyMem_Calloc(count + 1, sizeof *shards);
  if (!shards)
    return PyErr_NoMemory();
  SambaStatus status = sambaShardShape((uint32_t)rank, dims, &to.sharding, shards);
  PyObject *list = status ? sambaRaise(status) : PyList_New(0);
  for (unsigned i = 0; i < count && list; ++i)
    sambaListAppend(&list, Py_BuildValue("(NNL)", sambaIntsToTuple(rank, shards[i].dims),
                                         sambaIntsToTuple(rank, shards[i].strides),
                                         (long long)shards[i].start));
  PyMem_Free(shards);
  return list;
}

static PyGetSetDef tensorFields[] = {
    {"dtype", getDType, NULL, "f32, bf16, ..", NULL},
    {"shape", getShape, NULL, "sizes", NULL},
    {"devices", getDevices, NULL, "names; one of a tensor that is not sharded", NULL},
    {"is_realized", isRealized, NULL, "are the values there?", NULL},
    {"address", getAddress, NULL, "of the first value; 0 without values", NULL},
    {"requires_grad", getRequiresGrad, setRequiresGrad, "does it get a gradient?", NULL},
    {"grad", getGrad, setGrad, "the gradient, or None", NULL},
    {0}};

static PyMethodDef tensorMethods[] = {
    {"read", readValues, METH_VARARGS, "read(data, bytes): the values, row-major"},
    {"replace", replace, METH_O, "replace(source): it becomes the source"},
    {"assign", assign, METH_O, "assign(source): it takes the values of the source"},
    {"backward", backward, METH_VARARGS, "backward(gradient, retain)"},
    {"to_devices", toDevices, METH_VARARGS, "to_devices(name, ...)"},
    {"to_devices_in_place", toDevicesInPlace, METH_VARARGS, "to_devices_in_place(name, ...)"},
    {"shard", shard, METH_VARARGS, "shard(devices, axis, splits, in_place)"},
    {"shards", getShards, METH_NOARGS, "the parts, each on its device"},
    {0}};

PyTypeObject sambaTensorType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_samba.Tensor",
    .tp_basicsize = sizeof(SambaTensorObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Tensor(context, dtype, shape, data, owner): a lazy tensor over "
              "data that the owner keeps.",
    .tp_new = makeTensor,
    .tp_dealloc = freeTensor,
    .tp_methods = tensorMethods,
    .tp_getset = tensorFields};

/* ---- Schedules ---- */

PyObject *sambaScheduleTensors(PyObject *module, PyObject *tensors) {
  SambaTensor *list[mostTensors];
  uint32_t count;
  SambaContextObject *context = NULL;
  SambaSchedule *schedule;
  (void)module;
  if (!readTensors(tensors, list, &count, &context))
    return NULL;
  SambaStatus status = sambaTensorSchedule(count, list, &schedule);
  if (status)
    return sambaRaise(status);
  SambaScheduleObject *self = PyObject_New(SambaScheduleObject, &sambaScheduleType);
  if (!self) {
    sambaScheduleDestroy(schedule);
    return NULL;
  }
  Py_XINCREF(context);
  self->context = context;
  self->schedule = schedule;
  return (PyObject *)self;
}

static void freeSchedule(PyObject *object) {
  SambaScheduleObject *self = (SambaScheduleObject *)object;
  sambaScheduleDestroy(self->schedule);
  Py_XDECREF(self->context);
  PyObject_Free(object);
}

static PyObject *runSchedule(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return sambaAnswerStatus(sambaScheduleRun(((SambaScheduleObject *)self)->schedule));
}

static PyObject *getOperators(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromUnsignedLong(
      sambaScheduleGetOperatorCount(((SambaScheduleObject *)self)->schedule));
}

static PyObject *getCalls(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromUnsignedLong(
      sambaScheduleGetCallCount(((SambaScheduleObject *)self)->schedule));
}

static PyObject *getMemory(PyObject *self, void *closure) {
  uint64_t planned, sum;
  (void)closure;
  sambaScheduleGetMemory(((SambaScheduleObject *)self)->schedule, &planned, &sum);
  return Py_BuildValue("(KK)", (unsigned long long)planned, (unsigned long long)sum);
}

static PyGetSetDef scheduleFields[] = {
    {"operators", getOperators, NULL, "how many operators the graph has", NULL},
    {"calls", getCalls, NULL, "how many launches of sections it takes", NULL},
    {"memory", getMemory, NULL, "(bytes as planned, bytes if nothing shared a place)", NULL},
    {0}};
static PyMethodDef scheduleMethods[] = {{"run", runSchedule, METH_NOARGS, "computes the tensors"},
                                        {0}};

PyTypeObject sambaScheduleType = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_samba.Schedule",
                                  .tp_basicsize = sizeof(SambaScheduleObject),
                                  .tp_flags =
                                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  .tp_doc = "Tensors that are computed together.",
                                  .tp_dealloc = freeSchedule,
                                  .tp_methods = scheduleMethods,
                                  .tp_getset = scheduleFields};

PyObject *sambaRealizeTensors(PyObject *module, PyObject *arguments) {
  SambaTensor *list[mostTensors];
  uint32_t count;
  PyObject *tensors;
  int keep = 0;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O|p", &tensors, &keep) ||
      !readTensors(tensors, list, &count, NULL))
    return NULL;
  const SambaRealizeOptions options = {.keep_statistics = keep != 0};
  return sambaAnswerStatus(sambaTensorRealize(count, list, &options));
}

PyObject *sambaLazyStatistics(PyObject *module, PyObject *context) {
  SambaContextStatistics statistics;
  (void)module;
  if (!PyObject_TypeCheck(context, &sambaContextType))
    return PyErr_Format(PyExc_TypeError, "%R is no context", context);
  sambaContextGetStatistics(((SambaContextObject *)context)->context, &statistics);
  return Py_BuildValue("{s:K,s:K,s:K}", "compilations", (unsigned long long)statistics.compilations,
                       "launches", (unsigned long long)statistics.launches, "cycles",
                       (unsigned long long)statistics.cycles);
}
