/* One step of a recurrent layer: lstm_cell, gru_cell, rnn_cell. What the input adds to the gates is
 * already there.
 *
 * Numerics: states are f32; h is rounded to the weight's dtype before it is multiplied; everything
 * else is f32. */
#include "dialect/samba/table/sequence/recurrent_activation.h"

enum { NO_OPERAND = -1 };
typedef struct {
  const SambaRecurrentForm *form;
  SambaActivation activations[SAMBA_MAX_ACTIVATIONS];
  double clip;
  bool coupled, late; /* input_forget, linear_before_reset */
  int32_t bias, peepholes, active;
  int64_t batch, hidden;
} Cell;

/* The operands that flags ask for. */
static SambaStatus optionalOperands(const SambaOperatorCall *call, Cell *out) {
  int64_t hidden = out->hidden;
  uint32_t next = out->form->states + 2;
  const struct {
    const char *flag, *what;
    int32_t *operand;
    uint32_t dtypes, rank;
    int64_t dims[3];
  } parts[] = {
      {"bias", "the bias", &out->bias, 1 << SAMBA_DTYPE_F32, 2, {1, hidden}},
      {"peepholes", "the peephole weight", &out->peepholes, SAMBA_SET_FLOAT, 2, {1, 3 * hidden}},
      {"active", "the mask", &out->active, SAMBA_SET_BOOL, 3, {1, out->batch, 1}}};

  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (!sambaRecurrentFlag(call, parts[i].flag))
      continue;
    if (next < call->operand_count) {
      SAMBA_RETURN_IF_ERROR(
          sambaCheckDType(1, parts[i].what, call->operands[next].dtype, parts[i].dtypes));
      SAMBA_RETURN_IF_ERROR(
          sambaCheckShape(2, parts[i].what, &call->operands[next], parts[i].rank, parts[i].dims));
    }

    *parts[i].operand = (int32_t)next++;
  }

  if (out->bias >= 0 && !out->late)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C5) a bias is added to the product only with linear_before_reset");
  return sambaRecurrentOperands(5, call, next);
}

static SambaStatus cellOf(const SambaOperatorCall *call, Cell *out) {
  const SambaRecurrentForm *form = sambaRecurrentForm(call);
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *weight = &call->operands[1 + form->states];

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "operand 0", x->dtype, 1 << SAMBA_DTYPE_F32));
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the weight", weight->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "operand 0", x, 3, 3));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the weight", weight, 3, 3));
  int64_t hidden = weight->dims[2];
  int64_t gates = form->gates;
  int64_t batch = x->dims[1];
  *out = (Cell){.form = form,
                .clip = sambaOperatorCallFloat(call, "clip"),
                .coupled = sambaRecurrentFlag(call, "input_forget"),
                .late = sambaRecurrentFlag(call, "linear_before_reset"),
                .bias = NO_OPERAND,
                .peepholes = NO_OPERAND,
                .active = NO_OPERAND,
                .batch = batch,
                .hidden = hidden};
  SAMBA_RETURN_IF_ERROR(
      sambaCheckShape(2, "the weight", weight, 3, (int64_t[]){1, gates * hidden, hidden}));
  SAMBA_RETURN_IF_ERROR(
      sambaCheckShape(2, "operand 0", x, 3, (int64_t[]){1, batch, gates * hidden}));

  for (uint32_t i = 1; i <= form->states; ++i) {
    SAMBA_RETURN_IF_ERROR(
        sambaCheckDType(1, "the state", call->operands[i].dtype, 1 << SAMBA_DTYPE_F32));
    SAMBA_RETURN_IF_ERROR(
        sambaCheckShape(2, "the state", &call->operands[i], 3, (int64_t[]){1, batch, hidden}));
  }

  SAMBA_RETURN_IF_ERROR(sambaRecurrentActivations(3, call, form->functions, out->activations));
  SAMBA_RETURN_IF_ERROR(sambaRecurrentClip(4, call));
  return optionalOperands(call, out);
}

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  Cell cell;
  SAMBA_RETURN_IF_ERROR(cellOf(call, &cell));
  for (uint32_t i = 0; i < cell.form->states; ++i)
    out[i] = call->operands[1];
  return NULL;
}

/* The stages of one cell while they are written. */
typedef struct {
  Cell cell;
  SambaStageGraph *graph;
  const char *name, *layer;
  const uint32_t *operands;
} Writer;

static uint32_t intermediate(const Writer *writer, SambaDType dtype, int64_t columns) {
  return sambaStageIntermediate(writer->graph, dtype, 3,
                                (int64_t[]){1, writer->cell.batch, columns});
}

/* result[0, b, n] = sum over k of h[0, b, k] weight[0, first + n, k] */
static uint32_t product(const Writer *writer, uint32_t h, uint32_t weight, int64_t first,
                        int64_t count) {
  uint32_t result = intermediate(writer, SAMBA_DTYPE_F32, count);
  SambaStageBuilder builder;

  sambaStageBegin(&builder, writer->graph, writer->name, writer->layer, result);
  uint32_t row = sambaStageDim(&builder, writer->cell.batch, false);
  uint32_t column = sambaStageDim(&builder, count, false);
  uint32_t k = sambaStageDim(&builder, writer->cell.hidden, true);
  builder.stage.output.axes[1].coefficients[row] =
      builder.stage.output.axes[2].coefficients[column] = 1;
  uint16_t left = sambaStageOperand(&builder, h);
  uint16_t right = sambaStageOperand(&builder, weight);
  sambaStageAxis(&builder, left, 1)->coefficients[row] =
      sambaStageAxis(&builder, left, 2)->coefficients[k] = 1;
  sambaStageAxis(&builder, right, 1)->coefficients[column] =
      sambaStageAxis(&builder, right, 2)->coefficients[k] = 1;
  sambaStageAxis(&builder, right, 1)->constant = first;
  sambaStageEnd(&builder, sambaLane2(&builder, SAMBA_LANE_MAC, left, right));

  return result;
}

static void begin(SambaStageBuilder *builder, const Writer *writer, uint32_t result) {
  sambaStageBegin(builder, writer->graph, writer->name, writer->layer, result);
  for (uint32_t axis = 1; axis < 3; ++axis)
    builder->stage.output.axes[axis]
        .coefficients[sambaStageDim(builder, writer->graph->tensors[result].dims[axis], false)] = 1;
}

/* Hidden units of gate `gate` of a tensor with one row per element of the batch, or of none ([1,
 * n]). */
static uint16_t gate(SambaStageBuilder *builder, const Writer *writer, uint32_t tensor,
                     int64_t gate) {
  uint16_t operand = sambaStageOperand(builder, tensor);
  uint32_t last = writer->graph->tensors[tensor].rank - 1;
  SambaAxisMap *columns = sambaStageAxis(builder, operand, last);
  columns->coefficients[1] = writer->graph->tensors[tensor].dims[last] == 1 ? 0 : 1;
  columns->constant = gate * writer->cell.hidden;
  if (last == 2)
    sambaStageAxis(builder, operand, 1)->coefficients[0] = 1;
  return operand;
}
static uint16_t parameter(SambaStageBuilder *builder, const Writer *writer, int32_t operand,
                          int64_t which) {
  return operand < 0 ? 0 : gate(builder, writer, writer->operands[operand], which);
}

static uint16_t activate(SambaStageBuilder *builder, const Writer *writer, uint32_t function,
                         uint16_t x) {
  return sambaRecurrentActivate(builder, &writer->cell.activations[function], writer->cell.clip, x);
}
static uint16_t sum(SambaStageBuilder *builder, uint16_t x, uint16_t y) {
  return sambaLane2(builder, SAMBA_LANE_ADD, x, y);
}
static uint16_t times(SambaStageBuilder *builder, uint16_t x, uint16_t y) {
  return sambaLane2(builder, SAMBA_LANE_MUL, x, y);
}

/* Rows that are over keep their state. */
static void end(SambaStageBuilder *builder, const Writer *writer, uint16_t active, uint16_t value,
                uint16_t old) {
  sambaStageEnd(builder,
                writer->cell.active < 0 ? value : sambaLaneSelect(builder, active, value, old));
}

/* i, o, f, c: C = f C' + i g; H = o h(C) */
static void writeLstm(const Writer *writer, uint32_t h, const uint32_t *results) {
  const Cell *cell = &writer->cell;
  uint32_t weight = writer->operands[3];
  uint32_t gates = intermediate(writer, SAMBA_DTYPE_F32, 4 * cell->hidden);
  uint32_t hidden = product(writer, h, weight, 0, 4 * cell->hidden);
  SambaStageBuilder builder;

  begin(&builder, writer, gates);
  uint16_t left = gate(&builder, writer, writer->operands[0], 0);
  uint16_t right = gate(&builder, writer, hidden, 0);
  sambaStageEnd(&builder, sum(&builder, left, right));

  begin(&builder, writer, results[1]);
  uint16_t i = gate(&builder, writer, gates, 0);
  uint16_t f = cell->coupled ? 0 : gate(&builder, writer, gates, 2);
  uint16_t g = gate(&builder, writer, gates, 3);
  uint16_t old = gate(&builder, writer, writer->operands[2], 0);
  uint16_t pi = parameter(&builder, writer, cell->peepholes, 0);
  uint16_t pf = cell->coupled ? 0 : parameter(&builder, writer, cell->peepholes, 2);
  uint16_t active = parameter(&builder, writer, cell->active, 0);
  if (cell->peepholes >= 0)
    i = sum(&builder, i, times(&builder, pi, old));
  i = activate(&builder, writer, 0, i);
  if (cell->coupled) {
    f = sambaLane2(&builder, SAMBA_LANE_SUB, sambaLaneFloat(&builder, 1), i);
  } else {
    if (cell->peepholes >= 0)
      f = sum(&builder, f, times(&builder, pf, old));
    f = activate(&builder, writer, 0, f);
  }

  end(&builder, writer, active,
      sum(&builder, times(&builder, f, old), times(&builder, i, activate(&builder, writer, 1, g))),
      old);

  begin(&builder, writer, results[0]);
  uint16_t o = gate(&builder, writer, gates, 1);
  uint16_t c = gate(&builder, writer, results[1], 0);
  uint16_t po = parameter(&builder, writer, cell->peepholes, 1);
  old = cell->active < 0 ? 0 : gate(&builder, writer, writer->operands[1], 0);
  active = parameter(&builder, writer, cell->active, 0);
  if (cell->peepholes >= 0)
    o = sum(&builder, o, times(&builder, po, c));
  end(&builder, writer, active,
      times(&builder, activate(&builder, writer, 0, o), activate(&builder, writer, 2, c)), old);
}

/* z, r, h: n = g(.. + (r H') R) or, late, g(.. + r (H' R + bias)); H = (1 - z) n + z H' */
static void writeGru(const Writer *writer, uint32_t h, const uint32_t *results) {
  const Cell *cell = &writer->cell;
  uint32_t projected = writer->operands[0];
  uint32_t state = writer->operands[1];
  uint32_t weight = writer->operands[2];
  uint32_t candidate;
  uint32_t hidden = product(writer, h, weight, 0, (cell->late ? 3 : 2) * cell->hidden);
  SambaStageBuilder builder;
  SambaDType dtype = cell->late ? SAMBA_DTYPE_F32 : writer->graph->tensors[weight].dtype;
  uint32_t reset = intermediate(writer, dtype, cell->hidden);

  begin(&builder, writer, reset);
  uint16_t left = gate(&builder, writer, projected, 1);
  uint16_t right = gate(&builder, writer, hidden, 1);
  uint16_t value =
      cell->late ? gate(&builder, writer, hidden, 2) : gate(&builder, writer, state, 0);
  uint16_t bias = parameter(&builder, writer, cell->bias, 0);
  uint16_t r = activate(&builder, writer, 0, sum(&builder, left, right));
  sambaStageEndRounded(&builder,
                       times(&builder, r, cell->bias < 0 ? value : sum(&builder, value, bias)));
  candidate = cell->late ? reset : product(writer, reset, weight, 2 * cell->hidden, cell->hidden);

  begin(&builder, writer, results[0]);
  left = gate(&builder, writer, projected, 0), right = gate(&builder, writer, hidden, 0);
  uint16_t x = gate(&builder, writer, projected, 2);
  uint16_t y = gate(&builder, writer, candidate, 0);
  uint16_t old = gate(&builder, writer, state, 0);
  uint16_t active = parameter(&builder, writer, cell->active, 0);
  uint16_t z = activate(&builder, writer, 0, sum(&builder, left, right));
  uint16_t n = activate(&builder, writer, 1, sum(&builder, x, y));
  uint16_t rest = sambaLane2(&builder, SAMBA_LANE_SUB, sambaLaneFloat(&builder, 1), z);
  end(&builder, writer, active, sum(&builder, times(&builder, rest, n), times(&builder, z, old)),
      old);
}

static void writeRnn(const Writer *writer, uint32_t h, const uint32_t *results) {
  uint32_t hidden = product(writer, h, writer->operands[2], 0, writer->cell.hidden);
  SambaStageBuilder builder;
  begin(&builder, writer, results[0]);
  uint16_t left = gate(&builder, writer, writer->operands[0], 0);
  uint16_t right = gate(&builder, writer, hidden, 0);
  uint16_t old = writer->cell.active < 0 ? 0 : gate(&builder, writer, writer->operands[1], 0);
  uint16_t active = parameter(&builder, writer, writer->cell.active, 0);
  end(&builder, writer, active, activate(&builder, writer, 0, sum(&builder, left, right)), old);
}

static SambaStatus stages(const SambaOperatorCall *call, SambaStageGraph *graph,
                          const uint32_t *operands, const uint32_t *results, const char *layer) {
  Writer state = {
      .graph = graph, .name = call->operator->name, .layer = layer, .operands = operands};
  Writer *writer = &state;
  SAMBA_RETURN_IF_ERROR(cellOf(call, &writer->cell));
  SambaDType dtype = graph->tensors[operands[1 + writer->cell.form->states]].dtype;
  uint32_t h = operands[1];

  if (dtype != SAMBA_DTYPE_F32) {
    h = intermediate(writer, dtype, writer->cell.hidden);
    sambaStageConvert(graph, writer->name, layer, operands[1], h);
  }

  switch (writer->cell.form->kind) {
  case SAMBA_RECURRENT_LSTM:
    writeLstm(writer, h, results);
    break;
  case SAMBA_RECURRENT_GRU:
    writeGru(writer, h, results);
    break;
  default:
    writeRnn(writer, h, results);
  }

  return NULL;
}

/* --- the same as calls of other operators, with the same roundings --- */

typedef struct {
  Cell cell;
  SambaExpansion *e;
  const uint32_t *operands;
} Expander;

/* h[1, B, H] times `count` rows of the weight from `first` on: [1, B, count] in f32. */
static uint32_t expandProduct(const Expander *x, uint32_t h, uint32_t weight, int64_t first,
                              int64_t count) {
  uint32_t rows = sambaExpandSlice(x->e, weight, 1, first, count, 1);
  uint32_t columns = sambaExpandPermute(x->e, rows, (int64_t[]){0, 2, 1});
  SambaAttribute f32 = sambaDTypeAttribute("out_dtype", SAMBA_DTYPE_F32);
  return sambaExpandCall(x->e, "matmul", 2, (uint32_t[]){h, columns}, 1, &f32);
}

static uint32_t expandGate(const Expander *x, uint32_t value, int64_t gate) {
  uint32_t last = sambaExpansionType(x->e, value)->rank - 1;
  return sambaExpandSlice(x->e, value, last, gate * x->cell.hidden, x->cell.hidden, 1);
}

static uint32_t expandActivation(const Expander *x, uint32_t function, uint32_t value) {
  return sambaRecurrentExpandActivation(x->e, &x->cell.activations[function], x->cell.clip, value);
}

static uint32_t expandSum(const Expander *x, uint32_t a, uint32_t b) {
  return sambaExpandBinary(x->e, "add", a, b);
}
static uint32_t expandTimes(const Expander *x, uint32_t a, uint32_t b) {
  return sambaExpandBinary(x->e, "mul", a, b);
}
static uint32_t expandRest(const Expander *x, uint32_t value) {
  return sambaExpandBinary(x->e, "sub", sambaExpandScalar(x->e, SAMBA_DTYPE_F32, 1), value);
}

/* value + peephole * state, where there are peepholes */
static uint32_t expandPeephole(const Expander *x, uint32_t value, int64_t which, uint32_t state) {
  if (x->cell.peepholes < 0)
    return value;
  uint32_t weight = expandGate(x, x->operands[x->cell.peepholes], which);
  weight = sambaExpandCast(x->e, weight, SAMBA_DTYPE_F32);
  return expandSum(x, value, expandTimes(x, weight, state));
}

static uint32_t expandEnd(const Expander *x, uint32_t value, uint32_t old) {
  if (x->cell.active < 0)
    return value;
  uint32_t choice[] = {x->operands[x->cell.active], value, old};
  return sambaExpandCall(x->e, "where", 3, choice, 0, NULL);
}

static void expandLstm(const Expander *x, uint32_t h, uint32_t *out_results) {
  const Cell *cell = &x->cell;
  uint32_t old = x->operands[2];
  uint32_t hidden = expandProduct(x, h, x->operands[3], 0, 4 * cell->hidden);
  uint32_t gates = expandSum(x, x->operands[0], hidden);

  uint32_t i = expandActivation(x, 0, expandPeephole(x, expandGate(x, gates, 0), 0, old));
  uint32_t f = cell->coupled
                   ? expandRest(x, i)
                   : expandActivation(x, 0, expandPeephole(x, expandGate(x, gates, 2), 2, old));
  uint32_t g = expandActivation(x, 1, expandGate(x, gates, 3));
  uint32_t kept = expandTimes(x, f, old);
  uint32_t c = expandEnd(x, expandSum(x, kept, expandTimes(x, i, g)), old);

  uint32_t o = expandActivation(x, 0, expandPeephole(x, expandGate(x, gates, 1), 1, c));
  uint32_t value = expandTimes(x, o, expandActivation(x, 2, c));
  out_results[0] = expandEnd(x, value, x->operands[1]);
  out_results[1] = c;
}

static void expandGru(const Expander *x, uint32_t h, uint32_t *out_results) {
  const Cell *cell = &x->cell;
  uint32_t projected = x->operands[0], state = x->operands[1], weight = x->operands[2];
  uint32_t hidden = expandProduct(x, h, weight, 0, (cell->late ? 3 : 2) * cell->hidden);

  uint32_t r = expandSum(x, expandGate(x, projected, 1), expandGate(x, hidden, 1));
  r = expandActivation(x, 0, r);
  uint32_t candidate;
  if (cell->late) {
    candidate = expandGate(x, hidden, 2);
    if (cell->bias >= 0)
      candidate = expandSum(x, candidate, x->operands[cell->bias]);
    candidate = expandTimes(x, r, candidate);
  } else {
    uint32_t reset = expandTimes(x, r, state);
    reset = sambaExpandCast(x->e, reset, sambaExpansionType(x->e, weight)->dtype);
    candidate = expandProduct(x, reset, weight, 2 * cell->hidden, cell->hidden);
  }

  uint32_t z = expandSum(x, expandGate(x, projected, 0), expandGate(x, hidden, 0));
  z = expandActivation(x, 0, z);
  uint32_t n = expandActivation(x, 1, expandSum(x, expandGate(x, projected, 2), candidate));
  uint32_t moved = expandTimes(x, expandRest(x, z), n);
  out_results[0] = expandEnd(x, expandSum(x, moved, expandTimes(x, z, state)), state);
}

static void expandRnn(const Expander *x, uint32_t h, uint32_t *out_results) {
  uint32_t hidden = expandProduct(x, h, x->operands[2], 0, x->cell.hidden);
  uint32_t value = expandActivation(x, 0, expandSum(x, x->operands[0], hidden));
  out_results[0] = expandEnd(x, value, x->operands[1]);
}

static SambaStatus decompose(const SambaOperatorCall *call, SambaExpansion *e,
                             const uint32_t *operands, uint32_t *out_results) {
  Expander expander = {.e = e, .operands = operands};
  SAMBA_RETURN_IF_ERROR(cellOf(call, &expander.cell));
  SambaDType dtype = call->operands[1 + expander.cell.form->states].dtype;
  uint32_t h = sambaExpandCast(e, operands[1], dtype);

  switch (expander.cell.form->kind) {
  case SAMBA_RECURRENT_LSTM:
    expandLstm(&expander, h, out_results);
    break;
  case SAMBA_RECURRENT_GRU:
    expandGru(&expander, h, out_results);
    break;
  default:
    expandRnn(&expander, h, out_results);
  }

  return NULL;
}

#define CELL_ATTRIBUTES                                                                            \
  BOOL("active", false, "the last operand is a mask"),                                             \
      OPTIONAL(STRING, "activations", "absent: those that the layer is known for"),                \
      FLOAT("clip", 0, "0: no bound")
#define CELL                                                                                       \
  .constraints = {"projected and the states are f32, the weight has a float dtype",                \
                  "shapes as said", "activations are known, as many as the cell has",              \
                  "clip is 0 (none) or more", "as many operands as flags ask for"},                \
  .source = "torch.nn.LSTMCell, GRUCell, RNNCell", .dtypes = 1 << SAMBA_DTYPE_F32, .infer = infer, \
  .stages = stages, .decompose = decompose

const SambaOperator sambaRecurrentCellOperators[] = {
    {.name = "lstm_cell",
     .summary = "one step of samba.lstm",
     .computes = "The next states from projected, 1 x B x gates H (the input's part of all gates), "
                 "the states 1 x B x H and the weight 1 x gates H x H; the states are h and c, "
                 "then with the flag peepholes 1 x 3 H. With active, 1 x B x 1, last: rows where "
                 "it is false keep their states.",
     .operands = {"projected", "hidden_state", "cell_state", "weight", "peepholes?", "mask?"},
     .results = {"hidden", "cell"},
     .attributes = {CELL_ATTRIBUTES, BOOL("peepholes", false, "there are peepholes"),
                    BOOL("input_forget", false, "the forget gate is 1 - i")},
     .example = "%h1, %c1 = samba.lstm_cell %x, %h, %c, %r : tensor<1x2x16xf32>, "
                "tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x16x4xf32>",
     .opcode = SAMBA_RECURRENT_LSTM,
     CELL},
    {.name = "gru_cell",
     .summary = "one step of samba.gru",
     .computes = "The next states from projected, 1 x B x gates H (the input's part of all gates), "
                 "the states 1 x B x H and the weight 1 x gates H x H, then with the flag bias 1 x "
                 "H, which linear_before_reset adds to h's product. With active, 1 x B x 1, last: "
                 "rows where it is false keep their states.",
     .operands = {"projected", "state", "weight", "bias?", "mask?"},
     .attributes = {CELL_ATTRIBUTES, BOOL("bias", false, "there is a bias"),
                    BOOL("linear_before_reset", false, "reset after the product")},
     .example = "%h1 = samba.gru_cell %x, %h, %r {linear_before_reset = true} : "
                "tensor<1x2x12xf32>, tensor<1x2x4xf32>, tensor<1x12x4xf32>",
     .opcode = SAMBA_RECURRENT_GRU,
     CELL},
    {.name = "rnn_cell",
     .summary = "one step of samba.rnn",
     .computes = "The next states from projected, 1 x B x gates H (the input's part of all gates), "
                 "the states 1 x B x H and the weight 1 x gates H x H. With active, 1 x B x 1, "
                 "last: rows where it is false keep their states.",
     .operands = {"projected", "state", "weight", "mask?"},
     .attributes = {CELL_ATTRIBUTES},
     .example = "%h1 = samba.rnn_cell %x, %h, %r : tensor<1x2x4xf32>, tensor<1x2x4xf32>, "
                "tensor<1x4x4xf32>",
     .opcode = SAMBA_RECURRENT_RNN,
     CELL},
    {0}};
