/* samba-gen: writes networks of any size as MLIR, weights absent: models to compile and measure.
 * They are built with the tracing API, as any program builds its own. */
#include "tools/samba-gen/network.h"

#include "support/file/atomic_file.h"

#include <samba/context.h>

static void (*const builders[])(const Network *network) = {buildLlama,  buildGpt2,   buildBert,
                                                           buildResnet, buildMatmul, buildChain};

static SambaStatus generate(SambaContext *context, const Options *options) {
  Network network = {sambaTraceCreate(context, "forward"), options};
  builders[options->model](&network);
  SambaStatus status = sambaTraceWrite(network.trace, options->output);
  sambaTraceDestroy(network.trace);
  return status;
}

static SambaStatus answer(void *user_data, const SambaStrings *positional, SambaArena *arena) {
  Options *options = user_data;
  SambaContext *context;
  (void)arena;

  if (positional->size != 1)
    return sambaStatusMake(SAMBA_INVALID, "samba-gen wants one model, not %zu; --help lists them",
                           positional->size);
  SAMBA_RETURN_IF_ERROR(optionsSettle(options, positional->data[0]));
  if (!options->output)
    return sambaStatusMake(SAMBA_INVALID, "samba-gen wants an output: -o FILE.mlir");

  SAMBA_RETURN_IF_ERROR(sambaContextCreate(&context));
  SambaStatus status = generate(context, options);
  sambaContextDestroy(context);
  return status;
}

static const char models[] =
    "models:\n"
    "  llama   decoder with RMS norms, rotary positions, gated feed-forward part (Llama-7B)\n"
    "  gpt2    decoder with layer norms and a head that is the embedding (GPT-2 small)\n"
    "  bert    encoder (BERT base)\n"
    "  resnet  convolutions in bottleneck blocks (ResNet-50)\n"
    "  matmul  one product of two matrices\n"
    "  chain   operators one after the other, no two alike\n"
    "Brackets say which models have an option, and what it is when it is not given. Weights have\n"
    "no data: samba-run takes them as --input NAME=FILE, and --timing-only wants none.";

int main(int argc, char **argv) {
  Options options;
  SambaArena arena = {0};
  const SambaTool tool = {
      .name = "samba-gen",
      .usage = "samba-gen llama|gpt2|bert|resnet|matmul|chain [options] -o FILE.mlir",
      .summary = "Writes a network of the sizes asked for as MLIR, for samba-compile.",
      .options = optionsTable(&options, &arena),
      .more = models};
  int code = sambaReport(sambaToolAnswer(&tool, argc, argv, answer, &options));
  sambaArenaDestroy(&arena);
  return code;
}
