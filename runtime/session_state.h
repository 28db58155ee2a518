/* What a session is inside: for the files of runtime/ that make up its interface. */
#ifndef SAMBA_RUNTIME_SESSION_STATE_H
#define SAMBA_RUNTIME_SESSION_STATE_H

#include "runtime/device.h"
#include "runtime/hyperparameters.h"
#include "samba/session.h"
#include "support/container/string_map.h"

/* Symbols: a weight of 16 bits and its copy in f32 (runtime/masters.h). */
typedef struct SambaMasterPair {
  uint32_t weight, master;
  bool is_stale;                       /* one may have been written without the other */
  bool weight_written, master_written; /* by halves, since the graph's calls began */
} SambaMasterPair;

/* A call that writes one of the two alone. */
typedef struct SambaMasterHalf {
  uint32_t call, pair;
  bool is_weight;
} SambaMasterHalf;

typedef struct SambaMasters {
  SAMBA_ARRAY(SambaMasterPair) pairs;
  SAMBA_ARRAY(SambaMasterHalf) halves;
  uint32_t stale; /* how many of the pairs */
  uint32_t graph; /* of the call that was launched last */
} SambaMasters;

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
  SambaMasters masters;
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
