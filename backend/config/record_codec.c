/* The generic codec of records: walks the rows of a record's table and moves numbers between bits
 * and struct members. */
#include "backend/config/record_codec.h"

#include <stdlib.h>
#include <string.h>

/* Bits fill bytes from the least significant bit up. */
typedef struct BitWriter {
  SambaByteBuffer *out;
  uint64_t bits; /* not yet in out, fewer than 8 */
  uint32_t count;
  size_t start;
} BitWriter;

static void writeBits(BitWriter *writer, uint64_t value, uint32_t bits) {
  while (bits) {
    uint32_t take = 8 - writer->count < bits ? 8 - writer->count : bits;
    writer->bits |= (value & ((1u << take) - 1)) << writer->count;
    writer->count += take;
    value >>= take;
    bits -= take;
    if (writer->count == 8) {
      sambaArrayAppend(writer->out, (uint8_t)writer->bits);
      writer->bits = writer->count = 0;
    }
  }
}

static void alignWriter(BitWriter *writer) {
  while (writer->count || (writer->out->size - writer->start) % 8)
    writeBits(writer, 0, 8 - writer->count);
}

typedef struct BitReader {
  const uint8_t *data;
  size_t size;
  uint64_t position; /* in bits */
  SambaArena *arena;
} BitReader;

static uint64_t bitsLeft(const BitReader *reader) {
  return (uint64_t)reader->size * 8 - reader->position;
}

static uint64_t readBits(BitReader *reader, uint32_t bits) {
  uint64_t value = 0;
  size_t first = reader->position / 8;
  uint32_t before = reader->position % 8;
  if (before + bits < 64 && reader->size - first >= sizeof value) { /* all within one word */
    memcpy(&value, reader->data + first, sizeof value);
    reader->position += bits;
    return value >> before & ((UINT64_C(1) << bits) - 1);
  }
  for (uint32_t done = 0; done < bits;) {
    uint32_t offset = reader->position % 8;
    uint32_t take = 8 - offset < bits - done ? 8 - offset : bits - done;
    uint64_t part = (uint64_t)(reader->data[reader->position / 8] >> offset) & ((1u << take) - 1);
    value |= part << done;
    done += take;
    reader->position += take;
  }
  return value;
}

static uint64_t signExtend(uint64_t value, uint32_t bits) {
  return bits < 64 ? (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits)) : value;
}

static bool fits(uint64_t value, uint32_t bits, bool is_signed) {
  if (bits >= 64)
    return true;
  return is_signed ? signExtend(value, bits) == value : value >> bits == 0;
}

static SambaStatus noRoom(const SambaRecordRow *row, uint64_t value, uint32_t bits) {
  if (row->kind == 'S')
    return sambaStatusMake(SAMBA_UNSUPPORTED, "%s is %lld, which has no room in %u bits",
                           sambaRecordRowLabel(row), (long long)value, bits);
  return sambaStatusMake(SAMBA_UNSUPPORTED, "%s is %llu, which has no room in %u bits",
                         sambaRecordRowLabel(row), (unsigned long long)value, bits);
}

/* The chain that strides belong to. */
typedef struct Chain {
  uint32_t counters, outer; /* outer <= counters */
} Chain;

static Chain recordChain(const SambaRecordRow *trips, const void *structure) {
  uint32_t counters = (uint32_t)sambaMemberGet(structure, trips->count, false);
  uint32_t outer = (uint32_t)sambaMemberGet(structure, trips->outer, false);
  return (Chain){counters, outer < counters ? outer : counters};
}

static uint32_t firstStride(const SambaRecordRow *strides, Chain chain) {
  return strides->inner ? chain.outer : 0;
}

/* Without a structure nothing optional is there. */
static bool numberIsThere(const SambaRecordRow *row, const void *structure) {
  return !row->condition || (structure && row->condition->holds(structure));
}

static uint32_t maskBits(const SambaRecordRow *row, const void *structure) {
  uint64_t bits = sambaMemberGet(structure, row->count, false);
  uint32_t most = 8u * row->member.size;
  return bits < most ? (uint32_t)bits : most;
}

static SambaStatus writeRecord(BitWriter *writer, SambaRecordId id, const void *structure,
                               Chain chain);

static SambaStatus writeRowNumber(BitWriter *writer, const SambaRecordRow *row, uint64_t value,
                                  uint32_t bits) {
  if (!fits(value, bits, row->kind == 'S'))
    return noRoom(row, value, bits);
  writeBits(writer, value, bits);
  return NULL;
}

static SambaStatus writeField(BitWriter *writer, const SambaRecordRow *row, const void *structure) {
  uint64_t value = sambaMemberGet(structure, row->member, row->kind == 'S');
  if (numberIsThere(row, structure))
    return writeRowNumber(writer, row, value, row->bits);
  if (value == row->otherwise)
    return NULL;
  return sambaStatusMake(SAMBA_UNSUPPORTED, "%s is %llu, expected %llu: it has bits only if %s",
                         sambaRecordRowLabel(row), (unsigned long long)value,
                         (unsigned long long)row->otherwise, row->condition->text);
}

static SambaStatus writeItems(BitWriter *writer, const SambaRecordRow *row, const void *structure,
                              Chain chain) {
  uint64_t count = sambaMemberGet(structure, row->count, false);
  const char *items = sambaMemberGetPointer(structure, row->member);
  for (uint64_t i = row->from; i < count && i < row->until; ++i) {
    SambaStatus status = writeRecord(writer, row->record, items + i * row->item_size, chain);
    if (status)
      return sambaStatusAnnotate(status, "%s %llu", sambaRecordRowLabel(row),
                                 (unsigned long long)i);
  }
  return NULL;
}

static SambaStatus writeStrides(BitWriter *writer, const SambaRecordRow *row, const void *structure,
                                Chain chain) {
  const int64_t *strides = sambaMemberGetPointer(structure, row->member);
  for (uint32_t c = firstStride(row, chain); c < chain.counters; ++c)
    SAMBA_RETURN_IF_ERROR(writeRowNumber(writer, row, (uint64_t)strides[c], row->bits));
  return NULL;
}

static SambaStatus writeRecord(BitWriter *writer, SambaRecordId id, const void *structure,
                               Chain chain) {
  const SambaRecord *record = sambaRecordGet(id);
  for (uint32_t i = 0; i < record->row_count; ++i) {
    const SambaRecordRow *row = &record->rows[i];
    switch (row->form) {
    case SAMBA_ROW_FIELD:
      SAMBA_RETURN_IF_ERROR(writeField(writer, row, structure));
      break;
    case SAMBA_ROW_MASK:
      SAMBA_RETURN_IF_ERROR(writeRowNumber(
          writer, row, sambaMemberGet(structure, row->member, false), maskBits(row, structure)));
      break;
    case SAMBA_ROW_CHOICE: {
      uint64_t value = sambaMemberGet(structure, row->member, false);
      SAMBA_RETURN_IF_ERROR(writeRowNumber(writer, row, value, row->bits));
      SAMBA_RETURN_IF_ERROR(
          writeRecord(writer, (SambaRecordId)(row->record + value), structure, chain));
      break;
    }
    case SAMBA_ROW_ARRAY:
      SAMBA_RETURN_IF_ERROR(writeItems(writer, row, structure, chain));
      break;
    case SAMBA_ROW_TRIPS: {
      chain = recordChain(row, structure);
      const uint32_t *trips = sambaMemberGetPointer(structure, row->member);
      for (uint32_t c = 0; c < chain.counters; ++c)
        writeBits(writer, trips[c], row->bits);
      break;
    }
    case SAMBA_ROW_STRIDES:
      SAMBA_RETURN_IF_ERROR(writeStrides(writer, row, structure, chain));
      break;
    case SAMBA_ROW_ALIGN:
      alignWriter(writer);
      break;
    }
  }

  return NULL;
}

SambaStatus sambaRecordWrite(SambaRecordId id, const void *structure, SambaByteBuffer *out) {
  BitWriter writer = {.out = out, .start = out->size};
  SAMBA_RETURN_IF_ERROR(writeRecord(&writer, id, structure, (Chain){0}));
  alignWriter(&writer);
  return NULL;
}

/* The fewest bits that an item can have: bounds counts before anything is allocated for them. */
static uint64_t minimumBits(SambaRecordId id) {
  const SambaRecord *record = sambaRecordGet(id);
  uint64_t bits = 0;
  bool aligned = false;

  for (uint32_t i = 0; i < record->row_count; ++i) {
    const SambaRecordRow *row = &record->rows[i];
    aligned |= row->form == SAMBA_ROW_ALIGN;
    if ((row->form == SAMBA_ROW_FIELD && !row->condition) || row->form == SAMBA_ROW_CHOICE)
      bits += row->bits;
    if (row->form == SAMBA_ROW_CHOICE) {
      uint64_t least = UINT64_MAX;
      for (uint32_t choice = 0; choice < 1u << row->bits; ++choice) {
        uint64_t more = minimumBits((SambaRecordId)(row->record + choice));
        least = more < least ? more : least;
      }
      bits += least;
    }
  }

  uint64_t least = aligned ? 64 : 1;
  return bits < least ? least : bits;
}

static SambaStatus needBits(const BitReader *reader, const SambaRecordRow *row, uint64_t count,
                            uint64_t bits) {
  if (count == 1 ? bits <= bitsLeft(reader) : count <= bitsLeft(reader) / bits)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID,
                         "the bytes end at %s: %llu of %llu bits expected, %llu left",
                         sambaRecordRowLabel(row), (unsigned long long)count,
                         (unsigned long long)bits, (unsigned long long)bitsLeft(reader));
}

static SambaStatus readRecord(BitReader *reader, SambaRecordId id, void *structure, Chain chain);

static SambaStatus readItems(BitReader *reader, const SambaRecordRow *row, void *structure,
                             Chain chain) {
  uint64_t count = sambaMemberGet(structure, row->count, false);
  char *items = sambaMemberGetPointer(structure, row->member);

  if (!items) {
    SAMBA_RETURN_IF_ERROR(
        needBits(reader, row, count < row->until ? count : row->until, minimumBits(row->record)));
    items = sambaArenaAllocate(reader->arena, sambaArraySize(count, row->item_size));
    sambaMemberSetPointer(structure, row->member, items);
  }

  for (uint64_t i = row->from; i < count && i < row->until; ++i) {
    SambaStatus status = readRecord(reader, row->record, items + i * row->item_size, chain);
    if (status)
      return sambaStatusAnnotate(status, "%s %llu", sambaRecordRowLabel(row),
                                 (unsigned long long)i);
  }

  return NULL;
}

static SambaStatus skipPadding(BitReader *reader) {
  uint64_t end = (reader->position + 63) / 64 * 64;
  if (end > (uint64_t)reader->size * 8)
    return sambaStatusMake(SAMBA_INVALID, "the bytes end inside padding at bit %llu",
                           (unsigned long long)reader->position);
  if (end > reader->position && readBits(reader, (uint32_t)(end - reader->position)) != 0)
    return sambaStatusMake(SAMBA_INVALID, "padding before bit %llu is not zero",
                           (unsigned long long)end);
  return NULL;
}

static SambaStatus readRowNumber(BitReader *reader, const SambaRecordRow *row, void *structure,
                                 uint32_t bits) {
  SAMBA_RETURN_IF_ERROR(needBits(reader, row, 1, bits));
  uint64_t value = readBits(reader, bits);
  sambaMemberSet(structure, row->member, row->kind == 'S' ? signExtend(value, bits) : value);
  return NULL;
}

static SambaStatus readTrips(BitReader *reader, const SambaRecordRow *row, void *structure,
                             uint32_t counters) {
  SAMBA_RETURN_IF_ERROR(needBits(reader, row, counters, row->bits));
  uint32_t *trips = SAMBA_ARENA_ARRAY(reader->arena, uint32_t, counters);
  for (uint32_t c = 0; c < counters; ++c)
    trips[c] = (uint32_t)readBits(reader, row->bits);
  sambaMemberSetPointer(structure, row->member, trips);
  return NULL;
}

static SambaStatus readStrides(BitReader *reader, const SambaRecordRow *row, void *structure,
                               Chain chain) {
  uint32_t first = firstStride(row, chain);
  SAMBA_RETURN_IF_ERROR(needBits(reader, row, chain.counters - first, row->bits));
  int64_t *strides = SAMBA_ARENA_ARRAY(reader->arena, int64_t, chain.counters);
  for (uint32_t c = first; c < chain.counters; ++c)
    strides[c] = (int64_t)signExtend(readBits(reader, row->bits), row->bits);
  sambaMemberSetPointer(structure, row->member, strides);
  return NULL;
}

static SambaStatus readRecord(BitReader *reader, SambaRecordId id, void *structure, Chain chain) {
  const SambaRecord *record = sambaRecordGet(id);
  for (uint32_t i = 0; i < record->row_count; ++i) {
    const SambaRecordRow *row = &record->rows[i];
    switch (row->form) {
    case SAMBA_ROW_FIELD:
      if (numberIsThere(row, structure))
        SAMBA_RETURN_IF_ERROR(readRowNumber(reader, row, structure, row->bits));
      else
        sambaMemberSet(structure, row->member, row->otherwise);
      break;
    case SAMBA_ROW_MASK:
      SAMBA_RETURN_IF_ERROR(readRowNumber(reader, row, structure, maskBits(row, structure)));
      break;
    case SAMBA_ROW_CHOICE: {
      SAMBA_RETURN_IF_ERROR(readRowNumber(reader, row, structure, row->bits));
      uint64_t choice = sambaMemberGet(structure, row->member, false);
      SAMBA_RETURN_IF_ERROR(
          readRecord(reader, (SambaRecordId)(row->record + choice), structure, chain));
      break;
    }
    case SAMBA_ROW_ARRAY:
      SAMBA_RETURN_IF_ERROR(readItems(reader, row, structure, chain));
      break;
    case SAMBA_ROW_TRIPS:
      chain = recordChain(row, structure);
      SAMBA_RETURN_IF_ERROR(readTrips(reader, row, structure, chain.counters));
      break;
    case SAMBA_ROW_STRIDES:
      SAMBA_RETURN_IF_ERROR(readStrides(reader, row, structure, chain));
      break;
    case SAMBA_ROW_ALIGN:
      SAMBA_RETURN_IF_ERROR(skipPadding(reader));
      break;
    }
  }

  return NULL;
}

SambaStatus sambaRecordRead(SambaRecordId id, const uint8_t *data, size_t size, SambaArena *arena,
                            void *structure) {
  BitReader reader = {data, size, 0, arena};
  SAMBA_RETURN_IF_ERROR(readRecord(&reader, id, structure, (Chain){0}));
  if (bitsLeft(&reader) >= 8)
    return sambaStatusMake(SAMBA_INVALID, "%llu bytes after the end of the %s",
                           (unsigned long long)(bitsLeft(&reader) / 8), sambaRecordGet(id)->name);
  return NULL;
}

/* The position after the record. */
static uint64_t skipRecord(uint64_t position, SambaRecordId id, const void *structure, Chain chain);

static uint64_t skipItems(uint64_t position, const SambaRecordRow *row, const void *structure,
                          Chain chain) {
  uint64_t count = sambaMemberGet(structure, row->count, false);
  const char *items = sambaMemberGetPointer(structure, row->member);
  for (uint64_t i = row->from; i < count && i < row->until; ++i)
    position = skipRecord(position, row->record, items ? items + i * row->item_size : NULL, chain);
  return position;
}

static uint64_t skipRecord(uint64_t position, SambaRecordId id, const void *structure,
                           Chain chain) {
  const SambaRecord *record = sambaRecordGet(id);
  for (uint32_t i = 0; i < record->row_count; ++i) {
    const SambaRecordRow *row = &record->rows[i];
    switch (row->form) {
    case SAMBA_ROW_FIELD:
      position += numberIsThere(row, structure) ? row->bits : 0;
      break;
    case SAMBA_ROW_MASK:
      position += maskBits(row, structure);
      break;
    case SAMBA_ROW_CHOICE: {
      uint64_t choice = sambaMemberGet(structure, row->member, false);
      position =
          skipRecord(position + row->bits, (SambaRecordId)(row->record + choice), structure, chain);
      break;
    }
    case SAMBA_ROW_ARRAY:
      position = skipItems(position, row, structure, chain);
      break;
    case SAMBA_ROW_TRIPS:
      chain = recordChain(row, structure);
      position += (uint64_t)chain.counters * row->bits;
      break;
    case SAMBA_ROW_STRIDES:
      position += (uint64_t)(chain.counters - firstStride(row, chain)) * row->bits;
      break;
    case SAMBA_ROW_ALIGN:
      position = (position + 63) / 64 * 64;
      break;
    }
  }

  return position;
}

uint64_t sambaRecordBytes(SambaRecordId id, const void *structure) {
  return (skipRecord(0, id, structure, (Chain){0}) + 63) / 64 * 8;
}
