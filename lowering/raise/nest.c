/* Questions to a nest; see nest.h. */
#include "lowering/raise/nest.h"

#include <string.h>

uint32_t sambaNestAxisDimension(const SambaNest *nest, const SambaAxisMap *axis, bool *out_plain) {
  uint32_t found = SAMBA_NEST_UNIT;
  *out_plain = axis->constant == 0;
  for (uint32_t d = 0; d < nest->dim_count; ++d) {
    if (!axis->coefficients[d] || nest->extents[d] == 1)
      continue;
    if (axis->coefficients[d] != 1 || found != SAMBA_NEST_UNIT)
      *out_plain = false;
    found = d;
  }
  return *out_plain ? found : SAMBA_NEST_UNIT;
}

void sambaNestMark(const SambaNest *nest, uint32_t scalar, bool *out_marks) {
  memset(out_marks, 0, nest->scalar_count * sizeof *out_marks);
  out_marks[scalar] = true;
  for (uint32_t s = scalar + 1; s-- > 0;)
    for (uint32_t i = 0; out_marks[s] && i < nest->scalars[s].count; ++i)
      out_marks[nest->scalars[s].scalars[i]] = true;
}

bool sambaNestReads(const SambaNest *nest, uint32_t scalar, uint32_t operand) {
  bool marks[SAMBA_MAX_NEST_SCALARS];
  sambaNestMark(nest, scalar, marks);
  for (uint32_t s = 0; s <= scalar; ++s) {
    const SambaScalar *part = &nest->scalars[s];
    bool reads = part->kind == SAMBA_SCALAR_OPERAND || part->kind == SAMBA_SCALAR_EXTRACT;
    if (marks[s] && reads && part->operand == operand)
      return true;
  }
  return false;
}
