/* Checkpoints of a training: a folder of .npy files with one JSON file, checkpoint.json, which says
 * what they are. A session that loads what another one saved goes on to the same bits. */
#ifndef SAMBA_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define SAMBA_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "runtime/session.h"

/* Refuses a folder that cannot take a checkpoint: it cannot be made, it is a file, or it holds
 * other files than those of a checkpoint, which saving would delete. */
SambaStatus sambaCheckpointCheckFolder(const char *folder);

/* Saves weights, buffers, optimizer state, the number of steps, hyperparameters and the random
 * generator. The folder appears whole: a failure, or the end of the process, leaves the checkpoint
 * that was there. Gradients are not saved: a checkpoint belongs between two steps. */
SambaStatus sambaSessionSave(SambaSession *session, const char *folder);

/* Puts what was saved into a session of the same PEF, or of one with the same tensors. A PEF for
 * inference takes weights and buffers and leaves the rest. Everything is read and compared before
 * the first tensor is written: a refused checkpoint changes nothing. */
SambaStatus sambaSessionLoad(SambaSession *session, const char *folder);

#endif
