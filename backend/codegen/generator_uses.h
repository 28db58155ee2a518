/* What uses the address generators of a section, and what each use can do with how many. */
#ifndef SAMBA_BACKEND_CODEGEN_GENERATOR_USES_H
#define SAMBA_BACKEND_CODEGEN_GENERATOR_USES_H

#include "backend/codegen/codegen_internal.h"

typedef struct SambaAgUse {
  uint32_t *ranges, *ways; /* in the plans; ways NULL: always 1 */
  uint32_t tensor;         /* that it loads or stores */
  const SambaTileNest *nest;
  uint32_t mask, sources;
  uint32_t most_ranges, most_ways;
  uint32_t spread;   /* streams to each source: the buffers over which its slot is spread */
  uint32_t twins;    /* buffers at which each of these streams ends */
  int64_t row_bytes; /* > 0: staged, and a range should make rows of whole bursts out of these */
  bool stores;
  bool indexed;              /* a store at places that are read */
  double first_bytes, bytes; /* before the first firing; in all */
  double begins; /* cycles from the section's first firing to the first one that needs this */
  double due;    /* cycles after that one by which all of a spread slot must be there */
} SambaAgUse;

typedef SAMBA_ARRAY(SambaAgUse) SambaAgUses;

typedef struct SambaAgShare {
  uint32_t ranges, ways;
  double even; /* ranges as large as the largest that all sources make */
  double row;  /* bytes that a store moves in a cycle at most */
} SambaAgShare;

typedef struct SambaAgOption {
  uint32_t count; /* generators */
  SambaAgShare share;
  double rate;
} SambaAgOption;

/* What one use can do: more generators, more bytes per cycle. */
typedef struct SambaAgOptions {
  uint32_t size;
  SambaAgOption *data;
} SambaAgOptions;

/* Every operand in memory, shared argument and result. *total grows by the generators of operands
 * and results that are read or stored by index, which have no choice. The caller frees the array.
 */
void sambaAgUsesCollect(SambaCodegen *codegen, SambaAgUses *uses, int64_t *total);
/* The options of one use, in codegen's scratch arena: each faster than those before it. */
SambaAgOptions sambaAgOptionsOf(SambaCodegen *codegen, const SambaAgUse *use);

#endif
