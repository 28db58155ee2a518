/* Converters of TOSA operations by family; tosa_to_samba.c has the table. */
#ifndef SAMBA_LOWERING_TOSA_TOSA_ROWS_H
#define SAMBA_LOWERING_TOSA_TOSA_ROWS_H

#include "lowering/foreign/foreign_call.h"

/* Element by element. */
void sambaTosaSame(SambaForeignCall *call); /* the row's operator, of all operands */
void sambaTosaExtremum(SambaForeignCall *call);
void sambaTosaMul(SambaForeignCall *call);
void sambaTosaNegate(SambaForeignCall *call);
void sambaTosaClamp(SambaForeignCall *call);
void sambaTosaCast(SambaForeignCall *call);
void sambaTosaArithmeticRightShift(SambaForeignCall *call);
void sambaTosaLogicalRightShift(SambaForeignCall *call);
void sambaTosaClz(SambaForeignCall *call);
void sambaTosaIdentity(SambaForeignCall *call);

/* Reductions. */
void sambaTosaReduce(SambaForeignCall *call);
void sambaTosaArgmax(SambaForeignCall *call);

/* Contractions and windows. */
void sambaTosaMatmul(SambaForeignCall *call);
void sambaTosaConvolution(SambaForeignCall *call);
void sambaTosaDepthwise(SambaForeignCall *call);
void sambaTosaTransposeConvolution(SambaForeignCall *call);
void sambaTosaPool(SambaForeignCall *call);
void sambaTosaFft(SambaForeignCall *call);
void sambaTosaRfft(SambaForeignCall *call);

/* Shapes and places. */
void sambaTosaReshape(SambaForeignCall *call);
void sambaTosaTranspose(SambaForeignCall *call);
void sambaTosaConcat(SambaForeignCall *call);
void sambaTosaPad(SambaForeignCall *call);
void sambaTosaSlice(SambaForeignCall *call);
void sambaTosaReverse(SambaForeignCall *call);
void sambaTosaTile(SambaForeignCall *call);
void sambaTosaGather(SambaForeignCall *call);
void sambaTosaScatter(SambaForeignCall *call);
void sambaTosaResize(SambaForeignCall *call);

/* What samba has no form for: an error that says what to do. */
void sambaTosaRefuse(SambaForeignCall *call);

/* ---- Shared ---- */
/* Whether the operation leaves NaN out (nan_mode = IGNORE), and its type has any. */
bool sambaTosaIgnoresNan(const SambaForeignCall *call, uint32_t value);
/* x with `number` instead of every NaN. */
uint32_t sambaTosaReplaceNan(SambaForeignCall *call, uint32_t x, double number);

#endif
