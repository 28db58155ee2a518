/* One call of a section as a network of running units: ports, queues, and which streams carry views
 * instead of copies. */
#include "backend/sim/value/network/section_run.h"

#include "backend/section/access.h"
#include "backend/section/check/order_check.h"
#include "backend/sim/value/network/join_passes.h"
#include "backend/sim/value/network/views.h"
#include "backend/sim/value/unit/buffer_unit.h"
#include "backend/sim/value/unit/compute_unit.h"
#include "backend/sim/value/unit/load_store_unit.h"

#include <stdlib.h>
#include <string.h>

enum { minimumTokens = 4, maximumTokens = 64, queueBytes = 64 * 1024 };

/* Deep enough that units need not alternate token by token, bounded in bytes. */
static uint32_t queueCapacity(const SambaPort *source, const SambaPort *destination) {
  uint64_t bytes = source->token_elements * sambaStorageBytes(sambaStorageOf(source->dtype));
  uint64_t tokens = bytes ? queueBytes / bytes : maximumTokens;
  if (tokens > maximumTokens)
    tokens = maximumTokens;
  else if (tokens < minimumTokens)
    tokens = minimumTokens;
  uint64_t turn =
      2 * (uint64_t)(source->block > destination->block ? source->block : destination->block);
  /* A larger block only needs its turn; the producer waits in the middle of it. */
  return (uint32_t)(turn > tokens && turn <= maximumTokens ? turn : tokens);
}

static void makePort(SambaSectionRun *run, const SambaPort *port, SambaPortRun *out_port) {
  out_port->port = port;
  out_port->storage = sambaStorageOf(port->dtype);
  out_port->ready = &run->ready;
  out_port->pool = run->context.pool;
  out_port->stream_count = port->stream_count;
  out_port->first = SAMBA_ARENA_ARRAY(&run->arena, uint32_t, port->stream_count + 1);
}

static void makePorts(SambaSectionRun *run, SambaUnitRun *unit) {
  const SambaUnit *config = unit->unit;
  unit->inputs = SAMBA_ARENA_ARRAY(&run->arena, SambaPortRun, config->input_count);
  unit->outputs = SAMBA_ARENA_ARRAY(&run->arena, SambaPortRun, config->output_count);

  for (uint32_t i = 0; i < config->input_count; ++i) {
    makePort(run, &config->inputs[i], &unit->inputs[i]);
    unit->inputs[i].queues =
        SAMBA_ARENA_ARRAY(&run->arena, SambaQueue *, config->inputs[i].stream_count);
  }

  for (uint32_t i = 0; i < config->output_count; ++i) {
    SambaPortRun *port = &unit->outputs[i];
    makePort(run, &config->outputs[i], port);
    for (uint32_t s = 0; s < port->stream_count; ++s)
      port->first[s + 1] =
          port->first[s] + run->section->streams[port->port->streams[s]].destination_count;
    port->queues = SAMBA_ARENA_ARRAY(&run->arena, SambaQueue *, port->first[port->stream_count]);
  }
}

static void connectInput(SambaSectionRun *run, SambaEndpoint end, uint32_t stream,
                         SambaQueue *queue) {
  SambaPortRun *port = &run->units[end.unit].inputs[end.port];
  for (uint32_t s = 0; s < port->stream_count; ++s)
    if (port->port->streams[s] == stream)
      port->queues[s] = queue;
}

static void makeQueues(SambaSectionRun *run) {
  const SambaSection *section = run->section;
  for (uint32_t s = 0; s < section->stream_count; ++s)
    run->queue_count += section->streams[s].destination_count;
  run->queues = SAMBA_ARENA_ARRAY(&run->arena, SambaQueue, run->queue_count);
  uint32_t next = 0;

  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t p = 0; p < section->units[u].output_count; ++p) {
      SambaPortRun *port = &run->units[u].outputs[p];
      uint32_t at = 0;
      for (uint32_t s = 0; s < port->stream_count; ++s) {
        uint32_t index = port->port->streams[s];
        const SambaStream *stream = &section->streams[index];
        for (uint32_t d = 0; d < stream->destination_count; ++d) {
          SambaEndpoint end = stream->destinations[d];
          SambaQueue *queue = &run->queues[next++];
          queue->capacity = queueCapacity(port->port, &section->units[end.unit].inputs[end.port]);
          queue->ring = SAMBA_ARENA_ARRAY(&run->arena, SambaToken, queue->capacity);
          queue->source = u, queue->source_port = p;
          queue->destination = end.unit, queue->destination_port = end.port;
          port->queues[at++] = queue;
          connectInput(run, end, index, queue);
        }
      }
    }
}

static SambaStatus checkArgins(const SambaSection *section, uint32_t argin_count) {
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    if (unit->kind != SAMBA_UNIT_COMPUTE)
      continue;
    for (uint32_t i = 0; i < unit->compute.program.op_count; ++i)
      if (unit->compute.program.ops[i].opcode == SAMBA_LANE_ARGIN &&
          unit->compute.program.ops[i].immediate >= argin_count)
        return sambaStatusMake(
            SAMBA_INVALID,
            "section '%s', unit '%s' reads argument slot %llu, but the call has %u argument slots",
            section->name, unit->name, (unsigned long long)unit->compute.program.ops[i].immediate,
            argin_count);
  }
  return NULL;
}

/* A slot that no chip holds is refused before memory for it is asked for. */
static SambaStatus checkBuffers(const SambaSectionRun *run) {
  const SambaMachine *machine = run->context.machine;
  const double chip = (double)machine->pmu_bytes * (double)sambaMachinePmuCount(machine);

  for (uint32_t u = 0; u < run->section->unit_count; ++u) {
    const SambaUnit *unit = &run->section->units[u];
    if (unit->kind != SAMBA_UNIT_BUFFER)
      continue;
    double bytes = (double)unit->buffer.slot_count * (double)unit->buffer.slot_elements *
                   sambaDTypeBytes(unit->inputs[0].dtype);
    if (bytes > chip)
      return sambaStatusMake(
          SAMBA_EXHAUSTED,
          "section '%s', buffer '%s' needs %.0f bytes, but all PMUs of %s together have %.0f",
          run->section->name, unit->name, bytes, machine->name, chip);
  }

  return NULL;
}

static void makeTraces(SambaSectionRun *run) {
  for (uint32_t u = 0; u < run->section->unit_count && run->traces; ++u) {
    const SambaUnit *unit = &run->section->units[u];
    bool memory = sambaUnitIsAddressGenerator(unit);
    if (memory && sambaMemoryAccess(unit)->has_index)
      sambaArrayAppend(run->traces, (SambaIndexTrace){.unit = u});
  }
}

/* Buffers need no such check: their credits order every read after its write. */
static SambaStatus checkMemoryOrder(SambaSectionRun *run) {
  const SambaSection *section = run->original;
  uint64_t *addresses = SAMBA_ARENA_ARRAY(&run->arena, uint64_t, section->symbol_count);
  for (uint32_t f = 0; f < section->symbol_count; ++f)
    addresses[f] = (uint64_t)(uintptr_t)run->bindings[f].data;
  return sambaSectionCheckOrder(section, addresses);
}

static bool overlap(const SambaBinding *one, const SambaBinding *other) {
  return one->data < other->data + other->bytes && other->data < one->data + one->bytes;
}

/* Per unit: what it loads is stored by another unit too, or what it stores is loaded or stored. */
static bool *findOrdered(SambaSectionRun *run) {
  const SambaSection *section = run->original;
  bool *ordered = SAMBA_ARENA_ARRAY(&run->arena, bool, section->unit_count);
  uint32_t *users = SAMBA_ARENA_ARRAY(&run->arena, uint32_t, 2 * section->symbol_count);
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (sambaUnitIsAddressGenerator(&section->units[u]))
      ++users[2 * section->units[u].load_store.symbol +
              (section->units[u].kind == SAMBA_UNIT_STORE)];

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    if (!sambaUnitIsAddressGenerator(unit))
      continue;
    bool store = unit->kind == SAMBA_UNIT_STORE;
    for (uint32_t f = 0; f < section->symbol_count; ++f) {
      bool own = f == unit->load_store.symbol;
      uint32_t others = users[2 * f + 1] + (store ? users[2 * f] : 0) - (own && store);
      ordered[u] |= others && overlap(&run->bindings[unit->load_store.symbol], &run->bindings[f]);
    }
  }
  return ordered;
}

static SambaStatus prepareUnits(SambaSectionRun *run) {
  const SambaSection *section = run->section;
  SambaUnitRun **computing = SAMBA_ARENA_ARRAY(&run->arena, SambaUnitRun *, section->unit_count);
  uint32_t count = 0;

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    SambaUnitRun *unit = &run->units[u];
    switch (unit->unit->kind) {
    case SAMBA_UNIT_COMPUTE:
      computing[count++] = unit;
      break;
    case SAMBA_UNIT_BUFFER:
      sambaBufferPrepare(run, unit);
      break;
    case SAMBA_UNIT_LOAD:
    case SAMBA_UNIT_STORE:
      sambaLoadStorePrepare(run, unit);
      break;
    }
  }

  SAMBA_RETURN_IF_ERROR(checkMemoryOrder(run));
  return sambaComputePrepare(run, computing, count);
}

SambaStatus sambaSectionRunCreate(const SambaValueContext *context, const SambaSection *section,
                                  const SambaBinding *bindings, const uint64_t *argins,
                                  uint32_t argin_count, SambaIndexTraces *traces,
                                  SambaSectionRun *out_run) {
  SambaSectionRun *run = out_run;
  *run = (SambaSectionRun){.context = *context,
                           .original = section,
                           .section = section,
                           .bindings = bindings,
                           .argins = argins,
                           .traces = traces};
  sambaReadyInitialize(&run->ready, section->unit_count);
  SAMBA_RETURN_IF_ERROR(checkArgins(section, argin_count));
  SAMBA_RETURN_IF_ERROR(checkBuffers(run));

  if (!context->keep_passes) {
    run->orders = SAMBA_ARENA_ARRAY(&run->arena, SambaTokenOrder *, section->unit_count);
    run->section = section =
        sambaJoinPasses(&run->arena, section, findOrdered(run), &sambaJoinLimits, run->orders);
  }
  run->units = SAMBA_ARENA_ARRAY(&run->arena, SambaUnitRun, section->unit_count);
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    run->units[u].unit = &section->units[u];
    run->units[u].index = u;
    makePorts(run, &run->units[u]);
  }

  makeQueues(run);
  sambaViewsChoose(run);
  makeTraces(run);
  return prepareUnits(run);
}

void sambaSectionRunDestroy(SambaSectionRun *run) {
  SambaPool *pool = run->context.pool;
  for (uint32_t q = 0; q < run->queue_count; ++q) {
    SambaQueue *queue = &run->queues[q];
    for (unsigned at = atomic_load(&queue->head); at != atomic_load(&queue->tail); ++at)
      sambaBlockRelease(pool, queue->ring[at % queue->capacity].block);
  }

  for (uint32_t u = 0; run->units && u < run->section->unit_count; ++u) {
    SambaUnitRun *unit = &run->units[u];
    if (!unit->state)
      continue;
    if (unit->unit->kind == SAMBA_UNIT_BUFFER)
      sambaBufferFinish(run, unit);
    else if (unit->unit->kind == SAMBA_UNIT_COMPUTE)
      sambaComputeFinish(run, unit);
  }

  sambaReadyDestroy(&run->ready);
  sambaArenaDestroy(&run->arena);
}
