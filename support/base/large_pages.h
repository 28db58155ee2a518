/* Arenas in large pages of the host. What is visited in no order, and is larger than the pages that
 * a host keeps at hand, is found sooner in them. */
#ifndef SAMBA_SUPPORT_BASE_LARGE_PAGES_H
#define SAMBA_SUPPORT_BASE_LARGE_PAGES_H

struct SambaArena; /* support/base/memory.h */

/* What is allocated from now on lies in large pages, where the host has them. Wastes up to one of
 * them, 2 MiB. */
void sambaArenaUseLargePages(struct SambaArena *arena);

#endif
