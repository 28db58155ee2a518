/* samba-compile: a model becomes a PEF. A thin client of libsamba's way from a model to a PEF. */
#include "dialect/bridge/work.h"
#include "dialect/rdu/machine_file.h"
#include "pipeline/compile.h"
#include "pipeline/explain.h"
#include "pipeline/register.h"
#include "support/base/memory.h"
#include "support/file/atomic_file.h"
#include "support/text/command_line.h"
#include "support/text/text.h"
#include "tools/libsamba/model.h"

#include "mlir-c/Diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *output, *data_folder, *target, *search_seconds, *mapping, *precision, *rules,
      *decisions, *dump_decisions, *dump, *print_machine, *loss, *optimizer, *freeze, *entry, *f64,
      *explain;
  SambaStrings shapes, binds;
  bool o0, o1, o3, inference, training, accumulate, io_host_memory, external_weights;
} Options;

/* Files that are read and written: each output is a file of its own. */
static SambaStatus checkFiles(const Options *options, const char *path, SambaArena *arena) {
  SambaStrings inputs = {0}, outputs = {0};
  SambaStatus status = NULL;
  sambaArrayAppend(&outputs, options->output);
  sambaArrayAppend(&outputs, sambaArenaFormat(arena, "%s.log", options->output));
  sambaArrayAppend(&outputs, options->dump_decisions);
  sambaArrayAppend(&inputs, path);
  sambaArrayAppend(&inputs, options->decisions);
  sambaArrayAppend(&inputs, options->target);

  for (size_t i = 0; !status && i < options->binds.size; ++i) {
    const char *name, *file;
    status = sambaSplitPair(arena, "--bind", options->binds.data[i], &name, &file);
    if (!status)
      sambaArrayAppend(&inputs, file);
  }
  if (!status)
    status = sambaCheckOutputs(&outputs, &inputs);
  sambaArrayFree(&inputs);
  sambaArrayFree(&outputs);
  return status;
}

static SambaStatus findMachine(MlirContext context, const char *option, const char *target,
                               SambaMachine *out_machine) {
  MlirAttribute attribute;
  return sambaStatusAnnotate(
      sambaTargetMachine(mlirLocationUnknownGet(context), target, out_machine, &attribute), "%s",
      option);
}

static SambaStatus printText(const char *text) {
  if (fputs(text, stdout) < 0 || fflush(stdout))
    return sambaStatusMake(SAMBA_IO, "standard output: cannot write");
  return NULL;
}

/* --explain=fields: what the fields of an explanation are. */
static SambaStatus printFields(void) {
  SambaText text = {0};
  sambaExplainFields(&text);
  SambaStatus status = printText(sambaTextGet(&text));
  sambaTextFree(&text);
  return status;
}

/* --print-machine: to -o FILE or standard output. */
static SambaStatus printMachine(const Options *options) {
  MlirContext context = sambaCompilerContextCreate();
  SambaMachine machine;
  SambaText text = {0};
  SambaStatus status = findMachine(context, "--print-machine", options->print_machine, &machine);

  if (!status)
    sambaMachinePrint(&machine, &text);
  if (!status)
    status = sambaWriteOutput(options->output, text.data, text.size);
  sambaTextFree(&text);
  mlirContextDestroy(context);
  return status;
}

static SambaStatus compileModel(MlirContext context, const Options *request, const char *path) {
  SambaMachine machine;
  if (request->target) /* a mistake in it is said before the model is read */
    SAMBA_RETURN_IF_ERROR(findMachine(context, "--target", request->target, &machine));

  const char *level = request->o0 ? "o0" : NULL;
  if (request->o3)
    level = "o3";
  SambaCompileOptions options = {.entry = request->entry,
                                 .target = request->target,
                                 .opt = level,
                                 .search_seconds = request->search_seconds,
                                 .mapping = request->mapping,
                                 .precision = request->precision,
                                 .rules = request->rules,
                                 .training = request->training,
                                 .accumulate_gradients = request->accumulate,
                                 .io_host_memory = request->io_host_memory,
                                 .loss = request->loss,
                                 .optimizer = request->optimizer,
                                 .freeze = request->freeze,
                                 .shape_count = request->shapes.size,
                                 .shapes = request->shapes.data,
                                 .bind_count = request->binds.size,
                                 .binds = request->binds.data,
                                 .f64 = request->f64,
                                 .external_weights = request->external_weights,
                                 .data_folder = request->data_folder,
                                 .decisions = request->decisions,
                                 .dump_decisions = request->dump_decisions,
                                 .dump = request->dump,
                                 .explain = request->explain && !request->explain[0]};
  SambaCompileOutput output = {.path = request->output,
                               .wants_explanation = request->explain && request->explain[0]};
  SambaStatus status = sambaModelCompile(context, &(SambaModel){.path = path}, &options,
                                         sambaApplyMlirFlags, &output);
  if (!status && output.explanation)
    status = printText(output.explanation);
  free(output.explanation);
  return status;
}

static SambaStatus compile(const Options *options, const char *path, SambaArena *arena) {
  if (!options->output)
    return sambaStatusMake(SAMBA_INVALID, "samba-compile wants an output: -o OUT.pef");
  SAMBA_RETURN_IF_ERROR(checkFiles(options, path, arena));
  if (options->training && options->inference)
    return sambaStatusMake(SAMBA_INVALID, "--training and --inference exclude each other");
  if (!options->training &&
      (options->loss || options->optimizer || options->freeze || options->accumulate))
    return sambaStatusMake(
        SAMBA_INVALID,
        "--loss, --optimizer, --freeze and --accumulate-gradients want --training too");
  if (options->o0 + options->o1 + options->o3 > 1)
    return sambaStatusMake(SAMBA_INVALID, "-O0, -O1 and -O3 exclude each other");
  if (options->search_seconds && !options->o3)
    return sambaStatusMake(SAMBA_INVALID, "--search-seconds is for -O3; give -O3 too");

  MlirContext context = sambaCompilerContextCreate();
  sambaPrintRemarks(context);
  SambaStatus status = compileModel(context, options, path);
  mlirContextDestroy(context);
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

static const char mlirFlags[] =
    "MLIR's own flags work too:\n"
    "  --mlir-print-ir-after-all     print the IR after every pass; also "
    "--mlir-print-ir-before-all,\n"
    "                                --mlir-print-ir-after=PASS, --mlir-print-ir-after-change\n"
    "  --mlir-print-ir-tree-dir=DIR  with these: one file per pass instead of standard error\n"
    "  --mlir-print-ir-module-scope  with these: always the whole module\n"
    "                                (wants --mlir-disable-threading)\n"
    "  --mlir-timing                 how long each pass took\n"
    "  --mlir-pass-statistics        what each pass counted\n"
    "  --mlir-pass-pipeline-crash-reproducer=FILE\n"
    "                                after a failure: input and pipeline, for samba-opt\n"
    "  --mlir-disable-threading      one thread: output in a fixed order";

/* Prints a machine, or compiles a model. */
static SambaStatus answer(void *user_data, const SambaStrings *positional, SambaArena *arena) {
  const Options *request = user_data;

  bool fields = request->explain && strcmp(request->explain, "fields") == 0;
  if (request->explain && request->explain[0] && !fields && strcmp(request->explain, "json") != 0)
    return sambaStatusMake(SAMBA_INVALID, "--explain is alone, or =json or =fields, not '=%s'",
                           request->explain);
  if (fields)
    return printFields();
  if (request->print_machine && positional->size)
    return sambaStatusMake(SAMBA_INVALID, "--print-machine compiles nothing; leave out '%s'",
                           positional->data[0]);
  if (request->print_machine)
    return printMachine(request);
  if (positional->size != 1)
    return sambaStatusMake(SAMBA_INVALID,
                           "samba-compile wants one model, not %zu; --help lists the options",
                           positional->size);
  return compile(request, positional->data[0], arena);
}

/* Long: the options are a table, which points at the variables beside it. */
int main(int argc, char **argv) {
  Options request = {0};
  const SambaOption table[] = {
      {"-o", SAMBA_OPTION_STRING, &request.output, "OUT.pef",
       "the PEF to write; OUT.pef.log beside it tells what was made"},
      {"--target", SAMBA_OPTION_STRING, &request.target, "sn40l|FILE",
       "a shipped machine (tiny, plasticine, sn10, sn40l) or a machine file (default sn40l)"},
      {"--print-machine", SAMBA_OPTION_STRING, &request.print_machine, "sn40l|FILE",
       "print the machine as a machine file and do nothing else: change it, give it to --target"},
      {"--shape", SAMBA_OPTION_STRINGS, &request.shapes, "NAME=1x3x8",
       "shape of a graph input with dynamic dimensions"},
      {"--bind", SAMBA_OPTION_STRINGS, &request.binds, "NAME=FILE",
       "that graph input is a constant known at compile time (.npy or .pb)"},
      {"--f64", SAMBA_OPTION_STRING, &request.f64, "f32",
       "ONNX: tensors of doubles become f32 (default: they are refused)"},
      {"--entry", SAMBA_OPTION_STRING, &request.entry, "NAME",
       "the function of an MLIR module that is compiled (default: every public one)"},
      {"-O0", SAMBA_OPTION_FLAG, &request.o0, NULL, "every operator its own section"},
      {"-O1", SAMBA_OPTION_FLAG, &request.o1, NULL, "fuse operators greedily (default)"},
      {"-O3", SAMBA_OPTION_FLAG, &request.o3, NULL,
       "search all sections and orders for the least predicted time"},
      {"--search-seconds", SAMBA_OPTION_STRING, &request.search_seconds, "N",
       "-O3: seconds for the search, counted by its work (default 3, with --training 15); then the "
       "best that it knows is taken"},
      {"--mapping", SAMBA_OPTION_STRING, &request.mapping, "section|spatial",
       "section: in parts that run one after the other (default); spatial: as one that stays on "
       "the chip, or not at all"},
      {"--precision", SAMBA_OPTION_STRING, &request.precision, "mp0|mp1|mp4",
       "f32 as the model says (mp0 or f32, the default), contractions in bf16 (mp1), all bf16 (mp4 "
       "or bf16)"},
      {"--inference", SAMBA_OPTION_FLAG, &request.inference, NULL,
       "compile for inference (default)"},
      {"--training", SAMBA_OPTION_FLAG, &request.training, NULL,
       "compile for training: forward, gradients, the optimizer's step"},
      {"--loss", SAMBA_OPTION_STRING, &request.loss, "NAME,..",
       "outputs that are losses (default: float outputs on which no other depends)"},
      {"--optimizer", SAMBA_OPTION_STRING, &request.optimizer, "sgd|adamw,KEY=VALUE,..|none",
       "sgd: lr, momentum, weight_decay, nesterov; adamw: lr, weight_decay, beta1, beta2, eps, "
       "max_grad_norm, fp32_params (none, the default: gradients only)"},
      {"--accumulate-gradients", SAMBA_OPTION_FLAG, &request.accumulate, NULL,
       "sum gradients until ZEROGRAD (samba-run --micro-batches)"},
      {"--freeze", SAMBA_OPTION_STRING, &request.freeze, "NAME,..", "weights that are not trained"},
      {"--io-host-memory", SAMBA_OPTION_FLAG, &request.io_host_memory, NULL,
       "inputs and outputs lie in host memory (default: in device memory, or as samba.mem says)"},
      {"--rules", SAMBA_OPTION_STRING, &request.rules, "FILE",
       "fusion rules (YAML), or those that come with Samba: llama, gpt2, bert, resnet"},
      {"--decisions", SAMBA_OPTION_STRING, &request.decisions, "FILE",
       "decisions to follow, by the names of layers"},
      {"--dump-decisions", SAMBA_OPTION_STRING, &request.dump_decisions, "FILE",
       "write what was decided, for --decisions"},
      {"--dump", SAMBA_OPTION_STRING, &request.dump, "DIR",
       "write stages, mappings and groups of each section to DIR/SECTION.plan.txt"},
      {"--explain", SAMBA_OPTION_CHOICE, &request.explain, "json|fields",
       "say what became of each section: remarks, or JSON on standard output; fields: what is "
       "said"},
      {"--external-weights", SAMBA_OPTION_FLAG, &request.external_weights, NULL,
       "refer to the model's files instead of copying weights"},
      {"--data-folder", SAMBA_OPTION_STRING, &request.data_folder, "DIR",
       "the folder in which the weights' files of a module must lie (default: the module's)"},
      {0}};
  const SambaTool tool = {
      .name = "samba-compile",
      .usage = "samba-compile MODEL(.onnx|.mlir|.mlirbc|-) -o OUT.pef [options]\n"
               "       samba-compile --print-machine=sn40l > FILE.mlir",
      .summary = "Compiles a model into a PEF, the program file of the simulated RDU.",
      .options = table,
      .more = mlirFlags};
  sambaKeepFreedMemory();
  const char **flags = sambaAllocate(sambaArraySize((size_t)argc + 1, sizeof *flags));

  sambaWorkPrintIfAskedFor(argc, argv);
  argc = takeMlirFlags(argc, argv, flags);
  int code = argc < 0 ? 1 : sambaReport(sambaToolAnswer(&tool, argc, argv, answer, &request));
  free(flags);
  sambaArrayFree(&request.shapes);
  sambaArrayFree(&request.binds);
  return code;
}
