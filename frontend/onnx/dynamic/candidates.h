/* Constants that an operand at run time may be, as declared shapes say; see declared.c. */
#ifndef SAMBA_FRONTEND_ONNX_DYNAMIC_CANDIDATES_H
#define SAMBA_FRONTEND_ONNX_DYNAMIC_CANDIDATES_H

#include "frontend/onnx/core/node.h"

enum { SAMBA_ONNX_MAX_CANDIDATES = 1 << SAMBA_MAX_RANK };

/* Candidates of one operand. With several, `weights` turn the operand's value into a key: the sum
 * over its elements of the weight of the axis that each names. */
typedef struct SambaOnnxCandidates {
  uint32_t count;
  SambaConstant *constants[SAMBA_ONNX_MAX_CANDIDATES];
  int64_t keys[SAMBA_ONNX_MAX_CANDIDATES];
  uint32_t rank; /* of the axes that the operand names; 0: it is a number and its own key */
  int64_t weights[SAMBA_MAX_RANK];
  bool listed; /* no axes: the key is the sum of numbers times weights */
} SambaOnnxCandidates;

/* Adds numbers: a list of rank 1, or one of rank 0. */
void sambaOnnxAddCandidate(const SambaOnnxNode *node, SambaOnnxCandidates *candidates,
                           uint32_t rank, int64_t size, const int64_t *data, int64_t key);
/* Shapes of the first input and the first output; false: not known. */
SambaStatus sambaOnnxDeclaredShapes(const SambaOnnxNode *node, uint32_t *out_rank,
                                    int64_t *out_dims, uint32_t *out_declared,
                                    int64_t *out_declared_dims, bool *out_known);

/* ---- Rules: what input `input` may be ---- */
SambaStatus sambaOnnxWholeShape(const SambaOnnxNode *node, uint32_t input,
                                SambaOnnxCandidates *candidates);
SambaStatus sambaOnnxAxesOfOnes(const SambaOnnxNode *node, uint32_t input,
                                SambaOnnxCandidates *candidates);
SambaStatus sambaOnnxRepeats(const SambaOnnxNode *node, uint32_t input,
                             SambaOnnxCandidates *candidates);
SambaStatus sambaOnnxPartSizes(const SambaOnnxNode *node, uint32_t input,
                               SambaOnnxCandidates *candidates);
SambaStatus sambaOnnxSizeOfAxis(const SambaOnnxNode *node, uint32_t input,
                                SambaOnnxCandidates *candidates);
SambaStatus sambaOnnxFirstSize(const SambaOnnxNode *node, uint32_t input,
                               SambaOnnxCandidates *candidates);
SambaStatus sambaOnnxAxesReduced(const SambaOnnxNode *node, uint32_t input,
                                 SambaOnnxCandidates *candidates);
SambaStatus sambaOnnxAnyAxis(const SambaOnnxNode *node, uint32_t input,
                             SambaOnnxCandidates *candidates);
SambaStatus sambaOnnxTransformLength(const SambaOnnxNode *node, uint32_t input,
                                     SambaOnnxCandidates *candidates);
SambaStatus sambaOnnxFrameStep(const SambaOnnxNode *node, uint32_t input,
                               SambaOnnxCandidates *candidates);
SambaStatus sambaOnnxSizesOfAxes(const SambaOnnxNode *node, uint32_t input,
                                 SambaOnnxCandidates *candidates);
SambaStatus sambaOnnxPictureSizes(const SambaOnnxNode *node, uint32_t input,
                                  SambaOnnxCandidates *candidates);
SambaStatus sambaOnnxBlockSizes(const SambaOnnxNode *node, uint32_t input,
                                SambaOnnxCandidates *candidates);
SambaStatus sambaOnnxGridSizes(const SambaOnnxNode *node, uint32_t input,
                               SambaOnnxCandidates *candidates);

#endif
