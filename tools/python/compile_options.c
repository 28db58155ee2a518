/* Options of the compiler from Python; see compile_options.h. */
#include "tools/python/compile_options.h"

#include "support/base/memory.h"

#include <stdlib.h>
#include <string.h>

bool sambaReadPipeline(PyObject *dict, SambaPipelineOptions *out_options) {
  const struct {
    const char *name;
    const char **field;
  } rows[] = {{"target", &out_options->target},
              {"opt", &out_options->opt},
              {"mapping", &out_options->mapping},
              {"precision", &out_options->precision},
              {"inference", &out_options->inference},
              {"accumulate", &out_options->accumulate},
              {"io_host_memory", &out_options->io_host_memory}};
  PyObject *key, *object;
  Py_ssize_t at = 0;

  while (PyDict_Next(dict, &at, &key, &object)) {
    const char *name = PyUnicode_AsUTF8(key);
    bool known = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && name; ++i)
      if (!strcmp(name, rows[i].name) && object != Py_None) {
        *rows[i].field = PyUnicode_AsUTF8(object);
        known = true;
      } else if (!strcmp(name, rows[i].name)) {
        known = true;
      }
    if (!known && !PyErr_Occurred())
      PyErr_Format(PyExc_TypeError, "the compiler has no option '%s'", name);
    if (PyErr_Occurred())
      return false;
  }
  return true;
}

SambaCompileNote *sambaReadNotes(PyObject *dict, size_t *out_count) {
  SambaCompileNote *notes = sambaAllocateZeroed((size_t)PyDict_Size(dict) + 1, sizeof *notes);
  PyObject *key, *object;
  Py_ssize_t at = 0;
  size_t count = 0;
  while (PyDict_Next(dict, &at, &key, &object) && !PyErr_Occurred())
    notes[count++] = (SambaCompileNote){PyUnicode_AsUTF8(key), PyUnicode_AsUTF8(object)};
  *out_count = count;
  if (PyErr_Occurred()) {
    free(notes);
    return NULL;
  }
  return notes;
}
