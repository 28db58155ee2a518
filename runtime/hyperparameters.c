/* Hyperparameters; see hyperparameters.h. */
#include "runtime/hyperparameters.h"

#include "samba/random.h"

#include <math.h>
#include <stdlib.h>

/* The keys that set all argins of a kind. */
static const char *keyOfKind(SambaPefArginKind kind) {
  switch (kind) {
  case SAMBA_PEF_ARGIN_LR:
    return "lr";
  case SAMBA_PEF_ARGIN_WEIGHT_DECAY:
    return "weight_decay";
  case SAMBA_PEF_ARGIN_MOMENTUM:
    return "momentum";
  case SAMBA_PEF_ARGIN_DROPOUT_RATE:
    return "p";
  default:
    return "";
  }
}

static double valueOfBits(SambaDType dtype, uint64_t bits) {
  switch (dtype) {
  case SAMBA_DTYPE_F32:
  case SAMBA_DTYPE_BF16:
  case SAMBA_DTYPE_F16:
    return (double)sambaBitsToFloat(dtype, (uint32_t)bits);
  case SAMBA_DTYPE_I8:
    return (double)(int8_t)bits;
  case SAMBA_DTYPE_I16:
    return (double)(int16_t)bits;
  case SAMBA_DTYPE_I32:
    return (double)(int32_t)bits;
  case SAMBA_DTYPE_I64:
    return (double)(int64_t)bits;
  default:
    return (double)(uint8_t)bits;
  }
}

/* The value of a whole number must lie in the range of its type. */
static uint64_t bitsOfValue(SambaDType dtype, double value) {
  if (sambaDTypeIsFloat(dtype))
    return sambaFloatToBits(dtype, (float)value);
  uint32_t bits = 8 * sambaDTypeBytes(dtype);
  uint64_t all = (uint64_t)(int64_t)value;
  return bits == 64 ? all : all & (((uint64_t)1 << bits) - 1);
}

/* What the type makes of the value. */
static double roundValue(SambaDType dtype, double value) {
  return valueOfBits(dtype, bitsOfValue(dtype, value));
}

void sambaHyperparametersInitialize(SambaHyperparameters *self, const SambaPef *pef,
                                    uint64_t seed) {
  *self = (SambaHyperparameters){.pef = pef, .seed = seed, .generator = seed};
  self->values = sambaAllocateZeroed(pef->argins_count, sizeof *self->values);
  self->given = sambaAllocateZeroed(pef->argins_count, sizeof *self->given);
  self->bound = sambaAllocateZeroed(pef->argins_count, sizeof *self->bound);
  for (uint32_t i = 0; i < pef->argins_count; ++i)
    self->values[i] = pef->argins[i].default_value;
}

void sambaHyperparametersFree(SambaHyperparameters *self) {
  free(self->values);
  free(self->given);
  free(self->bound);
  *self = (SambaHyperparameters){0};
}

/* ---- Names and values that a user gives ---- */

typedef enum { matchNone, matchKey, matchGroup, matchName } Match;

static Match matchArgin(const SambaPefArgin *argin, SambaStringRef name) {
  if (sambaStringRefEqual(argin->name, name))
    return matchName;
  if (argin->group.size && sambaStringRefEqual(argin->group, name))
    return matchGroup;
  const char *key = keyOfKind(argin->kind);
  return *key && sambaStringRefEqualC(name, key) ? matchKey : matchNone;
}

/* How the name is meant: the name of an argin wins over a group, a group of the PEF over a kind. */
static Match bestMatch(const SambaPef *pef, SambaStringRef name) {
  Match best = matchNone;
  for (uint32_t i = 0; i < pef->argins_count; ++i) {
    Match match = matchArgin(&pef->argins[i], name);
    best = match > best ? match : best;
  }
  return best;
}

static SambaStatus refuseName(const SambaPef *pef, SambaStringRef name) {
  if (!pef->argins_count)
    return sambaStatusMake(SAMBA_INVALID,
                           "there is no hyperparameter named '%.*s'; this PEF has none",
                           SAMBA_STRING_ARGS(name));
  SambaStatus status = sambaStatusMake(SAMBA_INVALID, "there is no hyperparameter named '%.*s'",
                                       SAMBA_STRING_ARGS(name));
  for (uint32_t i = 0; i < pef->argins_count; ++i) {
    const SambaPefArgin *argin = &pef->argins[i];
    const char *key = keyOfKind(argin->kind);
    SambaStringRef group = argin->group.size ? argin->group : sambaStringRef(key);
    status = group.size && !sambaStringRefEqual(group, argin->name)
                 ? sambaStatusNote(status, "hyperparameter '%.*s', of group '%.*s'",
                                   SAMBA_STRING_ARGS(argin->name), SAMBA_STRING_ARGS(group))
                 : sambaStatusNote(status, "hyperparameter '%.*s'", SAMBA_STRING_ARGS(argin->name));
  }
  return status;
}

/* What the kind of a hyperparameter allows. */
static SambaStatus checkKind(const SambaPefArgin *argin, double value) {
  bool is_rate = argin->kind == SAMBA_PEF_ARGIN_DROPOUT_RATE;
  bool is_size = *keyOfKind(argin->kind) != 0; /* lr, weight_decay, momentum, p */
  const char *expected = is_size ? "finite and at least 0" : "finite";
  if (is_rate)
    expected = "at least 0 and less than 1";
  if (!isfinite(value) || (is_size && value < 0) ||
      (is_rate && roundValue(argin->dtype, value) >= 1))
    return sambaStatusMake(SAMBA_INVALID, "hyperparameter '%.*s' is %g, but it must be %s",
                           SAMBA_STRING_ARGS(argin->name), value, expected);
  if (sambaDTypeIsFloat(argin->dtype))
    return NULL;

  uint32_t bits = 8 * sambaDTypeBytes(argin->dtype);
  double end = ldexp(1, (int)bits - 1);
  if (value != trunc(value) || value < -end || value >= end)
    return sambaStatusMake(SAMBA_INVALID,
                           "hyperparameter '%.*s' is %g, but it must be a whole number of %u bits",
                           SAMBA_STRING_ARGS(argin->name), value, bits);
  return NULL;
}

/* What the PEF allows, in the type of the hyperparameter. */
static SambaStatus checkRange(const SambaPefArgin *argin, double value) {
  double lowest = *keyOfKind(argin->kind) ? 0 : -INFINITY;
  double least =
      argin->flags & SAMBA_PEF_HAS_MINIMUM ? valueOfBits(argin->dtype, argin->minimum) : lowest;
  double most =
      argin->flags & SAMBA_PEF_HAS_MAXIMUM ? valueOfBits(argin->dtype, argin->maximum) : INFINITY;
  double rounded = roundValue(argin->dtype, value);
  if (isfinite(rounded) && rounded >= least && rounded <= most)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID,
                         "hyperparameter '%.*s' is %g, but the PEF allows it from %g to %g",
                         SAMBA_STRING_ARGS(argin->name), value, least, most);
}

SambaStatus sambaHyperparametersCheck(const SambaPefArgin *argin, double value) {
  SAMBA_RETURN_IF_ERROR(checkKind(argin, value));
  return checkRange(argin, value);
}

void sambaHyperparametersPut(SambaHyperparameters *self, uint32_t argin, double value, bool given) {
  self->values[argin] = bitsOfValue(self->pef->argins[argin].dtype, value);
  self->given[argin] = given;
}

static SambaStatus checkValue(const SambaPef *pef, const SambaHyperparameter *given) {
  Match match = bestMatch(pef, given->name);
  if (match == matchNone)
    return refuseName(pef, given->name);
  for (uint32_t i = 0; i < pef->argins_count; ++i)
    if (matchArgin(&pef->argins[i], given->name) == match)
      SAMBA_RETURN_IF_ERROR(sambaHyperparametersCheck(&pef->argins[i], given->value));
  return NULL;
}

SambaStatus sambaHyperparametersSet(SambaHyperparameters *self, uint32_t count,
                                    const SambaHyperparameter *values) {
  const SambaPef *pef = self->pef;
  for (uint32_t v = 0; v < count; ++v)
    SAMBA_RETURN_IF_ERROR(checkValue(pef, &values[v]));

  /* Groups first, whatever the order: the name of an argin wins. */
  for (Match pass = matchKey; pass <= matchName; ++pass)
    for (uint32_t v = 0; v < count; ++v) {
      if (bestMatch(pef, values[v].name) != pass)
        continue;
      for (uint32_t i = 0; i < pef->argins_count; ++i)
        if (matchArgin(&pef->argins[i], values[v].name) == pass)
          sambaHyperparametersPut(self, i, values[v].value, true);
    }
  return NULL;
}

double sambaHyperparametersNumber(const SambaPefArgin *argin, uint64_t bits) {
  return valueOfBits(argin->dtype, bits);
}

double sambaHyperparametersValue(const SambaHyperparameters *self, uint32_t argin) {
  return valueOfBits(self->pef->argins[argin].dtype, self->values[argin]);
}

SambaStatus sambaHyperparametersGet(const SambaHyperparameters *self, SambaStringRef name,
                                    double *out_value) {
  for (uint32_t i = 0; i < self->pef->argins_count; ++i)
    if (sambaStringRefEqual(self->pef->argins[i].name, name)) {
      *out_value = sambaHyperparametersValue(self, i);
      return NULL;
    }
  return refuseName(self->pef, name);
}

/* ---- Values of a run ---- */

/* A seed of 31 bits: it fits every integer type that a seed may have, and a user can give it. */
static void drawSeeds(SambaHyperparameters *self) {
  const SambaPef *pef = self->pef;
  for (uint32_t i = 0; i < pef->argins_count; ++i)
    if (pef->argins[i].kind == SAMBA_PEF_ARGIN_DROPOUT_SEED && !self->given[i])
      self->values[i] = sambaRandomDraw(&self->generator) >> 33;
}

static SambaStatus checkIsKnown(const SambaHyperparameters *self, const SambaPefBinding *binding) {
  if (binding->kind != SAMBA_PEF_BINDING_ARGIN)
    return NULL;
  const SambaPefArgin *argin = &self->pef->argins[binding->argin];
  if (argin->flags & SAMBA_PEF_HAS_DEFAULT || self->given[binding->argin] ||
      argin->kind == SAMBA_PEF_ARGIN_DROPOUT_SEED)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID,
                         "hyperparameter '%.*s' has neither a value nor a default; give it one",
                         SAMBA_STRING_ARGS(argin->name));
}

SambaStatus sambaHyperparametersBind(SambaHyperparameters *self, const uint32_t *calls,
                                     uint32_t call_count, bool evaluate,
                                     const uint64_t **out_argins) {
  const SambaPef *pef = self->pef;
  bool is_forward = false;
  for (uint32_t c = 0; c < call_count; ++c) {
    const SambaPefCall *call = &pef->calls[calls[c]];
    is_forward |= pef->sections[call->section].type == SAMBA_PEF_SECTION_FWD;
    for (uint32_t b = 0; b < call->bindings_count; ++b)
      SAMBA_RETURN_IF_ERROR(checkIsKnown(self, &call->bindings[b]));
  }

  if (is_forward && !evaluate)
    drawSeeds(self);
  for (uint32_t i = 0; i < pef->argins_count; ++i) {
    bool is_off = evaluate && pef->argins[i].kind == SAMBA_PEF_ARGIN_DROPOUT_RATE;
    self->bound[i] = is_off ? 0 : self->values[i];
  }
  *out_argins = self->bound;
  return NULL;
}

void sambaHyperparametersRestart(SambaHyperparameters *self, uint64_t seed) {
  self->seed = self->generator = seed;
  for (uint32_t i = 0; i < self->pef->argins_count; ++i)
    if (self->pef->argins[i].kind == SAMBA_PEF_ARGIN_DROPOUT_SEED)
      self->given[i] = false;
}
