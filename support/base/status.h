/* Status values: the public part, and what those who print a failure piece by piece need. */
#ifndef SAMBA_SUPPORT_BASE_STATUS_H
#define SAMBA_SUPPORT_BASE_STATUS_H

#include "samba/base.h"

/* The headline's part of the message, and the notes one by one. */
size_t sambaStatusGetHeadlineSize(SambaStatus status);
size_t sambaStatusGetNoteCount(SambaStatus status);
const char *sambaStatusGetNote(SambaStatus status, size_t index);

#endif
