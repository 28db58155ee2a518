/* The index of a checkpoint: what its JSON file says about the tensors, the hyperparameters and
 * the progress of a training. Text and struct only; checkpoint.h knows sessions and folders. */
#ifndef SAMBA_RUNTIME_CHECKPOINT_CHECKPOINT_INDEX_H
#define SAMBA_RUNTIME_CHECKPOINT_CHECKPOINT_INDEX_H

#include "support/base/status.h"
#include "support/file/tensor_file.h"
#include "support/text/string_ref.h"

typedef struct SambaCheckpointTensor {
  SambaStringRef name, kind; /* kind: "weight", "buffer" or "optimizer_state" */
  SambaDType dtype;
  uint32_t rank;
  int64_t dims[SAMBA_TENSOR_FILE_MAX_RANK];
  SambaStringRef file; /* in the folder: no path, ends in .npy */
} SambaCheckpointTensor;

typedef struct SambaCheckpointHyperparameter {
  SambaStringRef name;
  double value;
  bool given; /* by the user, not drawn or a default */
} SambaCheckpointHyperparameter;

typedef struct SambaCheckpointIndex {
  uint64_t step;
  uint64_t seed, generator; /* where the random generator began, and its state */
  uint32_t hyperparameter_count, tensor_count;
  SambaCheckpointHyperparameter *hyperparameters;
  SambaCheckpointTensor *tensors;
} SambaCheckpointIndex;

/* Reads an index; `name` is for messages. Everything is in the arena, and checked: a file never
 * lies outside the folder, no name occurs twice, numbers are in range. */
SambaStatus sambaCheckpointIndexParse(const char *name, const void *data, size_t size,
                                      SambaArena *arena, SambaCheckpointIndex *out_index);
/* The text of an index; the caller frees it. */
char *sambaCheckpointIndexFormat(const SambaCheckpointIndex *index);

/* A file name for a tensor: letters, digits, '_', '-' and '.' as they are, other bytes as %XX. Two
 * names never give the same file; `number` stands for a name that is too long. */
SambaStringRef sambaCheckpointFileName(SambaArena *arena, SambaStringRef name, uint32_t number);

#endif
