/* The pace of a unit; see pace.h. */
#include "backend/section/pace.h"

#include "backend/section/access.h"

uint64_t sambaPaceMultiply(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) || product > SAMBA_PACE_UNBOUNDED
             ? SAMBA_PACE_UNBOUNDED
             : product;
}

uint64_t sambaPaceAdd(uint64_t a, uint64_t b) {
  return a + b > SAMBA_PACE_UNBOUNDED ? SAMBA_PACE_UNBOUNDED : a + b;
}

static uint64_t divideUp(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

SambaPace sambaPaceOf(const SambaUnit *unit, const SambaPort *port) {
  SambaPace pace = {1, 1};
  if (unit->kind == SAMBA_UNIT_COMPUTE)
    pace.steps_per_token =
        sambaTripProduct(unit->compute.trips, port->compute.level, unit->compute.token_level);
  else if (unit->kind == SAMBA_UNIT_BUFFER)
    pace.tokens_per_step =
        sambaTripProduct(port->access.trips, port->access.slot_level, port->access.token_level);
  pace.steps_per_token = pace.steps_per_token ? pace.steps_per_token : 1;
  pace.tokens_per_step = pace.tokens_per_step ? pace.tokens_per_step : 1;
  return pace;
}

uint64_t sambaPaceTokensTaken(SambaPace pace, uint64_t steps) {
  return sambaPaceMultiply(divideUp(steps, pace.steps_per_token), pace.tokens_per_step);
}

uint64_t sambaPaceStepsNeeded(SambaPace pace, uint64_t tokens) {
  return sambaPaceMultiply(divideUp(tokens, pace.tokens_per_step), pace.steps_per_token);
}

uint64_t sambaPacePortTokens(const SambaPort *port, uint32_t place, uint64_t n) {
  if (n == 0 || n >= SAMBA_PACE_UNBOUNDED)
    return n;
  uint64_t block = port->block ? port->block : 1;
  uint64_t round = block * port->stream_count;
  return sambaPaceAdd(sambaPaceMultiply((n - 1) / block, round),
                      place * block + (n - 1) % block + 1);
}
