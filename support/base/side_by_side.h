/* Pieces of work on several threads of the host, for callers that have a few of them now and then.
 * Which thread does a piece must not matter to what comes of it. */
#ifndef SAMBA_SUPPORT_BASE_SIDE_BY_SIDE_H
#define SAMBA_SUPPORT_BASE_SIDE_BY_SIDE_H

#include <stdint.h>

/* Does one piece; thread: which of the threads does it, for what each has of its own. */
typedef void (*SambaPieceWork)(void *user, uint32_t piece, uint32_t thread);

/* Does all pieces, on this thread (number 0) and others, `threads` together at most, and returns
 * when they are done. Threads that cannot be started do not matter. */
void sambaDoSideBySide(uint32_t pieces, uint32_t threads, SambaPieceWork work, void *user);

#endif
