/* Threads of the host that work side by side: a round of work has as many shares as the team has
 * members, and ends when all are done. The caller is the first member.
 *
 * Rounds are short, some ten microseconds, so members wait for the next one awake for a while, and
 * then asleep. A share that its member has not begun when the caller is through with its own, the
 * caller does too: the host may have other work for that core. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_NETWORK_TEAM_H
#define SAMBA_BACKEND_SIM_CYCLE_NETWORK_TEAM_H

#include "support/base/memory.h"

enum { SAMBA_TEAM_MOST = 8 };

typedef struct SambaTeam SambaTeam;
typedef void (*SambaTeamWork)(void *context, uint32_t share);

/* A team of as many members, 1 to SAMBA_TEAM_MOST. If the host has no more threads, they get by
 * with those that there are. */
SambaTeam *sambaTeamMake(SambaArena *arena, uint32_t members);
/* Its threads end. */
void sambaTeamPart(SambaTeam *team);
/* Is it worth it to share the work now? On a host with much other work it may not be: a round lasts
 * until the last core has come to it. Asked once per piece of work, of some rounds: from time to
 * time some pieces are done by one thread and as many by the team, which does the next ones if it
 * was clearly faster. */
bool sambaTeamHelps(SambaTeam *team);
/* One round. What was done before it is seen by every share, and what shares do is seen after it.
 */
void sambaTeamDo(SambaTeam *team, SambaTeamWork work, void *context);

#endif
