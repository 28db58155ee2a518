/* Register-tiled multiply-accumulate kernels: the host's form of a systolic array.
 *
 * acc(m, n) = fma(a(m, k), b(k, n), acc(m, n)), k ascending: the order and the single rounding are
 * the same in every kernel, so which one runs changes no bits. */
#ifndef SAMBA_BACKEND_SIM_VALUE_KERNEL_TILE_KERNELS_H
#define SAMBA_BACKEND_SIM_VALUE_KERNEL_TILE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

enum { SAMBA_TILE_MAX_ROWS = 8, SAMBA_TILE_MAX_COLUMNS = 32 };

/* k runs over outer_count runs of inner_count steps. a elements are read one by one through row
 * pointers, b as contiguous columns. Offsets and steps count elements. */
typedef struct SambaTile {
  const void *a[SAMBA_TILE_MAX_ROWS];
  const void *b;
  const int64_t *a_outer, *b_outer; /* [outer_count] */
  int64_t outer_count, inner_count, a_step, b_step;
  const int32_t *a_table; /* NULL, or [depth] */
  int64_t depth;
  void *c;
  int64_t c_pitch;
  bool first; /* start from zero instead of from c */
} SambaTile;

typedef void (*SambaTileFunction)(const SambaTile *tile);

/* The kernels of one instruction set: widest first, `columns` wide, for 8, 4, 2 and 1 rows (or
 * fewer at most). */
typedef struct SambaTileKernels {
  const char *name;
  uint32_t columns, narrow_columns; /* of wide[] and narrow[] */
  uint32_t max_rows;
  SambaTileFunction wide[SAMBA_TILE_MAX_ROWS + 1]; /* by number of rows; NULL: take fewer rows */
  SambaTileFunction narrow[SAMBA_TILE_MAX_ROWS + 1];
} SambaTileKernels;

/* Kernels for f32 that this host can run. cpu: LLVM's CPU name the engine was asked to use, NULL:
 * the host's. */
const SambaTileKernels *sambaTileKernelsFind(const char *cpu);
/* Kernels for i32 (wrapping). */
const SambaTileKernels *sambaTileKernelsInteger(void);

#endif
