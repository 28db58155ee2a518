/* Configurations as text: `image` followed by the section listing of backend/listing. Used for
 * printing where it says exactly what the image's bits and names say (always, for what a compiler
 * wrote); else the image is printed as bytes. */
#include "backend/estimate/stream_rates.h"
#include "backend/listing/listing.h"
#include "backend/pef/image/image.h"
#include "backend/place/placer/place.h"
#include "backend/place/router/route.h"
#include "backend/place/verify/place_check.h"
#include "support/text/text.h"
#include "tools/samba-objdump/objdump.h"

#include <stdlib.h>

static void append(const char *data, size_t size, void *user) { sambaTextAppend(user, data, size); }

static bool sameImages(const SambaPefImage *a, const SambaPefImage *b) {
  if (a->code.size != b->code.size || memcmp(a->code.data, b->code.data, a->code.size) != 0 ||
      !sambaStringRefEqual(a->name, b->name) || a->formals_count != b->formals_count ||
      a->units_count != b->units_count)
    return false;
  for (uint32_t i = 0; i < a->formals_count; ++i)
    if (!sambaStringRefEqual(a->formals[i].name, b->formals[i].name))
      return false;
  for (uint32_t i = 0; i < a->units_count; ++i)
    if (!sambaStringRefEqual(a->units[i].name, b->units[i].name) ||
        !sambaStringRefEqual(a->units[i].layer, b->units[i].layer))
      return false;
  return true;
}

/* Does the text assemble to this image? */
static bool assemblesTo(const SambaText *text, const SambaMachine *machine,
                        const SambaPefImage *image) {
  SambaPef *scratch = sambaPefCreate();
  SambaSection *section;
  SambaPefImage made;
  size_t position = 0;
  SambaStatus status = sambaSectionParse(sambaTextRef(text), &position, &scratch->arena, &section);
  if (!status)
    status = sambaPefEncodeImage(scratch, section, machine, &made);
  bool same = !status && sameImages(&made, image);
  sambaStatusFree(status);
  sambaPefDestroy(scratch);
  return same;
}

SambaStatus objdumpPrintImage(FILE *out, const SambaPef *pef, uint32_t image,
                              const SambaMachine *machine, bool *out_done) {
  SambaArena arena = {0};
  SambaSection *section;

  SambaText text = {0};
  *out_done = false;
  SambaStatus status = sambaPefDecodeImage(pef, image, machine, &arena, &section);
  if (!status) {
    sambaSectionPrint(section, append, &text);
    *out_done = assemblesTo(&text, machine, &pef->images[image]);
  }

  if (*out_done)
    fprintf(out, "image %.*s", SAMBA_STRING_ARGS(sambaTextRef(&text)));
  else
    fprintf(out, "# image %u has no listing%s%s\n", image, status ? ": " : "",
            sambaStatusGetMessage(status));
  sambaStatusFree(status);
  sambaTextFree(&text);
  sambaArenaDestroy(&arena);

  return NULL;
}

SambaStatus objdumpFinishImage(SambaPef *pef, const SambaMachine *machine, SambaSection *section,
                               bool unchecked, SambaPefImage *out_image) {
  bool placed = true, routed = true;
  for (uint32_t i = 0; i < section->unit_count; ++i)
    placed &= sambaUnitIsPlaced(&section->units[i]);

  for (uint32_t i = 0; i < section->stream_count; ++i)
    routed &= section->streams[i].hop_count > 0;
  const uint32_t *rates = sambaSectionRates(section, machine, section->arena);
  if (!placed)
    SAMBA_RETURN_IF_ERROR(sambaSectionPlace(section, machine, rates));
  if (!placed || !routed)
    SAMBA_RETURN_IF_ERROR(sambaSectionRoute(section, machine, rates, NULL));
  if (!unchecked && !(placed && routed)) {
    SAMBA_RETURN_IF_ERROR(sambaSectionCheckRoutes(section, machine, rates));
    SAMBA_RETURN_IF_ERROR(sambaSectionCheckStatic(section, machine));
  }

  return sambaPefEncodeImage(pef, section, machine, out_image);
}
