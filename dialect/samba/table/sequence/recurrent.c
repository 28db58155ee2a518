/* Recurrent layers as compositions: lstm, gru, rnn.
 *
 * The input's part of all gates and steps is one contraction; then one cell per step. Steps beyond
 * a row's length keep its states and give 0 as y. A long sequence runs in blocks that read their
 * part of the input by an index in memory: all blocks are then one section, configured once. */
#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/sequence/recurrent_activation.h"

#include <stdio.h>

enum { NO_OPERAND = -1, LEAST_BLOCK = 4, MOST_BLOCK = 16, BLOCK_BYTES = 1 << 22 };

typedef struct {
  const SambaRecurrentForm *form;
  SambaActivation activations[SAMBA_MAX_ACTIVATIONS];
  uint32_t directions;
  bool reverse; /* of the only direction */
  bool batchFirst;
  int32_t bias, lengths, initial, peepholes;
  int64_t steps, batch, inputs, hidden, gates; /* gates: times hidden */
} Layer;

static SambaStatus directionOf(const SambaOperatorCall *call, Layer *layer) {
  enum { FORWARD, REVERSE, BIDIRECTIONAL };
  uint32_t direction;
  SAMBA_RETURN_IF_ERROR(sambaCheckChoice(3, call, "direction", &direction));
  layer->directions = direction == BIDIRECTIONAL ? 2 : 1;
  layer->reverse = direction == REVERSE;
  return NULL;
}

/* The operands that flags ask for, from the fourth on. */
static SambaStatus optionalOperands(const SambaOperatorCall *call, Layer *out) {
  const SambaTensorType *x = &call->operands[0];
  int64_t directions = out->directions;
  int64_t gates = out->gates;
  int64_t hidden = out->hidden;
  int64_t batch = out->batch;
  int64_t outer = out->batchFirst ? batch : directions;
  int64_t inner = out->batchFirst ? directions : batch;
  const struct {
    const char *flag, *what;
    int32_t *operand;
    uint32_t count, rank;
    int64_t dims[3];
  } parts[] = {
      {"bias", "the bias", &out->bias, 1, 2, {directions, 2 * gates}},
      {"lengths", "the lengths", &out->lengths, 1, 1, {batch}},
      {"initial", "the initial state", &out->initial, out->form->states, 3, {outer, inner, hidden}},
      {"peepholes", "the peephole weight", &out->peepholes, 1, 2, {directions, 3 * hidden}}};
  uint32_t next = 3;

  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (!sambaRecurrentFlag(call, parts[i].flag))
      continue;
    *parts[i].operand = (int32_t)next;
    for (uint32_t k = 0; k < parts[i].count; ++k, ++next) {
      if (next >= call->operand_count)
        continue;
      const SambaTensorType *type = &call->operands[next];
      if (parts[i].operand == &out->lengths)
        SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, parts[i].what, type->dtype, SAMBA_SET_INDEX));
      else
        SAMBA_RETURN_IF_ERROR(
            sambaCheckSameDType(1, parts[i].what, type->dtype, "the input", x->dtype));
      SAMBA_RETURN_IF_ERROR(sambaCheckShape(2, parts[i].what, type, parts[i].rank, parts[i].dims));
    }
  }

  return sambaRecurrentOperands(5, call, next);
}

static SambaStatus layerOf(const SambaOperatorCall *call, Layer *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *w = &call->operands[1];
  const SambaTensorType *r = &call->operands[2];
  const SambaRecurrentForm *form = sambaRecurrentForm(call);

  *out = (Layer){.form = form,
                 .batchFirst = sambaRecurrentFlag(call, "batch_first"),
                 .bias = NO_OPERAND,
                 .lengths = NO_OPERAND,
                 .initial = NO_OPERAND,
                 .peepholes = NO_OPERAND};
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the input", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(
      sambaCheckSameDType(1, "the input weight", w->dtype, "the input", x->dtype));
  SAMBA_RETURN_IF_ERROR(
      sambaCheckSameDType(1, "the recurrent weight", r->dtype, "the input", x->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the input", x, 3, 3));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the recurrent weight", r, 3, 3));
  SAMBA_RETURN_IF_ERROR(directionOf(call, out));
  int64_t directions = out->directions;
  out->steps = x->dims[out->batchFirst ? 1 : 0], out->batch = x->dims[out->batchFirst ? 0 : 1];
  out->inputs = x->dims[2], out->hidden = r->dims[2];
  if (sambaMulOverflows(out->hidden, form->gates, &out->gates))
    out->gates = 0; /* refused below */
  int64_t gates = out->gates;
  int64_t hidden = out->hidden;
  SAMBA_RETURN_IF_ERROR(
      sambaCheckShape(2, "the recurrent weight", r, 3, (int64_t[]){directions, gates, hidden}));
  SAMBA_RETURN_IF_ERROR(
      sambaCheckShape(2, "the input weight", w, 3, (int64_t[]){directions, gates, out->inputs}));
  SAMBA_RETURN_IF_ERROR(
      sambaRecurrentActivations(3, call, out->directions * form->functions, out->activations));
  SAMBA_RETURN_IF_ERROR(sambaRecurrentClip(4, call));
  return optionalOperands(call, out);
}

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  Layer layer;
  SAMBA_RETURN_IF_ERROR(layerOf(call, &layer));
  int64_t directions = layer.directions;
  SambaTensorType y = {.dtype = call->operands[0].dtype,
                       .rank = 4,
                       .dims = {layer.steps, directions, layer.batch, layer.hidden}};
  SambaTensorType state = {
      .dtype = y.dtype, .rank = 3, .dims = {directions, layer.batch, layer.hidden}};
  if (layer.batchFirst) {
    y = (SambaTensorType){y.dtype, 4, {layer.batch, layer.steps, directions, layer.hidden}};
    state = (SambaTensorType){y.dtype, 3, {layer.batch, directions, layer.hidden}};
  }

  out[0] = y;
  for (uint32_t i = 0; i < layer.form->states; ++i)
    out[1 + i] = state;
  return NULL;
}

/* One layer while it is written. */
typedef struct {
  Layer layer;
  const SambaOperatorCall *call;
  SambaExpansion *expansion;
  const uint32_t *operands;
  bool late;          /* gru: linear_before_reset */
  uint32_t projected; /* [T, B, D gates] or, batch first, [B, T, D gates], f32 */
  uint32_t late_bias; /* [D, gates], f32: added to h's product (late, with a bias) */
  uint32_t active;    /* [T, B, 1], i1 (with lengths) */
} Writer;

/* From bias[D, 2 gates]: what is added with the input, [D gates]. */
static uint32_t projectedBias(Writer *writer) {
  const Layer *layer = &writer->layer;
  SambaExpansion *expansion = writer->expansion;
  uint32_t both = sambaExpandCast(expansion, writer->operands[layer->bias], SAMBA_DTYPE_F32);
  uint32_t of_input = sambaExpandSlice(expansion, both, 1, 0, layer->gates, 1);
  uint32_t ofState = writer->late_bias =
      sambaExpandSlice(expansion, both, 1, layer->gates, layer->gates, 1);
  uint32_t sum;

  if (writer->late) { /* the candidate's part waits for the reset */
    uint32_t gates = sambaExpandBinary(
        expansion, "add", sambaExpandSlice(expansion, of_input, 1, 0, 2 * layer->hidden, 1),
        sambaExpandSlice(expansion, ofState, 1, 0, 2 * layer->hidden, 1));
    uint32_t parts[] = {
        gates, sambaExpandSlice(expansion, of_input, 1, 2 * layer->hidden, layer->hidden, 1)};
    sum = sambaExpandCat(expansion, 2, parts, 1);
  } else {
    sum = sambaExpandBinary(expansion, "add", of_input, ofState);
  }

  return sambaExpandReshape(expansion, sum, 1, (int64_t[]){layer->directions * layer->gates});
}

static void project(Writer *writer) {
  const Layer *layer = &writer->layer;
  SambaExpansion *expansion = writer->expansion;
  uint32_t weight =
      sambaExpandReshape(expansion, writer->operands[1], 2,
                         (int64_t[]){layer->directions * layer->gates, layer->inputs});
  uint32_t operands[] = {writer->operands[0], weight, layer->bias < 0 ? 0 : projectedBias(writer)};
  SambaAttribute f32 = sambaDTypeAttribute("out_dtype", SAMBA_DTYPE_F32);
  writer->projected =
      sambaExpandCall(expansion, "linear", layer->bias < 0 ? 2 : 3, operands, 1, &f32);
}

/* steps[t] < lengths[b] as [T, B, 1] */
static void mask(Writer *writer) {
  const Layer *layer = &writer->layer;
  SambaExpansion *expansion = writer->expansion;
  double *numbers = SAMBA_ARENA_ARRAY(expansion->arena, double, (size_t)layer->steps);
  for (int64_t t = 0; t < layer->steps; ++t)
    numbers[t] = (double)t;
  uint32_t lengths = sambaExpandReshape(expansion, writer->operands[layer->lengths], 3,
                                        (int64_t[]){1, layer->batch, 1});
  uint32_t steps = sambaExpandNumbers(expansion, sambaExpansionType(expansion, lengths)->dtype, 3,
                                      (int64_t[]){layer->steps, 1, 1}, numbers);
  writer->active = sambaExpandBinary(expansion, "lt", steps, lengths);
}

/* One direction while its steps are written. */
typedef struct {
  uint32_t number;
  bool reverse;
  uint32_t states[2], weight, bias, peepholes; /* each [1, ..] */
  SambaAttribute attributes[8];
  uint32_t attribute_count;
} Direction;

static void flag(Direction *direction, const char *name, bool value) {
  if (value)
    direction->attributes[direction->attribute_count++] = sambaBoolAttribute(name, true);
}

static Direction beginDirection(const Writer *writer, uint32_t number) {
  const Layer *layer = &writer->layer;
  SambaExpansion *expansion = writer->expansion;
  uint32_t functions = layer->form->functions;

  Direction direction = {.number = number, .reverse = number == 1 || layer->reverse};
  for (uint32_t i = 0; i < layer->form->states; ++i) {
    if (layer->initial < 0) {
      SambaTensorType type = {SAMBA_DTYPE_F32, 3, {1, layer->batch, layer->hidden}};
      direction.states[i] = sambaExpandConstant(expansion, &type, &(float){0}, true);
      continue;
    }
    uint32_t initial = sambaExpandSlice(expansion, writer->operands[layer->initial + (int32_t)i],
                                        layer->batchFirst ? 1 : 0, number, 1, 1);
    if (layer->batchFirst)
      initial = sambaExpandPermute(expansion, initial, (int64_t[]){1, 0, 2});
    direction.states[i] = sambaExpandCast(expansion, initial, SAMBA_DTYPE_F32);
  }

  direction.weight = sambaExpandSlice(expansion, writer->operands[2], 0, number, 1, 1);
  if (writer->late && layer->bias >= 0)
    direction.bias =
        sambaExpandSlice(expansion, sambaExpandSlice(expansion, writer->late_bias, 0, number, 1, 1),
                         1, 2 * layer->hidden, layer->hidden, 1);
  if (layer->peepholes >= 0)
    direction.peepholes =
        sambaExpandSlice(expansion, writer->operands[layer->peepholes], 0, number, 1, 1);
  const SambaActivation *first = &layer->activations[number * functions];
  const SambaActivation *last = first + functions - 1;
  SambaAttribute text = sambaStringAttribute("activations", "");
  text.value.string = sambaStringRef(layer->form->activations);
  if (sambaOperatorCallFind(writer->call, "activations"))
    text.value.string = (SambaStringRef){
        first->text.data, (size_t)(last->text.data + last->text.size - first->text.data)};
  direction.attributes[direction.attribute_count++] = text;
  if (sambaOperatorCallFloat(writer->call, "clip") > 0)
    direction.attributes[direction.attribute_count++] =
        *sambaOperatorCallFind(writer->call, "clip");
  flag(&direction, "linear_before_reset", writer->late);
  flag(&direction, "bias", writer->late && layer->bias >= 0);
  flag(&direction, "input_forget", sambaRecurrentFlag(writer->call, "input_forget"));
  flag(&direction, "peepholes", layer->peepholes >= 0);
  flag(&direction, "active", layer->lengths >= 0);

  return direction;
}

/* The step at `position` of a block of projections (and of masks). */
static uint32_t step(const Writer *writer, Direction *direction, uint32_t projections,
                     uint32_t masks, int64_t position) {
  const Layer *layer = &writer->layer;
  SambaExpansion *expansion = writer->expansion;
  uint32_t x = sambaExpandSlice(expansion, projections, layer->batchFirst ? 1 : 0, position, 1, 1);

  if (layer->batchFirst)
    x = sambaExpandPermute(expansion, x, (int64_t[]){1, 0, 2});
  uint32_t operands[7] = {x, direction->states[0]};
  uint32_t count = 2;
  if (layer->form->states == 2)
    operands[count++] = direction->states[1];
  operands[count++] = direction->weight;
  if (writer->late && layer->bias >= 0)
    operands[count++] = direction->bias;
  if (layer->peepholes >= 0)
    operands[count++] = direction->peepholes;
  if (layer->lengths >= 0)
    operands[count++] = sambaExpandSlice(expansion, masks, 0, position, 1, 1);
  uint32_t first = sambaExpandCall(expansion, layer->form->cell, count, operands,
                                   direction->attribute_count, direction->attributes);
  for (uint32_t i = 0; i < layer->form->states; ++i)
    direction->states[i] = first + i;
  return direction->states[0];
}

/* All h of `count` steps from position `first` of the projections on, in order of time: [count, B,
 * H]. */
static uint32_t run(const Writer *writer, Direction *direction, uint32_t projections,
                    uint32_t masks, int64_t first, int64_t count) {
  uint32_t *outputs = SAMBA_ARENA_ARRAY(writer->expansion->arena, uint32_t, (size_t)count);
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = direction->reverse ? count - 1 - i : i;
    outputs[position] = step(writer, direction, projections, masks, first + position);
  }
  return sambaExpandCat(writer->expansion, (uint32_t)count, outputs, 0);
}

static uint32_t pick(SambaExpansion *expansion, uint32_t x, uint32_t indices, uint32_t dim) {
  SambaAttribute attribute = sambaIntAttribute("dim", dim);
  return sambaExpandCall(expansion, "index_select", 2, (uint32_t[]){x, indices}, 1, &attribute);
}

/* A block's steps: as many as are likely to share a section, each with its own copy of the weight.
 * A divisor of the sequence where there is one near, else the last block is shorter. */
static int64_t blockOf(const Layer *layer) {
  int64_t most = BLOCK_BYTES / (4 * layer->gates * layer->hidden);
  int64_t steps = layer->steps;
  if (most < LEAST_BLOCK)
    most = LEAST_BLOCK;
  if (most > MOST_BLOCK)
    most = MOST_BLOCK;
  if (steps <= most)
    return steps;
  for (int64_t size = most; size > most / 2; --size)
    if (steps % size == 0)
      return size;
  return most;
}

/* y of one direction: [T, 1, B, H]. */
static uint32_t runDirection(const Writer *writer, Direction *direction) {
  const Layer *layer = &writer->layer;
  SambaExpansion *expansion = writer->expansion;
  int64_t size = blockOf(layer);
  int64_t blocks = layer->steps / size;
  int64_t rest = layer->steps % size;
  uint32_t gateAxis = 2;
  uint32_t timeAxis = layer->batchFirst ? 1 : 0;
  uint32_t mine = sambaExpandSlice(expansion, writer->projected, gateAxis,
                                   direction->number * layer->gates, layer->gates, 1);
  uint32_t *outputs = SAMBA_ARENA_ARRAY(expansion->arena, uint32_t, (size_t)blocks + 1);
  uint32_t all;

  if (blocks == 1 && rest == 0) {
    all = run(writer, direction, mine, writer->active, 0, layer->steps);
  } else {
    /* Blocks in order of time; in reverse the shorter one at the end comes first. */
    if (rest && direction->reverse)
      outputs[blocks] = run(writer, direction, mine, writer->active, blocks * size, rest);
    double *numbers = SAMBA_ARENA_ARRAY(expansion->arena, double, (size_t)size);
    for (int64_t i = 0; i < size; ++i)
      numbers[i] = (double)(i + (direction->reverse ? (blocks - 1) * size : 0));
    uint32_t indices = sambaExpandNumbers(expansion, SAMBA_DTYPE_I32, 1, &size, numbers);
    for (int64_t i = 0; i < blocks; ++i) {
      sambaExpandSectionStart(expansion);
      uint32_t projections = pick(expansion, mine, indices, timeAxis);
      uint32_t masks = layer->lengths < 0 ? 0 : pick(expansion, writer->active, indices, 0);
      outputs[direction->reverse ? blocks - 1 - i : i] =
          run(writer, direction, projections, masks, 0, size);
      if (i + 1 < blocks)
        indices = sambaExpandWithNumber(expansion, "add", indices,
                                        (double)(direction->reverse ? -size : size));
    }
    sambaExpandSectionStart(expansion);
    if (rest && !direction->reverse)
      outputs[blocks] = run(writer, direction, mine, writer->active, blocks * size, rest);
    all = sambaExpandCat(expansion, (uint32_t)(blocks + (rest != 0)), outputs, 0);
  }

  return sambaExpandReshape(expansion, all, 4,
                            (int64_t[]){layer->steps, 1, layer->batch, layer->hidden});
}

static SambaStatus decompose(const SambaOperatorCall *call, SambaExpansion *expansion,
                             const uint32_t *operands, uint32_t *out_results) {
  Writer state = {.call = call,
                  .expansion = expansion,
                  .operands = operands,
                  .late = sambaRecurrentFlag(call, "linear_before_reset")};
  Writer *writer = &state;
  SAMBA_RETURN_IF_ERROR(layerOf(call, &writer->layer));
  const Layer *layer = &writer->layer;
  SambaDType dtype = call->operands[0].dtype;

  project(writer);
  if (layer->lengths >= 0)
    mask(writer);
  uint32_t outputs[2], states[2][2];

  for (uint32_t number = 0; number < layer->directions; ++number) {
    Direction direction = beginDirection(writer, number);
    outputs[number] = runDirection(writer, &direction);
    for (uint32_t i = 0; i < layer->form->states; ++i)
      states[i][number] = direction.states[i];
  }

  uint32_t y = sambaExpandCat(expansion, layer->directions, outputs, 1);
  if (layer->lengths >= 0) {
    uint32_t active = sambaExpandReshape(expansion, writer->active, 4,
                                         (int64_t[]){layer->steps, 1, layer->batch, 1});
    y = sambaExpandCall(expansion, "where", 3,
                        (uint32_t[]){active, y, sambaExpandScalar(expansion, SAMBA_DTYPE_F32, 0)},
                        0, NULL);
  }

  y = sambaExpandCast(expansion, y, dtype);
  out_results[0] =
      layer->batchFirst ? sambaExpandPermute(expansion, y, (int64_t[]){2, 0, 1, 3}) : y;
  for (uint32_t i = 0; i < layer->form->states; ++i) {
    uint32_t state = sambaExpandCast(
        expansion, sambaExpandCat(expansion, layer->directions, states[i], 0), dtype);
    out_results[1 + i] =
        layer->batchFirst ? sambaExpandPermute(expansion, state, (int64_t[]){1, 0, 2}) : state;
  }

  return NULL;
}

#define LAYER_TEXT(gates, more)                                                                    \
  "x is T x B x I (batch_first: B x T x I), w is D x gates H x I, r is D x gates H x H, " gates    \
  ". Then, where the flag is true: bias D x 2 gates H (of w's product, then of "                   \
  "r's), lengths B" more ". D is 1, or 2 when direction is \"bidirectional\". The first result "   \
  "is T x D x B x H (batch_first: B x T x D x H), 0 beyond a row's length; the others are the "    \
  "last states. Composite. `activations` lists functions of each direction, such as `relu, "       \
  "leaky_relu(0.1)`; clip bounds their arguments."
#define LAYER_ATTRIBUTES                                                                           \
  CHOICE("direction", "forward", "forward, reverse, bidirectional"),                               \
      BOOL("bias", false, "there is a bias"), BOOL("lengths", false, "there are lengths"),         \
      BOOL("initial", false, "there are initial states, else they are 0"),                         \
      BOOL("batch_first", false, "the batch is the first dimension, else the second"),             \
      OPTIONAL(STRING, "activations", "absent: those that the layer is known for"),                \
      FLOAT("clip", 0, "0: no bound")
#define LAYER                                                                                      \
  .constraints = {"x, w, r have one float dtype, the others too (lengths: i32 or i64)",            \
                  "shapes as said",                                                                \
                  "direction and activations are known, as many activations as the layer has",     \
                  "clip is 0 (none) or more", "as many operands as flags ask for"},                \
  .source = "ONNX's operator of that name; torch.nn.LSTM, GRU, RNN", .dtypes = SAMBA_SET_FLOAT,    \
  .infer = infer, .decompose = decompose

const SambaOperator sambaRecurrentOperators[] = {
    {.name = "lstm",
     .summary = "long short-term memory: c = f c + i g, h = o h(c)",
     .computes =
         LAYER_TEXT("gates in the order i, o, f, c",
                    ", the initial states D x B x H (h, then c), peepholes D x 3 H (i, o, f)"),
     .operands = {"input", "weight", "recurrent", "bias?", "lengths?", "initial_h?", "initial_c?",
                  "peepholes?"},
     .results = {"result", "hidden", "cell"},
     .attributes = {LAYER_ATTRIBUTES, BOOL("peepholes", false, "there are peepholes"),
                    BOOL("input_forget", false, "the forget gate is 1 - i")},
     .example = "%y, %h, %c = samba.lstm %x, %w, %r {direction = \"reverse\"} : tensor<5x2x3xf32>, "
                "tensor<1x16x3xf32>, tensor<1x16x4xf32>",
     .opcode = SAMBA_RECURRENT_LSTM,
     LAYER},
    {.name = "gru",
     .summary = "gated recurrent unit: h = (1 - z) n + z h",
     .computes = LAYER_TEXT("gates in the order z, r, h", ", the initial states D x B x H"),
     .operands = {"input", "weight", "recurrent", "bias?", "lengths?", "initial_h?"},
     .results = {"result", "hidden"},
     .attributes = {LAYER_ATTRIBUTES,
                    BOOL("linear_before_reset", false, "reset after the product")},
     .example = "%y, %h = samba.gru %x, %w, %r : tensor<5x2x3xf32>, tensor<1x12x3xf32>, "
                "tensor<1x12x4xf32>",
     .opcode = SAMBA_RECURRENT_GRU,
     LAYER},
    {.name = "rnn",
     .summary = "h = f(w x + r h + bias)",
     .computes = LAYER_TEXT("one gate", ", the initial states D x B x H"),
     .operands = {"input", "weight", "recurrent", "bias?", "lengths?", "initial_h?"},
     .results = {"result", "hidden"},
     .attributes = {LAYER_ATTRIBUTES},
     .example = "%y, %h = samba.rnn %x, %w, %r {activations = \"relu\"} : tensor<5x2x3xf32>, "
                "tensor<1x4x3xf32>, tensor<1x4x4xf32>",
     .opcode = SAMBA_RECURRENT_RNN,
     LAYER},
    {0}};
