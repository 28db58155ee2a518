/* Why a PEF has no tensor of a name: what the error says. */
#ifndef SAMBA_RUNTIME_MISSING_TENSOR_H
#define SAMBA_RUNTIME_MISSING_TENSOR_H

#include "backend/pef/pef.h"

/* Gradients and optimizer state of a PEF for inference, and gradients of tensors that were compiled
 * without one, are told apart from names that are unknown. */
SambaStatus sambaExplainMissingTensor(const SambaPef *pef, SambaStringRef name);

/* Adds a note for each input of the PEF, with its shape; of many, the first ones. */
SambaStatus sambaNoteInputs(const SambaPef *pef, SambaStatus status);

#endif
