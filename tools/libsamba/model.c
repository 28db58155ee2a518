/* From a model to a PEF by the public options; see model.h. */
#include "tools/libsamba/model.h"

#include "frontend/onnx/onnx.h"
#include "frontend/trace/trace.h"
#include "support/file/path.h"
#include "support/text/text.h"

#include <stdlib.h>

static bool endsWith(const char *text, const char *ending) {
  size_t length = strlen(text);
  size_t wanted = strlen(ending);
  return length >= wanted && strcmp(text + length - wanted, ending) == 0;
}

/* The trace record as one text, which goes into the PEF. */
static void keepRecord(uint32_t line_count, const char *const *lines, const uint8_t digest[32],
                       void *user) {
  SambaText *text = user;
  (void)digest;
  for (uint32_t i = 0; i < line_count; ++i)
    sambaTextFormat(text, "%s\n", lines[i]);
}

SambaStatus sambaModelImportOnnx(MlirContext context, const char *path,
                                 const SambaCompileOptions *options,
                                 SambaOnnxRecordCallback callback, void *user,
                                 MlirModule *out_module) {
  SambaOnnxImportOptions import = {.shapes = options->shapes,
                                   .shape_count = options->shape_count,
                                   .binds = options->binds,
                                   .bind_count = options->bind_count,
                                   .f64 = options->f64,
                                   .trains = options->training};
  return sambaOnnxImportModel(context, path, &import, callback, user, out_module);
}

static SambaStatus loadFile(MlirContext context, const char *path,
                            const SambaCompileOptions *options, SambaText *record,
                            MlirModule *out_module) {
  if (endsWith(path, ".onnx") && options->entry)
    return sambaStatusMake(SAMBA_INVALID, "%s: --entry is for MLIR; an ONNX model is one graph",
                           path);
  if (endsWith(path, ".onnx"))
    return sambaModelImportOnnx(context, path, options, keepRecord, record, out_module);
  if (!endsWith(path, ".mlir") && !endsWith(path, ".mlirbc") && strcmp(path, "-") != 0)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "%s: a model ends in .onnx, .mlir or .mlirbc, or is - (MLIR from "
                           "standard input)",
                           path);
  if (options->shape_count || options->bind_count)
    return sambaStatusMake(
        SAMBA_INVALID, "%s: --shape and --bind are for ONNX models; MLIR has its shapes already",
        path);
  if (options->f64)
    return sambaStatusMake(SAMBA_INVALID, "%s: --f64 is for ONNX models", path);
  return sambaModuleParseFile(context, path, out_module);
}

static SambaStatus loadModel(MlirContext context, const SambaModel *model,
                             const SambaCompileOptions *options, SambaText *record,
                             MlirModule *out_module) {
  if (model->path)
    return loadFile(context, model->path, options, record, out_module);
  if (!mlirModuleIsNull(model->module)) {
    *out_module = model->module;
    return NULL;
  }
  if (!model->trace)
    return sambaModuleParse(context, model->text, out_module);
  SAMBA_RETURN_IF_ERROR(sambaTraceFinish(model->trace, out_module));
  const SambaTraceRecord *traced = sambaTraceGetRecord(model->trace);
  keepRecord(traced->line_count, traced->lines, traced->digest, record);
  return NULL;
}

/* Files of weights: an ONNX importer's paths are relative to the current folder already. */
static void setFolders(const SambaModel *model, const SambaCompileOptions *from, SambaArena *arena,
                       SambaModuleOptions *to) {
  to->data_folder = from->data_folder;
  if (!model->path)
    return;
  const char *folder = sambaStringRefCopy(arena, sambaPathFolder(model->path)).data;
  to->folder = endsWith(model->path, ".onnx") ? "" : folder;
  to->data_folder = from->data_folder ? from->data_folder : folder;
  to->model = model->path;
}

/* The words that the PEF keeps: the name comes first. */
static void setNotes(const SambaCompileOptions *from, SambaArena *arena, SambaModuleOptions *to) {
  size_t count = from->entry_count + (from->name != NULL), at = 0;
  SambaCompileNote *notes = SAMBA_ARENA_ARRAY(arena, SambaCompileNote, count + 1);
  if (from->name)
    notes[at++] = (SambaCompileNote){"name", from->name};
  for (size_t i = 0; i < from->entry_count; ++i)
    notes[at++] = (SambaCompileNote){from->entries[i].key, from->entries[i].value};
  to->note_count = count;
  to->notes = notes;
}

static SambaModuleOptions moduleOptions(const SambaModel *model, const SambaCompileOptions *from,
                                        SambaArena *arena) {
  SambaModuleOptions to = {.pipeline = {.entry = from->entry,
                                        .target = from->target,
                                        .opt = from->opt,
                                        .search_seconds = from->search_seconds,
                                        .mapping = from->mapping,
                                        .precision = from->precision,
                                        .inference = from->training ? "false" : NULL,
                                        .loss = from->loss,
                                        .optimizer = from->optimizer,
                                        .freeze = from->freeze,
                                        .accumulate = from->accumulate_gradients ? "true" : NULL,
                                        .io_host_memory = from->io_host_memory ? "true" : NULL,
                                        .rules = from->rules,
                                        .decisions = from->decisions,
                                        .dump = from->dump},
                           .dump_decisions = from->dump_decisions,
                           .external_weights = from->external_weights,
                           .explain = from->explain,
                           .progress = from->progress,
                           .user = from->user};
  setFolders(model, from, arena, &to);
  setNotes(from, arena, &to);
  return to;
}

SambaStatus sambaModelCompile(MlirContext context, const SambaModel *model,
                              const SambaCompileOptions *options,
                              bool (*configure)(MlirPassManager manager, void *user),
                              SambaCompileOutput *output) {
  MlirModule module = {NULL};
  SambaText record = {0};
  SambaArena arena = {0};
  SambaModuleOptions internal = moduleOptions(model, options, &arena);
  SambaStatus status = loadModel(context, model, options, &record, &module);

  if (!status) {
    internal.trace = record.data;
    internal.trace_size = record.size;
    internal.configure = configure;
    status = sambaCompileModule(module, &internal, output);
  }
  if (!mlirModuleIsNull(module) && mlirModuleIsNull(model->module))
    mlirModuleDestroy(module);
  sambaTextFree(&record);
  sambaArenaDestroy(&arena);
  return status;
}
