/* Shares: what the threads of a team (team.h) do side by side in a window.
 *
 * A vector, a credit or a wake that one share leaves for another would make it matter which of them
 * is faster. So shares are cut where nothing is left for others:
 *
 *   - Units. Within a window what a unit does reaches its ports' FIFOs, those behind links, which
 *     are not stepped, and at the far end of links other units; and the ways over lanes that begin
 *     or end at these FIFOs. Units between which that makes a path are an island, and belong to one
 *     share. Beyond lanes vectors go when units are through with the window.
 *   - Lanes choose by who is woken, and by whose turn it is at that lane. Each belongs to a share.
 *   - Vectors that cross. Streams share nothing but lanes, so all FIFOs and ways of one belong to
 *     one share.
 *
 * What is left are wakes, and each share has a clock of its own for them. A part is woken for the
 * earliest of all cycles for which it is, so the order in which the chip's clock takes them over
 * does not matter (clock.h). Within a share everything has the order that it has with one thread.
 * So neither a cycle nor any number depends on how many shares there are, or on who is fast. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_NETWORK_SHARES_H
#define SAMBA_BACKEND_SIM_CYCLE_NETWORK_SHARES_H

#include "backend/sim/cycle/network/network.h"

/* The share of every PCU and PMU, of so many. */
const uint8_t *sambaSharesOfUnits(const SambaNetwork *network, uint32_t count, SambaArena *arena,
                                  const SambaSection *section);
/* Makes the networks of the shares: the first one was built, and the others become like it. Each
 * has its clock. unit_shares: of several shares, those of units. */
void sambaSharesOfLanes(SambaNetwork *const *shares, uint32_t count, SambaArena *arena,
                        const SambaSection *section, const uint8_t *unit_shares);

#endif
