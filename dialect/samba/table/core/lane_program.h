/* The lane program of a stage while it is written: values carry their lane type (f32, i32, i64,
 * i1), so that operations are typed by their operands. Inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_CORE_LANE_PROGRAM_H
#define SAMBA_DIALECT_SAMBA_TABLE_CORE_LANE_PROGRAM_H

#include "dialect/samba/table/core/rows.h"

enum { SAMBA_MAX_BUILDER_OPS = 512 };

typedef struct SambaStageBuilder {
  SambaStageGraph *graph;
  SambaStage stage;
  SambaLaneOp ops[SAMBA_MAX_BUILDER_OPS];
  uint8_t types[SAMBA_MAX_STAGE_OPERANDS +
                SAMBA_MAX_BUILDER_OPS]; /* lane type of every program value */
} SambaStageBuilder;

/* Operations; the type follows from the operands (of select: from the second). */
uint16_t sambaLane1(SambaStageBuilder *builder, SambaLaneOpcode opcode, uint16_t x);
uint16_t sambaLane2(SambaStageBuilder *builder, SambaLaneOpcode opcode, uint16_t x, uint16_t y);
uint16_t sambaLaneFma(SambaStageBuilder *builder, uint16_t x, uint16_t y,
                      uint16_t z); /* x * y + z, rounded once */
uint16_t sambaLaneSelect(SambaStageBuilder *builder, uint16_t condition, uint16_t yes, uint16_t no);
uint16_t sambaLaneFloat(SambaStageBuilder *builder, double value); /* an f32 constant */
uint16_t sambaLaneInteger(SambaStageBuilder *builder, SambaDType type,
                          int64_t value); /* i32, i64 or i1 */
/* A constant of the same lane type as value `like`. */
uint16_t sambaLaneNumber(SambaStageBuilder *builder, uint16_t like, double value);
uint16_t sambaLaneCounter(SambaStageBuilder *builder, uint32_t dim, SambaDType type);
/* Any lane type to what a tensor of `to` is written from, by the rules of samba.cast. */
uint16_t sambaLaneCast(SambaStageBuilder *builder, uint16_t x, SambaDType to);

/* Rounds or wraps a value of to's lane type to what dtype `to` can hold. */
uint16_t sambaLaneRound(SambaStageBuilder *builder, uint16_t x, SambaDType to);

#endif
