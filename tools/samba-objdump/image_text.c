/* Configurations as text: the section listing of backend/config, used where it says exactly the same as the bits. */
#include "backend/pef/image.h"
#include "tools/samba-objdump/objdump.h"

SambaStatus objdumpPrintImage(FILE *out, const SambaPef *pef, uint32_t image, const SambaMachine *machine,
                              bool *out_done) {
  (void)out, (void)pef, (void)image, (void)machine;
  *out_done = false;
  return NULL;
}

SambaStatus objdumpParseImage(SambaPef *pef, const SambaMachine *machine, const char *path, uint32_t line,
                              SambaStringRef name, SambaStringRef text, SambaPefImage *out_image) {
  (void)pef, (void)machine, (void)name, (void)text, (void)out_image;
  return sambaStatusMake(SAMBA_UNSUPPORTED, "%s:%u: section listings are not available", path, line);
}
