/* Words without zeros; see packed_words.h. */
#include "support/container/packed_words.h"

#include <string.h>

void sambaWordsPack(const void *data, size_t size, SambaPackedWords *out) {
  const uint64_t *words = data;
  size_t count = size / sizeof *words;
  for (size_t i = 0; i < count;) {
    size_t zeros = i;
    while (i < count && !words[i])
      ++i;
    size_t first = i;
    while (i < count && words[i])
      ++i;
    sambaArrayAppend(out, (uint64_t)(first - zeros) << 32 | (uint64_t)(i - first));
    for (size_t w = first; w < i; ++w)
      sambaArrayAppend(out, words[w]);
  }
}

const uint64_t *sambaWordsUnpack(const uint64_t *packed, void *out_data, size_t size) {
  uint64_t *words = out_data;
  size_t count = size / sizeof *words;
  if (size)
    memset(out_data, 0, size);
  for (size_t i = 0; i < count;) {
    size_t zeros = (size_t)(*packed >> 32), others = (uint32_t)*packed;
    ++packed;
    if (others)
      memcpy(&words[i + zeros], packed, others * sizeof *words);
    packed += others;
    i += zeros + others;
  }
  return packed;
}
