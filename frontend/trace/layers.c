/* Operators with several results as C functions: recurrent layers and optimizers' updates; see
 * operators.h. */
#include "frontend/trace/trace.h"
#include "samba/operators.h"

static bool call(const char *name, uint32_t count, SambaTraceValue *const *operands,
                 uint32_t attribute_count, const SambaAttribute *attributes,
                 SambaTraceValue **out_results) {
  SambaTrace *trace = operands[0] ? operands[0]->trace : NULL;
  if (!trace || sambaTraceStatus(trace))
    return false;
  SambaStatus status =
      sambaTraceOperator(trace, name, count, operands, attribute_count, attributes, out_results);
  if (status)
    sambaTraceFail(trace, status);
  return !status;
}

static bool recurrent(const char *name, SambaTraceValue *x, const SambaRecurrentOptions *options,
                      SambaTraceValue **out_results) {
  SambaTraceValue *operands[8] = {x, options->weight, options->recurrent};
  SambaAttribute attributes[10];
  uint32_t count = 3, attribute_count = 0;

  const struct {
    const char *name;
    SambaTraceValue *first, *second;
    bool value;
  } parts[] = {{"bias", options->bias, NULL, false},
               {"lengths", options->lengths, NULL, false},
               {"initial", options->initial_h, options->initial_c, false},
               {"peepholes", options->peepholes, NULL, false},
               {"batch_first", NULL, NULL, options->batch_first},
               {"input_forget", NULL, NULL, options->input_forget},
               {"linear_before_reset", NULL, NULL, options->linear_before_reset}};

  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (parts[i].first)
      operands[count++] = parts[i].first;
    if (parts[i].second)
      operands[count++] = parts[i].second;
    if (parts[i].first || parts[i].value)
      attributes[attribute_count++] = sambaBoolAttribute(parts[i].name, true);
  }

  if (options->direction)
    attributes[attribute_count++] = sambaStringAttribute("direction", options->direction);
  if (options->activations)
    attributes[attribute_count++] = sambaStringAttribute("activations", options->activations);
  if (options->clip > 0)
    attributes[attribute_count++] = sambaFloatAttribute("clip", options->clip);
  return call(name, count, operands, attribute_count, attributes, out_results);
}

bool sambaLstm(SambaTraceValue *x, const SambaRecurrentOptions *options,
               SambaTraceValue *out_results[3]) {
  return recurrent("lstm", x, options, out_results);
}
bool sambaGru(SambaTraceValue *x, const SambaRecurrentOptions *options,
              SambaTraceValue *out_results[2]) {
  return recurrent("gru", x, options, out_results);
}
bool sambaRnn(SambaTraceValue *x, const SambaRecurrentOptions *options,
              SambaTraceValue *out_results[2]) {
  return recurrent("rnn", x, options, out_results);
}

SambaTraceValue *sambaSgdUpdate(SambaTraceValue *parameter, SambaTraceValue *gradient,
                                const SambaUpdateOptions *options) {
  SambaTraceValue *operands[] = {parameter, gradient, options->lr, options->weight_decay};
  SambaTraceValue *result = NULL;
  call("sgd_update", 4, operands, 0, NULL, &result);
  return result;
}
bool sambaMomentumUpdate(SambaTraceValue *parameter, SambaTraceValue *gradient,
                         SambaTraceValue *velocity, const SambaUpdateOptions *options,
                         bool nesterov, SambaTraceValue *out_results[2]) {
  SambaTraceValue *operands[] = {
      parameter,     gradient,       velocity,      options->lr,
      options->step, options->alpha, options->beta, options->weight_decay};
  SambaAttribute attribute = sambaBoolAttribute("nesterov", nesterov);
  return call("momentum_update", 8, operands, 1, &attribute, out_results);
}
bool sambaAdagradUpdate(SambaTraceValue *parameter, SambaTraceValue *gradient,
                        SambaTraceValue *squares, const SambaUpdateOptions *options,
                        SambaTraceValue *out_results[2]) {
  SambaTraceValue *operands[] = {
      parameter,     gradient,          squares,      options->lr,
      options->step, options->lr_decay, options->eps, options->weight_decay};
  return call("adagrad_update", 8, operands, 0, NULL, out_results);
}
bool sambaAdamUpdate(SambaTraceValue *parameter, SambaTraceValue *gradient, SambaTraceValue *mean,
                     SambaTraceValue *variance, const SambaUpdateOptions *options,
                     SambaTraceValue *out_results[3]) {
  SambaTraceValue *operands[] = {
      parameter,          gradient,       mean,          variance,     options->lr,
      options->step,      options->alpha, options->beta, options->eps, options->weight_decay,
      options->post_decay};
  return call("adam_update", 11, operands, 0, NULL, out_results);
}
