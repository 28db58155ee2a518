/* What the streams of a section want of the lanes on their ways. */
#ifndef SAMBA_BACKEND_PLACE_ROUTER_STREAM_DEMANDS_H
#define SAMBA_BACKEND_PLACE_ROUTER_STREAM_DEMANDS_H

#include <stdint.h>

/* Of each stream, in permille of a lane. Each of the first three is no less than
 * the one before. */
typedef struct SambaStreamDemands {
  const uint32_t *rates;  /* it must have (sambaSectionRates) */
  const uint32_t *fills;  /* while memory fills buffers (sambaSectionBurstRates); NULL: the rates */
  const uint32_t *turns;  /* and while PCUs take streams in turn; NULL: the fills */
  const uint32_t *wishes; /* it would like to have (sambaSectionWishedRates); NULL: no more. Ports
                             of units are not asked for them */
  const uint32_t *least;  /* where links have no room for the rates: those who meet there slow the
                             section down; NULL: the rates */
} SambaStreamDemands;

#endif
