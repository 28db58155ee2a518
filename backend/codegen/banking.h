/* How the banks of a section's buffers are laid out. */
#ifndef SAMBA_BACKEND_CODEGEN_BANKING_H
#define SAMBA_BACKEND_CODEGEN_BANKING_H

#include "backend/section/port_cycles.h"
#include "support/container/byte_buffer.h"

/* Where choices are kept for other sections of the same machine, by what they follow from. */
typedef struct SambaBankingMemo {
  void *user;
  /* False when there is none; else fills in the buffer's banking. */
  bool (*find)(void *user, const SambaByteBuffer *key, SambaBuffer *out_banking);
  void (*keep)(void *user, const SambaByteBuffer *key, const SambaBuffer *banking);
  SambaPortCounts *counts; /* of the machine's ports, shared with other sections; may be NULL */
} SambaBankingMemo;

/* Sets banking, row_words and skew of every buffer to what costs its ports the fewest cycles. The
 * section has its ports and streams. memo may be NULL. */
void sambaChooseBanking(const SambaMachine *machine, SambaSection *section,
                        const SambaBankingMemo *memo);

#endif
