/* The Mersenne Twister mt19937 (Matsumoto and Nishimura, 1998), and single numbers from it. */
#include "support/tensor/random/generator.h"

#include "support/base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { stateSize = 624, stateShift = 397 };

struct SambaGenerator {
  uint32_t state[stateSize];
  uint32_t next; /* the first number of the state that was not drawn */
  bool has_normal;
  double normal;
};

SambaGenerator *sambaGeneratorCreate(uint64_t seed) {
  SambaGenerator *generator = sambaAllocate(sizeof *generator);
  sambaGeneratorSetSeed(generator, seed);
  return generator;
}

void sambaGeneratorDestroy(SambaGenerator *generator) { free(generator); }

void sambaGeneratorSetSeed(SambaGenerator *generator, uint64_t seed) {
  uint32_t *state = generator->state;
  state[0] = (uint32_t)seed;
  for (uint32_t i = 1; i < stateSize; ++i)
    state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
  generator->next = stateSize;
  generator->has_normal = false;
}

static void renewState(uint32_t *state) {
  for (uint32_t i = 0; i < stateSize; ++i) {
    uint32_t bits = (state[i] & 0x80000000u) | (state[(i + 1) % stateSize] & 0x7fffffffu);
    state[i] = state[(i + stateShift) % stateSize] ^ bits >> 1 ^ (bits & 1 ? 0x9908b0dfu : 0);
  }
}

uint32_t sambaGeneratorDraw32(SambaGenerator *generator) {
  if (generator->next == stateSize) {
    renewState(generator->state);
    generator->next = 0;
  }
  uint32_t bits = generator->state[generator->next++];
  bits ^= bits >> 11;
  bits ^= bits << 7 & 0x9d2c5680u;
  bits ^= bits << 15 & 0xefc60000u;
  return bits ^ bits >> 18;
}

uint64_t sambaGeneratorDraw64(SambaGenerator *generator) {
  uint64_t high = sambaGeneratorDraw32(generator);
  return high << 32 | sambaGeneratorDraw32(generator);
}

double sambaGeneratorUniform(SambaGenerator *generator) {
  return (double)(sambaGeneratorDraw64(generator) & 0x1fffffffffffffu) * 0x1p-53;
}

/* Box and Muller's transform. */
double sambaGeneratorNormal(SambaGenerator *generator) {
  if (generator->has_normal) {
    generator->has_normal = false;
    return generator->normal;
  }
  double angle = 2.0 * M_PI * sambaGeneratorUniform(generator);
  double radius = sqrt(-2.0 * log(1.0 - sambaGeneratorUniform(generator)));
  generator->normal = radius * sin(angle);
  generator->has_normal = true;
  return radius * cos(angle);
}
