/* Compiling as the library's users call it; see samba/compile.h. */
#include "dialect/bridge/text_sink.h"
#include "support/text/text.h"
#include "tools/libsamba/context.h"
#include "tools/libsamba/model.h"

#include "mlir-c/Diagnostics.h"

#include <stdlib.h>

void sambaFree(void *data) { free(data); }

/* What a compilation says on its way; errors that no status holds yet are kept. */
typedef struct Listener {
  const SambaCompileOptions *options;
  SambaText error;
} Listener;

static MlirLogicalResult hear(MlirDiagnostic diagnostic, void *user) {
  Listener *listener = user;
  MlirDiagnosticSeverity severity = mlirDiagnosticGetSeverity(diagnostic);
  SambaText text = {0};
  mlirDiagnosticPrint(diagnostic, sambaTextSink, &text);

  if (severity == MlirDiagnosticError) {
    if (!listener->error.size)
      sambaTextAppendC(&listener->error, sambaTextGet(&text));
  } else if (severity != MlirDiagnosticNote && listener->options->diagnose) {
    bool warning = severity == MlirDiagnosticWarning;
    listener->options->diagnose(listener->options->user,
                                warning ? SAMBA_DIAGNOSTIC_WARNING : SAMBA_DIAGNOSTIC_REMARK,
                                sambaTextGet(&text));
  }
  sambaTextFree(&text);
  return mlirLogicalResultSuccess();
}

static SambaStatus compile(SambaContext *context, const SambaModel *model,
                           const SambaCompileOptions *asked, SambaCompileOutput *output) {
  MlirContext mlir = sambaContextGetMlir(context);
  SambaCompileOptions options = asked ? *asked : (SambaCompileOptions){0};
  if (!options.target)
    options.target = sambaContextGetTarget(context);

  Listener listener = {.options = &options};
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(mlir, hear, &listener, NULL);
  SambaStatus status = sambaModelCompile(mlir, model, &options, NULL, output);
  mlirContextDetachDiagnosticHandler(mlir, handler);
  if (status && listener.error.size)
    sambaStatusNote(status, "%s", sambaTextGet(&listener.error));
  sambaTextFree(&listener.error);
  return status;
}

static SambaStatus compileToFile(SambaContext *context, const SambaModel *model,
                                 const SambaCompileOptions *options, const char *path) {
  return compile(context, model, options, &(SambaCompileOutput){.path = path});
}

static SambaStatus compileToMemory(SambaContext *context, const SambaModel *model,
                                   const SambaCompileOptions *options, SambaPefData *out_pef) {
  SambaCompileOutput output = {0};
  SambaStatus status = compile(context, model, options, &output);
  *out_pef = (SambaPefData){output.data, output.size};
  return status;
}

SambaStatus sambaCompileTrace(SambaContext *context, SambaTrace *trace,
                              const SambaCompileOptions *options, const char *path) {
  return compileToFile(context, &(SambaModel){.trace = trace}, options, path);
}
SambaStatus sambaCompileTraceToMemory(SambaContext *context, SambaTrace *trace,
                                      const SambaCompileOptions *options, SambaPefData *out_pef) {
  return compileToMemory(context, &(SambaModel){.trace = trace}, options, out_pef);
}

SambaStatus sambaCompileFile(SambaContext *context, const char *model,
                             const SambaCompileOptions *options, const char *path) {
  return compileToFile(context, &(SambaModel){.path = model}, options, path);
}
SambaStatus sambaCompileFileToMemory(SambaContext *context, const char *model,
                                     const SambaCompileOptions *options, SambaPefData *out_pef) {
  return compileToMemory(context, &(SambaModel){.path = model}, options, out_pef);
}

SambaStatus sambaCompileText(SambaContext *context, SambaStringRef module,
                             const SambaCompileOptions *options, const char *path) {
  return compileToFile(context, &(SambaModel){.text = module}, options, path);
}
SambaStatus sambaCompileTextToMemory(SambaContext *context, SambaStringRef module,
                                     const SambaCompileOptions *options, SambaPefData *out_pef) {
  return compileToMemory(context, &(SambaModel){.text = module}, options, out_pef);
}

/* The module is one of the context's. */
static SambaStatus checkModule(SambaContext *context, MlirModule module) {
  if (mlirContextEqual(mlirModuleGetContext(module), sambaContextGetMlir(context)))
    return NULL;
  return sambaStatusMake(SAMBA_INVALID,
                         "the module belongs to another MLIR context than the Samba context; make "
                         "that with sambaContextCreateWithMlir, from the module's context");
}

SambaStatus sambaCompileMlir(SambaContext *context, MlirModule module,
                             const SambaCompileOptions *options, const char *path) {
  SAMBA_RETURN_IF_ERROR(checkModule(context, module));
  return compileToFile(context, &(SambaModel){.module = module}, options, path);
}
SambaStatus sambaCompileMlirToMemory(SambaContext *context, MlirModule module,
                                     const SambaCompileOptions *options, SambaPefData *out_pef) {
  *out_pef = (SambaPefData){0};
  SAMBA_RETURN_IF_ERROR(checkModule(context, module));
  return compileToMemory(context, &(SambaModel){.module = module}, options, out_pef);
}
