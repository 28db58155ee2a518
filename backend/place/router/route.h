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
#include "backend/section/section.h"

/* Fills the hops of every stream (memory from section->arena). Every unit must be placed legally.
 * rates: of each stream, in permille of a lane (sambaSectionRates). wishes: the same, as far as
 * there is room (sambaSectionWishedRates), or NULL: lanes need not be so empty, and ports of units
 * are not asked. What is routed without wishes is routed with them.
 * When all streams have hops already (routed by hand) they stay; when only some have, all are
 * routed anew. Hops: depth-first from the source; hops[0].in is the source's physical output (UNIT
 * or AG; lane = port number); a destination is a hop whose out is UNIT or AG. Where one stream
 * reaches one unit several times, its hops there are in the order of the destinations. Errors,
 * SAMBA_EXHAUSTED: a unit's physical ports or a link cannot carry what is planned; names the link,
 * the capacity and the streams. SAMBA_INVALID: a unit without a place. On failure no stream has
 * changed. On an ideal network no stream has a route, and nothing is done. It has 12 rounds for
 * wishes and 60 for rates, and 60 more when wishes have led where there is no way; from the 20th on
 * it gives up where the links that carry too much become fewer too slowly to be gone by the last.
 */
SambaStatus sambaSectionRoute(SambaSection *section, const SambaMachine *machine,
                              const uint32_t *rates, const uint32_t *wishes);

/* The same, with room for bursts where there is: all streams have that much of a lane, or all have
 * their rates. bursts: of each stream, in permille of a lane, no less than its rate. There are 10
 * rounds for bursts, from where wishes have led and anew; then rates go on from there, or anew.
 * Bursts are given up from the third round on where overused links vanish too slowly, and at once
 * where there are wishes and one channel in 12 is overused by the bursts alone: what does not find
 * its ways takes seconds to end. In sections of Llama, BERT, GPT-2 and ResNet-50 what found its
 * ways took 9 rounds at most. What crosses the mesh along a straight cut would not tell them apart:
 * where no ways were found it was three fifths of what the links there carry, and half where some
 * were. */
SambaStatus sambaSectionRouteBursts(SambaSection *section, const SambaMachine *machine,
                                    const uint32_t *rates, const uint32_t *bursts,
                                    const uint32_t *wishes);

#endif
