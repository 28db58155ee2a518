/* Lane operations by number: names, operand counts, classes, from lane_ops.def. */
#include "backend/section/lane_ops.h"

#include <stddef.h>

typedef struct LaneOpRow {
  const char *name;
  int8_t operands;
  char class;
} LaneOpRow;

enum { classS = 'S', classT = 'T', classC = 'C', classR = 'R', classV = 'V' };

static const LaneOpRow laneOps[] = {
#define X(enumerator, value, name, operands, letter) [value] = {name, operands, class##letter},
#include "backend/section/lane_ops.def"
#undef X
};

static const LaneOpRow *findLaneOp(uint8_t opcode) {
  return opcode < sizeof laneOps / sizeof laneOps[0] && laneOps[opcode].name ? &laneOps[opcode]
                                                                             : NULL;
}

const char *sambaLaneOpName(uint8_t opcode) {
  const LaneOpRow *row = findLaneOp(opcode);
  return row ? row->name : NULL;
}

int sambaLaneOpOperands(uint8_t opcode) {
  const LaneOpRow *row = findLaneOp(opcode);
  return row ? row->operands : -1;
}

char sambaLaneOpClass(uint8_t opcode) {
  const LaneOpRow *row = findLaneOp(opcode);
  return row ? row->class : 0;
}

bool sambaLaneOpHasImmediate(uint8_t opcode) {
  return sambaLaneOpClass(opcode) == 'V' || opcode == SAMBA_LANE_WRAP;
}
