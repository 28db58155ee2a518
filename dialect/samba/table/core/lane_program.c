/* Lane programs; see lane_program.h. */
#include "dialect/samba/table/core/lane_program.h"

static uint16_t appendOp(SambaStageBuilder *builder, SambaLaneOpcode opcode, SambaDType type,
                         SambaDType result, uint16_t x, uint16_t y, uint16_t z,
                         uint64_t immediate) {
  SambaLaneOp *op = &builder->ops[builder->stage.op_count];
  *op = (SambaLaneOp){.opcode = (uint8_t)opcode,
                      .type = (uint8_t)type,
                      .operands = {x, y, z},
                      .immediate = immediate};
  uint16_t value = (uint16_t)(builder->stage.operand_count + builder->stage.op_count++);
  builder->types[value] = (uint8_t)result;
  return value;
}

uint16_t sambaLane1(SambaStageBuilder *builder, SambaLaneOpcode opcode, uint16_t x) {
  return appendOp(builder, opcode, builder->types[x], builder->types[x], x, 0, 0, 0);
}

uint16_t sambaLane2(SambaStageBuilder *builder, SambaLaneOpcode opcode, uint16_t x, uint16_t y) {
  bool compares = opcode >= SAMBA_LANE_EQ && opcode <= SAMBA_LANE_GE;
  return appendOp(builder, opcode, builder->types[x],
                  compares ? SAMBA_DTYPE_I1 : (SambaDType)builder->types[x], x, y, 0, 0);
}

uint16_t sambaLaneFma(SambaStageBuilder *builder, uint16_t x, uint16_t y, uint16_t z) {
  return appendOp(builder, SAMBA_LANE_FMA, builder->types[x], builder->types[x], x, y, z, 0);
}

uint16_t sambaLaneSelect(SambaStageBuilder *builder, uint16_t condition, uint16_t yes,
                         uint16_t no) {
  return appendOp(builder, SAMBA_LANE_SELECT, builder->types[yes], builder->types[yes], condition,
                  yes, no, 0);
}

static uint16_t constant(SambaStageBuilder *builder, SambaDType type, double value) {
  return appendOp(builder, SAMBA_LANE_CONSTANT, type, type, 0, 0, 0,
                  sambaDTypeBitsOfNumber(type, value));
}
uint16_t sambaLaneFloat(SambaStageBuilder *builder, double value) {
  return constant(builder, SAMBA_DTYPE_F32, value);
}
uint16_t sambaLaneInteger(SambaStageBuilder *builder, SambaDType type, int64_t value) {
  uint64_t bits = type == SAMBA_DTYPE_I64 ? (uint64_t)value : (uint64_t)value & UINT32_MAX;
  return appendOp(builder, SAMBA_LANE_CONSTANT, type, type, 0, 0, 0, bits);
}
uint16_t sambaLaneNumber(SambaStageBuilder *builder, uint16_t like, double value) {
  return constant(builder, builder->types[like], value);
}

uint16_t sambaLaneCounter(SambaStageBuilder *builder, uint32_t dim, SambaDType type) {
  return appendOp(builder, SAMBA_LANE_COUNTER, type, type, 0, 0, 0, dim);
}

uint16_t sambaLaneRound(SambaStageBuilder *builder, uint16_t x, SambaDType to) {
  switch (to) {
  case SAMBA_DTYPE_BF16:
    return sambaLane1(builder, SAMBA_LANE_TO_BF16, x);
  case SAMBA_DTYPE_F16:
    return sambaLane1(builder, SAMBA_LANE_TO_F16, x);
  case SAMBA_DTYPE_I8:
  case SAMBA_DTYPE_UI8:
  case SAMBA_DTYPE_I16:
    return appendOp(builder, SAMBA_LANE_WRAP, SAMBA_DTYPE_I32, SAMBA_DTYPE_I32, x, 0, 0, to);
  default:
    return x;
  }
}

uint16_t sambaLaneCast(SambaStageBuilder *builder, uint16_t x, SambaDType to) {
  SambaDType from = builder->types[x];
  SambaDType lane = sambaDTypeLaneClass(to);
  if (from == lane)
    return x;
  if (lane == SAMBA_DTYPE_I1)
    return sambaLane2(builder, SAMBA_LANE_NE, x, sambaLaneNumber(builder, x, 0));
  if (lane == SAMBA_DTYPE_F32)
    return appendOp(builder, SAMBA_LANE_INT_TO_FLOAT, from, lane, x, 0, 0, 0);
  return appendOp(builder,
                  from == SAMBA_DTYPE_F32 ? SAMBA_LANE_FLOAT_TO_INT : SAMBA_LANE_INT_RESIZE, lane,
                  lane, x, 0, 0, 0);
}
