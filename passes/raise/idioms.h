/* The idioms that samba-raise-idioms knows; raise_idioms.c lists them by the operator at which they
 * end. */
#ifndef SAMBA_PASSES_RAISE_IDIOMS_H
#define SAMBA_PASSES_RAISE_IDIOMS_H

#include "mlir-c/IR.h"

/* Each raises what ends at the operation, if it does; the operation stays, without users then. */
void sambaRaiseActivation(MlirOperation root); /* gelu, silu */
void sambaRaiseSoftmax(MlirOperation root);
void sambaRaiseShiftedSoftmax(MlirOperation root);
void sambaRaiseAttention(MlirOperation root);
void sambaRaiseRotary(MlirOperation root);

/* What is known of masks that are constants, for one context: each is looked at once. */
typedef struct SambaMaskForms SambaMaskForms;
SambaMaskForms *sambaMaskFormsCreate(void);
void sambaMaskFormsFree(SambaMaskForms *forms);
/* Behind the others: attention with a causal mask says so and reads none. Returns the attention
 * that is used now. */
MlirOperation sambaRaiseCausal(MlirOperation attention, SambaMaskForms *forms);
/* Behind that: attention reads the keys and values of grouped heads without copies. */
void sambaShareHeads(MlirOperation attention);

/* Before the others: the einsums of attention become matmul. */
void sambaLowerAttentionEinsums(MlirOperation function);

#endif
