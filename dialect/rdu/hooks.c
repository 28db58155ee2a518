/* Which C bodies each rdu op has. */
#include "dialect/rdu/rdu.h"

static const SambaOpHooks hooksOfOps[] = {
    {.name = {"rdu.section", 11}},
};

SambaOpHooks sambaRduOpHooks(MlirStringRef name) {
  for (size_t i = 0; i < sizeof hooksOfOps / sizeof *hooksOfOps; ++i)
    if (mlirStringRefEqual(name, hooksOfOps[i].name))
      return hooksOfOps[i];
  return (SambaOpHooks){.name = name};
}
