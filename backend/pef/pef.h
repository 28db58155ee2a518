/* A PEF in memory: making, freeing and asking one.
 *
 * A compiler fills a SambaPef from its arena and writes it (container/writer.h); a runtime opens
 * one (container/reader.h) and reads the same structs.
 *
 * The encoding is this project's own: it is not SambaNova's and does not run on its hardware. */
#ifndef SAMBA_BACKEND_PEF_PEF_H
#define SAMBA_BACKEND_PEF_PEF_H

#include "backend/machine/machine.h"
#include "backend/pef/pef_types.h"

/* An empty PEF of this format version (SAMBA_PEF_NONE is not 0: initialize records with
 * sambaPef...Initialize). */
SambaPef *sambaPefCreate(void);
/* Frees it and closes its file; all records become invalid. NULL is ignored. */
void sambaPefDestroy(SambaPef *pef);
/* Closes the file, or leaves the memory, that it was opened from. Records stay; initial data cannot
 * be read any more. */
void sambaPefReleaseFile(SambaPef *pef);

/* Records with every optional index SAMBA_PEF_NONE and all else 0. */
#define PEF_TABLE(Type, singular, plural, place, need, doc)                                        \
  void sambaPef##Type##Initialize(SambaPef##Type *record);
#include "backend/pef/fields_none.def"
#include "backend/pef/tables.def"

/* Puts the machine's name and all parameters into pef->machine (copied into the arena). */
void sambaPefSetMachine(SambaPef *pef, const SambaMachine *machine);
/* The machine of a PEF, checked (sambaMachineCheck). Sources are borrowed from the PEF. Unknown and
 * missing parameters are errors that name them. */
SambaStatus sambaPefGetMachine(const SambaPef *pef, SambaMachine *out_machine);

/* Number of elements: the product of dims (1 for a scalar). */
uint64_t sambaPefSymbolElements(const SambaPefSymbol *symbol);
/* Bytes of device memory from the first element of a symbol to its last one. */
uint64_t sambaPefSymbolSpan(const SambaPefSymbol *symbol);
/* Do they have bytes in common, as names of the same memory do? */
bool sambaPefSymbolsMeet(const SambaPefSymbol *one, const SambaPefSymbol *other);
/* A symbol lies in blocks of block_bytes, one every block_step bytes; row-major ones are one. */
void sambaPefSymbolBlocks(const SambaPefSymbol *symbol, uint64_t *out_bytes, uint64_t *out_step);
/* Index of a symbol or section by name, SAMBA_PEF_NONE when there is none. Linear; build a map for
 * many look-ups. */
uint32_t sambaPefFindSymbol(const SambaPef *pef, SambaStringRef name);
uint32_t sambaPefFindSection(const SambaPef *pef, SambaStringRef name);
/* "FWD", ...; and back, case-insensitive; false when there is no such type. */
const char *sambaPefSectionTypeName(SambaPefSectionType type);
bool sambaPefSectionTypeFromName(SambaStringRef name, SambaPefSectionType *out_type);
/* The place of a type in a step of training, from 0: ZEROGRAD, FWD, BCKWD, REDUCE, GRADNORM, OPT.
 */
enum { SAMBA_PEF_SECTION_TYPE_COUNT = 6 };
SambaPefSectionType sambaPefSectionTypeAt(uint32_t place);
uint32_t sambaPefSectionTypePlace(SambaPefSectionType type);

#endif
