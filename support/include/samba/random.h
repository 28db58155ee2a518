/* Random numbers that are the same everywhere for a seed: where only that counts. For those of
 * PyTorch see SambaGenerator in samba/tensor.h. */
#ifndef SAMBA_RANDOM_H
#define SAMBA_RANDOM_H

#include <stdint.h>

/* The next 64 bits of splitmix64, whose state may start at any number. */
static inline uint64_t sambaRandomDraw(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

#endif
