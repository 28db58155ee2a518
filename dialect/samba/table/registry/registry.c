/* Finding operators: the families' rows, sorted by name at the first use; see registry.h. */
#include "dialect/samba/table/registry/registry.h"
#include "support/base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define X(family) extern const SambaOperator family[];
#include "dialect/samba/table/registry/families.def"
#undef X

static const SambaOperator *const families[] = {
#define X(family) family,
#include "dialect/samba/table/registry/families.def"
#undef X
};
enum { familyCount = sizeof families / sizeof *families };

static const SambaOperator **sorted; /* lives as long as the program */
static uint32_t count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int compareNames(const void *a, const void *b) {
  const SambaOperator *const *x = a, *const *y = b;
  return strcmp((*x)->name, (*y)->name);
}

static void sortRows(void) {
  for (uint32_t i = 0; i < familyCount; ++i)
    for (const SambaOperator *row = families[i]; row->name; ++row)
      ++count;
  sorted = sambaAllocate(sambaArraySize(count, sizeof *sorted));

  uint32_t filled = 0;
  for (uint32_t i = 0; i < familyCount; ++i)
    for (const SambaOperator *row = families[i]; row->name; ++row)
      sorted[filled++] = row;
  qsort(sorted, count, sizeof *sorted, compareNames);
}

const SambaOperator *sambaOperatorAt(uint32_t index) {
  pthread_once(&once, sortRows);
  return index < count ? sorted[index] : NULL;
}

static int compareToName(const void *key, const void *element) {
  const SambaStringRef *name = key;
  SambaStringRef other = sambaStringRef((*(const SambaOperator *const *)element)->name);
  size_t shared = name->size < other.size ? name->size : other.size;
  int order = shared ? memcmp(name->data, other.data, shared) : 0;
  return order ? order : (name->size > other.size) - (name->size < other.size);
}

const SambaOperator *sambaOperatorFind(SambaStringRef name) {
  pthread_once(&once, sortRows);
  const SambaOperator *const *found = bsearch(&name, sorted, count, sizeof *sorted, compareToName);
  return found ? *found : NULL;
}
