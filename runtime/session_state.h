/* What a session is inside: for the files of runtime/ that make up its interface. */
#ifndef SAMBA_RUNTIME_SESSION_STATE_H
#define SAMBA_RUNTIME_SESSION_STATE_H

#include "runtime/device.h"
#include "runtime/hyperparameters.h"
#include "samba/session.h"
#include "support/container/string_map.h"

/* A PEF, the device that holds it, and what was said about both. */
typedef struct SambaLoadedPef {
  SambaPef *pef;
  SambaMachine machine; /* the device borrows it */
  SambaDevice *device;
  SambaStringMap names; /* of symbols */
  bool *set;            /* per symbol: a value was given */
  int64_t **dims;       /* per symbol: its shape, NULL until somebody asks */
  SambaTensor **traced; /* per symbol: the host tensor that is remembered; NULL: none */
  bool *forgotten;      /* per symbol: no host tensor is wanted */
  bool *fast;           /* per symbol: transfers use locked memory */
  SambaHyperparameters hyperparameters;
  uint64_t step;
  bool forward_only; /* the model was traced without what trains it */
  SambaSectionReport *sections;
  SambaRunReport report;
  SambaArena arena;
} SambaLoadedPef;

struct SambaSession {
  SambaDeviceFactory factory;
  uint64_t seed;          /* where the random generator starts */
  SambaLoadedPef *loaded; /* NULL: no PEF */
};

static inline SambaStatus sambaSessionRequirePef(const SambaSession *session) {
  return session->loaded ? NULL
                         : sambaStatusMake(SAMBA_INVALID, "no PEF loaded; load a compiled model "
                                                          "into the session first");
}

#endif
