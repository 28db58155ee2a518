/* See side_by_side.h. */
#include "support/base/side_by_side.h"

#include "support/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct Work {
  SambaPieceWork work;
  void *user;
  uint32_t pieces;
  atomic_uint next;
} Work;

typedef struct Helper {
  Work *work;
  uint32_t number;
  pthread_t thread;
} Helper;

static void doPieces(Work *work, uint32_t number) {
  for (uint32_t piece; (piece = atomic_fetch_add(&work->next, 1)) < work->pieces;)
    work->work(work->user, piece, number);
}

static void *help(void *argument) {
  Helper *helper = argument;
  doPieces(helper->work, helper->number);
  return NULL;
}

void sambaDoSideBySide(uint32_t pieces, uint32_t threads, SambaPieceWork work, void *user) {
  Work all = {.work = work, .user = user, .pieces = pieces};
  uint32_t most = pieces < threads ? pieces : threads, started = 0;
  Helper *helpers = sambaAllocate(sambaArraySize(most + 1, sizeof *helpers));
  for (uint32_t number = 1; number < most; ++number) {
    helpers[started] = (Helper){.work = &all, .number = number};
    if (pthread_create(&helpers[started].thread, NULL, help, &helpers[started]) != 0)
      break;
    ++started;
  }
  doPieces(&all, 0);
  for (uint32_t i = 0; i < started; ++i)
    pthread_join(helpers[i].thread, NULL);
  free(helpers);
}
