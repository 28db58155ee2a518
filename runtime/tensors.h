/* Host tensors to and from the symbols of a PEF. */
#ifndef SAMBA_RUNTIME_TENSORS_H
#define SAMBA_RUNTIME_TENSORS_H

#include "runtime/values.h"
#include "samba/tensor.h"

/* A tensor that was checked and can be written: its data are there and dense. Zero-initialize. */
typedef struct SambaOutgoing {
  uint32_t symbol;
  SambaTensor *tensor; /* one reference, to one with data */
  void *copy;          /* of strided data, dense */
  SambaHostData data;
} SambaOutgoing;

/* Makes lazy data, without a change of the tensor, and checks them (sambaCheckValues). */
SambaStatus sambaOutgoingPrepare(SambaLoadedPef *loaded, uint32_t symbol, SambaTensor *tensor,
                                 SambaOutgoing *outgoing);
void sambaOutgoingFree(SambaOutgoing *outgoing);
/* All of the above. */
SambaStatus sambaWriteTensor(SambaLoadedPef *loaded, uint32_t symbol, SambaTensor *tensor);

/* Has the tensor the shape and the host dtype of the symbol? The error gives both. */
SambaStatus sambaCheckTensor(SambaLoadedPef *loaded, uint32_t symbol, const SambaTensor *tensor);
/* Reads a symbol into such a tensor: into its memory when in_place and there are data, else into
 * memory of its own. */
SambaStatus sambaReadTensor(SambaLoadedPef *loaded, uint32_t symbol, SambaTensor *tensor,
                            bool in_place);

/* The symbol of the gradient of a tensor; the error names the rule by which there is none. */
SambaStatus sambaFindGradient(const SambaLoadedPef *loaded, uint32_t symbol,
                              uint32_t *out_gradient);

#endif
