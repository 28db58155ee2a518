/* State of the listing parser, shared by its two files: units and fields (listing_parse.c), streams
 * and the assembly of the section (listing_streams.c). */
#ifndef SAMBA_BACKEND_LISTING_LISTING_PARSER_H
#define SAMBA_BACKEND_LISTING_LISTING_PARSER_H

#include "backend/listing/listing_internal.h"

/* A stream named in a port's streams=[...]. */
typedef struct SambaListingMention {
  SambaStringRef name;
  uint32_t port;
  size_t at;
} SambaListingMention;

typedef struct SambaListingPort {
  SambaPort port;
  size_t at; /* of its line */
  bool has_access, has_tokens, has_level, has_value;
  SAMBA_ARRAY(SambaListingMention) streams; /* as written on its line */
  SAMBA_ARRAY(uint32_t) listed;             /* in the order of the stream lines */
  SAMBA_ARRAY(SambaGuard) guards;
} SambaListingPort;

typedef struct SambaListingUnit {
  SambaUnit unit;
  SAMBA_ARRAY(SambaListingPort) inputs, outputs;
  SAMBA_ARRAY(SambaLaneOp) ops;
} SambaListingUnit;

typedef struct SambaListingStream {
  SambaStream stream;
  SambaStringRef name;
  size_t first_hop;
} SambaListingStream;

typedef struct SambaListingParser {
  SambaListingCursor cursor;
  SambaArena *arena;
  SAMBA_ARRAY(SambaFormal) symbols;
  SAMBA_ARRAY(SambaListingUnit) units;
  SAMBA_ARRAY(SambaListingStream) streams;
  SAMBA_ARRAY(SambaHop) hops; /* of all streams, in order */
  /* Of the line being read. */
  SAMBA_ARRAY(int64_t) list;
  SAMBA_ARRAY(uint32_t) bars;
  SambaListingPort *port; /* the last port line */
  bool guards_allowed, value_allowed, has_tokens, has_level;
  SambaDType dtype; /* of X fields */
} SambaListingParser;

SambaStatus sambaListingParseStream(SambaListingParser *parser, size_t at);
SambaStatus sambaListingParseHop(SambaListingParser *parser, size_t at);
/* Makes the section from the lines read; fills what they left out. */
SambaStatus sambaListingFinish(SambaListingParser *parser, SambaSection **out_section);

#endif
