/* Teams; see team.h. */
#include "backend/sim/cycle/network/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* How often a member looks before it sleeps: that takes some ten microseconds. */
enum { looksAwake = 2000 };
/* Of so many pieces of work the first ones are a trial. */
enum { piecesPerTrial = 1024, piecesOfTrial = 16 };

/* A share: the last round in which somebody began it, and in which it was done. Shares lie in
 * different lines of the host's cache. */
typedef struct Share {
  _Alignas(64) atomic_uint begun;
  atomic_uint done;
} Share;

typedef struct Member {
  SambaTeam *team;
  uint32_t share;
  pthread_t thread;
} Member;

struct SambaTeam {
  Share shares[SAMBA_TEAM_MOST];
  Member members[SAMBA_TEAM_MOST]; /* the first one is the caller */
  uint32_t size, started;          /* started: threads */
  SambaTeamWork work;              /* of the round */
  void *context;
  atomic_bool parts;
  uint32_t piece;                   /* of work, since the last trial began */
  int64_t began, alone_nanoseconds; /* a half of the trial */
  bool helps;
  _Alignas(64) atomic_uint round;
  atomic_uint sleepers;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
};

static void pauseABit(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* Waits until a number is another one. */
static void await(SambaTeam *team, atomic_uint *number, unsigned old) {
  for (int look = 0; look < looksAwake; ++look, pauseABit())
    if (atomic_load_explicit(number, memory_order_acquire) != old)
      return;
  pthread_mutex_lock(&team->mutex);
  atomic_fetch_add(&team->sleepers, 1);
  while (atomic_load(number) == old)
    pthread_cond_wait(&team->changed, &team->mutex);
  atomic_fetch_sub(&team->sleepers, 1);
  pthread_mutex_unlock(&team->mutex);
}

/* Changes it, and wakes those who sleep. Who goes to sleep says so before it looks for the last
 * time: either it sees the change, or it is seen here. */
static void change(SambaTeam *team, atomic_uint *number, unsigned value) {
  atomic_store(number, value);
  if (atomic_load(&team->sleepers) == 0)
    return;
  pthread_mutex_lock(&team->mutex);
  pthread_cond_broadcast(&team->changed);
  pthread_mutex_unlock(&team->mutex);
}

/* Does a share of the round, unless somebody else has begun it. A round ends when all of its shares
 * are done, so whoever comes too late for it begins nothing of the next one. */
static void doShare(SambaTeam *team, uint32_t index, unsigned round) {
  Share *share = &team->shares[index];
  unsigned before = round - 1;
  if (!atomic_compare_exchange_strong(&share->begun, &before, round))
    return;
  team->work(team->context, index);
  change(team, &share->done, round);
}

static void *belong(void *argument) {
  const Member *member = argument;
  SambaTeam *team = member->team;
  for (unsigned seen = 0;;) {
    await(team, &team->round, seen);
    seen = atomic_load(&team->round);
    if (atomic_load(&team->parts))
      return NULL;
    doShare(team, member->share, seen);
  }
}

SambaTeam *sambaTeamMake(SambaArena *arena, uint32_t members) {
  SambaTeam *team = SAMBA_ARENA_LINES(arena, SambaTeam, 1);
  pthread_mutex_init(&team->mutex, NULL);
  pthread_cond_init(&team->changed, NULL);
  team->size = members;
  for (uint32_t m = 1; m < members; ++m) {
    team->members[m] = (Member){.team = team, .share = m};
    if (pthread_create(&team->members[m].thread, NULL, belong, &team->members[m]) != 0)
      break;
    team->started = m;
  }
  return team;
}

void sambaTeamPart(SambaTeam *team) {
  atomic_store(&team->parts, true);
  change(team, &team->round, atomic_load(&team->round) + 1);
  for (uint32_t m = 1; m <= team->started; ++m)
    pthread_join(team->members[m].thread, NULL);
  pthread_cond_destroy(&team->changed);
  pthread_mutex_destroy(&team->mutex);
}

static int64_t nanosecondsNow(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool sambaTeamHelps(SambaTeam *team) {
  uint32_t piece = team->piece++;
  if (piece == 0) {
    team->helps = false;
    team->began = nanosecondsNow();
  } else if (piece == piecesOfTrial) {
    int64_t now = nanosecondsNow();
    team->alone_nanoseconds = now - team->began;
    team->began = now;
    team->helps = true;
  } else if (piece == 2 * piecesOfTrial) {
    team->helps = nanosecondsNow() - team->began < team->alone_nanoseconds / 8 * 7;
  } else if (piece == piecesPerTrial) {
    team->piece = 0;
  }
  return team->helps;
}

void sambaTeamDo(SambaTeam *team, SambaTeamWork work, void *context) {
  unsigned before = atomic_load(&team->round), round = before + 1;
  team->work = work;
  team->context = context;
  change(team, &team->round, round);
  for (uint32_t share = 0; share < team->size; ++share)
    doShare(team, share, round);
  for (uint32_t share = 1; share < team->size; ++share)
    await(team, &team->shares[share].done, before);
}
