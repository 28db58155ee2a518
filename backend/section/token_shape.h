/* The shape of a port's tokens: the counters that step through a token, as far as the records tell.
 * It is what the port knows of the order in which elements pass. */
#ifndef SAMBA_BACKEND_SECTION_TOKEN_SHAPE_H
#define SAMBA_BACKEND_SECTION_TOKEN_SHAPE_H

#include "backend/section/access.h"

/* Outermost first, without dimensions of one element; {elements} where the counters do not tell. */
typedef struct SambaTokenShape {
  uint32_t rank;
  uint64_t dims[SAMBA_MAX_COUNTERS];
} SambaTokenShape;

SambaTokenShape sambaTokenShape(const SambaUnit *unit, bool output, uint32_t port);
/* Whether one nest of counters can be both. A shape cuts the token into pieces of pieces; of all
 * cuts of both, each piece must be whole pieces of the next smaller ones. 16x8 and 8x16 are both
 * 8x2x8, but nothing is both 6x4 and 4x6. */
bool sambaTokenShapesAgree(const SambaTokenShape *a, const SambaTokenShape *b);
/* That nest; `out` may be one of the two. */
bool sambaTokenShapesMeet(const SambaTokenShape *a, const SambaTokenShape *b, SambaTokenShape *out);
/* Whether the first has a cut wherever the second has one. */
bool sambaTokenShapeRefines(const SambaTokenShape *fine, const SambaTokenShape *coarse);
/* "16x8". */
const char *sambaTokenShapeText(SambaArena *arena, const SambaTokenShape *shape);

#endif
