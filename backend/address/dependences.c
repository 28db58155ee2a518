/* Dependences between calls; see dependences.h. */
#include "backend/address/dependences.h"

#include <stdlib.h>

void sambaDependencesBegin(SambaDependences *dependences, uint32_t call) {
  dependences->current = call;
  dependences->calls.size = 0;
  for (uint32_t next = (uint32_t)dependences->last_waiter.size; next <= call; ++next)
    sambaArrayAppend(&dependences->last_waiter, next);
}

static int compareNumber(const void *left, const void *right) {
  const uint32_t *a = left, *b = right;
  return *a < *b ? -1 : *a > *b;
}

/* The current call depends on the accesses that were found. */
static void dependOnFound(SambaDependences *dependences) {
  SambaIntervalValues *found = &dependences->found;
  if (found->size > 1)
    qsort(found->data, found->size, sizeof *found->data, compareNumber);
  for (size_t i = 0; i < found->size; ++i) {
    uint32_t call = dependences->accesses.data[found->data[i]].call;
    uint32_t *waiter = &dependences->last_waiter.data[call];
    if (call == dependences->current || *waiter == dependences->current)
      continue;
    *waiter = dependences->current;
    sambaArrayAppend(&dependences->calls, call);
  }
}

static void append(SambaDependences *dependences, uint64_t begin, uint64_t end, bool write) {
  SambaMemoryAccess access = {begin, end, dependences->current, write};
  sambaIntervalTreeInsert(write ? &dependences->writes : &dependences->reads, begin, end,
                          (uint32_t)dependences->accesses.size);
  sambaArrayAppend(&dependences->accesses, access);
}

void sambaDependencesRead(SambaDependences *dependences, uint64_t address, uint64_t bytes) {
  uint64_t end = address + bytes;
  if (!bytes)
    return;
  dependences->found.size = 0;
  sambaIntervalTreeFind(&dependences->writes, address, end, &dependences->found);
  dependOnFound(dependences);
  append(dependences, address, end, false);
}

void sambaDependencesWrite(SambaDependences *dependences, uint64_t address, uint64_t bytes) {
  uint64_t end = address + bytes;
  if (!bytes)
    return;
  dependences->found.size = 0;
  sambaIntervalTreeFind(&dependences->writes, address, end, &dependences->found);
  sambaIntervalTreeFind(&dependences->reads, address, end, &dependences->found);
  dependOnFound(dependences);

  for (size_t i = 0; i < dependences->found.size; ++i) {
    uint32_t number = dependences->found.data[i];
    const SambaMemoryAccess *access = &dependences->accesses.data[number];
    if (access->begin >= address && access->end <= end) /* who waits for this waits for that */
      sambaIntervalTreeRemove(access->write ? &dependences->writes : &dependences->reads,
                              access->begin, number);
  }
  append(dependences, address, end, true);
}

void sambaDependencesFree(SambaDependences *dependences) {
  sambaArrayFree(&dependences->accesses);
  sambaIntervalTreeFree(&dependences->writes);
  sambaIntervalTreeFree(&dependences->reads);
  sambaArrayFree(&dependences->found);
  sambaArrayFree(&dependences->calls);
  sambaArrayFree(&dependences->last_waiter);
}
