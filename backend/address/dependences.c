/* Dependences between calls; see dependences.h. */
#include "backend/address/dependences.h"

#include <stdlib.h>

void sambaDependencesBegin(SambaDependences *dependences, uint32_t call) {
  dependences->current = call;
  dependences->calls.size = 0;
}

static void dependOn(SambaDependences *dependences, uint32_t call) {
  bool seen = call == dependences->current;
  for (size_t i = 0; i < dependences->calls.size && !seen; ++i)
    seen = dependences->calls.data[i] == call;
  if (!seen)
    sambaArrayAppend(&dependences->calls, call);
}

static bool overlaps(const SambaMemoryAccess *access, uint64_t begin, uint64_t end) {
  return access->begin < end && begin < access->end;
}

static void append(SambaDependences *dependences, uint64_t begin, uint64_t end, bool write) {
  SambaMemoryAccess access = {begin, end, dependences->current, write};
  sambaArrayAppend(&dependences->accesses, access);
}

void sambaDependencesRead(SambaDependences *dependences, uint64_t address, uint64_t bytes) {
  for (size_t i = 0; i < dependences->accesses.size; ++i) {
    const SambaMemoryAccess *access = &dependences->accesses.data[i];
    if (access->write && overlaps(access, address, address + bytes))
      dependOn(dependences, access->call);
  }
  append(dependences, address, address + bytes, false);
}

void sambaDependencesWrite(SambaDependences *dependences, uint64_t address, uint64_t bytes) {
  uint64_t end = address + bytes;
  size_t kept = 0;
  for (size_t i = 0; i < dependences->accesses.size; ++i) {
    SambaMemoryAccess access = dependences->accesses.data[i];
    if (overlaps(&access, address, end))
      dependOn(dependences, access.call);
    if (access.begin < address || access.end > end) /* who waits for this write waits for those */
      dependences->accesses.data[kept++] = access;
  }
  dependences->accesses.size = kept;
  append(dependences, address, end, true);
}

void sambaDependencesFree(SambaDependences *dependences) {
  sambaArrayFree(&dependences->accesses);
  sambaArrayFree(&dependences->calls);
}
