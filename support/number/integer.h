/* Whole numbers: what C's operators leave out. */
#ifndef SAMBA_SUPPORT_NUMBER_INTEGER_H
#define SAMBA_SUPPORT_NUMBER_INTEGER_H

#include <stdint.h>

/* a / b, rounded up; b is positive. */
static inline int64_t sambaCeilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0); }

/* The number of [low, high] that is nearest to the value; high wins where low is larger. */
static inline int64_t sambaClampInteger(int64_t value, int64_t low, int64_t high) {
  int64_t least = value < low ? low : value;
  return least > high ? high : least;
}

/* The greatest number that divides both; that of 0 and b is b. */
static inline uint64_t sambaGreatestDivisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

#endif
