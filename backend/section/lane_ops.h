/* The lane operations of a PCU (lane_ops.def) by number: opcodes, names, operand counts, classes.
 */
#ifndef SAMBA_BACKEND_SECTION_LANE_OPS_H
#define SAMBA_BACKEND_SECTION_LANE_OPS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
#define X(enumerator, value, name, operands, class) SAMBA_LANE_##enumerator = value,
#include "backend/section/lane_ops.def"
#undef X
} SambaLaneOpcode;

const char *sambaLaneOpName(uint8_t opcode); /* NULL for an undefined opcode */
int sambaLaneOpOperands(uint8_t opcode);     /* -1 for an undefined opcode */
char sambaLaneOpClass(uint8_t opcode);       /* 'S', 'T', 'C', 'R', 'V' or 0 */
bool sambaLaneOpHasImmediate(uint8_t opcode);

/* A sum of products: the operations that the array does. */
static inline bool sambaLaneOpIsMac(uint8_t opcode) {
  return opcode == SAMBA_LANE_MAC || opcode == SAMBA_LANE_MAC_ON;
}

#endif
