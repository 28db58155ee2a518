/* What recurrent layers and their cells share: forms, activation functions, checks; see
 * recurrent_activation.h. */
#include "dialect/samba/table/sequence/recurrent_activation.h"

#include "dialect/samba/table/elementwise/unary_find.h"

#include <math.h>
#include <stdlib.h>

static const SambaRecurrentForm forms[] = {
    {SAMBA_RECURRENT_RNN, 1, 1, 1, "rnn_cell", "tanh"},
    {SAMBA_RECURRENT_GRU, 3, 1, 2, "gru_cell", "sigmoid, tanh"},
    {SAMBA_RECURRENT_LSTM, 4, 2, 3, "lstm_cell", "sigmoid, tanh, tanh"},
};

const SambaRecurrentForm *sambaRecurrentForm(const SambaOperatorCall *call) {
  return &forms[call->operator->opcode];
}

/* Functions that are operators of the table, with the attributes that their parameters are, and
 * some of their own. */
static const struct {
  const char *name;
  bool own; /* below; else an operator of this name */
  const char *attributes[2];
  uint32_t parameters;
  double otherwise[2];
} functions[] = {
    {"tanh", false, {0}, 0, {0}},
    {"sigmoid", false, {0}, 0, {0}},
    {"relu", false, {0}, 0, {0}},
    {"softplus", false, {0}, 0, {0}},
    {"leaky_relu", false, {"negative_slope"}, 1, {0.01, 0}},
    {"elu", false, {"alpha"}, 1, {1, 0}},
    {"hardsigmoid", false, {"alpha", "beta"}, 2, {0.2, 0.5}},
    {"softsign", true, {0}, 0, {0}},
    {"thresholded_relu", true, {0}, 1, {1, 0}},
    {"affine", true, {0}, 2, {1, 0}},
    {"scaled_tanh", true, {0}, 2, {1, 1}},
};
enum { SOFTSIGN = 7, THRESHOLDED_RELU, AFFINE, SCALED_TANH, functionCount };

/* One function from *at on; false: it is none. */
static bool parse(SambaStringRef text, size_t *at, SambaActivation *out) {
  size_t start = *at;
  size_t end = start;

  while (end < text.size && text.data[end] != ',' && text.data[end] != '(')
    ++end;
  SambaStringRef name = {text.data + start, end - start};
  for (out->function = 0; out->function < functionCount; ++out->function)
    if (sambaStringRefEqualC(name, functions[out->function].name))
      break;
  if (out->function == functionCount)
    return false;
  memcpy(out->parameters, functions[out->function].otherwise, sizeof out->parameters);
  if (end < text.size && text.data[end] == '(') {
    char numbers[128];
    size_t from = ++end;
    while (end < text.size && text.data[end] != ')')
      ++end;
    if (end == text.size || end - from >= sizeof numbers)
      return false;
    memcpy(numbers, text.data + from, end - from);
    numbers[end++ - from] = '\0';
    char *next = numbers;
    for (uint32_t i = 0; i < functions[out->function].parameters; ++i) {
      char *number = next + (i && *next == ',');
      out->parameters[i] = strtod(number, &next);
      if (next == number || !isfinite(out->parameters[i]))
        return false;
    }
    if (*next)
      return false;
  }

  out->text = (SambaStringRef){text.data + start, end - start};
  if (end < text.size && text.data[end] == ',') /* and another one */
    for (++end; end < text.size && text.data[end] == ' ';)
      ++end;
  else if (end < text.size)
    return false;
  *at = end;

  return true;
}

SambaStatus sambaRecurrentActivations(unsigned constraint, const SambaOperatorCall *call,
                                      uint32_t count, SambaActivation *out) {
  const SambaRecurrentForm *form = sambaRecurrentForm(call);
  const SambaAttribute *attribute = sambaOperatorCallFind(call, "activations");
  SambaStringRef text = attribute ? attribute->value.string : sambaStringRef(form->activations);
  size_t at = 0;
  uint32_t found = 0;
  bool fine = true;

  while (fine && at < text.size && found < SAMBA_MAX_ACTIVATIONS)
    fine = parse(text, &at, &out[found]), ++found;
  if (!fine)
    return sambaStatusMake(SAMBA_INVALID, "(C%u) there is no activation '%.*s'", constraint,
                           (int)(text.size - at), text.data + at);
  if (!attribute)
    for (; found < count; ++found)
      out[found] = out[found - form->functions];
  if (found != count || at < text.size)
    return sambaStatusMake(SAMBA_INVALID, "(C%u) attribute 'activations' must name %u functions",
                           constraint, count);
  return NULL;
}

SambaStatus sambaRecurrentClip(unsigned constraint, const SambaOperatorCall *call) {
  double clip = sambaOperatorCallFloat(call, "clip");
  return clip >= 0 && isfinite(clip)
             ? NULL
             : sambaStatusMake(SAMBA_INVALID, "(C%u) attribute 'clip' is %g, but must be 0 or more",
                               constraint, clip);
}

SambaStatus sambaRecurrentOperands(unsigned constraint, const SambaOperatorCall *call,
                                   uint32_t wanted) {
  return wanted == call->operand_count
             ? NULL
             : sambaStatusMake(SAMBA_INVALID,
                               "(C%u) the flags ask for %u operands, but there are %u", constraint,
                               wanted, call->operand_count);
}

uint16_t sambaRecurrentActivate(SambaStageBuilder *builder, const SambaActivation *activation,
                                double clip, uint16_t x) {
  const double *parameters = activation->parameters;

  if (clip > 0) {
    x = sambaLane2(builder, SAMBA_LANE_MAX, x, sambaLaneFloat(builder, -clip));
    x = sambaLane2(builder, SAMBA_LANE_MIN, x, sambaLaneFloat(builder, clip));
  }

  if (!functions[activation->function].own) {
    const SambaOperator *operator = sambaUnaryFind(functions[activation->function].name);
    SambaAttribute attributes[2];
    for (uint32_t i = 0; i < functions[activation->function].parameters; ++i)
      attributes[i] =
          sambaFloatAttribute(functions[activation->function].attributes[i], parameters[i]);
    SambaOperatorCall call = {.operator = operator,
                              .attribute_count = functions[activation->function].parameters,
                              .attributes = attributes};
    return operator->program(&call, builder, &x);
  }

  switch (activation->function) {
  case SOFTSIGN:
    return sambaLane2(builder, SAMBA_LANE_DIV, x,
                      sambaLane2(builder, SAMBA_LANE_ADD, sambaLane1(builder, SAMBA_LANE_ABS, x),
                                 sambaLaneFloat(builder, 1)));
  case THRESHOLDED_RELU: {
    uint16_t below = sambaLane2(builder, SAMBA_LANE_LT, x, sambaLaneFloat(builder, parameters[0]));
    return sambaLaneSelect(builder, below, sambaLaneFloat(builder, 0), x);
  }
  case AFFINE:
    return sambaLane2(
        builder, SAMBA_LANE_ADD,
        sambaLane2(builder, SAMBA_LANE_MUL, x, sambaLaneFloat(builder, parameters[0])),
        sambaLaneFloat(builder, parameters[1]));
  default:
    x = sambaLane2(builder, SAMBA_LANE_MUL, x, sambaLaneFloat(builder, parameters[1]));
    return sambaLane2(builder, SAMBA_LANE_MUL, sambaLane1(builder, SAMBA_LANE_TANH, x),
                      sambaLaneFloat(builder, parameters[0]));
  }
}

uint32_t sambaRecurrentExpandActivation(SambaExpansion *e, const SambaActivation *activation,
                                        double clip, uint32_t x) {
  const double *parameters = activation->parameters;
  uint32_t count = functions[activation->function].parameters;
  SambaAttribute attributes[2];

  if (clip > 0) {
    SambaAttribute bounds[] = {sambaFloatAttribute("min", -clip), sambaFloatAttribute("max", clip)};
    x = sambaExpandCall(e, "clamp", 1, &x, 2, bounds);
  }
  if (!functions[activation->function].own) {
    for (uint32_t i = 0; i < count; ++i)
      attributes[i] =
          sambaFloatAttribute(functions[activation->function].attributes[i], parameters[i]);
    return sambaExpandCall(e, functions[activation->function].name, 1, &x, count, attributes);
  }

  switch (activation->function) {
  case SOFTSIGN:
    return sambaExpandBinary(e, "div", x,
                             sambaExpandWithNumber(e, "add", sambaExpandUnary(e, "abs", x), 1));
  case THRESHOLDED_RELU: {
    uint32_t choice[] = {sambaExpandWithNumber(e, "lt", x, parameters[0]),
                         sambaExpandScalar(e, SAMBA_DTYPE_F32, 0), x};
    return sambaExpandCall(e, "where", 3, choice, 0, NULL);
  }
  case AFFINE:
    return sambaExpandWithNumber(e, "add", sambaExpandWithNumber(e, "mul", x, parameters[0]),
                                 parameters[1]);
  default:
    x = sambaExpandUnary(e, "tanh", sambaExpandWithNumber(e, "mul", x, parameters[1]));
    return sambaExpandWithNumber(e, "mul", x, parameters[0]);
  }
}
