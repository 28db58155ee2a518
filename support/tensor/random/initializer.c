/* Materializers of parameters: constants, uniform and normal numbers.
 *
 * A number is a function of a key and of its place alone: output `place` of splitmix64 that starts
 * at the key, which comes from the seed and the tensor's name. So threads may share the places in
 * any way, and the order in which parameters are made does not matter. */
#include "samba/random.h"
#include "support/base/memory.h"
#include "support/number/convert.h"
#include "support/number/dtype.h"
#include "support/tensor/random/normal_quantile.h"
#include "support/tensor/tensor_state.h"
#include "support/text/string_ref.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

typedef struct Initializer {
  SambaInitializer what;
  SambaLazyOptions options;
} Initializer;

/* The places [begin, end) of a request, for one thread; begin is even. */
typedef struct Part {
  const Initializer *initializer;
  const SambaMaterializeRequest *request;
  uint64_t key;
  int64_t begin, end;
} Part;

/* ---- One number ---- */

static uint64_t bitsAt(uint64_t key, int64_t place) {
  uint64_t state = key + (uint64_t)place * 0x9e3779b97f4a7c15u;
  return sambaRandomDraw(&state);
}

/* In [0, 1). */
static double uniformAt(uint64_t key, int64_t place) {
  return (double)(bitsAt(key, place) >> 11) * 0x1p-53;
}

/* In (0, 1): the quantiles of 0 and 1 are infinite. */
static double quantileAt(uint64_t key, int64_t place) {
  return sambaNormalQuantile(((double)(bitsAt(key, place) >> 12) + 0.5) * 0x1p-52);
}

/* Normal numbers of a pair of places, with mean 0 and deviation 1. */
static void normalPair(const Part *part, int64_t place, double *out_pair) {
  if (part->initializer->options.inverse_transform_sampling) {
    out_pair[0] = quantileAt(part->key, place);
    out_pair[1] = quantileAt(part->key, place + 1);
    return;
  }
  double radius = sqrt(-2.0 * log1p(-uniformAt(part->key, place)));
  double angle = 2.0 * M_PI * uniformAt(part->key, place + 1);
  out_pair[0] = radius * cos(angle);
  out_pair[1] = radius * sin(angle);
}

/* ---- A part of a tensor ---- */

enum { chunk = 256 };

static void numbersAt(const Part *part, int64_t place, int count, double *out_values) {
  const SambaInitializer *what = &part->initializer->what;
  for (int i = 0; i < count; i += 2) {
    if (what->kind == SAMBA_INITIALIZER_NORMAL) {
      normalPair(part, place + i, out_values + i);
      out_values[i] = what->first + what->second * out_values[i];
      out_values[i + 1] = what->first + what->second * out_values[i + 1];
      continue;
    }
    double width = what->kind == SAMBA_INITIALIZER_UNIFORM ? what->second - what->first : 0;
    out_values[i] = what->first + width * uniformAt(part->key, place + i);
    out_values[i + 1] = what->first + width * uniformAt(part->key, place + i + 1);
  }
}

static void store(const Part *part, int64_t place, int count, const double *values) {
  SambaDType dtype = part->request->dtype;
  int64_t size = sambaDTypeBytes(dtype);
  uint8_t *to = (uint8_t *)part->request->data + place * size;
  bool truncates = dtype == SAMBA_DTYPE_BF16 &&
                   part->initializer->options.bf16_rounding == SAMBA_ROUND_TRUNCATION;
  if (!truncates) {
    sambaConvertRow(SAMBA_DTYPE_F64, (const uint8_t *)values, sizeof *values, dtype, to, size,
                    count);
    return;
  }
  for (int i = 0; i < count; ++i) {
    uint16_t high = (uint16_t)(sambaFloatToBits(SAMBA_DTYPE_F32, (float)values[i]) >> 16);
    memcpy(to + i * size, &high, sizeof high);
  }
}

static void *fillPart(void *argument) {
  const Part *part = argument;
  double values[chunk];
  for (int64_t place = part->begin; place < part->end; place += chunk) {
    int64_t left = part->end - place;
    int count = left < chunk ? (int)left : chunk;
    numbersAt(part, place, count, values);
    store(part, place, count, values);
  }
  return NULL;
}

/* Threads that cannot be started do not matter: this one does their parts. */
static void fill(const Initializer *initializer, const SambaMaterializeRequest *request,
                 uint64_t key) {
  enum { smallest = 1 << 15 }; /* numbers for which a thread pays */
  int64_t count = request->bytes / sambaDTypeBytes(request->dtype);
  int64_t threads = initializer->options.threads, most = count / smallest + 1;
  threads = threads < most ? threads : most;
  int64_t share = (count / threads + 2) & ~INT64_C(1);

  Part *parts = sambaAllocateZeroed((size_t)threads, sizeof *parts);
  pthread_t *started = sambaAllocateZeroed((size_t)threads, sizeof *started);
  bool *runs = sambaAllocateZeroed((size_t)threads, sizeof *runs);
  for (int64_t i = 0; i < threads; ++i) {
    int64_t begin = i * share < count ? i * share : count;
    int64_t end = begin + share < count ? begin + share : count;
    parts[i] = (Part){initializer, request, key, begin, end};
    runs[i] = i && !pthread_create(&started[i], NULL, fillPart, &parts[i]);
  }
  for (int64_t i = 0; i < threads; ++i) {
    if (runs[i])
      pthread_join(started[i], NULL);
    else
      fillPart(&parts[i]);
  }
  free(parts);
  free(started);
  free(runs);
}

/* ---- As a materializer ---- */

static uint64_t keyOf(const Initializer *initializer, const SambaMaterializeRequest *request) {
  uint64_t key = initializer->options.seed;
  if (!initializer->options.seeded) {
    if (request->generator)
      return sambaGeneratorDraw64(request->generator);
    if (getrandom(&key, sizeof key, 0) == sizeof key)
      return key;
  }

  uint64_t mixed = sambaRandomDraw(&key);
  for (size_t i = 0; i < request->name.size; ++i) {
    mixed ^= (uint8_t)request->name.data[i];
    mixed = sambaRandomDraw(&mixed);
  }
  return mixed;
}

static SambaStatus initialize(void *user, const SambaMaterializeRequest *request) {
  const Initializer *initializer = user;
  fill(initializer, request, keyOf(initializer, request));
  return NULL;
}

SambaStatus sambaRoundingParse(SambaStringRef name, SambaRounding *out_rounding) {
  bool nearest = sambaStringRefEqualC(name, "nearest_even");
  if (!nearest && !sambaStringRefEqualC(name, "truncation"))
    return sambaStatusMake(SAMBA_INVALID,
                           "'%.*s' is no rounding from f32 to bf16; expected nearest_even or "
                           "truncation",
                           (int)(name.size < 100 ? name.size : 100), name.size ? name.data : "");
  *out_rounding = nearest ? SAMBA_ROUND_NEAREST_EVEN : SAMBA_ROUND_TRUNCATION;
  return NULL;
}

SambaStatus sambaTensorSetInitializer(SambaTensor *tensor, const SambaInitializer *initializer,
                                      const SambaLazyOptions *options) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  bool random = initializer->kind != SAMBA_INITIALIZER_CONSTANT;
  if (options->threads < 1)
    return sambaStatusMake(SAMBA_INVALID,
                           "random initialization with %d threads; expected 1 or more",
                           (int)options->threads);
  if (random && !sambaDTypeIsFloatingPoint(tensor->dtype))
    return sambaStatusMake(SAMBA_INVALID, "%s cannot get random numbers: its type is no float",
                           sambaTensorDescribe(tensor, text));
  if (initializer->kind == SAMBA_INITIALIZER_UNIFORM &&
      !(initializer->first <= initializer->second))
    return sambaStatusMake(SAMBA_INVALID,
                           "uniform numbers of %s from %g to %g; expected the first one to be "
                           "smaller",
                           sambaTensorDescribe(tensor, text), initializer->first,
                           initializer->second);
  if (initializer->kind == SAMBA_INITIALIZER_NORMAL && !(initializer->second >= 0))
    return sambaStatusMake(SAMBA_INVALID,
                           "normal numbers of %s with the deviation %g; expected 0 or more",
                           sambaTensorDescribe(tensor, text), initializer->second);

  Initializer *copy = sambaAllocate(sizeof *copy);
  *copy = (Initializer){*initializer, *options};
  sambaTensorSetMaterializer(tensor, initialize, copy, free);
  return NULL;
}
