/* Deep comparison of sections; see same_section.h. */
#include "same_section.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SAME(x, y)                                                                                 \
  do {                                                                                             \
    if ((x) != (y))                                                                                \
      fail_msg("%s is %lld, but %s is %lld", #x, (long long)(x), #y, (long long)(y));              \
  } while (0)

static void sameNumbers(const char *what, uint32_t count, const int64_t *a, const int64_t *b) {
  for (uint32_t i = 0; i < count; ++i)
    if (a[i] != b[i])
      fail_msg("%s[%u] is %lld and %lld", what, i, (long long)a[i], (long long)b[i]);
}

static void sameAccess(const SambaAccess *a, const SambaAccess *b) {
  SAME(a->counter_count, b->counter_count);
  for (uint32_t c = 0; c < a->counter_count; ++c)
    SAME(a->trips[c], b->trips[c]);
  SAME(a->slot_level, b->slot_level);
  SAME(a->token_level, b->token_level);
  SAME(a->base, b->base);
  sameNumbers("strides", a->counter_count, a->strides, b->strides);
  SAME(a->guard_count, b->guard_count);

  for (uint32_t g = 0; g < a->guard_count; ++g) {
    SAME(a->guards[g].constant, b->guards[g].constant);
    SAME(a->guards[g].limit, b->guards[g].limit);
    sameNumbers("guard", a->counter_count, a->guards[g].strides, b->guards[g].strides);
  }

  SAME(a->fill, b->fill);
  SAME(a->has_index, b->has_index);
  SAME(a->index_counters, b->index_counters);
  SAME(a->index_stride, b->index_stride);
  SAME(a->index_limit, b->index_limit);
}

static void sameStream(const SambaSection *a, const SambaSection *b, uint32_t i, uint32_t k) {
  const SambaStream *s = &a->streams[i];
  const SambaStream *t = &b->streams[k];

  SAME(s->kind, t->kind);
  SAME(s->source.unit, t->source.unit);
  SAME(s->source.port, t->source.port);
  SAME(s->destination_count, t->destination_count);

  for (uint32_t d = 0; d < s->destination_count; ++d) {
    SAME(s->destinations[d].unit, t->destinations[d].unit);
    SAME(s->destinations[d].port, t->destinations[d].port);
  }

  SAME(s->hop_count, t->hop_count);
  for (uint32_t h = 0; h < s->hop_count; ++h) {
    SAME(s->hops[h].x, t->hops[h].x);
    SAME(s->hops[h].y, t->hops[h].y);
    const SambaSwitchLane *lanes[2][2] = {{&s->hops[h].in, &t->hops[h].in},
                                          {&s->hops[h].out, &t->hops[h].out}};
    for (int side = 0; side < 2; ++side) {
      SAME(lanes[side][0]->port, lanes[side][1]->port);
      SAME(lanes[side][0]->lane, lanes[side][1]->lane);
      SAME(lanes[side][0]->flow, lanes[side][1]->flow);
      SAME(lanes[side][0]->ag, lanes[side][1]->ag);
    }
  }
}

static void samePort(const SambaSection *a, const SambaSection *b, const SambaUnit *unit,
                     const SambaPort *p, const SambaPort *q) {
  SAME(p->dtype, q->dtype);
  SAME(p->block, q->block);
  SAME(p->token_elements, q->token_elements);
  SAME(p->stream_count, q->stream_count);
  for (uint32_t s = 0; s < p->stream_count; ++s)
    sameStream(a, b, p->streams[s], q->streams[s]);
  if (unit->kind != SAMBA_UNIT_COMPUTE) {
    sameAccess(&p->access, &q->access); /* all zero where the port has none */
    return;
  }

  SAME(p->compute.level, q->compute.level);
  SAME(p->compute.value, q->compute.value);
  sameNumbers("port strides", unit->compute.counter_count, p->compute.strides, q->compute.strides);
}

static void sameCompute(const SambaCompute *a, const SambaCompute *b) {
  SAME(a->counter_count, b->counter_count);
  SAME(a->token_level, b->token_level);
  for (uint32_t c = 0; c < a->counter_count; ++c)
    SAME(a->trips[c], b->trips[c]);
  SAME(a->program.systolic, b->program.systolic);
  SAME(a->program.lane_reduce, b->program.lane_reduce);
  SAME(a->program.reduce_mask, b->program.reduce_mask);
  SAME(a->program.op_count, b->program.op_count);

  for (uint32_t i = 0; i < a->program.op_count; ++i) {
    const SambaLaneOp *x = &a->program.ops[i];
    const SambaLaneOp *y = &b->program.ops[i];
    SAME(x->opcode, y->opcode);
    SAME(x->type, y->type);
    SAME(x->immediate, y->immediate);
    for (int k = 0; k < sambaLaneOpOperands(x->opcode); ++k)
      SAME(x->operands[k], y->operands[k]);
  }
}

static void sameUnit(const SambaSection *a, const SambaSection *b, const SambaUnit *u,
                     const SambaUnit *v) {
  SAME(u->kind, v->kind);
  assert_string_equal(u->name, v->name);
  assert_string_equal(u->layer, v->layer);
  SAME(u->x, v->x);
  SAME(u->y, v->y);
  SAME(u->lanes, v->lanes);
  switch (u->kind) {
  case SAMBA_UNIT_LOAD:
  case SAMBA_UNIT_STORE:
    SAME(u->load_store.ag, v->load_store.ag);
    SAME(u->load_store.symbol, v->load_store.symbol);
    break;
  case SAMBA_UNIT_BUFFER:
    SAME(u->buffer.slot_count, v->buffer.slot_count);
    SAME(u->buffer.slot_elements, v->buffer.slot_elements);
    SAME(u->buffer.banking, v->buffer.banking);
    SAME(u->buffer.row_words, v->buffer.row_words);
    SAME(u->buffer.skew, v->buffer.skew);
    SAME(u->buffer.in_place, v->buffer.in_place);
    SAME(u->buffer.loop_carried, v->buffer.loop_carried);
    SAME(u->buffer.initial, v->buffer.initial);
    break;
  case SAMBA_UNIT_COMPUTE:
    sameCompute(&u->compute, &v->compute);
    break;
  }

  SAME(u->input_count, v->input_count);
  SAME(u->output_count, v->output_count);
  for (uint32_t p = 0; p < u->input_count; ++p)
    samePort(a, b, u, &u->inputs[p], &v->inputs[p]);
  for (uint32_t p = 0; p < u->output_count; ++p)
    samePort(a, b, u, &u->outputs[p], &v->outputs[p]);
}

void assertSameSection(const SambaSection *a, const SambaSection *b) {
  assert_string_equal(a->name, b->name);
  SAME(a->split_k, b->split_k);
  SAME(a->symbol_count, b->symbol_count);
  for (uint32_t i = 0; i < a->symbol_count; ++i) {
    assert_string_equal(a->symbols[i].name, b->symbols[i].name);
    SAME(a->symbols[i].dtype, b->symbols[i].dtype);
    SAME(a->symbols[i].elements, b->symbols[i].elements);
    SAME(a->symbols[i].written, b->symbols[i].written);
  }
  SAME(a->stream_count, b->stream_count);
  SAME(a->unit_count, b->unit_count);
  for (uint32_t u = 0; u < a->unit_count; ++u)
    sameUnit(a, b, &a->units[u], &b->units[u]);
}
