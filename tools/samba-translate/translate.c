/* The translations of samba-translate: ONNX to the samba dialect, a model to linalg, placed and
 * routed rdu sections to a PEF. */
#include "tools/samba-translate/translate.h"

#include "backend/pef/container/writer.h"
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/text_sink.h"
#include "frontend/onnx/onnx.h"
#include "lowering/pef/rdu_to_pef.h"
#include "pipeline/compile.h"
#include "support/file/atomic_file.h"
#include "support/file/path.h"
#include "support/text/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
  const char *output, *data_folder, *weights, *f64;
  SambaStrings shapes, binds;
  bool onnx_to_samba, to_linalg, rdu_to_pef, external_weights, locations, attributes;
} Options;

static const char *const ours[] = {"--onnx-to-samba", "--to-linalg", "--rdu-to-pef",
                                   "-onnx-to-samba",  "-to-linalg",  "-rdu-to-pef",
                                   "--help",          "-h",          "--version"};

bool sambaTranslateWants(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    for (size_t k = 0; k < sizeof ours / sizeof *ours; ++k)
      if (!strcmp(argv[i], ours[k]))
        return true;
  return false;
}

/* A graph of the samba dialect. Paths of weights are seen from `folder`; NULL: from the current
 * one. */
static SambaStatus importOnnx(MlirContext context, const Options *request, const char *path,
                              const char *folder, MlirModule *out_module) {
  SambaOnnxImportOptions options = {.shapes = request->shapes.data,
                                    .shape_count = request->shapes.size,
                                    .binds = request->binds.data,
                                    .bind_count = request->binds.size,
                                    .f64 = request->f64,
                                    .output_folder = folder};
  return sambaOnnxImportModel(context, path, &options, NULL, NULL, out_module);
}

/* Layer names are no names for the values of a body: only arguments of functions keep theirs. */
static MlirWalkResult forgetLayers(MlirOperation operation, void *user_data) {
  (void)user_data;
  MlirLocation unknown = mlirLocationUnknownGet(mlirOperationGetContext(operation));
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(operation));
  mlirOperationSetLocation(operation, unknown);
  if (mlirStringRefEqual(name, mlirStringRefCreateFromCString("func.func")))
    return MlirWalkResultAdvance;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(operation); ++r)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(operation, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
        mlirBlockArgumentSetLocation(mlirBlockGetArgument(block, i), unknown);
  return MlirWalkResultAdvance;
}

/* The module as text; names: arguments are called by their names. */
static SambaStatus printModule(MlirModule module, const Options *request, bool names) {
  SambaText text = {0};
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  if (request->locations)
    mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
  if (names)
    mlirOpPrintingFlagsPrintNameLocAsPrefix(flags);
  if (names && !request->locations)
    mlirOperationWalk(mlirModuleGetOperation(module), forgetLayers, NULL, MlirWalkPreOrder);
  mlirOperationPrintWithFlags(mlirModuleGetOperation(module), flags, sambaTextSink, &text);
  sambaTextAppendC(&text, "\n");
  mlirOpPrintingFlagsDestroy(flags);
  SambaStatus status = sambaWriteOutput(request->output, text.data, text.size);
  sambaTextFree(&text);
  return status;
}

static SambaStatus onnxToSamba(MlirContext context, const Options *request, const char *path,
                               SambaArena *arena) {
  MlirModule module = {NULL};
  SambaStringRef folder = sambaPathFolder(request->output ? request->output : "");
  const char *from = folder.size ? sambaStringRefCopy(arena, folder).data : NULL;
  SambaStatus status = importOnnx(context, request, path, from, &module);
  if (!status)
    status = printModule(module, request, false);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  return status;
}

/* The passes of --to-linalg. Data lie in the model's folder or below. */
static SambaStatus linalgPasses(const Options *request, const char *path, bool onnx,
                                SambaArena *arena, const char **out_passes) {
  static const char *const forms[] = {"constants", "globals", "arguments", NULL};
  const char *weights = request->weights ? request->weights : "constants";
  const char *own = sambaStringRefCopy(arena, sambaPathFolder(path)).data;
  const char *inside = request->data_folder ? request->data_folder : own;
  if (!sambaStringRefIsOneOf(sambaStringRef(weights), forms))
    return sambaStatusMake(SAMBA_INVALID,
                           "--weights wants constants, globals or arguments, not '%s'", weights);
  if (strchr(own, '\'') || strchr(inside, '\''))
    return sambaStatusMake(SAMBA_INVALID, "%s: a folder with ' in its name; rename it", path);
  *out_passes = sambaArenaFormat(
      arena,
      "canonicalize,cse,samba-decompose-composites,canonicalize,cse,"
      "convert-samba-graphs-to-linalg{weights=%s attributes=%s folder='%s' data-folder='%s'},"
      "canonicalize,cse",
      weights, request->attributes ? "true" : "false", onnx ? "" : own, *inside ? inside : ".");
  return NULL;
}

static SambaStatus toLinalg(MlirContext context, const Options *request, const char *path,
                            SambaArena *arena) {
  SambaStringRef name = sambaStringRef(path);
  bool onnx = name.size > 5 && strcmp(path + name.size - 5, ".onnx") == 0;
  const char *passes;
  MlirModule module = {NULL};
  SAMBA_RETURN_IF_ERROR(linalgPasses(request, path, onnx, arena, &passes));
  SambaStatus status = onnx ? importOnnx(context, request, path, NULL, &module)
                            : sambaModuleParseFile(context, path, &module);
  if (!status)
    status = sambaModuleRunPasses(module, passes);
  if (!status)
    status = printModule(module, request, true);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  return status;
}

static SambaStatus rduToPef(MlirContext context, const Options *request, const char *path,
                            SambaArena *arena) {
  if (!request->output)
    return sambaStatusMake(SAMBA_INVALID, "--rdu-to-pef wants an output: -o OUT.pef");
  const char *folder = sambaStringRefCopy(arena, sambaPathFolder(path)).data;
  SambaEmitOptions options = {.folder = folder,
                              .data_folder = request->data_folder ? request->data_folder : folder,
                              .external_weights = request->external_weights};
  MlirModule module = {NULL};
  SambaPef *pef = NULL;
  SambaStatus status = sambaModuleParseFile(context, path, &module);

  if (!status)
    status = sambaModuleToPef(mlirModuleGetOperation(module), &options, &pef);
  if (!status)
    status = sambaPefWrite(pef, request->output);
  if (pef)
    sambaPefDestroy(pef);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  return status;
}

static SambaStatus translate(Options *options, const char *path, SambaArena *arena) {
  if (!options->rdu_to_pef && options->output && strcmp(options->output, "-") == 0)
    options->output = NULL; /* standard output */
  SAMBA_RETURN_IF_ERROR(sambaCheckOutput(options->output, path));

  MlirContext context = sambaCompilerContextCreate();
  sambaPrintRemarks(context);
  SambaStatus status;
  if (options->rdu_to_pef)
    status = rduToPef(context, options, path, arena);
  else if (options->to_linalg)
    status = toLinalg(context, options, path, arena);
  else
    status = onnxToSamba(context, options, path, arena);
  mlirContextDestroy(context);
  return status;
}

static SambaStatus answer(void *user_data, const SambaStrings *positional, SambaArena *arena) {
  Options *request = user_data;

  if (request->onnx_to_samba + request->to_linalg + request->rdu_to_pef != 1 ||
      positional->size != 1)
    return sambaStatusMake(SAMBA_INVALID, "samba-translate wants one of --onnx-to-samba, "
                                          "--to-linalg and --rdu-to-pef, and one input file");
  return translate(request, positional->data[0], arena);
}

int sambaTranslate(int argc, char **argv) {
  Options request = {0};
  const SambaOption table[] = {
      {"--onnx-to-samba", SAMBA_OPTION_FLAG, &request.onnx_to_samba, NULL,
       "an ONNX model as a graph of the samba dialect"},
      {"--to-linalg", SAMBA_OPTION_FLAG, &request.to_linalg, NULL,
       "a model (.onnx or samba in .mlir) as linalg, tensor, arith and "
       "math alone, for other compilers"},
      {"--weights", SAMBA_OPTION_STRING, &request.weights, "constants|globals|arguments",
       "--to-linalg: weights are constants (the default), globals "
       "(ml_program) or arguments behind the inputs"},
      {"--attributes", SAMBA_OPTION_FLAG, &request.attributes, NULL,
       "--to-linalg: keep Samba's attributes: names, where data lie"},
      {"--rdu-to-pef", SAMBA_OPTION_FLAG, &request.rdu_to_pef, NULL,
       "placed and routed rdu sections as a PEF"},
      {"-o", SAMBA_OPTION_STRING, &request.output, "FILE",
       "the file to write (but for --rdu-to-pef: default standard output)"},
      {"--shape", SAMBA_OPTION_STRINGS, &request.shapes, "NAME=1x3x8",
       "shape of a graph input with dynamic dimensions"},
      {"--bind", SAMBA_OPTION_STRINGS, &request.binds, "NAME=FILE",
       "that graph input is a constant known now (.npy or .pb)"},
      {"--f64", SAMBA_OPTION_STRING, &request.f64, "f32",
       "tensors of doubles become f32 (default: they are refused)"},
      {"--external-weights", SAMBA_OPTION_FLAG, &request.external_weights, NULL,
       "refer to the model's files instead of copying weights"},
      {"--data-folder", SAMBA_OPTION_STRING, &request.data_folder, "DIR",
       "the folder in which the weights' files must lie (default: the "
       "model's)"},
      {"--mlir-print-debuginfo", SAMBA_OPTION_FLAG, &request.locations, NULL,
       "print locations: layer names"},
      {0}};
  const SambaTool tool = {
      .name = "samba-translate",
      .usage = "samba-translate --onnx-to-samba MODEL.onnx [options]\n"
               "       samba-translate --to-linalg MODEL(.onnx|.mlir) [options]\n"
               "       samba-translate --rdu-to-pef FILE.mlir -o OUT.pef [options]",
      .summary = "Translates between Samba's forms.",
      .options = table,
      .more = "Without one of these translations it is mlir-translate; samba-translate "
              "--help-list shows its options."};

  for (int i = 1; i < argc; ++i) /* as MLIR's tools: one dash does, too */
    for (size_t k = 0; k < 3; ++k)
      if (!strcmp(argv[i], ours[3 + k]))
        argv[i] = (char *)ours[k];
  SambaStatus status = sambaToolAnswer(&tool, argc, argv, answer, &request);
  sambaArrayFree(&request.shapes);
  sambaArrayFree(&request.binds);
  return sambaReport(status);
}
