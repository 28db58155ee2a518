/* Brings the simulator's value engine to the programs that check passes by values. They are made of
 * MLIR's own mains, so it comes by itself when such a program starts. */
#include "backend/sim/value/values.h"
#include "lowering/check/section_runner.h"

#include <stdlib.h>

static SambaStatus runSection(const SambaMachine *machine, const SambaSection *section,
                              const SambaSectionFormal *formals, const uint64_t *argins,
                              uint32_t argin_count) {
  SambaValues *values = NULL;
  SAMBA_RETURN_IF_ERROR(sambaValuesCreate(machine, &(SambaValuesOptions){.threads = 1}, &values));
  SambaBinding *bindings = sambaAllocateZeroed((size_t)section->symbol_count + 1, sizeof *bindings);
  for (uint32_t s = 0; s < section->symbol_count; ++s)
    bindings[s] = (SambaBinding){.data = formals[s].data, .bytes = formals[s].bytes};
  SambaStatus status = sambaValuesExecute(values, section, bindings, argins, argin_count, NULL);
  free(bindings);
  sambaValuesDestroy(values);
  return status;
}

__attribute__((constructor)) static void bringRunner(void) { sambaSetSectionRunner(runSection); }
