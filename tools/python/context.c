/* Contexts for Python; see context.h. */
#include "tools/python/context.h"

#include "frontend/onnx/onnx.h"
#include "support/file/path.h"
#include "support/text/text.h"
#include "tools/python/compile_options.h"

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

/* ---- ONNX ---- */

static void keepRecord(uint32_t line_count, const char *const *lines, const uint8_t digest[32],
                       void *user) {
  (void)digest;
  for (uint32_t i = 0; i < line_count; ++i)
    sambaTextFormat(user, "%s\n", lines[i]);
}

/* onnx_record(model): what a trace of it would have recorded */
static PyObject *recordOnnx(PyObject *object, PyObject *argument) {
  const char *path = PyUnicode_AsUTF8(argument);
  SambaText record = {0};
  MlirModule module = {NULL};
  if (!path)
    return NULL;

  SambaStatus status = sambaOnnxImportModel(((SambaContextObject *)object)->context, path, NULL,
                                            keepRecord, &record, &module);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  PyObject *text = status ? NULL : sambaTextToPython(sambaTextRef(&record));
  sambaTextFree(&record);
  return status ? sambaRaise(status) : text;
}

/* compile_onnx(model, path, options, notes) */
static PyObject *compileOnnx(PyObject *object, PyObject *arguments) {
  const char *model, *path;
  PyObject *dict, *notes;
  SambaModuleOptions options = {0};
  if (!PyArg_ParseTuple(arguments, "ssO!O!", &model, &path, &PyDict_Type, &dict, &PyDict_Type,
                        &notes) ||
      !sambaReadPipeline(dict, &options.pipeline))
    return NULL;
  SambaCompileNote *list = sambaReadNotes(notes, &options.note_count);
  if (!list)
    return NULL;

  SambaText record = {0};
  SambaArena arena = {0};
  MlirModule module = {NULL};
  SambaStatus status;
  Py_BEGIN_ALLOW_THREADS;
  status = sambaOnnxImportModel(((SambaContextObject *)object)->context, model, NULL, keepRecord,
                                &record, &module);
  options.notes = list;
  options.trace = record.data;
  options.trace_size = record.size;
  options.folder = "";
  options.data_folder = sambaStringRefCopy(&arena, sambaPathFolder(model)).data;
  options.model = model;
  if (!status)
    status = sambaCompileModule(module, &options, &(SambaCompileOutput){.path = path});
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  sambaTextFree(&record);
  sambaArenaDestroy(&arena);
  free(list);
  Py_END_ALLOW_THREADS;
  return sambaAnswerStatus(status);
}

static PyMethodDef contextMethods[] = {
    {"diagnostics", takeDiagnostics, METH_NOARGS,
     "What the compiler said since the last call: pairs of severity and text."},
    {"onnx_record", recordOnnx, METH_O, "onnx_record(model): the trace record of an ONNX file"},
    {"compile_onnx", compileOnnx, METH_VARARGS, "compile_onnx(model, path, options, notes)"},
    {0}};

PyTypeObject sambaContextType = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_samba.Context",
                                 .tp_basicsize = sizeof(SambaContextObject),
                                 .tp_flags = Py_TPFLAGS_DEFAULT,
                                 .tp_doc = "What traces and compilations live in.",
                                 .tp_new = makeContext,
                                 .tp_dealloc = freeContext,
                                 .tp_methods = contextMethods};
