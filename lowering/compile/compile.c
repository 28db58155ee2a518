/* From a module to a PEF; see compile.h. */
#include "lowering/compile/compile.h"

#include "backend/pef/pef.h"
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build.h"
#include "lowering/rdu-to-pef/rdu_to_pef.h"
#include "lowering/rdu/decisions.h"
#include "passes/graph.h"
#include "passes/register.h"
#include "support/atomic_file.h"

#include "mlir-c/BuiltinAttributes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { maxAttempts = 32 }; /* of all sections together */

/* What an attempt says: errors are kept, everything else goes on to the other handlers. */
typedef struct {
  SAMBA_ARRAY(char) text; /* the first error with its notes */
  int errors;
  bool quiet; /* keep errors from being printed: another attempt may follow */
} Messages;

MlirContext sambaCompilerContextCreate(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  sambaRegisterDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, true);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  sambaRegisterPasses();
  return context;
}

SambaStatus sambaModuleParseFile(MlirContext context, const char *path, MlirModule *out_module) {
  if (access(path, R_OK) != 0)
    return sambaStatusMake(SAMBA_IO, "%s: %s", path, strerror(errno));
  *out_module = mlirModuleCreateParseFromFile(context, sambaMlirString(path));
  if (mlirModuleIsNull(*out_module))
    return sambaStatusMake(SAMBA_INVALID, "%s: not a valid module (see above)", path);
  return NULL;
}

static void appendPiece(MlirStringRef piece, void *user) {
  Messages *messages = user;
  for (size_t i = 0; i < piece.length; ++i)
    sambaArrayAppend(&messages->text, piece.data[i]);
}

static MlirLogicalResult keepErrors(MlirDiagnostic diagnostic, void *user) {
  Messages *messages = user;
  if (mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticError)
    return mlirLogicalResultFailure();
  if (messages->errors++ == 0) {
    MlirLocation location = mlirDiagnosticGetLocation(diagnostic);
    SambaStringRef layer = sambaLayerOfLocation(location);
    mlirDiagnosticPrint(diagnostic, appendPiece, messages);
    if (layer.size) {
      appendPiece(sambaMlirString("\n  note: in layer '"), messages);
      appendPiece(mlirStringRefCreate(layer.data, layer.size), messages);
      appendPiece(sambaMlirString("'"), messages);
    }
    for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); ++i) {
      appendPiece(sambaMlirString("\n  note: "), messages);
      mlirDiagnosticPrint(mlirDiagnosticGetNote(diagnostic, i), appendPiece, messages);
    }
  }
  return mlirLogicalResultSuccess();
}

/* Runs the pipeline once on `module`. */
static SambaStatus runOnce(MlirOperation module, const SambaCompileOptions *options, Messages *messages) {
  MlirContext context = mlirOperationGetContext(module);
  SambaArena arena = {0};
  const char *text = NULL;
  SambaStatus status = sambaPipelineText(&arena, &options->pipeline, &text);
  if (!status) {
    MlirPassManager manager = mlirPassManagerCreate(context);
    MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(context, keepErrors, messages, NULL);
    if (mlirLogicalResultIsFailure(mlirOpPassManagerAddPipeline(mlirPassManagerGetAsOpPassManager(manager),
                                                                sambaMlirString(text), appendPiece, messages)))
      status = sambaStatusMake(SAMBA_INVALID, "the pipeline '%s' does not parse: %.*s", text, (int)messages->text.size,
                               messages->text.data);
    else if (options->configure && !options->configure(manager, options->user))
      status = sambaStatusMake(SAMBA_INVALID, "the pass manager's options do not hold");
    else if (mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(manager, module)))
      status = sambaStatusMake(SAMBA_INVALID, "%.*s", (int)messages->text.size, messages->text.data);
    mlirContextDetachDiagnosticHandler(context, handler);
    mlirPassManagerDestroy(manager);
  }
  sambaArenaDestroy(&arena);
  return status;
}

/* --explain: a remark per section. */
static void explain(MlirOperation module, const SambaPef *pef) {
  SambaArena arena = {0};
  for (uint32_t s = 0; s < pef->sections_count; ++s) {
    const SambaPefSection *section = &pef->sections[s];
    const SambaPefImage *image = &pef->images[section->image];
    uint32_t calls = 0;
    for (uint32_t c = 0; c < pef->calls_count; ++c)
      calls += pef->calls[c].section == s;
    const char *layers = "";
    SambaStringRef last = {"", 0};
    for (uint32_t u = 0; u < image->units_count; ++u) {
      SambaStringRef layer = image->units[u].layer;
      if (layer.size && !sambaStringRefEqual(layer, last))
        layers = sambaArenaFormat(&arena, "%s%s%.*s", layers, layers[0] ? ", " : "", SAMBA_STRING_ARGS(layer));
      last = layer.size ? layer : last;
    }
    const char *text =
        sambaArenaFormat(&arena, "section %u @%.*s: %u calls, %u PCUs, %u PMUs, %u AGs, estimated %llu cycles%s%s", s,
                         SAMBA_STRING_ARGS(section->name), calls, section->pcus, section->pmus, section->ags,
                         (unsigned long long)section->estimated_cycles, layers[0] ? "; layers " : "", layers);
    sambaDiagnose(mlirOperationGetLocation(module), MlirDiagnosticRemark, sambaMlirString(text), 0, NULL);
  }
  sambaArenaDestroy(&arena);
}

static SambaStatus writePef(MlirOperation module, const SambaCompileOptions *options, const char *path) {
  const SambaPipelineOptions *p = &options->pipeline;
  SambaEmitOption table[] = {{"opt", p->opt && p->opt[0] ? p->opt : "o1"},
                             {"precision", p->precision && p->precision[0] ? p->precision : "mp0"},
                             {"mapping", p->mapping && p->mapping[0] ? p->mapping : "section"}};
  SambaEmitOptions emit = {.folder = options->folder,
                           .external_weights = options->external_weights,
                           .trace = options->trace,
                           .trace_size = options->trace_size,
                           .option_count = 3,
                           .options = table};
  SambaPef *pef = NULL;
  SAMBA_RETURN_IF_ERROR(sambaModuleToPef(module, &emit, &pef));
  SambaStatus status = sambaPefWrite(pef, path);
  if (!status) {
    SambaArena arena = {0};
    status = sambaPefWriteLog(pef, sambaArenaFormat(&arena, "%s.log", path));
    sambaArenaDestroy(&arena);
  }
  if (!status && options->explain)
    explain(module, pef);
  sambaPefDestroy(pef);
  return status;
}

static bool hasFunction(MlirModule module) {
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), sambaMlirString("func.func")))
      return true;
  return false;
}

SambaStatus sambaCompileModule(MlirModule module, const SambaCompileOptions *options, const char *path) {
  if (!hasFunction(module))
    return sambaStatusMake(SAMBA_INVALID, "the module has no function; a graph to compile is a func.func");
  SambaDecisions decisions = {0};
  SambaStatus status = NULL;
  for (int attempt = 0;; ++attempt) {
    Messages messages = {0};
    MlirOperation copy = mlirOperationClone(mlirModuleGetOperation(module));
    sambaDecisionsToModule(&decisions, copy);
    status = runOnce(copy, options, &messages);
    sambaArrayFree(&messages.text);
    if (!status)
      status = writePef(copy, options, path);
    char failed[64] = "";
    bool again = sambaStatusGetCode(status) != SAMBA_OK && attempt < maxAttempts &&
                 sambaFailedSection(copy, failed, sizeof failed) && sambaDecisionsHalve(&decisions, failed);
    if (again) {
      SambaArena arena = {0};
      const char *text = sambaArenaFormat(&arena, "attempt %d: section @%s with half its parallel factor, because %s",
                                          attempt + 2, failed, sambaStatusGetMessage(status));
      sambaDiagnose(mlirOperationGetLocation(mlirModuleGetOperation(module)), MlirDiagnosticRemark,
                    sambaMlirString(text), 0, NULL);
      sambaArenaDestroy(&arena);
      sambaStatusFree(status);
    }
    mlirOperationDestroy(copy);
    if (!again)
      break;
  }
  if (options->dump_decisions) {
    SambaStatus dumped = sambaDecisionsWrite(&decisions, options->dump_decisions);
    if (status)
      sambaStatusFree(dumped);
    else
      status = dumped;
  }
  sambaDecisionsFree(&decisions);
  return status;
}
