/* Firings of COMPUTE actors and BUFFER ports; see firing.h.
 *
 * A firing costs at most three events: a wake-up when its inputs arrive in the future, its end, and
 * the wake-up of a neighbour. Everything else happens at the moment of one of these. */
#include "backend/sim/timing/engine/firing.h"

#include "backend/sim/timing/engine/agenda.h"
#include "backend/sim/timing/engine/array_walk.h"
#include "backend/sim/timing/engine/buffer_port.h"
#include "backend/sim/timing/engine/lockstep.h"
#include "backend/sim/timing/engine/partial_tokens.h"
#include "backend/sim/timing/engine/tokens.h"

/* Is a token of this output due at the end of the running firing? */
static bool makesToken(const SambaActorOutput *output) {
  return output->stream_count && output->phase + 1 == output->period;
}

/* Cycles that the firing occupies its unit: its own work, or the slowest port. */
static uint64_t firingDuration(SambaEngine *engine, const SambaActor *actor) {
  uint64_t duration = actor->work;

  for (uint32_t i = 0; i < actor->input_count; ++i)
    if (actor->inputs[i].phase == 0)
      duration = sambaTimeMax(
          duration, engine->streams[sambaInputCursor(engine, &actor->inputs[i])->stream].cycles);

  for (uint32_t o = 0; o < actor->output_count; ++o) {
    const SambaActorOutput *output = &actor->outputs[o];
    if (makesToken(output))
      duration = sambaTimeMax(duration, engine->streams[output->stream].vectors);
  }

  return duration;
}

/* When the last vector of a firing that ends at `end` has left the pipeline. */
static uint64_t lastMade(const SambaActor *actor, const SambaActorOutput *output, uint64_t end) {
  return (uint64_t)((int64_t)(end + actor->latency) + output->last_shift);
}

/* Books the way of a token whose first vector is made at `from`. What fits before a lane that is
 * shared waits there, and what does not keeps the unit. */
static void bookWay(SambaEngine *engine, SambaActor *actor, SambaActorOutput *output,
                    uint64_t from) {
  SambaStreamState *stream = &engine->streams[output->open_stream];
  int64_t room = sambaStreamRoom(engine, output->open_stream);
  uint64_t vectors = sambaTimeMin((uint64_t)(room > 0 ? room : 0), stream->vectors);
  stream->unbooked = (uint32_t)(stream->vectors - vectors);
  uint64_t rid = sambaStreamBookEarly(engine, output->open_stream, from);
  rid = sambaTimeMax(rid, sambaStreamBookLink(stream, from, &stream->passed_at));
  if (output->token == SAMBA_TOKEN_DEFERRED) /* its vectors leave while the next firing runs */
    actor->carry = sambaTimeMax(actor->carry, rid);
  else
    actor->end_minimum = sambaTimeMax(actor->end_minimum, rid);
}

/* Lets the token leave whose first vector is made some time after the firing began. */
static void openToken(SambaEngine *engine, SambaActor *actor, SambaActorOutput *output) {
  SambaStreamState *stream = &engine->streams[output->open_stream];
  output->token = SAMBA_TOKEN_OPEN;
  uint64_t booked = actor->end_minimum > actor->start ? actor->end_minimum - actor->start : 0;
  uint64_t expected = sambaTimeMax(actor->duration, booked);
  uint64_t made =
      actor->start + sambaTimeScale(expected, output->first_numerator, output->first_denominator);
  uint64_t first = made + actor->latency;
  bookWay(engine, actor, output, made);
  uint64_t last =
      sambaTimeMax(lastMade(actor, output, actor->start + expected), first + stream->vectors);
  last = sambaTimeMax(last, stream->passed_at + actor->latency);
  sambaStreamPush(engine, output->open_stream, first, last);
  if (stream->needs_acceptance)
    ++actor->pending;
}

/* Begins the token that the firing makes. A token whose first vector comes late is pushed when the
 * firing's end is known, if it is sure to be accepted. */
static void beginToken(SambaEngine *engine, SambaActor *actor, SambaActorOutput *output) {
  uint32_t index = output->open_stream = sambaOutputNextStream(output);
  SambaStreamState *stream = &engine->streams[index];
  bool late = output->first_numerator * 2 > output->first_denominator;
  if (late && sambaStreamRoom(engine, index) >= (int64_t)stream->vectors)
    output->token = SAMBA_TOKEN_DEFERRED;
  else
    openToken(engine, actor, output);
}

bool sambaFiringOpenLate(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  bool opened = false, ends = actor->next < actor->limit;
  for (uint32_t o = 0; ends && o < actor->output_count && actor->running && actor->pending; ++o)
    if (actor->outputs[o].token == SAMBA_TOKEN_DEFERRED) {
      openToken(engine, actor, &actor->outputs[o]);
      opened = true;
    }
  return opened;
}

/* A unit in a loop of streams ends no earlier than the loop lets its vectors pass: at the loop's
 * pace, once what fits on it has passed at the unit's own. */
static void keepPace(const SambaEngine *engine, SambaActor *actor) {
  actor->loop_at = sambaTimeMax(actor->loop_at, engine->now) + actor->loop_cycles;
  uint64_t at = actor->loop_at - sambaTimeMin(actor->loop_slack, actor->loop_at);
  if (at > engine->now)
    actor->duration = sambaTimeMax(actor->duration, at - engine->now);
}

/* Takes a token for the firing that begins; of a late input it may not be there yet. */
static void takeInput(SambaEngine *engine, uint32_t actor_index, SambaActorInput *input) {
  SambaActor *actor = &engine->actors[actor_index];
  input->is_awaited = input->is_late && !sambaInputSegment(engine, input);
  actor->awaited += input->is_awaited;
  if (input->is_awaited)
    ++actor->pending;
  else
    sambaInputTake(engine, actor_index, input, actor->duration);
}

/* Tokens of late inputs may have come since the firing began. */
static void takeLateInputs(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  for (uint32_t i = 0; i < actor->input_count && actor->awaited; ++i) {
    SambaActorInput *input = &actor->inputs[i];
    if (!input->is_awaited || !sambaInputSegment(engine, input))
      continue;
    input->is_awaited = false;
    --actor->awaited;
    sambaInputTake(engine, actor_index, input, actor->duration);
    --actor->pending;
    sambaLockstepDoubt(engine);
    sambaLockstepLook(engine, actor);
  }
}

static void startFiring(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  sambaActorWait(engine, actor, SAMBA_WAIT_NONE);
  actor->running = true;
  actor->resolved = false;
  actor->start = engine->now;
  actor->end_minimum = actor->carry;
  actor->duration = firingDuration(engine, actor);
  if (actor->kind != SAMBA_ACTOR_COMPUTE)
    sambaBufferPortStart(engine, actor);
  if (actor->has_loop)
    keepPace(engine, actor);

  for (uint32_t i = 0; i < actor->input_count; ++i)
    if (actor->inputs[i].phase == 0)
      takeInput(engine, actor_index, &actor->inputs[i]);
  for (uint32_t o = 0; o < actor->output_count; ++o)
    if (makesToken(&actor->outputs[o]))
      beginToken(engine, actor, &actor->outputs[o]);
  if (actor->has_steps || actor->kind == SAMBA_ACTOR_READ)
    sambaPartialTokensBegin(engine, actor_index);

  if (!actor->pending)
    sambaEngineQueue(engine, actor_index);
}

static void tryToStart(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  if (actor->next == actor->firings)
    return;
  if (actor->kind != SAMBA_ACTOR_COMPUTE && !sambaBufferPortMayBegin(engine, actor)) {
    sambaActorWait(engine, actor,
                   actor->kind == SAMBA_ACTOR_READ ? SAMBA_WAIT_INPUT : SAMBA_WAIT_OUTPUT);
    return;
  }

  uint64_t at = engine->now;
  if (actor->kind == SAMBA_ACTOR_WRITE && actor->in_place)
    at = sambaBufferPortFollows(engine, actor);
  for (uint32_t i = 0; i < actor->input_count; ++i) {
    SambaActorInput *input = &actor->inputs[i];
    if (input->phase || input->is_late)
      continue;
    const SambaSegment *segment = sambaInputSegment(engine, input);
    if (!segment) {
      sambaActorWait(engine, actor, SAMBA_WAIT_INPUT);
      return;
    }
    at = sambaTimeMax(at, segment->first + sambaInputCursor(engine, input)->latency);
  }

  for (uint32_t o = 0; o < actor->output_count; ++o) {
    SambaActorOutput *output = &actor->outputs[o];
    if (!makesToken(output))
      continue;
    if (sambaStreamRoom(engine, output->stream) <= 0) {
      sambaActorWait(engine, actor, SAMBA_WAIT_OUTPUT);
      return;
    }
    at = sambaTimeMax(at, engine->streams[output->stream].room_at);
  }

  if (at <= engine->now && actor->kind != SAMBA_ACTOR_COMPUTE)
    at = sambaBufferPortTurn(engine, actor_index);
  if (at > engine->now) {
    sambaActorWait(engine, actor, SAMBA_WAIT_INPUT);
    if (at != SAMBA_TIME_UNKNOWN)
      sambaEngineWake(engine, actor_index, at);
    return;
  }

  startFiring(engine, actor_index);
}

/* The end of the running firing is known: so are the ends of its tokens. */
static void endTokens(SambaEngine *engine, SambaActor *actor) {
  uint64_t end = actor->end_minimum;
  if (actor->followed)
    sambaBufferPortTell(engine, actor);
  for (uint32_t o = 0; o < actor->output_count; ++o) {
    SambaActorOutput *output = &actor->outputs[o];
    if (output->token == SAMBA_TOKEN_NONE)
      continue;
    uint64_t made = actor->start + sambaTimeScale(end - actor->start, output->first_numerator,
                                                  output->first_denominator);
    uint64_t first = made + actor->latency;
    if (output->token == SAMBA_TOKEN_DEFERRED)
      bookWay(engine, actor, output, made);
    uint64_t last = sambaTimeMax(lastMade(actor, output, end),
                                 first + engine->streams[output->open_stream].vectors);
    last = sambaTimeMax(last, engine->streams[output->open_stream].passed_at + actor->latency);
    if (output->token == SAMBA_TOKEN_DEFERRED)
      sambaStreamPush(engine, output->open_stream, first, last);
    output->token = SAMBA_TOKEN_NONE;
    sambaStreamEndToken(engine, output->open_stream, last);
    if (actor->next + 1 == actor->firings)
      engine->finish = sambaTimeMax(engine->finish, last);
  }
}

/* Every constraint is known: so is the firing's end, but for what others may take from a port of a
 * buffer until then. */
static void resolveFiring(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  uint64_t end = sambaTimeMax(actor->start + actor->duration, actor->end_minimum);
  actor->end_minimum = sambaTimeMax(end, engine->now);
  actor->resolved = true;
  if (actor->kind == SAMBA_ACTOR_READ && engine->buffers[actor->unit].walk)
    sambaArrayWalkEndRead(engine, actor, actor->end_minimum);
  actor->ends_late = sambaBufferPortMayGoOn(engine, actor) || sambaLockstepBinds(engine, actor);
  if (!actor->ends_late)
    endTokens(engine, actor);
  sambaLockstepLook(engine, actor);
  sambaEventsPush(&engine->events, actor->end_minimum,
                  sambaTarget(SAMBA_TARGET_ACTOR, actor_index));
}

void sambaFiringEnd(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  if (actor->ends_late) {
    if (sambaBufferPortGoesOn(engine, actor_index)) {
      sambaLockstepDoubt(engine);
      return;
    }
    if (actor->kind == SAMBA_ACTOR_READ && sambaLockstepGoesOn(engine, actor_index))
      return;
    endTokens(engine, actor);
  }
  uint64_t nominal = sambaTimeMin(actor->duration, engine->now - actor->start);

  actor->running = false;
  actor->busy += nominal;
  actor->waits[actor->kind == SAMBA_ACTOR_READ ? SAMBA_WAIT_OUTPUT : SAMBA_WAIT_INPUT] +=
      engine->now - actor->start - nominal;
  actor->mark = engine->now;
  ++actor->next;
  for (uint32_t i = 0; actor->steps_inputs && i < actor->input_count; ++i)
    if (++actor->inputs[i].phase == actor->inputs[i].period)
      actor->inputs[i].phase = 0;
  for (uint32_t o = 0; actor->steps_outputs && o < actor->output_count; ++o)
    if (++actor->outputs[o].phase == actor->outputs[o].period)
      actor->outputs[o].phase = 0;
  if (actor->kind != SAMBA_ACTOR_COMPUTE && actor->slot_period &&
      ++actor->slot_phase == actor->slot_period) {
    actor->slot_phase = 0;
    sambaBufferPortFinishSlot(engine, actor);
  }

  if (engine->on_firing)
    engine->on_firing(engine->user, actor->unit, actor->start, engine->now);
  if (actor->next == actor->firings)
    sambaActorFinish(engine, engine->now);
  else
    sambaEngineQueue(engine, actor_index);
}

void sambaFiringProcess(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  sambaLockstepLook(engine, actor);
  if (!actor->running) {
    tryToStart(engine, actor_index);
    return;
  }
  if (actor->awaited)
    takeLateInputs(engine, actor_index);
  if (actor->pending && sambaLockstepBinds(engine, actor))
    sambaLockstepBegin(engine, actor_index);
  if (!actor->resolved && !actor->pending && actor->next < actor->limit)
    resolveFiring(engine, actor_index);
}
