/* The hyperparameters of a session: the argins of a PEF by name and group, their values from run to
 * run, and the random generator that draws the seeds of dropout. */
#ifndef SAMBA_RUNTIME_HYPERPARAMETERS_H
#define SAMBA_RUNTIME_HYPERPARAMETERS_H

#include "backend/pef/pef.h"
#include "samba/session.h"

typedef struct SambaHyperparameters {
  const SambaPef *pef; /* borrowed */
  uint64_t *values;    /* per argin: its value (bits); kept between runs */
  bool *given;         /* per argin: the user gave the value; a seed that was given is not drawn */
  uint64_t *bound;     /* per argin: what the launches of a run get */
  uint64_t seed;       /* where the generator started */
  uint64_t generator;  /* its state */
} SambaHyperparameters;

/* All argins with their defaults; the generator starts at `seed`. */
void sambaHyperparametersInitialize(SambaHyperparameters *self, const SambaPef *pef, uint64_t seed);
void sambaHyperparametersFree(SambaHyperparameters *self);

/* Stores values, all of them or none. An unknown name is refused with a list of the known ones, a
 * value outside the range of its kind or of the PEF with that range. */
SambaStatus sambaHyperparametersSet(SambaHyperparameters *self, uint32_t count,
                                    const SambaHyperparameter *values);
/* The value of the argin of that name. */
SambaStatus sambaHyperparametersGet(const SambaHyperparameters *self, SambaStringRef name,
                                    double *out_value);
/* The argin's value as a number, and that of any bits. */
double sambaHyperparametersValue(const SambaHyperparameters *self, uint32_t argin);
double sambaHyperparametersNumber(const SambaPefArgin *argin, uint64_t bits);

/* Is the value one that the argin may have? */
SambaStatus sambaHyperparametersCheck(const SambaPefArgin *argin, double value);
/* Puts a checked value into place; given: the user gave it, it was not drawn. */
void sambaHyperparametersPut(SambaHyperparameters *self, uint32_t argin, double value, bool given);

/* The values that a run of these calls launches with; borrowed until the next call. A run with FWD
 * calls draws a new seed for each dropout whose seed was not given; one that evaluates draws none
 * and has all dropout rates 0, whatever is stored. Refuses a hyperparameter that the calls read and
 * that has neither default nor value. */
SambaStatus sambaHyperparametersBind(SambaHyperparameters *self, const uint32_t *calls,
                                     uint32_t call_count, bool evaluate,
                                     const uint64_t **out_argins);

/* Starts the generator's stream at a seed; the seeds of dropout are drawn again from now on, given
 * ones too. */
void sambaHyperparametersRestart(SambaHyperparameters *self, uint64_t seed);

#endif
