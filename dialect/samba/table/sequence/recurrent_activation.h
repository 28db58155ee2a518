/* What recurrent layers and their cells share; inside the operator table.
 *
 * Gates are in ONNX's order: lstm i, o, f, c; gru z, r, h; rnn one. Weights are [directions, gates
 * * hidden, ...]. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_SEQUENCE_RECURRENT_ACTIVATION_H
#define SAMBA_DIALECT_SAMBA_TABLE_SEQUENCE_RECURRENT_ACTIVATION_H

#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/core/stage_builder.h"

typedef enum { SAMBA_RECURRENT_RNN, SAMBA_RECURRENT_GRU, SAMBA_RECURRENT_LSTM } SambaRecurrentKind;

/* A cell's activation functions: f (gates), g (candidate), h (what leaves an LSTM). */
enum { SAMBA_MAX_ACTIVATIONS = 6 };
typedef struct SambaActivation {
  uint32_t function;
  double parameters[2];
  SambaStringRef text; /* its part of the attribute */
} SambaActivation;

typedef struct SambaRecurrentForm {
  SambaRecurrentKind kind;
  uint32_t gates, states, functions; /* per direction */
  const char *cell;                  /* the operator that computes one step */
  const char *activations;           /* by default */
} SambaRecurrentForm;
const SambaRecurrentForm *sambaRecurrentForm(const SambaOperatorCall *call);

static inline bool sambaRecurrentFlag(const SambaOperatorCall *call, const char *name) {
  return sambaOperatorCallInt(call, name) != 0;
}

/* Reads attribute `activations`, "sigmoid, leaky_relu(0.1), tanh": exactly `count` of them, or the
 * form's default for each direction. */
SambaStatus sambaRecurrentActivations(unsigned constraint, const SambaOperatorCall *call,
                                      uint32_t count, SambaActivation *out);
/* function(clamp(x, -clip, clip)); clip 0: no clamp. */
uint16_t sambaRecurrentActivate(SambaStageBuilder *builder, const SambaActivation *activation,
                                double clip, uint16_t x);
/* The same as calls of other operators, with the same roundings; x is f32. */
uint32_t sambaRecurrentExpandActivation(SambaExpansion *e, const SambaActivation *activation,
                                        double clip, uint32_t x);
/* Attribute `clip` is 0 or more. */
SambaStatus sambaRecurrentClip(unsigned constraint, const SambaOperatorCall *call);
/* The call has as many operands as its flags ask for. */
SambaStatus sambaRecurrentOperands(unsigned constraint, const SambaOperatorCall *call,
                                   uint32_t wanted);

#endif
