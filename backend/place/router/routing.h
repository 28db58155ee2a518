/* The router's own view: channels (directed links), nets (one stream each), lanes. Private to
 * backend/place. */
#ifndef SAMBA_BACKEND_PLACE_ROUTER_ROUTING_H
#define SAMBA_BACKEND_PLACE_ROUTER_ROUTING_H

#include "backend/place/router/stream_demands.h"
#include "backend/section/fabric/fabric.h"
#include "support/base/index.h"

#include <stdbool.h>

/* Links have two classes of lanes with a turn rule each (route.h). A channel is one class of one
 * link and direction: by the switch and the side (SambaSwitchPort NORTH..WEST) that it leaves; the
 * opposite side is `side ^ 2`. */
enum { SAMBA_LANE_CLASSES = 2 };
static inline uint32_t sambaChannel(uint32_t node, uint32_t side, uint32_t class) {
  return (node * 4 + side) * SAMBA_LANE_CLASSES + class;
}
static inline uint32_t sambaChannelClass(uint32_t channel) { return channel % SAMBA_LANE_CLASSES; }
static inline uint32_t sambaChannelSide(uint32_t channel) {
  return channel / SAMBA_LANE_CLASSES % 4;
}
static inline uint32_t sambaChannelSwitch(uint32_t channel) {
  return channel / SAMBA_LANE_CLASSES / 4;
}
#define SAMBA_LANE_CAPACITY 1000 /* permille */

/* One channel of a net's tree; parents come before children. */
typedef struct SambaBranch {
  uint32_t channel;
  uint32_t parent; /* index of a branch; SAMBA_NO_INDEX: leaves the source's switch */
  uint16_t lane,
      flow; /* lane: within the class until sambaRoutingAssignLanes has run, then of the link */
} SambaBranch;

typedef struct SambaNet {
  uint32_t stream, source; /* source: switch */
  /* Permille of a lane: what it must have at the least, and at the section's pace; has while memory
   * fills buffers; has while it is the turn of what a PCU takes in turn; would have. Each of the
   * first four is no less than the one before, the last no less than the rate. */
  uint32_t least, rate, fill, turn, wish;
  uint32_t load; /* what counts while ways are negotiated; in the end, what it has */
  uint32_t sink_count;
  uint32_t *sinks;       /* distinct switches other than the source's */
  uint32_t *sink_branch; /* branch that arrives there, or SAMBA_NO_INDEX */
  SAMBA_ARRAY(SambaBranch) tree;
} SambaNet;
/* What it would have beside what counts now. */
static inline uint32_t sambaNetWish(const SambaNet *net) {
  return net->wish > net->load ? net->wish : net->load;
}

typedef struct SambaRouting {
  const SambaSection *section;
  const SambaMachine *machine;
  SambaStreamDemands demands;
  SambaStreamKind kind;
  uint32_t lanes, flows;                    /* per link, per lane */
  uint32_t class_lanes[SAMBA_LANE_CLASSES]; /* how many of the lanes; class 0 comes first */
  int32_t width, height;
  uint32_t channel_count;
  uint32_t net_count;
  SambaNet *nets;
} SambaRouting;

/* One stream that wants a lane. */
typedef struct SambaLaneClaim {
  uint32_t rate;
  uint32_t index;      /* ties are broken by it */
  uint16_t lane, flow; /* result */
} SambaLaneClaim;
/* Gives every claim a lane and a flow id, spread evenly where that fits, else packed; false: does
 * not fit. Claims may come back in another order. */
bool sambaLanesAssign(SambaLaneClaim *claims, uint32_t count, uint32_t lanes, uint32_t flows);

/* Finds the trees of all nets. False: some channels remain overused, or it gives up because some
 * would; *out_channel is the worst. */
bool sambaRoutingNegotiate(SambaRouting *routing, uint32_t *out_channel);
/* Lanes and flow ids of every branch, by the wishes on a channel where these fit it; the loads do
 * (sambaRoutingNegotiate returned true). */
void sambaRoutingAssignLanes(SambaRouting *routing);

static inline bool sambaRoutingNext(const SambaRouting *routing, uint32_t channel,
                                    uint32_t *out_switch) {
  uint32_t node = sambaChannelSwitch(channel);
  int32_t x = (int32_t)(node % (uint32_t)routing->width);
  int32_t y = (int32_t)(node / (uint32_t)routing->width);

  switch (sambaChannelSide(channel)) {
  case SAMBA_SWITCH_NORTH:
    y -= 1;
    break;
  case SAMBA_SWITCH_EAST:
    x += 1;
    break;
  case SAMBA_SWITCH_SOUTH:
    y += 1;
    break;
  default:
    x -= 1;
    break;
  }

  *out_switch = (uint32_t)y * (uint32_t)routing->width + (uint32_t)x;
  return x >= 0 && y >= 0 && x < routing->width && y < routing->height;
}

#endif
