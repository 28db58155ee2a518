/* Shapes of tokens; see token_shape.h. */
#include "backend/section/token_shape.h"

static void append(SambaTokenShape *shape, uint64_t trips) {
  if (trips > 1)
    shape->dims[shape->rank++] = trips;
}

/* Counters of a COMPUTE port, each as far out as its stride is long; 0 when they are not dense. */
static uint64_t computeShape(const SambaCompute *compute, const SambaPort *port,
                             SambaTokenShape *shape) {
  uint64_t product = 1;
  SambaTokenShape inner = {0};

  for (bool found = true; found && product < port->token_elements;) {
    found = false;
    for (uint32_t c = port->compute.level; c < compute->counter_count && !found; ++c)
      if (compute->trips[c] > 1 && port->compute.strides[c] > 0 &&
          (uint64_t)port->compute.strides[c] == product) {
        append(&inner, compute->trips[c]);
        product *= compute->trips[c];
        found = true;
      }
  }

  for (uint32_t d = inner.rank; d-- > 0;)
    append(shape, inner.dims[d]);
  return product;
}

SambaTokenShape sambaTokenShape(const SambaUnit *unit, bool output, uint32_t index) {
  const SambaPort *port = output ? &unit->outputs[index] : &unit->inputs[index];
  SambaTokenShape shape = {0};
  uint64_t product = 1;

  if (sambaPortHasAccess(unit, output, index)) {
    for (uint32_t c = port->access.token_level; c < port->access.counter_count; ++c) {
      append(&shape, port->access.trips[c]);
      product *= port->access.trips[c];
    }
  } else if (unit->kind == SAMBA_UNIT_COMPUTE) {
    product = computeShape(&unit->compute, port, &shape);
  }

  if (product != port->token_elements) {
    shape.rank = 0;
    append(&shape, port->token_elements);
  }
  return shape;
}

bool sambaTokenShapesMeet(const SambaTokenShape *a, const SambaTokenShape *b,
                          SambaTokenShape *out) {
  uint64_t inner_a = 1, inner_b = 1;
  uint32_t i = a->rank, j = b->rank;
  SambaTokenShape inner = {0};

  /* The cuts of both from the inside out: each must be a multiple of the one before. */
  for (uint64_t last = 1; i > 0 || j > 0;) {
    uint64_t next_a = i ? inner_a * a->dims[i - 1] : UINT64_MAX;
    uint64_t next_b = j ? inner_b * b->dims[j - 1] : UINT64_MAX;
    uint64_t next = next_a < next_b ? next_a : next_b;
    if (next % last != 0 || inner.rank == SAMBA_MAX_COUNTERS)
      return false;
    append(&inner, next / last);
    last = next;
    if (next == next_a) {
      inner_a = next;
      --i;
    }
    if (next == next_b) {
      inner_b = next;
      --j;
    }
  }

  *out = (SambaTokenShape){0};
  for (uint32_t d = inner.rank; d-- > 0;)
    append(out, inner.dims[d]);
  return true;
}

bool sambaTokenShapesAgree(const SambaTokenShape *a, const SambaTokenShape *b) {
  SambaTokenShape both;
  return sambaTokenShapesMeet(a, b, &both);
}

bool sambaTokenShapeRefines(const SambaTokenShape *fine, const SambaTokenShape *coarse) {
  uint64_t cut = 1, found = 1;
  uint32_t at = fine->rank;
  for (uint32_t d = coarse->rank; d-- > 0;) {
    cut *= coarse->dims[d];
    while (at > 0 && found < cut)
      found *= fine->dims[--at];
    if (found != cut)
      return false;
  }
  return true;
}

const char *sambaTokenShapeText(SambaArena *arena, const SambaTokenShape *shape) {
  const char *text = shape->rank ? "" : "1";
  for (uint32_t d = 0; d < shape->rank; ++d)
    text =
        sambaArenaFormat(arena, "%s%s%llu", text, d ? "x" : "", (unsigned long long)shape->dims[d]);
  return text;
}
