/* What convolutions and transposed convolutions check alike; inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_WINDOW_CONVOLUTION_TYPE_H
#define SAMBA_DIALECT_SAMBA_TABLE_WINDOW_CONVOLUTION_TYPE_H

#include "dialect/samba/table/core/rows.h"

/* (C1) to (C3): dtypes and ranks of x and the weight. */
SambaStatus sambaCheckConvolution(const SambaOperatorCall *call);
/* (C5): all of the window but the result's size. */
SambaStatus sambaConvolutionWindow(const SambaOperatorCall *call, SambaWindow *out);
/* (C7), (C8): the result of the window's size with this many channels, and the bias. */
SambaStatus sambaConvolutionResult(const SambaOperatorCall *call, const SambaWindow *window,
                                   int64_t channels, SambaTensorType *out);

#endif
