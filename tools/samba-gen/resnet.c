/* ResNet of bottleneck blocks, 1x1 3x3 1x1, with the stride at the 3x3. Names are those of
 * torchvision's resnet50. */
#include "tools/samba-gen/network.h"

#include <stdio.h>

enum { EXPANSION = 4, LONGEST_LAYER = 64 };

static SambaTraceValue *addNorm(const Network *network, SambaTraceValue *x, const char *layer) {
  static const char *const names[] = {"weight", "bias", "running_mean", "running_var"};
  const int64_t channels = dimOf(x, 1);
  SambaTraceValue *values[4];
  beginLayer(network, "%s", layer);
  for (int i = 0; i < 4; ++i)
    values[i] = addWeight(network, layer, names[i], 1, &channels);
  return sambaBatchNorm(x, values[0], values[1], values[2], values[3], 1e-5);
}

/* A convolution whose windows lie around each pixel, and its normalization: an operator, or folded
 * into weight and bias. */
static SambaTraceValue *addConv(const Network *network, SambaTraceValue *x, const char *block,
                                const char *conv, const char *norm, int64_t outputs, int64_t window,
                                int64_t step) {
  const int64_t pad = window / 2;
  const SambaWindowOptions window_options = {.stride = (int64_t[]){step, step},
                                             .padding = (int64_t[]){pad, pad, pad, pad}};
  char layer[LONGEST_LAYER];
  snprintf(layer, sizeof layer, "%s%s", block, conv);
  beginLayer(network, "%s", layer);

  SambaTraceValue *weight =
      addWeight(network, layer, "weight", 4, (int64_t[]){outputs, dimOf(x, 1), window, window});
  if (!network->options->batch_norm)
    return sambaConv(x, weight, addWeight(network, layer, "bias", 1, &outputs), &window_options);
  x = sambaConv(x, weight, NULL, &window_options);
  snprintf(layer, sizeof layer, "%s%s", block, norm);
  return addNorm(network, x, layer);
}

static SambaTraceValue *addBlock(const Network *network, SambaTraceValue *x, const char *block,
                                 int64_t width, int64_t step, bool first) {
  SambaTraceValue *y = sambaRelu(addConv(network, x, block, "conv1", "bn1", width, 1, 1));
  y = sambaRelu(addConv(network, y, block, "conv2", "bn2", width, 3, step));
  y = addConv(network, y, block, "conv3", "bn3", EXPANSION * width, 1, 1);
  if (first)
    x = addConv(network, x, block, "downsample.0", "downsample.1", EXPANSION * width, 1, step);
  return sambaRelu(sambaAdd(y, x));
}

void buildResnet(const Network *network) {
  const Options *options = network->options;
  const int64_t image[] = {options->batch, 3, options->size, options->size};
  SambaTraceValue *x = sambaTraceInput(network->trace, "images", options->type, 4, image);
  x = sambaRelu(addConv(network, x, "", "conv1", "bn1", options->width, 7, 2));
  beginLayer(network, "maxpool");
  x = sambaMaxPool(x, &(SambaWindowOptions){.kernel = (int64_t[]){3, 3},
                                            .stride = (int64_t[]){2, 2},
                                            .padding = (int64_t[]){1, 1, 1, 1}});

  for (size_t stage = 0; stage < options->stage_count; ++stage)
    for (int64_t i = 0; i < options->stage_blocks[stage]; ++i) {
      char block[LONGEST_LAYER / 2];
      snprintf(block, sizeof block, "layer%zu.%lld.", stage + 1, (long long)i);
      x = addBlock(network, x, block, options->width << stage, stage && !i ? 2 : 1, !i);
    }

  beginLayer(network, "avgpool");
  x = sambaReshape(sambaMean(x, 2, (int64_t[]){2, 3}, true), 2,
                   (int64_t[]){options->batch, dimOf(x, 1)});
  sambaTraceOutput(network->trace, "logits", addLinear(network, x, "fc", options->classes, true));
}
