/* What a section's pipeline takes follows from; see pipeline_key.h. */
#include "backend/estimate/pipeline_key.h"

#include <string.h>

static void addNumber(SambaByteBuffer *key, uint64_t number) {
  sambaArrayReserve(key, key->size + sizeof number);
  memcpy(key->data + key->size, &number, sizeof number);
  key->size += sizeof number;
}

static void addDouble(SambaByteBuffer *key, double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  addNumber(key, bits);
}

static void addPair(SambaByteBuffer *key, uint32_t a, uint32_t b) {
  addNumber(key, (uint64_t)a << 32 | b);
}

static void addLink(SambaByteBuffer *key, const SambaPipelineLink *link) {
  addPair(key, link->actor, link->port);
  addPair(key, link->place, link->behind);
  addPair(key, link->streams, link->block);
  addDouble(key, link->latency);
  addDouble(key, link->capacity);
}

static void addInput(SambaByteBuffer *key, const SambaPipelineInput *input) {
  addNumber(key, input->period);
  addPair(key, input->streams, input->block);
  addDouble(key, input->vectors);
  addDouble(key, input->cycles);
  addNumber(key, input->whole);
  for (uint32_t s = 0; s < input->streams; ++s)
    addLink(key, &input->links[s]);
}

static void addOutput(SambaByteBuffer *key, const SambaPipelineOutput *output) {
  addNumber(key, output->period);
  addPair(key, output->streams, output->block);
  addDouble(key, output->vectors);
  addDouble(key, output->cycles);
  for (uint32_t s = 0; s < output->streams; ++s) {
    addPair(key, output->first_link[s], output->first_link[s + 1]);
    for (uint32_t l = output->first_link[s]; l < output->first_link[s + 1]; ++l)
      addLink(key, &output->links[l]);
  }
}

/* Of the buffer of a port: its neighbours are its other ports. */
static void addBuffer(SambaByteBuffer *key, const SambaPipelineRun *run,
                      const SambaPipelineActor *actor) {
  const SambaUnit *unit = &run->section->units[actor->unit];
  const SambaPipelineBuffer *buffer = &run->buffers[actor->unit];
  addPair(key, unit->input_count, unit->output_count);
  addPair(key, unit->buffer.slot_count, unit->buffer.loop_carried);
  addPair(key, unit->buffer.in_place, buffer->first_actor);
  addNumber(key, buffer->placement.arrays);
  addNumber(key, buffer->placement.array_bytes);
  addNumber(key, buffer->placement.slot_bytes);
  addNumber(key, buffer->placement.alternate);
}

static void addActor(SambaByteBuffer *key, const SambaPipelineRun *run,
                     const SambaPipelineActor *actor) {
  addPair(key, actor->kind, actor->twins);
  addNumber(key, actor->firings);
  addNumber(key, actor->slot_period);
  addDouble(key, actor->work);
  addDouble(key, actor->latency);
  addDouble(key, actor->first_part);
  addDouble(key, actor->bytes);
  addDouble(key, actor->issue);
  addDouble(key, actor->requests);
  addDouble(key, actor->crowding);
  addPair(key, actor->piece_count, actor->input_count);
  addNumber(key, actor->output_count);
  if (run->section->units[actor->unit].kind == SAMBA_UNIT_BUFFER)
    addBuffer(key, run, actor);
  for (uint32_t i = 0; i < actor->input_count; ++i)
    addInput(key, &actor->inputs[i]);
  for (uint32_t o = 0; o < actor->output_count; ++o)
    addOutput(key, &actor->outputs[o]);
}

void sambaPipelineKey(const SambaPipelineRun *run, SambaByteBuffer *key) {
  key->size = 0;
  addDouble(key, run->turn_cycles);
  addNumber(key, run->phases);
  for (uint32_t a = 0; a < run->actor_count; ++a)
    addActor(key, run, &run->actors[a]);
}
