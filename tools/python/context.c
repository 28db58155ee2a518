/* Contexts for Python; see context.h. */
#include "tools/python/context.h"

#include "pipeline/compile.h"

#include "mlir-c/Diagnostics.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  char *data;
  size_t size;
} Piece;

static void appendPiece(MlirStringRef piece, void *user) {
  Piece *text = user;
  text->data = sambaReallocate(text->data, text->size + piece.length + 1, 1);
  memcpy(text->data + text->size, piece.data, piece.length);
  text->size += piece.length;
  text->data[text->size] = 0;
}

static MlirLogicalResult collect(MlirDiagnostic diagnostic, void *user) {
  static const char *const names[] = {"error", "warning", "note", "remark"};
  SambaContextObject *self = user;
  Piece piece = {0};
  appendPiece((MlirStringRef){"", 0}, &piece);
  mlirDiagnosticPrint(diagnostic, appendPiece, &piece);

  pthread_mutex_lock(&self->lock);
  SambaDiagnosticText text = {names[mlirDiagnosticGetSeverity(diagnostic)], piece.data};
  sambaArrayAppend(&self->diagnostics, text);
  pthread_mutex_unlock(&self->lock);
  return mlirLogicalResultSuccess();
}

static PyObject *makeContext(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {NULL};
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "", names))
    return NULL;
  SambaContextObject *self = (SambaContextObject *)type->tp_alloc(type, 0);
  if (!self)
    return NULL;
  pthread_mutex_init(&self->lock, NULL);
  self->context = sambaCompilerContextCreate();
  mlirContextAttachDiagnosticHandler(self->context, collect, self, NULL);
  return (PyObject *)self;
}

static void freeContext(PyObject *object) {
  SambaContextObject *self = (SambaContextObject *)object;
  mlirContextDestroy(self->context);
  for (size_t i = 0; i < self->diagnostics.size; ++i)
    free(self->diagnostics.data[i].text);
  sambaArrayFree(&self->diagnostics);
  pthread_mutex_destroy(&self->lock);
  Py_TYPE(object)->tp_free(object);
}

static PyObject *takeDiagnostics(PyObject *object, PyObject *ignored) {
  SambaContextObject *self = (SambaContextObject *)object;
  PyObject *list = PyList_New(0);
  (void)ignored;
  for (size_t i = 0; i < self->diagnostics.size; ++i) {
    SambaDiagnosticText *text = &self->diagnostics.data[i];
    PyObject *pair = list ? Py_BuildValue("(ss)", text->severity, text->text) : NULL;
    if (pair && PyList_Append(list, pair))
      Py_CLEAR(list);
    Py_XDECREF(pair);
    free(text->text);
  }
  self->diagnostics.size = 0;
  return list;
}

static PyMethodDef contextMethods[] = {
    {"diagnostics", takeDiagnostics, METH_NOARGS,
     "What the compiler said since the last call: pairs of severity and text."},
    {0}};

PyTypeObject sambaContextType = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_samba.Context",
                                 .tp_basicsize = sizeof(SambaContextObject),
                                 .tp_flags = Py_TPFLAGS_DEFAULT,
                                 .tp_doc = "What traces and compilations live in.",
                                 .tp_new = makeContext,
                                 .tp_dealloc = freeContext,
                                 .tp_methods = contextMethods};
