/* Sessions as the rest of this tree sees them: samba/session.h, and what speaks of the PEF, the
 * machine and the device inside. */
#ifndef SAMBA_RUNTIME_SESSION_H
#define SAMBA_RUNTIME_SESSION_H

#include "runtime/device.h"
#include "runtime/hyperparameters.h"
#include "samba/session.h"
#include "support/text/trace_record.h"

/* NULL while no PEF is loaded. */
const SambaPef *sambaSessionGetPef(const SambaSession *session);
const SambaMachine *sambaSessionGetMachine(const SambaSession *session);
SambaDevice *sambaSessionGetDevice(const SambaSession *session);
/* Hyperparameters between runs, to read and to set. */
SambaHyperparameters *sambaSessionGetHyperparameters(SambaSession *session);

/* The record of a tensor (sambaSessionGetTensorInfo). */
SambaStatus sambaSessionFindTensor(const SambaSession *session, SambaStringRef name,
                                   const SambaPefSymbol **out_symbol);

#endif
