/* Units against the machine's resources; see machine_check.h. */
#include "backend/section/check/machine_check.h"

#include "backend/section/access.h"
#include "backend/section/banks.h"
#include "backend/section/pcu.h"
#include "backend/section/width.h"

#include <stdlib.h>

/* Pipeline stages that a lane operation takes: simple operations and reductions one; transcendental
 * functions and conversions run in the tail, value sources are wired: none. */
static uint32_t laneOpStages(uint8_t opcode) {
  char class = sambaLaneOpClass(opcode);
  return class == 'S' || class == 'R';
}

uint32_t sambaProgramStages(const SambaUnit *unit) {
  uint32_t stages = 0;
  for (uint32_t i = 0; i < unit->compute.program.op_count; ++i)
    stages += laneOpStages(unit->compute.program.ops[i].opcode);
  return unit->compute.program.systolic && stages ? stages - 1 : stages;
}

/* The tail comes last: nothing that takes a stage may depend on a transcendental function. */
static SambaStatus checkTail(const SambaUnit *unit) {
  const SambaProgram *program = &unit->compute.program;
  bool *tail = sambaAllocateZeroed((size_t)unit->input_count + program->op_count, sizeof *tail);
  SambaStatus status = NULL;

  for (uint32_t i = 0; i < program->op_count && !status; ++i) {
    const SambaLaneOp *op = &program->ops[i];
    bool depends = false;
    for (int operand = 0; operand < sambaLaneOpOperands(op->opcode); ++operand)
      depends |= tail[op->operands[operand]];
    if (depends && laneOpStages(op->opcode))
      status = sambaStatusMake(
          SAMBA_EXHAUSTED,
          "lane operation %u (%s) comes after a transcendental function, which runs in the tail", i,
          sambaLaneOpName(op->opcode));
    tail[unit->input_count + i] = depends || sambaLaneOpClass(op->opcode) == 'T';
  }

  free(tail);
  return status;
}

static SambaStatus checkProgram(const SambaMachine *machine, const SambaUnit *unit) {
  uint32_t stages = sambaProgramStages(unit);
  int64_t limit = unit->compute.program.systolic
                      ? 0
                      : machine->simd_stages; /* the array stands in the stages' place */
  if (stages > limit)
    return sambaStatusMake(
        SAMBA_EXHAUSTED, "its program needs %u pipeline stages, but a %sPCU of %s has %lld", stages,
        unit->compute.program.systolic ? "systolic " : "", machine->name, (long long)limit);
  return checkTail(unit);
}

/* One firing is one pass of the array, and its sums stay in the accumulators. */
static SambaStatus checkArray(const SambaMachine *machine, const SambaUnit *unit) {
  SambaPcuPass pass = sambaPcuPass(unit);
  if (pass.rows > (uint64_t)machine->systolic_rows ||
      pass.columns > (uint64_t)machine->systolic_columns)
    return sambaStatusNote(
        sambaStatusMake(
            SAMBA_EXHAUSTED,
            "a firing has %llu rows and %llu columns, so it would have to hold %llu sums; "
            "the array of %s has %lld x %lld and holds %lld",
            (unsigned long long)pass.rows, (unsigned long long)pass.columns,
            (unsigned long long)sambaPcuSums(unit), machine->name,
            (long long)machine->systolic_rows, (long long)machine->systolic_columns,
            (long long)machine->systolic_accumulators),
        "make further passes further tokens: counters before token_level");
  return NULL;
}

/* What a PCU uses again lies in its registers: vectors of operands, and the running sums of its
 * lanes. */
static SambaStatus checkRegisters(const SambaMachine *machine, const SambaUnit *unit) {
  const uint64_t registers = (uint64_t)machine->simd_registers;
  const int64_t width = (int64_t)sambaUnitVectorBytes(unit, machine);
  bool *late = sambaAllocateZeroed((size_t)unit->input_count + 1, sizeof *late);
  uint64_t all = 0, most = 0;
  uint32_t largest = SAMBA_NO_INDEX; /* the input that holds most */

  if (!unit->compute.program.systolic)
    all = sambaPcuSumVectors(unit, (int64_t)sambaUnitLaneCount(unit, machine));
  const uint64_t sums = all;
  sambaPcuLateInputs(unit, late);
  for (uint32_t i = 0; i < unit->input_count; ++i) {
    SambaPcuWalk walk = sambaPcuWalkInput(unit, i, late[i]);
    uint64_t held = sambaPcuHeldVectors(&walk, unit->inputs[i].dtype, width);
    all = all + held < all ? UINT64_MAX : all + held;
    if (held > most) {
      most = held;
      largest = i;
    }
  }
  free(late);

  if (all <= registers)
    return NULL;
  if (largest == SAMBA_NO_INDEX || sums > registers)
    return sambaStatusNote(
        sambaStatusMake(
            SAMBA_EXHAUSTED,
            "it would have to hold %llu vectors of running sums, but a PCU of %s has %lld "
            "registers",
            (unsigned long long)sums, machine->name, (long long)machine->simd_registers),
        "reduce fewer points side by side, or let the sums go through a PMU");
  return sambaStatusNote(
      sambaStatusMake(
          SAMBA_EXHAUSTED,
          "input %u: it would have to hold %llu vectors that are used again, with all that "
          "the unit holds %llu, but a PCU of %s has %lld registers",
          largest, (unsigned long long)most, (unsigned long long)all, machine->name,
          (long long)machine->simd_registers),
      "let the read pattern of a PMU send the operand again");
}

static SambaStatus checkStorage(const SambaMachine *machine, const SambaUnit *unit) {
  uint64_t live = sambaPcuLiveValues(unit);
  if (live > (uint64_t)machine->simd_registers)
    return sambaStatusNote(
        sambaStatusMake(SAMBA_EXHAUSTED,
                        "%llu values live between two stages of its program, but a PCU of %s has "
                        "%lld registers per stage",
                        (unsigned long long)live, machine->name,
                        (long long)machine->simd_registers),
        "split the program over a chain of units");
  if (unit->compute.program.systolic)
    SAMBA_RETURN_IF_ERROR(checkArray(machine, unit));
  return checkRegisters(machine, unit);
}

uint64_t sambaBufferBytes(const SambaMachine *machine, const SambaUnit *unit) {
  uint64_t slot = sambaSlotBytes(machine, unit->buffer.slot_elements, unit->inputs[0].dtype);
  uint64_t bytes;
  return __builtin_mul_overflow(slot, (uint64_t)unit->buffer.slot_count, &bytes) ? UINT64_MAX
                                                                                 : bytes;
}

static SambaStatus checkCounters(const SambaMachine *machine, uint32_t counters) {
  if (counters <= machine->unit_counters)
    return NULL;
  return sambaStatusNote(
      sambaStatusMake(SAMBA_EXHAUSTED, "its chain needs %u counters, but a unit of %s has %lld",
                      counters, machine->name, (long long)machine->unit_counters),
      "tile fewer dimensions, or join counters that walk the same way");
}

uint32_t sambaAddressStages(const SambaBuffer *buffer, const SambaAccess *access) {
  bool moves = false;
  for (uint32_t c = 0; c < access->counter_count; ++c)
    moves |= access->strides[c] && access->trips[c] > 1;
  bool rows = moves && buffer->banking != SAMBA_BANKING_COLUMN;
  return access->guard_count + moves + rows;
}

static SambaStatus checkAddressStages(const SambaMachine *machine, const SambaUnit *unit,
                                      const SambaAccess *access) {
  uint32_t stages = sambaAddressStages(&unit->buffer, access);
  if (stages <= machine->pmu_address_stages)
    return NULL;
  return sambaStatusNote(
      sambaStatusMake(
          SAMBA_EXHAUSTED,
          "its pattern needs %u stages of the address pipeline (%u guards, the address%s), "
          "but a PMU of %s has %lld",
          stages, access->guard_count,
          unit->buffer.banking == SAMBA_BANKING_COLUMN ? "" : ", the row of banks", machine->name,
          (long long)machine->pmu_address_stages),
      "guard fewer dimensions, or use column banking");
}

static SambaStatus checkPorts(const SambaMachine *machine, const SambaUnit *unit, bool output) {
  const SambaPort *ports = output ? unit->outputs : unit->inputs;
  uint32_t count = output ? unit->output_count : unit->input_count;
  for (uint32_t i = 0; i < count; ++i) {
    if (!sambaPortHasAccess(unit, output, i))
      continue;
    SambaStatus status = checkCounters(machine, ports[i].access.counter_count);
    if (!status && unit->kind == SAMBA_UNIT_BUFFER)
      status = checkAddressStages(machine, unit, &ports[i].access);
    if (status)
      return sambaStatusAnnotate(status, "%s %u", output ? "output" : "input", i);
  }
  return NULL;
}

/* Lanes fold by halves, so that a part of them is a power of two, too. */
static SambaStatus checkLanes(const SambaMachine *machine, const SambaUnit *unit) {
  bool power_of_two = (unit->lanes & (unit->lanes - 1)) == 0;
  if (power_of_two && unit->lanes <= machine->simd_lanes)
    return NULL;
  return sambaStatusMake(SAMBA_EXHAUSTED,
                         "lanes is %u, expected a power of two up to the %lld lanes of %s, or none "
                         "for all of them",
                         unit->lanes, (long long)machine->simd_lanes, machine->name);
}

static SambaStatus checkUnit(const SambaMachine *machine, const SambaUnit *unit) {
  SAMBA_RETURN_IF_ERROR(checkLanes(machine, unit));
  if (unit->kind == SAMBA_UNIT_COMPUTE) {
    SAMBA_RETURN_IF_ERROR(checkCounters(machine, unit->compute.counter_count));
    SAMBA_RETURN_IF_ERROR(checkStorage(machine, unit));
    return sambaStatusNote(checkProgram(machine, unit), "split the program over a chain of units");
  }

  if (unit->kind == SAMBA_UNIT_BUFFER &&
      sambaBufferBytes(machine, unit) > (uint64_t)machine->pmu_bytes)
    return sambaStatusNote(
        sambaStatusMake(
            SAMBA_EXHAUSTED,
            "needs %llu bytes (%u slots of %llu elements of %s), but a PMU of %s has %lld",
            (unsigned long long)sambaBufferBytes(machine, unit), unit->buffer.slot_count,
            (unsigned long long)unit->buffer.slot_elements, sambaDTypeName(unit->inputs[0].dtype),
            machine->name, (long long)machine->pmu_bytes),
        "use smaller tiles, fewer slots, or interleave over several buffers");
  if (unit->kind == SAMBA_UNIT_BUFFER && unit->buffer.skew >= machine->pmu_banks)
    return sambaStatusMake(SAMBA_EXHAUSTED,
                           "skew is %u, expected less than the %lld banks of a PMU of %s",
                           unit->buffer.skew, (long long)machine->pmu_banks, machine->name);
  SAMBA_RETURN_IF_ERROR(checkPorts(machine, unit, false));

  return checkPorts(machine, unit, true);
}

SambaStatus sambaSectionCheckMachine(const SambaSection *section, const SambaMachine *machine) {
  for (uint32_t i = 0; i < section->unit_count; ++i) {
    const SambaUnit *unit = &section->units[i];
    SambaStatus status = checkUnit(machine, unit);
    if (!status)
      continue;
    if (unit->layer && unit->layer[0])
      sambaStatusNote(status, "the unit works for layer '%s'", unit->layer);
    return sambaStatusAnnotate(status, "section '%s': unit '%s' (%s)", section->name, unit->name,
                               sambaUnitKindName(unit->kind));
  }
  return NULL;
}
