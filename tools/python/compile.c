/* Compiling from Python; see compile.h. */
#include "tools/python/compile.h"

/* A compilation: its options, and what they point to. */
typedef struct {
  SambaCompileOptions options;
  SambaCompileEntry *entries;    /* owned */
  PyObject *diagnose, *progress; /* borrowed; NULL: nobody listens */
  PyObject *error[3];            /* the first exception of a listener: type, value, traceback */
} Compilation;

/* ---- Listeners, which compiling threads call without the interpreter's lock ---- */

/* After a listener: its result goes, its exception is kept until the compiler is done. */
static void finishListener(Compilation *compilation, PyObject *result) {
  if (!result && !compilation->error[0])
    PyErr_Fetch(&compilation->error[0], &compilation->error[1], &compilation->error[2]);
  PyErr_Clear();
  Py_XDECREF(result);
}

static void diagnose(void *user, SambaDiagnosticKind kind, const char *message) {
  Compilation *compilation = user;
  if (!compilation->diagnose)
    return;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *text = sambaTextToPython(sambaStringRef(message));
  const char *severity = kind == SAMBA_DIAGNOSTIC_WARNING ? "warning" : "remark";
  finishListener(compilation,
                 text ? PyObject_CallFunction(compilation->diagnose, "sN", severity, text) : NULL);
  PyGILState_Release(state);
}

static void progress(void *user, const char *part, uint32_t done, uint32_t total) {
  Compilation *compilation = user;
  if (!compilation->progress)
    return;
  PyGILState_STATE state = PyGILState_Ensure();
  finishListener(compilation,
                 PyObject_CallFunction(compilation->progress, "sII", part, done, total));
  PyGILState_Release(state);
}

/* ---- Options ---- */

/* Sets the option of that name; false with an exception set. */
static bool readOption(const char *name, PyObject *object, Compilation *compilation) {
  SambaCompileOptions *options = &compilation->options;
  const struct {
    const char *name, **text;
    bool *flag;
    PyObject **listener;
  } rows[] = {{"target", &options->target, NULL, NULL},
              {"opt", &options->opt, NULL, NULL},
              {"search_seconds", &options->search_seconds, NULL, NULL},
              {"mapping", &options->mapping, NULL, NULL},
              {"precision", &options->precision, NULL, NULL},
              {"training", NULL, &options->training, NULL},
              {"io_host_memory", NULL, &options->io_host_memory, NULL},
              {"explain", NULL, &options->explain, NULL},
              {"diagnose", NULL, NULL, &compilation->diagnose},
              {"progress", NULL, NULL, &compilation->progress}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    if (strcmp(name, rows[i].name) != 0)
      continue;
    if (rows[i].listener)
      *rows[i].listener = object;
    else if (rows[i].flag)
      *rows[i].flag = PyObject_IsTrue(object) > 0;
    else
      *rows[i].text = PyUnicode_AsUTF8(object);
    return !PyErr_Occurred();
  }
  PyErr_Format(PyExc_TypeError, "the compiler has no option '%s'", name);
  return false;
}

static bool readOptions(PyObject *dict, Compilation *compilation) {
  PyObject *key, *object;
  Py_ssize_t at = 0;
  while (PyDict_Next(dict, &at, &key, &object)) {
    const char *name = PyUnicode_AsUTF8(key);
    if (!name || (object != Py_None && !readOption(name, object, compilation)))
      return false;
  }
  return true;
}

static bool readNotes(PyObject *dict, Compilation *compilation) {
  PyObject *key, *object;
  Py_ssize_t at = 0;
  size_t count = 0;
  compilation->entries = PyMem_Calloc((size_t)PyDict_Size(dict) + 1, sizeof(SambaCompileEntry));
  if (!compilation->entries)
    return PyErr_NoMemory() != NULL;
  while (PyDict_Next(dict, &at, &key, &object) && !PyErr_Occurred())
    compilation->entries[count++] =
        (SambaCompileEntry){PyUnicode_AsUTF8(key), PyUnicode_AsUTF8(object)};
  compilation->options.entries = compilation->entries;
  compilation->options.entry_count = count;
  return !PyErr_Occurred();
}

/* ---- The call ---- */

static PyObject *run(SambaContext *context, SambaTrace *trace, const char *model, const char *path,
                     Compilation *compilation) {
  SambaStatus status;
  Py_BEGIN_ALLOW_THREADS;
  status = trace ? sambaCompileTrace(context, trace, &compilation->options, path)
                 : sambaCompileFile(context, model, &compilation->options, path);
  Py_END_ALLOW_THREADS;

  PyObject **error = compilation->error;
  if (!error[0])
    return sambaAnswerStatus(status);
  sambaStatusFree(status);
  PyErr_Restore(error[0], error[1], error[2]);
  return NULL;
}

PyObject *sambaCompileForPython(SambaContext *context, SambaTrace *trace, const char *model,
                                PyObject *arguments) {
  const char *path;
  PyObject *options, *notes, *result = NULL;
  Compilation compilation = {.options = {.diagnose = diagnose, .progress = progress}};
  compilation.options.user = &compilation;
  if (!PyArg_ParseTuple(arguments, "sO!O!", &path, &PyDict_Type, &options, &PyDict_Type, &notes))
    return NULL;
  if (readOptions(options, &compilation) && readNotes(notes, &compilation))
    result = run(context, trace, model, path, &compilation);
  PyMem_Free(compilation.entries);
  return result;
}
