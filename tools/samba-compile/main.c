/* samba-compile: a model becomes a PEF. A thin client of frontend/ and pipeline/. */
#include "frontend/onnx/onnx.h"
#include "pipeline/compile.h"
#include "support/file/atomic_file.h"
#include "support/file/path.h"
#include "support/text/command_line.h"
#include "support/text/text.h"
#include "tools/samba-compile/mlir_flags.h"

#include "mlir-c/Diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *output, *data_folder, *target, *mapping, *precision, *rules, *decisions,
      *dump_decisions;
  SambaStrings shapes, binds;
  bool o0, o1, o3, inference, explain, external_weights, help;
} Options;

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

static SambaStatus importOnnx(MlirContext context, const Options *o, const char *path,
                              SambaText *record, MlirModule *out_module) {
  SambaOnnxImportOptions options = {.shapes = o->shapes.data,
                                    .shape_count = o->shapes.size,
                                    .binds = o->binds.data,
                                    .bind_count = o->binds.size};
  return sambaOnnxImportModel(context, path, &options, keepRecord, record, out_module);
}

static SambaStatus loadModel(MlirContext context, const Options *o, const char *path,
                             SambaText *record, MlirModule *out_module) {
  if (endsWith(path, ".onnx"))
    return importOnnx(context, o, path, record, out_module);
  if (!endsWith(path, ".mlir") && !endsWith(path, ".mlirbc"))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "%s: a model ends in .onnx or .mlir", path);
  if (o->shapes.size || o->binds.size)
    return sambaStatusMake(
        SAMBA_INVALID, "%s: --shape and --bind are for ONNX models; MLIR has its shapes already",
        path);
  return sambaModuleParseFile(context, path, out_module);
}

static void printPiece(MlirStringRef piece, void *user) {
  (void)user;
  fwrite(piece.data, 1, piece.length, stderr);
}

/* Remarks and warnings (MLIR prints errors only by itself). */
static MlirLogicalResult printRemark(MlirDiagnostic diagnostic, void *user) {
  MlirDiagnosticSeverity severity = mlirDiagnosticGetSeverity(diagnostic);
  if (severity != MlirDiagnosticRemark && severity != MlirDiagnosticWarning)
    return mlirLogicalResultFailure();
  fputs(severity == MlirDiagnosticRemark ? "remark: " : "warning: ", stderr);
  mlirDiagnosticPrint(diagnostic, printPiece, user);
  fputc('\n', stderr);
  return mlirLogicalResultSuccess();
}

static SambaStatus compile(const Options *o, const char *path, SambaArena *arena) {
  if (!o->output)
    return sambaStatusMake(SAMBA_INVALID, "samba-compile wants an output: -o OUT.pef");
  SAMBA_RETURN_IF_ERROR(sambaCheckOutputIsNotInput(o->output, path));
  if (o->o0 + o->o1 + o->o3 > 1)
    return sambaStatusMake(SAMBA_INVALID, "-O0, -O1 and -O3 exclude each other");
  MlirContext context = sambaCompilerContextCreate();

  mlirContextAttachDiagnosticHandler(context, printRemark, NULL, NULL);
  MlirModule module = {NULL};
  SambaText record = {0};
  SambaStatus status = loadModel(context, o, path, &record, &module);
  if (!status) {
    SambaCompileOptions options = {
        .pipeline = {.target = o->target,
                     .opt = o->o0   ? "o0"
                            : o->o3 ? "o3"
                                    : "o1",
                     .mapping = o->mapping,
                     .precision = o->precision,
                     .rules = o->rules,
                     .decisions = o->decisions},
        .dump_decisions = o->dump_decisions,
        .external_weights = o->external_weights,
        .explain = o->explain,
        .trace = record.data,
        .trace_size = record.size,
        .folder =
            endsWith(path, ".onnx") ? "" : sambaStringRefCopy(arena, sambaPathFolder(path)).data,
        .data_folder =
            o->data_folder ? o->data_folder : sambaStringRefCopy(arena, sambaPathFolder(path)).data,
        .model = path,
        .configure = sambaApplyMlirFlags};
    status = sambaCompileModule(module, &options, o->output);
  }

  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  mlirContextDestroy(context);
  sambaTextFree(&record);

  return status;
}

/* MLIR's flags go to LLVM's parser, everything else is ours. Values of ours that look like flags
 * stay with their option. */
static int takeMlirFlags(int argc, char **argv, const char **flags) {
  int kept = 1, count = 1;
  flags[0] = argv[0];
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--mlir-", 7) == 0 || strncmp(argv[i], "-mlir-", 6) == 0)
      flags[count++] = argv[i];
    else
      argv[kept++] = argv[i];
  }
  if (count > 1 && !sambaParseMlirFlags(count, flags))
    return -1;
  if (count == 1)
    sambaParseMlirFlags(1, flags);
  return kept;
}

int main(int argc, char **argv) {
  Options o = {0};
  const SambaOption table[] = {
      {"-o", SAMBA_OPTION_STRING, &o.output, "OUT.pef", "the PEF to write", NULL},
      {"--target", SAMBA_OPTION_STRING, &o.target, "sn40l|FILE",
       "a shipped machine (tiny, plasticine, sn10, sn40l) or a machine file", NULL},
      {"--shape", SAMBA_OPTION_STRINGS, &o.shapes, "NAME=1x3x8",
       "shape of a graph input with dynamic dimensions", NULL},
      {"--bind", SAMBA_OPTION_STRINGS, &o.binds, "NAME=FILE",
       "that graph input is a constant known at compile time (.npy or .pb)", NULL},
      {"-O0", SAMBA_OPTION_FLAG, &o.o0, NULL, "every operator its own section", NULL},
      {"-O1", SAMBA_OPTION_FLAG, &o.o1, NULL, "fuse operators greedily (default)", NULL},
      {"-O3", SAMBA_OPTION_FLAG, &o.o3, NULL, "not available in this version", NULL},
      {"--mapping", SAMBA_OPTION_STRING, &o.mapping, "section|spatial",
       "how the graph is mapped (default section)", NULL},
      {"--precision", SAMBA_OPTION_STRING, &o.precision, "mp0|mp1|mp4",
       "f32 as the model says (mp0), contractions in bf16 (mp1), all bf16 (mp4)", NULL},
      {"--inference", SAMBA_OPTION_FLAG, &o.inference, NULL,
       "compile for inference (default without training operators)", NULL},
      {"--rules", SAMBA_OPTION_STRING, &o.rules, "FILE", "not available in this version", NULL},
      {"--decisions", SAMBA_OPTION_STRING, &o.decisions, "FILE",
       "planner decisions of an earlier run", NULL},
      {"--dump-decisions", SAMBA_OPTION_STRING, &o.dump_decisions, "FILE",
       "write the planner decisions of the last attempt", NULL},
      {"--explain", SAMBA_OPTION_FLAG, &o.explain, NULL, "say what became of each section", NULL},
      {"--external-weights", SAMBA_OPTION_FLAG, &o.external_weights, NULL,
       "refer to the model's files instead of copying weights", NULL},
      {"--data-folder", SAMBA_OPTION_STRING, &o.data_folder, "DIR",
       "the folder in which the weights' files of a module must lie (default: the module's)", NULL},
      {0}};
  SambaStrings positional = {0};
  SambaArena arena = {0};
  const char **flags = sambaAllocate(sambaArraySize((size_t)argc + 1, sizeof *flags));

  argc = takeMlirFlags(argc, argv, flags);
  if (argc < 0)
    return 1;
  SambaStatus status = sambaCommandLineParse(argc, argv, table, &positional, &o.help);
  if (!status && o.help)
    sambaCommandLineHelp(
        "samba-compile MODEL(.onnx|.mlir) -o OUT.pef [options]",
        "Compiles a model into a PEF for the simulated RDU. MLIR's flags (--mlir-timing, "
        "--mlir-print-ir-after-all, ...) work too.",
        table);
  else if (!status && positional.size != 1)
    status = sambaStatusMake(SAMBA_INVALID,
                             "samba-compile wants one model, not %zu; --help lists the options",
                             positional.size);
  else if (!status)
    status = compile(&o, positional.data[0], &arena);
  free(flags);
  sambaArenaDestroy(&arena);
  sambaArrayFree(&positional);
  sambaArrayFree(&o.shapes);
  sambaArrayFree(&o.binds);

  return sambaReport(status);
}
