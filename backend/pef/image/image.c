/* Sections in and out of a PEF: the bits into the image, names beside them; see
 * image.h. */
#include "backend/pef/image/image.h"

#include "backend/config/encoding.h"
#include "backend/pef/pef.h"
#include "support/container/string_map.h"

#include <stdlib.h>

static SambaStringRef copyText(SambaArena *arena, const char *text) {
  return sambaStringRefCopy(arena, sambaStringRef(text));
}

SambaStatus sambaPefEncodeImage(SambaPef *pef, const SambaSection *section,
                                const SambaMachine *machine, SambaPefImage *out_image) {
  SambaByteBuffer bytes = {0};
  SambaStatus status = sambaSectionEncode(section, machine, &bytes);

  if (status) {
    sambaArrayFree(&bytes);
    return status;
  }

  SambaArena *arena = &pef->arena;
  SambaPefImage image;
  sambaPefImageInitialize(&image);
  image.name = copyText(arena, section->name);
  image.code = (SambaPefBytes){sambaArenaCopy(arena, bytes.data, bytes.size), bytes.size};
  sambaArrayFree(&bytes);
  image.formals_count = section->symbol_count;
  image.formals = SAMBA_ARENA_ARRAY(arena, SambaPefFormal, section->symbol_count);
  for (uint32_t i = 0; i < section->symbol_count; ++i)
    image.formals[i].name = copyText(arena, section->symbols[i].name);
  image.units_count = section->unit_count;
  image.units = SAMBA_ARENA_ARRAY(arena, SambaPefUnit, section->unit_count);
  for (uint32_t i = 0; i < section->unit_count; ++i)
    image.units[i] = (SambaPefUnit){copyText(arena, section->units[i].name),
                                    copyText(arena, section->units[i].layer)};
  *out_image = image;
  return NULL;
}

/* The setters take C strings; names with zero bytes in them end there. */
void sambaPefImageName(const SambaPefImage *image, SambaSection *section) {
  sambaSectionSetName(section, image->name.data);
  for (uint32_t i = 0; i < image->formals_count; ++i)
    sambaSectionSetSymbol(section, i, image->formals[i].name.data);
  for (uint32_t i = 0; i < image->units_count; ++i)
    sambaSectionSetUnit(section, i, image->units[i].name.data, image->units[i].layer.data);
}

SambaStatus sambaPefDecodeImage(const SambaPef *pef, uint32_t image, const SambaMachine *machine,
                                SambaArena *arena, SambaSection **out_section) {
  const SambaPefImage *from = &pef->images[image];
  SambaSection *section;
  SambaStatus status =
      sambaSectionDecode(from->code.data, from->code.size, machine, arena, &section);
  if (!status && from->formals_count != section->symbol_count)
    status = sambaStatusMake(SAMBA_INVALID, "it names %u formal arguments, but its code has %u",
                             from->formals_count, section->symbol_count);
  if (!status && from->units_count && from->units_count != section->unit_count)
    status = sambaStatusMake(SAMBA_INVALID, "it names %u units, but its code has %u",
                             from->units_count, section->unit_count);
  if (status)
    return sambaStatusAnnotate(status, "image %u", image);
  sambaPefImageName(from, section);
  *out_section = section;

  return NULL;
}

SambaStringRef sambaPefCallLayer(const SambaPef *pef, uint32_t call, uint32_t unit) {
  const SambaPefCall *from = &pef->calls[call];
  const SambaPefImage *image = &pef->images[pef->sections[from->section].image];
  if (unit < from->layers_count)
    return from->layers[unit].name;
  return unit < image->units_count ? image->units[unit].layer : sambaStringRef("");
}

uint32_t sambaPefImageLayers(const SambaPefImage *image, SambaArena *arena,
                             SambaStringRef **out_layers) {
  SambaStringRef *layers = SAMBA_ARENA_ARRAY(arena, SambaStringRef, image->units_count + 1);
  SambaStringMap seen = {0};
  uint32_t count = 0;

  for (uint32_t u = 0; u < image->units_count; ++u) {
    SambaStringRef layer = image->units[u].layer;
    if (layer.size && sambaStringMapInsert(&seen, layer, u, NULL))
      layers[count++] = layer;
  }

  sambaStringMapFree(&seen);
  *out_layers = layers;
  return count;
}
