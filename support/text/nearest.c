/* Names that are alike; see nearest.h. */
#include "support/text/nearest.h"

enum { longestText = 255 };

size_t sambaEditDistance(SambaStringRef a, SambaStringRef b) {
  if (a.size > longestText || b.size > longestText)
    return SIZE_MAX;

  /* row[j]: from the first i bytes of a to the first j bytes of b. */
  size_t row[longestText + 1];
  for (size_t j = 0; j <= b.size; ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size; ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size; ++j) {
      size_t changed = diagonal + (a.data[i - 1] != b.data[j - 1]);
      size_t moved = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = changed < moved ? changed : moved;
    }
  }
  return row[b.size];
}

SambaNearest sambaNearestStart(SambaStringRef wanted) {
  return (SambaNearest){.wanted = wanted, .distance = wanted.size / 3 + 1};
}

void sambaNearestOffer(SambaNearest *nearest, SambaStringRef name) {
  size_t distance = sambaEditDistance(nearest->wanted, name);
  if (distance < nearest->distance && name.size) {
    nearest->distance = distance;
    nearest->found = name;
  }
}
