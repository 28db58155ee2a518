/* The translations of samba-translate: ONNX to the samba dialect, placed and routed rdu sections to
 * a PEF. */
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
  const char *output, *data_folder;
  SambaStrings shapes, binds;
  bool onnx_to_samba, rdu_to_pef, external_weights, locations;
} Options;

static const char *const ours[] = {"--onnx-to-samba", "--rdu-to-pef", "-onnx-to-samba",
                                   "-rdu-to-pef",     "--help",       "-h",
                                   "--version"};

bool sambaTranslateWants(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    for (size_t k = 0; k < sizeof ours / sizeof *ours; ++k)
      if (!strcmp(argv[i], ours[k]))
        return true;
  return false;
}

static SambaStatus onnxToSamba(MlirContext context, const Options *request, const char *path) {
  MlirModule module = {NULL};
  SambaArena arena = {0};
  SambaStringRef folder = sambaPathFolder(request->output ? request->output : "");
  SambaOnnxImportOptions options = {
      .shapes = request->shapes.data,
      .shape_count = request->shapes.size,
      .binds = request->binds.data,
      .bind_count = request->binds.size,
      .output_folder = folder.size ? sambaStringRefCopy(&arena, folder).data : NULL};
  SambaStatus status = sambaOnnxImportModel(context, path, &options, NULL, NULL, &module);

  sambaArenaDestroy(&arena);
  if (!status) {
    SambaText text = {0};
    MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
    if (request->locations)
      mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
    mlirOperationPrintWithFlags(mlirModuleGetOperation(module), flags, sambaTextSink, &text);
    sambaTextAppendC(&text, "\n");
    mlirOpPrintingFlagsDestroy(flags);
    if (request->output)
      status = sambaWriteFile(request->output, text.data, text.size);
    else if (fwrite(text.data, 1, text.size, stdout) != text.size || fflush(stdout))
      status = sambaStatusMake(SAMBA_IO, "standard output: cannot write");
    sambaTextFree(&text);
  }

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
  if (options->onnx_to_samba && options->output && strcmp(options->output, "-") == 0)
    options->output = NULL; /* standard output */
  SAMBA_RETURN_IF_ERROR(sambaCheckOutput(options->output, path));

  MlirContext context = sambaCompilerContextCreate();
  SambaStatus status = options->onnx_to_samba ? onnxToSamba(context, options, path)
                                              : rduToPef(context, options, path, arena);
  mlirContextDestroy(context);
  return status;
}

static SambaStatus answer(void *user_data, const SambaStrings *positional, SambaArena *arena) {
  Options *request = user_data;

  if (request->onnx_to_samba == request->rdu_to_pef || positional->size != 1)
    return sambaStatusMake(
        SAMBA_INVALID,
        "samba-translate wants one of --onnx-to-samba and --rdu-to-pef, and one input file");
  return translate(request, positional->data[0], arena);
}

int sambaTranslate(int argc, char **argv) {
  Options request = {0};
  const SambaOption table[] = {{"--onnx-to-samba", SAMBA_OPTION_FLAG, &request.onnx_to_samba, NULL,
                                "an ONNX model as a graph of the samba dialect"},
                               {"--rdu-to-pef", SAMBA_OPTION_FLAG, &request.rdu_to_pef, NULL,
                                "placed and routed rdu sections as a PEF"},
                               {"-o", SAMBA_OPTION_STRING, &request.output, "FILE",
                                "the file to write (--onnx-to-samba: default standard output)"},
                               {"--shape", SAMBA_OPTION_STRINGS, &request.shapes, "NAME=1x3x8",
                                "shape of a graph input with dynamic dimensions"},
                               {"--bind", SAMBA_OPTION_STRINGS, &request.binds, "NAME=FILE",
                                "that graph input is a constant known now (.npy or .pb)"},
                               {"--external-weights", SAMBA_OPTION_FLAG, &request.external_weights,
                                NULL, "refer to the model's files instead of copying weights"},
                               {"--data-folder", SAMBA_OPTION_STRING, &request.data_folder, "DIR",
                                "--rdu-to-pef: the folder in which the weights' files must lie "
                                "(default: the module's)"},
                               {"--mlir-print-debuginfo", SAMBA_OPTION_FLAG, &request.locations,
                                NULL, "print locations: layer names"},
                               {0}};
  const SambaTool tool = {
      .name = "samba-translate",
      .usage = "samba-translate --onnx-to-samba MODEL.onnx [options]\n"
               "       samba-translate --rdu-to-pef FILE.mlir -o OUT.pef [options]",
      .summary = "Translates between Samba's forms.",
      .options = table,
      .more = "Without one of these two translations it is mlir-translate; samba-translate "
              "--help-list shows its options."};

  for (int i = 1; i < argc; ++i) /* as MLIR's tools: one dash does, too */
    if (!strcmp(argv[i], "-onnx-to-samba") || !strcmp(argv[i], "-rdu-to-pef"))
      argv[i] = (char *)(argv[i][1] == 'o' ? ours[0] : ours[1]);
  SambaStatus status = sambaToolAnswer(&tool, argc, argv, answer, &request);
  sambaArrayFree(&request.shapes);
  sambaArrayFree(&request.binds);
  return sambaReport(status);
}
