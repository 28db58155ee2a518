/* The name that a user may have meant: the one of many that is most like what was typed. */
#ifndef SAMBA_SUPPORT_TEXT_NEAREST_H
#define SAMBA_SUPPORT_TEXT_NEAREST_H

#include "support/text/string_ref.h"

typedef struct SambaNearest {
  SambaStringRef wanted, found; /* found: empty while nothing was like it; borrowed */
  size_t distance;              /* of found; a name must be nearer than that to replace it */
} SambaNearest;

/* Names that differ in more than a third of what was typed are not like it. */
SambaNearest sambaNearestStart(SambaStringRef wanted);
void sambaNearestOffer(SambaNearest *nearest, SambaStringRef name);
/* How many insertions, deletions and changes of one byte make one text of the other. Texts of more
 * than 255 bytes are SIZE_MAX apart. */
size_t sambaEditDistance(SambaStringRef a, SambaStringRef b);

#endif
