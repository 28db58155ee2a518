/* Register-tiled kernels; see tile_kernels.h. One body, instantiated per instruction set, rows and
 * columns. */
#include "backend/sim/value/kernel/tile_kernels.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* One step of k: sums[i][j] += a[i][at] * b[j]. */
#define TILE_STEP(ROWS, VECTORS, V, WIDTH, LOAD, BROADCAST, FMA)                                   \
  V columns[VECTORS];                                                                              \
  _Pragma("GCC unroll 8") for (int j = 0; j < VECTORS; ++j) columns[j] = LOAD(b + WIDTH * j);      \
  _Pragma("GCC unroll 8") for (int i = 0; i < ROWS; ++i) {                                         \
    V row = BROADCAST(a[i][at]);                                                                   \
    _Pragma("GCC unroll 8") for (int j = 0; j < VECTORS; ++j) sums[i][j] =                         \
        FMA(row, columns[j], sums[i][j]);                                                          \
  }

/* VECTORS vectors of type V side by side; ROWS x VECTORS accumulators stay in registers. */
#define TILE_KERNEL(NAME, ATTRIBUTES, ELEMENT, ROWS, VECTORS, V, WIDTH, ZERO, LOAD, STORE,         \
                    BROADCAST, FMA)                                                                \
  ATTRIBUTES static void NAME(const SambaTile *t) {                                                \
    V sums[ROWS][VECTORS];                                                                         \
    ELEMENT *c = t->c;                                                                             \
    const ELEMENT *a[ROWS];                                                                        \
    _Pragma("GCC unroll 8") for (int i = 0; i < ROWS; ++i)                                         \
        _Pragma("GCC unroll 8") for (int j = 0; j < VECTORS; ++j) sums[i][j] =                     \
            t->first ? ZERO() : LOAD(c + i * t->c_pitch + WIDTH * j);                              \
    const int64_t b_step = t->b_step;                                                              \
    if (t->a_table) {                                                                              \
      const int32_t *table = t->a_table, *end = table + t->depth;                                  \
      const ELEMENT *b = t->b;                                                                     \
      _Pragma("GCC unroll 8") for (int i = 0; i < ROWS; ++i) a[i] = t->a[i];                       \
      for (; table < end; ++table) {                                                               \
        int64_t at = *table;                                                                       \
        TILE_STEP(ROWS, VECTORS, V, WIDTH, LOAD, BROADCAST, FMA)                                   \
        b += b_step;                                                                               \
      }                                                                                            \
    } else {                                                                                       \
      const int64_t a_step = t->a_step, inner = t->inner_count;                                    \
      for (int64_t o = 0; o < t->outer_count; ++o) {                                               \
        _Pragma("GCC unroll 8") for (int i = 0; i < ROWS; ++i) a[i] =                              \
            (const ELEMENT *)t->a[i] + t->a_outer[o];                                              \
        const ELEMENT *b = (const ELEMENT *)t->b + t->b_outer[o];                                  \
        int64_t at = 0;                                                                            \
        for (int64_t k = 0; k < inner; ++k) {                                                      \
          TILE_STEP(ROWS, VECTORS, V, WIDTH, LOAD, BROADCAST, FMA)                                 \
          at += a_step;                                                                            \
          b += b_step;                                                                             \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
    _Pragma("GCC unroll 8") for (int i = 0; i < ROWS; ++i)                                         \
        _Pragma("GCC unroll 8") for (int j = 0; j < VECTORS; ++j)                                  \
            STORE(c + i * t->c_pitch + WIDTH * j, sums[i][j]);                                     \
  }

/* One element at a time: any host. fmaf is exact whether the host has the instruction or not. */
#define SCALAR_ZERO() 0
#define SCALAR_LOAD(address) (*(address))
#define SCALAR_STORE(address, value) (*(address) = (value))
#define SCALAR_BROADCAST(value) (value)
#define PLAIN
#define FLOAT_TILE(ROWS)                                                                           \
  TILE_KERNEL(plainFloat##ROWS, PLAIN, float, ROWS, 4, float, 1, SCALAR_ZERO, SCALAR_LOAD,         \
              SCALAR_STORE, SCALAR_BROADCAST, fmaf)
FLOAT_TILE(4)
FLOAT_TILE(2)
FLOAT_TILE(1)

static inline uint32_t wrappingFma(uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }
#define INTEGER_TILE(ROWS)                                                                         \
  TILE_KERNEL(plainInteger##ROWS, PLAIN, uint32_t, ROWS, 8, uint32_t, 1, SCALAR_ZERO, SCALAR_LOAD, \
              SCALAR_STORE, SCALAR_BROADCAST, wrappingFma)
INTEGER_TILE(4)
INTEGER_TILE(2)
INTEGER_TILE(1)

static const SambaTileKernels plainKernels = {
    "plain",
    4,
    4,
    4,
    {[1] = plainFloat1, [2] = plainFloat2, [4] = plainFloat4},
    {[1] = plainFloat1, [2] = plainFloat2, [4] = plainFloat4}};
static const SambaTileKernels integerKernels = {
    "integer",
    8,
    8,
    4,
    {[1] = plainInteger1, [2] = plainInteger2, [4] = plainInteger4},
    {[1] = plainInteger1, [2] = plainInteger2, [4] = plainInteger4}};

const SambaTileKernels *sambaTileKernelsInteger(void) { return &integerKernels; }

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))
#define AVX512_TILE(ROWS, VECTORS)                                                                 \
  TILE_KERNEL(avx512_##ROWS##x##VECTORS, AVX512, float, ROWS, VECTORS, __m512, 16,                 \
              _mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps,                \
              _mm512_fmadd_ps)
AVX512_TILE(8, 2)
AVX512_TILE(4, 2)
AVX512_TILE(2, 2)
AVX512_TILE(1, 2)
AVX512_TILE(8, 1)
AVX512_TILE(4, 1)
AVX512_TILE(2, 1)
AVX512_TILE(1, 1)

#define AVX2 __attribute__((target("avx2,fma")))
#define AVX2_TILE(ROWS, VECTORS)                                                                   \
  TILE_KERNEL(avx2_##ROWS##x##VECTORS, AVX2, float, ROWS, VECTORS, __m256, 8, _mm256_setzero_ps,   \
              _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_fmadd_ps)
AVX2_TILE(6, 2)
AVX2_TILE(4, 2)
AVX2_TILE(2, 2)
AVX2_TILE(1, 2)
AVX2_TILE(4, 1)
AVX2_TILE(2, 1)
AVX2_TILE(1, 1)

static const SambaTileKernels avx512Kernels = {
    "avx512",
    32,
    16,
    8,
    {[1] = avx512_1x2, [2] = avx512_2x2, [4] = avx512_4x2, [8] = avx512_8x2},
    {[1] = avx512_1x1, [2] = avx512_2x1, [4] = avx512_4x1, [8] = avx512_8x1}};
static const SambaTileKernels avx2Kernels = {
    "avx2",
    16,
    8,
    6,
    {[1] = avx2_1x2, [2] = avx2_2x2, [4] = avx2_4x2, [6] = avx2_6x2},
    {[1] = avx2_1x1, [2] = avx2_2x1, [4] = avx2_4x1}};

const SambaTileKernels *sambaTileKernelsFind(const char *cpu) {
  bool old = cpu && (strcmp(cpu, "x86-64") == 0 || strcmp(cpu, "x86-64-v2") == 0),
       middle = cpu && strcmp(cpu, "x86-64-v3") == 0;
  if (old)
    return &plainKernels;
  if (!middle && __builtin_cpu_supports("avx512f"))
    return &avx512Kernels;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2Kernels
                                                                         : &plainKernels;
}
#else
const SambaTileKernels *sambaTileKernelsFind(const char *cpu) {
  (void)cpu;
  return &plainKernels;
}
#endif
