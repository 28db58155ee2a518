/* A row of the importer's table: what is known about one ONNX operator. */
#ifndef SAMBA_FRONTEND_ONNX_CORE_ROW_H
#define SAMBA_FRONTEND_ONNX_CORE_ROW_H

#include "support/base/status.h"

typedef struct SambaOnnxNode SambaOnnxNode;

/* What else is true of an operator. */
typedef enum SambaOnnxTraits {
  /* Every operand has the result's shape or is broadcast to it. */
  SAMBA_ONNX_ELEMENTWISE = 1 << 0,
  /* The result has the shape of the first input. */
  SAMBA_ONNX_KEEPS_SHAPE = 1 << 1,
  /* A DOUBLE may be the input: the operator moves numbers without computing with them. */
  SAMBA_ONNX_MOVES_DOUBLE = 1 << 2,
  /* A DOUBLE may be the input: the operator asks about it or converts it. */
  SAMBA_ONNX_READS_DOUBLE = 1 << 3,
  /* The result can be without elements though no input is. */
  SAMBA_ONNX_MAKES_EMPTY = 1 << 4,
  /* The first input only chooses: the result has the type of the second. */
  SAMBA_ONNX_CHOOSES = 1 << 5
} SambaOnnxTraits;

/* Which of its handler's operators a row is, where a handler has several that differ by more than a
 * name. */
typedef enum SambaOnnxVariant {
  SAMBA_ONNX_ONLY_VARIANT,
  SAMBA_ONNX_REDUCE_SUM,
  SAMBA_ONNX_REDUCE_MEAN,
  SAMBA_ONNX_REDUCE_PROD,
  SAMBA_ONNX_REDUCE_MAX,
  SAMBA_ONNX_REDUCE_MIN,
  SAMBA_ONNX_REDUCE_L1,
  SAMBA_ONNX_REDUCE_L2,
  SAMBA_ONNX_REDUCE_SUM_SQUARE,
  SAMBA_ONNX_REDUCE_LOG_SUM,
  SAMBA_ONNX_REDUCE_LOG_SUM_EXP,
  SAMBA_ONNX_SOFTMAX,
  SAMBA_ONNX_LOG_SOFTMAX,
  SAMBA_ONNX_HARDMAX,
  SAMBA_ONNX_ARG_MAX,
  SAMBA_ONNX_ARG_MIN,
  SAMBA_ONNX_GLOBAL_AVERAGE_POOL,
  SAMBA_ONNX_GLOBAL_MAX_POOL,
  SAMBA_ONNX_LSTM,
  SAMBA_ONNX_GRU,
  SAMBA_ONNX_RNN
} SambaOnnxVariant;

/* One operator in the versions of its operator set that the handler is right for. */
typedef struct SambaOnnxRow {
  const char *domain; /* "" is ai.onnx */
  const char *name;
  int64_t first, last;
  SambaStatus (*import)(const SambaOnnxNode *node);
  /* Evaluates the node when all inputs that are there are constants; sets *out_done when it did.
   * NULL: none. */
  SambaStatus (*fold)(const SambaOnnxNode *node, bool *out_done);
  const char *samba;  /* the operator of the table that simple handlers call */
  uint32_t inputs[2]; /* fewest, most */
  uint32_t traits;    /* of SambaOnnxTraits */
  SambaOnnxVariant variant;
} SambaOnnxRow;

#endif
