/* Listings: a section as text and back, for people and for objdump.
 *
 * A listing shows every field of every record (records.def; zero and default values are left out)
 * and assembles to the same bits. Written by hand, it may leave out placement, routes and what
 * follows from the rest:
 *
 *   section scale {
 *     symbol x dtype=f32 elements=64
 *     symbol y dtype=f32 elements=64 written=yes
 *     load lx symbol=x
 *       output dtype=f32 trips=[4 | 16] strides=[16 | 1]
 *     compute twice trips=[4 | 16]
 *       input dtype=f32 strides=[0 | 1]
 *       %1 = const f32 2.0
 *       %2 = mul f32 %0, %1
 *       output dtype=f32 strides=[0 | 1]
 *     store sy symbol=y
 *       input dtype=f32 trips=[4 | 16] strides=[16 | 1]
 *     stream s0 vector lx.out0 -> twice.in0
 *     stream s1 vector twice.out0 -> sy.in0
 *   }
 *
 * docs/pef-format.md explains the grammar. In short: one record per line; `name=value` gives a
 * field; lists of trips and strides have one number per counter, bars mark the levels (load, store,
 * compute: token_level; buffer: slot_level, token_level, or one bar for both); `reduce=[2, 5]`
 * names reduced counters; # starts a comment. Left out: x, y, ag (not placed), hops (not routed),
 * block (1), level (token_level), value (the last one), token_elements
 * (what the trips or strides span), streams (in the order of the stream lines), layer (""). */
#ifndef SAMBA_BACKEND_LISTING_LISTING_H
#define SAMBA_BACKEND_LISTING_LISTING_H

#include "backend/section/section.h"
#include "support/text/string_ref.h"

/* Writes the listing of a section that sambaSectionCheck accepts, in pieces, to a callback. */
void sambaSectionPrint(const SambaSection *section,
                       void (*write)(const char *data, size_t size, void *user), void *user);

/* Reads one section, `section NAME ... { ... }`, from text at *position (spaces, line ends and
 * comments are skipped) and moves *position behind it. The result lives in `arena` and has passed
 * sambaSectionCheck; without `x`, `y`, `ag` units are not placed (-1), without `hop` lines streams
 * are not routed. Errors name line and column of `text`. */
SambaStatus sambaSectionParse(SambaStringRef text, size_t *position, SambaArena *arena,
                              SambaSection **out_section);

#endif
