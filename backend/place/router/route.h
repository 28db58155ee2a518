/* Routing: the way of every stream through the switch mesh, as hops of switch configuration.
 *
 * Each stream is a multicast tree over links between neighbouring switches; kinds of streams have
 * links of their own. A link has some lanes per direction; a lane carries several streams, told
 * apart by flow id, while their rates sum to at most 1 and there are flow ids left;
 * physical unit ports likewise. Streams negotiate for links (PathFinder: congestion costs more from
 * round to round, until nobody shares too much); lanes and flow ids are given at the end, and a
 * switch may change both.
 *
 * Deadlock freedom: the lanes of a link form two classes (one, where a link has one lane), and each
 * class has a turn rule. Class 0 obeys the odd-even turn model: a stream never turns from east to
 * north or south in an even column, never from north or south to west in an odd column, and never
 * back; the rightmost column of a circle of links would need both kinds of turn. Class 1 obeys its
 * mirror image (east and west exchanged). A stream may pass from class 0 to class 1 with any turn,
 * never the other way. So the dependences between channels (lanes of links) have no cycle, whatever
 * shares what; every destination keeps a shortest path, and with both classes every switch can be
 * left and entered on all four sides. Vectors travel one by one (a switch copies a vector when it
 * has room for it in the next FIFOs), so a multicast holds nothing while it waits and adds no
 * dependences between its branches. Checked apart, without knowledge of these rules, by
 * sambaSectionCheckStatic. */
#ifndef SAMBA_BACKEND_PLACE_ROUTER_ROUTE_H
#define SAMBA_BACKEND_PLACE_ROUTER_ROUTE_H

#include "backend/machine/machine.h"
#include "backend/place/router/stream_demands.h"
#include "backend/section/section.h"

/* Fills the hops of every stream (memory from section->arena). Every unit must be placed legally.
 * When all streams have hops already (routed by hand) they stay; when only some have, all are
 * routed anew. Hops: depth-first from the source; hops[0].in is the source's physical output (UNIT
 * or AG; lane = port number); a destination is a hop whose out is UNIT or AG. Where one stream
 * reaches one unit several times, its hops there are in the order of the destinations. Errors,
 * SAMBA_EXHAUSTED: a unit's physical ports or a link cannot carry the rates; names the link, the
 * capacity and the streams. SAMBA_INVALID: a unit without a place. On failure no stream has
 * changed. On an ideal network no stream has a route, and nothing is done.
 *
 * There are 12 rounds for wishes, then 10 for turns, then 60 for fills, from the 20th on of which
 * it gives up where the links that carry too much become fewer too slowly to be gone by the last;
 * turns are given up so from the third round on, and at once where one channel in 12 is overused by
 * them alone: what finds no ways takes seconds to end. Each begins anew; but where one channel in
 * 64 is overused at most, the streams there do with less, step by step in up to 60 rounds, and all
 * others keep what they have. Where they may have less than their rates (`least`), that is so up to
 * one channel in 16. What is routed without wishes, or without bursts, is routed with them. */
SambaStatus sambaSectionRouteDemands(SambaSection *section, const SambaMachine *machine,
                                     const SambaStreamDemands *demands);
/* The same for rates, and wishes or NULL. */
SambaStatus sambaSectionRoute(SambaSection *section, const SambaMachine *machine,
                              const uint32_t *rates, const uint32_t *wishes);

#endif
