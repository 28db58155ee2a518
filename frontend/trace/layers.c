/* Operators with several results as C functions: recurrent layers and optimizers' updates; see
 * operators.h. */
#include "frontend/trace/operators.h"

static bool call(const char *name, uint32_t count, SambaTensor *const *operands,
                 uint32_t attribute_count, const SambaAttribute *attributes,
                 SambaTensor **out_results) {
  SambaTrace *trace = operands[0] ? operands[0]->trace : NULL;
  if (!trace || sambaTraceStatus(trace))
    return false;
  SambaStatus status =
      sambaTraceOperator(trace, name, count, operands, attribute_count, attributes, out_results);
  if (status)
    sambaTraceFail(trace, status);
  return !status;
}

static bool recurrent(const char *name, SambaTensor *x, const SambaRecurrentOptions *o,
                      SambaTensor **out_results) {
  SambaTensor *operands[8] = {x, o->weight, o->recurrent};
  SambaAttribute attributes[10];
  uint32_t count = 3, attributeCount = 0;

  const struct {
    const char *name;
    SambaTensor *first, *second;
    bool value;
  } parts[] = {{"bias", o->bias, NULL, false},
               {"lengths", o->lengths, NULL, false},
               {"initial", o->initial_h, o->initial_c, false},
               {"peepholes", o->peepholes, NULL, false},
               {"batch_first", NULL, NULL, o->batch_first},
               {"input_forget", NULL, NULL, o->input_forget},
               {"linear_before_reset", NULL, NULL, o->linear_before_reset}};

  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (parts[i].first)
      operands[count++] = parts[i].first;
    if (parts[i].second)
      operands[count++] = parts[i].second;
    if (parts[i].first || parts[i].value)
      attributes[attributeCount++] = sambaBoolAttribute(parts[i].name, true);
  }

  if (o->direction)
    attributes[attributeCount++] = sambaStringAttribute("direction", o->direction);
  if (o->activations)
    attributes[attributeCount++] = sambaStringAttribute("activations", o->activations);
  if (o->clip > 0)
    attributes[attributeCount++] = sambaFloatAttribute("clip", o->clip);
  return call(name, count, operands, attributeCount, attributes, out_results);
}

bool sambaLstm(SambaTensor *x, const SambaRecurrentOptions *options, SambaTensor *out_results[3]) {
  return recurrent("lstm", x, options, out_results);
}
bool sambaGru(SambaTensor *x, const SambaRecurrentOptions *options, SambaTensor *out_results[2]) {
  return recurrent("gru", x, options, out_results);
}
bool sambaRnn(SambaTensor *x, const SambaRecurrentOptions *options, SambaTensor *out_results[2]) {
  return recurrent("rnn", x, options, out_results);
}

SambaTensor *sambaSgdUpdate(SambaTensor *parameter, SambaTensor *gradient,
                            const SambaUpdateOptions *o) {
  SambaTensor *operands[] = {parameter, gradient, o->lr, o->weight_decay};
  SambaTensor *result = NULL;
  call("sgd_update", 4, operands, 0, NULL, &result);
  return result;
}
bool sambaMomentumUpdate(SambaTensor *parameter, SambaTensor *gradient, SambaTensor *velocity,
                         const SambaUpdateOptions *o, bool nesterov, SambaTensor *out_results[2]) {
  SambaTensor *operands[] = {parameter, gradient, velocity, o->lr,
                             o->step,   o->alpha, o->beta,  o->weight_decay};
  SambaAttribute attribute = sambaBoolAttribute("nesterov", nesterov);
  return call("momentum_update", 8, operands, 1, &attribute, out_results);
}
bool sambaAdagradUpdate(SambaTensor *parameter, SambaTensor *gradient, SambaTensor *squares,
                        const SambaUpdateOptions *o, SambaTensor *out_results[2]) {
  SambaTensor *operands[] = {parameter, gradient,    squares, o->lr,
                             o->step,   o->lr_decay, o->eps,  o->weight_decay};
  return call("adagrad_update", 8, operands, 0, NULL, out_results);
}
bool sambaAdamUpdate(SambaTensor *parameter, SambaTensor *gradient, SambaTensor *mean,
                     SambaTensor *variance, const SambaUpdateOptions *o,
                     SambaTensor *out_results[3]) {
  SambaTensor *operands[] = {parameter, gradient, mean,   variance,        o->lr,        o->step,
                             o->alpha,  o->beta,  o->eps, o->weight_decay, o->post_decay};
  return call("adam_update", 11, operands, 0, NULL, out_results);
}
bool sambaAdamwUpdate(SambaTensor *parameter, SambaTensor *gradient, SambaTensor *mean,
                      SambaTensor *variance, const SambaUpdateOptions *o,
                      SambaTensor *out_results[3]) {
  SambaTensor *operands[] = {parameter, gradient, mean,    variance, o->lr,
                             o->step,   o->alpha, o->beta, o->eps,   o->weight_decay};
  return call("adamw_update", 10, operands, 0, NULL, out_results);
}
