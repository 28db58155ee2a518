/* samba-objdump: a PEF as text and back.
 *
 * A listing is a sequence of statements, one per record: `symbol "x" { kind = input  dims = [1,
 * 784] }`. Keywords and fields are those of backend/pef/tables.def; a field that is left out is 0,
 * empty or none. docs/pef-format.md has the grammar. */
#ifndef SAMBA_TOOLS_SAMBA_OBJDUMP_OBJDUMP_H
#define SAMBA_TOOLS_SAMBA_OBJDUMP_OBJDUMP_H

#include "backend/pef/pef.h"
#include "backend/section/section.h"
#include "support/text/text.h"

#include <stdio.h>

/* Data up to this many bytes is printed in the listing, more by reference (.incbin). */
enum { OBJDUMP_INLINE_BYTES = 4096 };

/* Prints the PEF that was opened from `path`; references to its data name this path. */
SambaStatus objdumpPrint(FILE *out, const SambaPef *pef, const char *path);

/* Reads a listing (`path` for messages). References (.incbin) are relative to the current folder.
 * unchecked: sections may have routes that overload links, and may deadlock. */
SambaStatus objdumpAssemble(const char *path, SambaStringRef text, bool unchecked,
                            SambaPef **out_pef);

/* Shows the section that has this name or number (NULL: the section with the most units): as a
 * picture (backend/view/section_svg.h), or as text that says where its units are and how its
 * streams run. */
SambaStatus objdumpShow(const SambaPef *pef, const char *section, bool picture, SambaText *out);

/* What the bandwidth model (backend/estimate/predict.h) says of each section, as JSON; *out_text is
 * the caller's (free). */
SambaStatus objdumpPredict(const SambaPef *pef, char **out_text);

/* Prints the statement of one image: as a section listing when that says exactly the same, else as
 * bytes. */
SambaStatus objdumpPrintImage(FILE *out, const SambaPef *pef, uint32_t image,
                              const SambaMachine *machine, bool *out_done);
/* Makes an image of a section that was parsed. What is placed and routed is encoded as it stands;
 * else it is placed, routed and (unless `unchecked`) shown to be free of deadlocks first. */
SambaStatus objdumpFinishImage(SambaPef *pef, const SambaMachine *machine, SambaSection *section,
                               bool unchecked, SambaPefImage *out_image);

/* Adds what a listing written by hand leaves out: parameters of a shipped machine, regions and
 * addresses, sections, calls, graph. Changes nothing in a listing that was printed. */
SambaStatus objdumpCompleteMachine(SambaPef *pef);
SambaStatus objdumpComplete(SambaPef *pef);

#endif
