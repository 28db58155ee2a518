/* Sections in and out of a PEF: an image is the bits of a section, with its names beside. */
#ifndef SAMBA_BACKEND_PEF_IMAGE_IMAGE_H
#define SAMBA_BACKEND_PEF_IMAGE_IMAGE_H

#include "backend/pef/pef.h"
#include "backend/section/section.h"

/* Encodes a placed and routed section; formals and units go into the debug tables.
 * All in pef's arena. */
SambaStatus sambaPefEncodeImage(SambaPef *pef, const SambaSection *section,
                                const SambaMachine *machine, SambaPefImage *out_image);
/* Puts an image's names and layers into the section that its code decodes to; those of
 * units, formals and streams that the section does not have are left out. */
void sambaPefImageName(const SambaPefImage *image, SambaSection *section);
/* Decodes image `image` (checked as sambaSectionDecode does) and puts names and layers back.
 * The section lives in `arena`; unit layers are those of the image. */
SambaStatus sambaPefDecodeImage(const SambaPef *pef, uint32_t image, const SambaMachine *machine,
                                SambaArena *arena, SambaSection **out_section);
/* The source layer of a unit in a call: the call's own debug map, else the image's; "" when nobody
 * knows. Borrowed. */
SambaStringRef sambaPefCallLayer(const SambaPef *pef, uint32_t call, uint32_t unit);
/* The source layers of an image's units, each once, in the order of the units; returns how many.
 * The array lives in `arena`, the names are borrowed from the image. */
uint32_t sambaPefImageLayers(const SambaPefImage *image, SambaArena *arena,
                             SambaStringRef **out_layers);

#endif
