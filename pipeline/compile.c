/* From a module to a PEF; see compile.h. */
#include "pipeline/compile.h"

#include "backend/pef/image/image.h"
#include "backend/pef/pef.h"
#include "backend/plan/plan.h"
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/text_sink.h"
#include "dialect/bridge/work.h"
#include "dialect/rdu/failed_section.h"
#include "dialect/registry/dialects.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/interface.h"
#include "lowering/pef/rdu_to_pef.h"
#include "pipeline/dump_decisions.h"
#include "pipeline/explain.h"
#include "pipeline/register.h"
#include "pipeline/requested_record.h"
#include "support/file/atomic_file.h"

#include "backend/pef/container/writer.h"
#include "backend/pef/image/log.h"
#include "mlir-c/BuiltinAttributes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

MlirContext sambaCompilerContextCreate(void) {
  MlirContext context = mlirContextCreate();
  sambaCompilerContextPrepare(context);
  return context;
}

static void printPiece(MlirStringRef piece, void *user) {
  (void)user;
  fwrite(piece.data, 1, piece.length, stderr);
}

static MlirLogicalResult printRemark(MlirDiagnostic diagnostic, void *user) {
  MlirDiagnosticSeverity severity = mlirDiagnosticGetSeverity(diagnostic);
  if (severity != MlirDiagnosticRemark && severity != MlirDiagnosticWarning)
    return mlirLogicalResultFailure();
  fputs(severity == MlirDiagnosticRemark ? "remark: " : "warning: ", stderr);
  mlirDiagnosticPrint(diagnostic, printPiece, user);
  fputc('\n', stderr);
  return mlirLogicalResultSuccess();
}

void sambaPrintRemarks(MlirContext context) {
  mlirContextAttachDiagnosticHandler(context, printRemark, NULL, NULL);
}

void sambaCompilerContextPrepare(MlirContext context) {
  sambaLoadDialects(context);
  sambaRegisterPasses();
}

/* Keeps the first error with its notes (user: a SambaStatus); no other is printed. Everything else
 * goes on to the other handlers. */
static MlirLogicalResult keepFirstError(MlirDiagnostic diagnostic, void *user) {
  SambaStatus *status = user;
  if (mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticError)
    return mlirLogicalResultFailure();
  if (*status)
    return mlirLogicalResultSuccess();

  SambaText text = {0};
  sambaAppendPlace(mlirDiagnosticGetLocation(diagnostic), &text);
  mlirDiagnosticPrint(diagnostic, sambaTextSink, &text);
  *status = sambaStatusMake(SAMBA_INVALID, "%s", sambaTextGet(&text));
  SambaStringRef layer = sambaLayerOfLocation(mlirDiagnosticGetLocation(diagnostic));
  if (layer.size)
    sambaStatusNote(*status, "in layer '%.*s'", SAMBA_STRING_ARGS(layer));
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); ++i) {
    sambaTextClear(&text);
    mlirDiagnosticPrint(mlirDiagnosticGetNote(diagnostic, i), sambaTextSink, &text);
    sambaStatusNote(*status, "%s", sambaTextGet(&text));
  }
  sambaTextFree(&text);
  return mlirLogicalResultSuccess();
}

/* The module, or the first error in `what`. Takes the handler of errors back. */
static SambaStatus finishParse(MlirContext context, MlirDiagnosticHandlerID handler,
                               MlirModule module, SambaStatus first_error, const char *what) {
  mlirContextDetachDiagnosticHandler(context, handler);
  if (!mlirModuleIsNull(module)) {
    sambaStatusFree(first_error);
    return NULL;
  }
  return first_error ? first_error : sambaStatusMake(SAMBA_INVALID, "%s", what);
}

SambaStatus sambaModuleParseFile(MlirContext context, const char *path, MlirModule *out_module) {
  if (strcmp(path, "-") != 0 && access(path, R_OK) != 0)
    return sambaStatusMake(SAMBA_IO, "%s: %s", path, strerror(errno));
  SambaStatus status = NULL;
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(context, keepFirstError, &status, NULL);
  *out_module = mlirModuleCreateParseFromFile(context, sambaMlirString(path));
  return finishParse(context, handler, *out_module, status, path);
}

SambaStatus sambaModuleParse(MlirContext context, SambaStringRef text, MlirModule *out_module) {
  SambaStatus status = NULL;
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(context, keepFirstError, &status, NULL);
  *out_module = mlirModuleCreateParse(context, mlirStringRefCreate(text.data, text.size));
  return finishParse(context, handler, *out_module, status, "the text is no module");
}

/* Runs the passes of `text` on `module`. */
static SambaStatus runPasses(MlirOperation module, const SambaModuleOptions *options,
                             const char *text) {
  MlirContext context = mlirOperationGetContext(module);
  SambaStatus status = NULL;
  SambaStatus first_error = NULL;
  SambaText message = {0};
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(context, keepFirstError, &first_error, NULL);

  if (mlirLogicalResultIsFailure(
          mlirOpPassManagerAddPipeline(mlirPassManagerGetAsOpPassManager(manager),
                                       sambaMlirString(text), sambaTextSink, &message)))
    status = sambaStatusMake(SAMBA_INVALID, "the pipeline '%s' does not parse: %s", text,
                             sambaTextGet(&message));
  else if (options->configure && !options->configure(manager, options->user))
    status = sambaStatusMake(SAMBA_INVALID, "the pass manager's options do not hold");
  else if (mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(manager, module)))
    status = first_error ? first_error : sambaStatusMake(SAMBA_INVALID, "%s", "");
  if (status != first_error)
    sambaStatusFree(first_error);

  mlirContextDetachDiagnosticHandler(context, handler);
  mlirPassManagerDestroy(manager);
  sambaTextFree(&message);
  return status;
}

SambaStatus sambaModuleRunPasses(MlirModule module, const char *passes) {
  const SambaModuleOptions plain = {0};
  return runPasses(mlirModuleGetOperation(module), &plain, passes);
}

/* The most bytes of activations that are alive in one call, and which. */
static uint64_t mostAlive(const SambaPef *pef, uint32_t *out_call) {
  uint64_t most = 0;
  *out_call = 0;
  for (uint32_t c = 0; c < pef->calls_count; ++c) {
    uint64_t alive = 0;
    for (uint32_t s = 0; s < pef->symbols_count; ++s) {
      const SambaPefSymbol *symbol = &pef->symbols[s];
      bool lives = symbol->kind == SAMBA_PEF_SYMBOL_ACTIVATION && symbol->first_call <= c &&
                   symbol->last_call >= c;
      alive += lives ? symbol->bytes : 0;
    }
    if (alive > most) {
      most = alive;
      *out_call = c;
    }
  }
  return most;
}

/* --explain: the device memory that is taken, and by what. */
static void explainMemory(MlirOperation module, const SambaPef *pef) {
  uint64_t taken[4] = {0}, weights = 0, gradients = 0, states = 0, activations = 0;
  uint32_t call;
  for (uint32_t r = 0; r < pef->regions_count; ++r) {
    const SambaPefRegion *region = &pef->regions[r];
    taken[region->memory] += region->bytes;
    SambaPefSymbolKind kind = SAMBA_PEF_SYMBOL_INPUT; /* of the first who lives there */
    if (region->owners_count)
      kind = (SambaPefSymbolKind)pef->symbols[region->owners[0].symbol].kind;
    weights += kind == SAMBA_PEF_SYMBOL_WEIGHT ? region->bytes : 0;
    gradients += kind == SAMBA_PEF_SYMBOL_GRADIENT ? region->bytes : 0;
    states += kind == SAMBA_PEF_SYMBOL_OPTIMIZER_STATE ? region->bytes : 0;
    activations += kind == SAMBA_PEF_SYMBOL_ACTIVATION ? region->bytes : 0;
  }

  SambaArena arena = {0};
  uint64_t alive = mostAlive(pef, &call);
  const char *text = sambaArenaFormat(
      &arena,
      "memory: %llu bytes of HBM, %llu of DDR, %llu of the host; weights %llu, gradients %llu, "
      "optimizer state %llu, activations %llu, of which at most %llu are alive at once (call %u)",
      (unsigned long long)taken[SAMBA_PEF_MEMORY_HBM],
      (unsigned long long)taken[SAMBA_PEF_MEMORY_DDR],
      (unsigned long long)taken[SAMBA_PEF_MEMORY_HOST], (unsigned long long)weights,
      (unsigned long long)gradients, (unsigned long long)states, (unsigned long long)activations,
      (unsigned long long)alive, call);
  sambaDiagnose(mlirOperationGetLocation(module), MlirDiagnosticRemark, sambaMlirString(text), 0,
                NULL);
  sambaArenaDestroy(&arena);
}

/* --explain: a remark per section. */
static void explain(MlirOperation module, const SambaPef *pef,
                    const SambaEmittedSections *emitted) {
  for (uint32_t s = 0; s < pef->sections_count; ++s) {
    SambaText text = {0};
    sambaExplainLine(pef, emitted, s, &text);
    sambaDiagnose(mlirOperationGetLocation(module), MlirDiagnosticRemark,
                  sambaMlirString(sambaTextGet(&text)), 0, NULL);
    sambaTextFree(&text);
  }
}

/* The log beside the PEF, with what --explain says of each section. */
static SambaStatus writeLog(const SambaPef *pef, const SambaEmittedSections *emitted,
                            const char *path) {
  SambaText more = {0};
  SambaArena arena = {0};
  for (uint32_t s = 0; s < pef->sections_count; ++s) {
    sambaTextAppendC(&more, "\n");
    sambaExplainLine(pef, emitted, s, &more);
  }
  sambaTextAppendC(&more, "\n");
  SambaStatus status =
      sambaPefWriteLog(pef, sambaArenaFormat(&arena, "%s.log", path), sambaTextGet(&more));
  sambaTextFree(&more);
  sambaArenaDestroy(&arena);
  return status;
}

/* To the file with its log, or to memory. */
static SambaStatus deliverPef(SambaPef *pef, const SambaEmittedSections *emitted,
                              SambaCompileOutput *output) {
  if (!output->path)
    return sambaPefWriteToMemory(pef, &output->data, &output->size);
  SAMBA_RETURN_IF_ERROR(sambaPefWrite(pef, output->path));
  return writeLog(pef, emitted, output->path);
}

static SambaStatus writePef(MlirOperation module, const SambaModuleOptions *options,
                            SambaCompileOutput *output) {
  SambaPipelineOptions pipeline = sambaPipelineWithDefaults(&options->pipeline);
  SambaEmitOption own[] = {
      {"opt", pipeline.opt}, {"precision", pipeline.precision}, {"mapping", pipeline.mapping}};
  size_t own_count = sizeof own / sizeof *own;
  SambaEmitOption *table = sambaAllocateZeroed(own_count + options->note_count, sizeof *table);
  memcpy(table, own, sizeof own);
  for (size_t i = 0; i < options->note_count; ++i)
    table[own_count + i] = (SambaEmitOption){options->notes[i].key, options->notes[i].value};
  SambaEmittedSections emitted = {0};
  SambaEmitOptions emit = {.folder = options->folder,
                           .data_folder = options->data_folder,
                           .model = options->model,
                           .external_weights = options->external_weights,
                           .trace = options->trace,
                           .trace_size = options->trace_size,
                           .option_count = (uint32_t)(own_count + options->note_count),
                           .options = table,
                           .emitted = &emitted};
  SambaPef *pef = NULL;
  SambaStatus status = sambaModuleToPef(module, &emit, &pef);

  if (!status)
    status = deliverPef(pef, &emitted, output);
  if (!status && options->explain) {
    explain(module, pef, &emitted);
    explainMemory(module, pef);
  }
  if (!status && output->wants_explanation)
    output->explanation = sambaExplainJson(pef, &emitted);
  if (pef)
    sambaPefDestroy(pef);
  sambaEmittedSectionsFree(&emitted);
  free(table);
  return status;
}

static MlirOperation findSection(MlirOperation module, MlirStringRef name) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    MlirAttribute symbol = sambaOperationAttribute(operation, "sym_name");
    if (!mlirAttributeIsNull(symbol) && mlirStringRefEqual(mlirStringAttrGetValue(symbol), name))
      break;
  }
  return operation;
}

/* Puts the failed sections back as they were before the back of the pipeline, each with half its
 * parallel factor; the others keep what they have, places and routes too. False when none failed or
 * one cannot be halved any more. */
static bool takeBackFailed(MlirOperation module, MlirOperation sections, int attempt,
                           const SambaStatus status) {
  MlirOperation now = sambaFailedSection(module);
  bool any = false;

  for (; !mlirOperationIsNull(now); now = sambaFailedSection(module), any = true) {
    MlirStringRef name = mlirStringAttrGetValue(sambaOperationAttribute(now, "sym_name"));
    MlirOperation before = findSection(sections, name);
    uint32_t divisor = mlirOperationIsNull(before) ? 0 : sambaParallelDivisor(before);
    if (!divisor || divisor * 2 > SAMBA_MOST_PARALLEL_DIVISOR)
      return false;
    sambaSetParallelDivisor(before, divisor * 2);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(now), now,
                                        mlirOperationClone(before));
    SambaArena arena = {0};
    /* The message is the first section's. */
    const char *text =
        any ? sambaArenaFormat(&arena,
                               "attempt %d: section @%.*s with half its parallel factor too",
                               attempt + 2, (int)name.length, name.data)
            : sambaArenaFormat(
                  &arena, "attempt %d: section @%.*s with half its parallel factor, because %s",
                  attempt + 2, (int)name.length, name.data, sambaStatusGetMessage(status));
    mlirOperationDestroy(now);
    sambaDiagnose(mlirOperationGetLocation(module), MlirDiagnosticRemark, sambaMlirString(text), 0,
                  NULL);
    sambaArenaDestroy(&arena);
  }
  return any;
}

/* Writes the mappings into the sections, and all that was decided to the file. */
static SambaStatus dumpDecisions(MlirOperation sections, const SambaModuleOptions *options) {
  SambaArena arena = {0};
  const char *passes = NULL;
  SambaStatus status = sambaPipelineText(&arena, &options->pipeline, SAMBA_PHASE_MAPPINGS, &passes);
  if (!status)
    status = runPasses(sections, options, passes);
  if (!status)
    status = sambaDecisionsDump(sections, options->dump_decisions);
  sambaArenaDestroy(&arena);
  return status;
}

/* The back of the pipeline on `module`, again with smaller sections when some did not fit. */
static SambaStatus makeSections(MlirOperation module, const SambaModuleOptions *options,
                                const char *back) {
  MlirOperation sections = mlirOperationClone(module);
  SambaStatus status;
  for (int attempt = 0;; ++attempt) {
    status = runPasses(module, options, back);
    if (!status || attempt == SAMBA_COMPILE_ATTEMPTS ||
        !takeBackFailed(module, sections, attempt, status))
      break;
    sambaStatusFree(status);
  }
  if (!status && options->dump_decisions)
    status = dumpDecisions(sections, options);
  mlirOperationDestroy(sections);
  return status;
}

/* What has been counted since `before`, and the counters' state into `before`. */
static void takeWork(uint64_t *before, uint64_t *out_since) {
  for (int kind = 0; kind < SAMBA_WORK_KINDS; ++kind) {
    uint64_t now = sambaWorkTotal((SambaWork)kind);
    out_since[kind] = now - before[kind];
    before[kind] = now;
  }
}

/* --explain: how much was done to find the sections, and to make them. */
static void explainWork(MlirOperation module, const uint64_t *finding, const uint64_t *making) {
  SambaArena arena = {0};
  const char *text = sambaArenaFormat(
      &arena,
      "work: %llu stage graphs built and %llu plans made to find the sections; "
      "%llu graphs and %llu plans to make them; %llu sections read from IR",
      (unsigned long long)finding[SAMBA_WORK_GRAPHS_BUILT],
      (unsigned long long)finding[SAMBA_WORK_PLANS_MADE],
      (unsigned long long)making[SAMBA_WORK_GRAPHS_BUILT],
      (unsigned long long)making[SAMBA_WORK_PLANS_MADE],
      (unsigned long long)(finding[SAMBA_WORK_SECTIONS_READ] + making[SAMBA_WORK_SECTIONS_READ]));
  sambaDiagnose(mlirOperationGetLocation(module), MlirDiagnosticRemark, sambaMlirString(text), 0,
                NULL);
  sambaArenaDestroy(&arena);
}

static void tell(const SambaModuleOptions *options, const char *part, uint32_t done) {
  const uint32_t parts = 3;
  if (options->progress)
    options->progress(options->user, part, done, parts);
}

/* The graph that the trace record is of: the first one; null: there is none. */
static MlirOperation tracedGraph(MlirOperation module) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  while (!mlirOperationIsNull(operation) && !sambaOperationIsGraph(operation))
    operation = mlirOperationGetNextInBlock(operation);
  return operation;
}

/* Makes the functions that the options choose the graphs of the module. */
static SambaStatus selectGraphs(MlirOperation module, const SambaModuleOptions *options) {
  SambaArena arena = {0};
  const char *passes;
  SambaStatus status = sambaPipelineText(&arena, &options->pipeline, SAMBA_PHASE_ENTER, &passes);
  if (!status)
    status = runPasses(module, options, passes);
  sambaArenaDestroy(&arena);
  return status;
}

/* Whether the function says nothing of its arguments and results, as other compilers' functions do.
 * Where some have names or kinds, the others' names follow from those. */
static bool isBare(MlirOperation function) {
  SambaInterface interface = {0};
  bool bare = true;
  sambaInterfaceRead(function, &interface);
  for (size_t i = 0; i < interface.arguments.size; ++i)
    bare &= !mlirDictionaryAttrGetNumElements(interface.arguments.data[i]);
  for (size_t i = 0; i < interface.results.size; ++i)
    bare &= !mlirDictionaryAttrGetNumElements(interface.results.data[i]);
  sambaInterfaceFree(&interface);
  return bare;
}

static MlirWalkResult findForeign(MlirOperation operation, void *user) {
  static const char *const own[] = {"builtin.module", "func.func", "func.return", NULL};
  bool *foreign = user;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(operation));
  *foreign = !sambaOperatorNameOf(operation).size &&
             !sambaStringRefIsOneOf((SambaStringRef){name.data, name.length}, own);
  *foreign |= sambaOperationIsGraph(operation) && isBare(operation);
  return *foreign ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

/* Makes a module of another compiler's operations a graph. */
static SambaStatus enterForeign(MlirOperation module, const SambaModuleOptions *options) {
  SambaArena arena = {0};
  const char *passes = NULL;
  bool foreign = false;
  SambaStatus status = sambaPipelineText(&arena, &options->pipeline, SAMBA_PHASE_FOREIGN, &passes);
  mlirOperationWalk(module, findForeign, &foreign, MlirWalkPreOrder);
  if (!status && foreign)
    status = runPasses(module, options, passes);
  sambaArenaDestroy(&arena);
  return status;
}

/* Writes what the options say of training into the graph, and into its trace record, unless the
 * trace said by itself that it learns. out_record: the new one, or empty. */
static SambaStatus requestTraining(MlirOperation module, const SambaModuleOptions *options,
                                   SambaText *out_record) {
  SambaArena arena = {0};
  const char *passes = NULL;
  MlirOperation graph = tracedGraph(module);
  bool traced = options->trace && !mlirOperationIsNull(graph) && !sambaGraphIsTraining(graph);
  SambaStatus status = sambaPipelineText(&arena, &options->pipeline, SAMBA_PHASE_REQUEST, &passes);
  if (!status && passes[0]) {
    const char *optimizer = sambaPipelineWithDefaults(&options->pipeline).optimizer;
    status = runPasses(module, options, passes);
    if (!status && traced)
      status = sambaTraceRecordRequested(tracedGraph(module),
                                         (SambaStringRef){options->trace, options->trace_size},
                                         sambaStringRef(optimizer), out_record);
  }
  sambaArenaDestroy(&arena);
  return status;
}

/* The module as it is compiled; `copy` becomes what the PEF is made of. */
static SambaStatus compileCopy(MlirOperation copy, const SambaModuleOptions *options,
                               SambaCompileOutput *output) {
  uint64_t counted[SAMBA_WORK_KINDS] = {0}, finding[SAMBA_WORK_KINDS], making[SAMBA_WORK_KINDS];
  SambaArena arena = {0};
  const char *front = NULL, *back = NULL;

  takeWork(counted, finding);
  SambaStatus status = sambaPipelineText(&arena, &options->pipeline, SAMBA_PHASE_GRAPH, &front);
  if (!status)
    status = sambaPipelineText(&arena, &options->pipeline, SAMBA_PHASE_SECTIONS, &back);
  if (!status) {
    tell(options, "finding sections", 0);
    status = runPasses(copy, options, front);
  }
  takeWork(counted, finding);

  if (!status) {
    tell(options, "mapping, placing and routing sections", 1);
    status = makeSections(copy, options, back);
  }
  if (!status) {
    tell(options, "writing the PEF", 2);
    status = writePef(copy, options, output);
  }
  takeWork(counted, making);
  if (!status && options->explain)
    explainWork(copy, finding, making);
  if (!status)
    tell(options, "done", 3);
  sambaArenaDestroy(&arena);
  return status;
}

SambaStatus sambaCompileModule(MlirModule module, const SambaModuleOptions *options,
                               SambaCompileOutput *output) {
  SAMBA_RETURN_IF_ERROR(sambaModuleCheckAnyGraph(mlirModuleGetOperation(module)));
  SambaModuleOptions requested = *options;
  SambaText record = {0};
  MlirOperation copy = mlirOperationClone(mlirModuleGetOperation(module));
  SambaStatus status = selectGraphs(copy, options);
  if (!status)
    status = enterForeign(copy, options);
  if (!status)
    status = requestTraining(copy, options, &record);
  if (record.size) {
    requested.trace = record.data;
    requested.trace_size = record.size;
  }
  if (!status)
    status = compileCopy(copy, &requested, output);

  sambaTextFree(&record);
  mlirOperationDestroy(copy);
  if (status) {
    free(output->data);
    output->data = NULL;
    output->size = 0;
  }
  return status;
}
