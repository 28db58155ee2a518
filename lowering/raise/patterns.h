/* The patterns of samba-raise-linalg. A nest is tried against them in this order (raise_linalg.c);
 * each file says what its form is. */
#ifndef SAMBA_LOWERING_RAISE_PATTERNS_H
#define SAMBA_LOWERING_RAISE_PATTERNS_H

#include "lowering/raise/nest.h"

/* raise_elementwise.c: every scalar of the body an operator; copies, slices, gathers among them. */
bool sambaNestElementwise(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results);
/* The same for reductions over one element, whatever they compute: the body runs once. */
bool sambaNestSingle(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results);
/* raise_contraction.c: matmul, linear. */
bool sambaNestContraction(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results);
/* raise_window.c: convolutions and pools. */
bool sambaNestConvolution(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results);
bool sambaNestPool(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results);
/* raise_reduction.c: sum, prod, amax, amin; argmax and argmin. */
bool sambaNestReduction(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results);
bool sambaNestSearch(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results);

#endif
