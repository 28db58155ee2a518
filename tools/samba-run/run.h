/* samba-run's parts: comparison with references, statistics. */
#ifndef SAMBA_TOOLS_SAMBA_RUN_RUN_H
#define SAMBA_TOOLS_SAMBA_RUN_RUN_H

#include "runtime/session.h"
#include "support/file/tensor_file.h"

/* What --expect demands; a criterion that is negative was not asked for. */
typedef struct SambaCriteria {
  double rtol, atol;  /* |got - ref| <= atol + rtol * |ref| per element */
  double relative_l2; /* |got - ref|_2 <= bound * |ref|_2 */
  bool argmax; /* the largest element of each row (last axis) is the same, where the reference
                  decides clearly */
} SambaCriteria;

/* SAMBA_MISMATCH with where and how much when a criterion does not hold. Integers and booleans must
 * be equal. */
SambaStatus sambaCompareTensors(const char *name, const SambaHostTensor *got,
                                const SambaTensorFile *reference, const SambaCriteria *criteria);

/* Writes --stats FILE.json. */
SambaStatus sambaWriteStatistics(const char *path, const SambaSession *session);

#endif
