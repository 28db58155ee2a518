/* sambaSectionCheckOrder: loads and stores of one memory, ordered by tokens or not. */
#include "backend/section/check/order_check.h"
#include "support/text/text.h"

#include "backend/listing/listing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

/* What is said of a listing whose formals lie at the addresses. */
static SambaStatus orderOf(const char *listing, const uint64_t *addresses) {
  SambaArena arena = {0};
  SambaSection *section;
  size_t position = 0;
  SambaStatus status = sambaSectionParse(sambaStringRef(listing), &position, &arena, &section);
  if (status)
    fail_msg("the listing: %s", sambaStatusGetMessage(status));
  status = sambaSectionCheckOrder(section, addresses);
  sambaArenaDestroy(&arena);
  return status;
}

/* text: what the fault must say, NULL: none. */
static void check(const char *listing, const uint64_t *addresses, const char *text) {
  SambaStatus status = orderOf(listing, addresses);
  if (!text && status)
    fail_msg("'%s'", sambaStatusGetMessage(status));
  if (text && (!status || sambaStatusGetCode(status) != SAMBA_FAULT ||
               !strstr(sambaStatusGetMessage(status), text)))
    fail_msg("expected '%s', got '%s'", text, status ? sambaStatusGetMessage(status) : "nothing");
  sambaStatusFree(status);
}

static const uint64_t apart[] = {4096, 8192, 12288};
static const uint64_t in_place[] = {4096, 4096, 12288};

/* y = 2 x, with the walks of load and store as given. */
#define SCALE(load, store)                                                                         \
  "section scale {\n"                                                                              \
  "  symbol x dtype=f32 elements=64\n"                                                             \
  "  symbol y dtype=f32 elements=64 written=yes\n"                                                 \
  "  load lx symbol=x\n"                                                                           \
  "    output dtype=f32 " load "\n"                                                                \
  "  compute twice trips=[4 | 16]\n"                                                               \
  "    input dtype=f32 strides=[0 | 1]\n"                                                          \
  "    %1 = add f32 %0, %0\n"                                                                      \
  "    output dtype=f32 strides=[0 | 1]\n"                                                         \
  "  store sy symbol=y\n"                                                                          \
  "    input dtype=f32 " store "\n"                                                                \
  "  stream s0 vector lx.out0 -> twice.in0\n"                                                      \
  "  stream s1 vector twice.out0 -> sy.in0\n"                                                      \
  "}\n"
#define ROWS "trips=[4 | 16] strides=[16 | 1]"
#define TILES "trips=[2, 2 | 4, 4] strides=[32, 4 | 8, 1]"
#define BACKWARDS "base=48 trips=[4 | 16] strides=[-16 | 1]"

/* Three rows of x become rows of y. */
#define SHIFT(load, store)                                                                         \
  "section shift {\n"                                                                              \
  "  symbol x dtype=f32 elements=64\n"                                                             \
  "  symbol y dtype=f32 elements=64 written=yes\n"                                                 \
  "  load lx symbol=x\n"                                                                           \
  "    output dtype=f32 trips=[3 | 16] " load "\n"                                                 \
  "  store sy symbol=y\n"                                                                          \
  "    input dtype=f32 trips=[3 | 16] " store "\n"                                                 \
  "  stream s0 vector lx.out0 -> sy.in0\n"                                                         \
  "}\n"

static void equalIndices(void **state) {
  (void)state;
  check(SCALE(ROWS, ROWS), apart, NULL);
  check(SCALE(ROWS, ROWS), in_place, NULL);
  check(SCALE(TILES, TILES), in_place, NULL);
}

static void otherIndices(void **state) {
  (void)state;
  static const char text[] =
      "missing synchronisation: section 'scale', load 'lx', firing 3: formal 'x' is written by "
      "store 'sy' in the same call (as formal 'y', which has the same memory), and no stream "
      "orders the two";
  check(SCALE(ROWS, BACKWARDS), apart, NULL);
  check(SCALE(ROWS, BACKWARDS), in_place, text); /* row 3 is written before it is read */
  check(SCALE(TILES, ROWS), in_place, "missing synchronisation");
  check(SCALE(ROWS, TILES), in_place, "missing synchronisation");
  /* y is one row behind x: row r is written after row r + 1 was read, or before. */
  check(SHIFT("base=16 strides=[16 | 1]", "strides=[16 | 1]"), in_place, NULL);
  check(SHIFT("strides=[16 | 1]", "base=16 strides=[16 | 1]"), in_place, "load 'lx', firing 1:");
}

/* x goes through a buffer that holds all of it before anything leaves: any order is fine then. */
static void wholeBuffer(void **state) {
  (void)state;
  static const char listing[] = "section turn {\n"
                                "  symbol x dtype=f32 elements=64\n"
                                "  symbol y dtype=f32 elements=64 written=yes\n"
                                "  load lx symbol=x\n"
                                "    output dtype=f32 trips=[4 | 16] strides=[16 | 1]\n"
                                "  buffer b slot_count=1 slot_elements=64\n"
                                "    input dtype=f32 trips=[| 4 | 16] strides=[| 16 | 1]\n"
                                "    output dtype=f32 trips=[| 8 | 8] strides=[| 1 | 8]\n"
                                "  store sy symbol=y\n"
                                "    input dtype=f32 trips=[8 | 8] strides=[8 | 1]\n"
                                "  stream s0 vector lx.out0 -> b.in0\n"
                                "  stream s1 vector b.out0 -> sy.in0\n"
                                "}\n";
  check(listing, in_place, NULL);
}

/* The same with a slot per row: a transposed store follows no load. */
static void slotPerRow(void **state) {
  (void)state;
  static const char listing[] = "section turn {\n"
                                "  symbol x dtype=f32 elements=64\n"
                                "  symbol y dtype=f32 elements=64 written=yes\n"
                                "  load lx symbol=x\n"
                                "    output dtype=f32 trips=[8 | 8] strides=[8 | 1]\n"
                                "  buffer b slot_count=2 slot_elements=8\n"
                                "    input dtype=f32 trips=[8 | | 8] strides=[0 | | 1]\n"
                                "    output dtype=f32 trips=[8 | | 8] strides=[0 | | 1]\n"
                                "  store sy symbol=y\n"
                                "    input dtype=f32 trips=[8 | 8] strides=[1 | 8]\n"
                                "  stream s0 vector lx.out0 -> b.in0\n"
                                "  stream s1 vector b.out0 -> sy.in0\n"
                                "}\n";
  check(listing, apart, NULL);
  check(listing, in_place, "missing synchronisation: section 'turn', load 'lx', firing 1:");
}

/* Two loads of the old value; the second one feeds something else, which nothing orders. */
static void secondReader(void **state) {
  (void)state;
  static const char listing[] = "section two {\n"
                                "  symbol x dtype=f32 elements=64\n"
                                "  symbol y dtype=f32 elements=64 written=yes\n"
                                "  symbol z dtype=f32 elements=64 written=yes\n"
                                "  load lx symbol=x\n"
                                "    output dtype=f32 trips=[4 | 16] strides=[16 | 1]\n"
                                "  load other symbol=x\n"
                                "    output dtype=f32 trips=[4 | 16] strides=[16 | 1]\n"
                                "  store sy symbol=y\n"
                                "    input dtype=f32 trips=[4 | 16] strides=[16 | 1]\n"
                                "  store sz symbol=z\n"
                                "    input dtype=f32 trips=[4 | 16] strides=[16 | 1]\n"
                                "  stream s0 vector lx.out0 -> sy.in0\n"
                                "  stream s1 vector other.out0 -> sz.in0\n"
                                "}\n";
  check(listing, apart, NULL);
  check(listing, in_place, "load 'other', firing 0: formal 'x' is written by store 'sy'");
}

/* Copies side by side: rows are dealt to two pipelines and collected again, in turn or not. */
#define SIDE_BY_SIDE(first, second)                                                                \
  "section deal {\n"                                                                               \
  "  symbol x dtype=f32 elements=64\n"                                                             \
  "  symbol y dtype=f32 elements=64 written=yes\n"                                                 \
  "  load lx symbol=x\n"                                                                           \
  "    output dtype=f32 trips=[4 | 16] strides=[16 | 1]\n"                                         \
  "  compute a trips=[2 | 16]\n"                                                                   \
  "    input dtype=f32 strides=[0 | 1]\n"                                                          \
  "    %1 = neg f32 %0\n"                                                                          \
  "    output dtype=f32 strides=[0 | 1]\n"                                                         \
  "  compute b trips=[2 | 16]\n"                                                                   \
  "    input dtype=f32 strides=[0 | 1]\n"                                                          \
  "    %1 = neg f32 %0\n"                                                                          \
  "    output dtype=f32 strides=[0 | 1]\n"                                                         \
  "  store sa symbol=y\n"                                                                          \
  "    input dtype=f32 " first "\n"                                                                \
  "  store sb symbol=y\n"                                                                          \
  "    input dtype=f32 " second "\n"                                                               \
  "  stream s0 vector lx.out0 -> a.in0\n"                                                          \
  "  stream s1 vector lx.out0 -> b.in0\n"                                                          \
  "  stream s2 vector a.out0 -> sa.in0\n"                                                          \
  "  stream s3 vector b.out0 -> sb.in0\n"                                                          \
  "}\n"

static void sideBySide(void **state) {
  (void)state;
  /* a gets rows 0 and 2, b rows 1 and 3. */
  check(SIDE_BY_SIDE("trips=[2 | 16] strides=[32 | 1]", "trips=[2 | 16] base=16 strides=[32 | 1]"),
        in_place, NULL);
  /* a writes rows 0 and 1: row 1 comes after row 2 was loaded. b writes rows 2 and 3: row 2 comes
   * after row 1 was loaded, and only then row 2 is read. */
  check(SIDE_BY_SIDE("trips=[2 | 16] strides=[16 | 1]", "trips=[2 | 16] base=32 strides=[16 | 1]"),
        in_place, "load 'lx', firing 2: formal 'x' is written by store 'sb'");
  /* An element further than it was read. */
  check(SIDE_BY_SIDE("trips=[2 | 16] base=1 strides=[32 | 1]",
                     "trips=[2 | 16] base=16 strides=[32 | 1]"),
        in_place, "load 'lx', firing 0: formal 'x' is written by store 'sa'");
}

/* y = x, of one token. */
#define ONE_TOKEN(load, store)                                                                     \
  "section once {\n"                                                                               \
  "  symbol x dtype=f32 elements=64\n"                                                             \
  "  symbol y dtype=f32 elements=64 written=yes\n"                                                 \
  "  load lx symbol=x\n"                                                                           \
  "    output dtype=f32 " load "\n"                                                                \
  "  store sy symbol=y\n"                                                                          \
  "    input dtype=f32 " store "\n"                                                                \
  "  stream s0 vector lx.out0 -> sy.in0\n"                                                         \
  "}\n"

/* One firing that reads and writes the same elements: the first are stored while others are still
 * to be read, unless each is stored after it was read itself. */
static void withinFiring(void **state) {
  (void)state;
  check(ONE_TOKEN("trips=[| 48] strides=[| 1]", "trips=[| 48] strides=[| 1]"), in_place, NULL);
  check(ONE_TOKEN("trips=[| 6, 8] strides=[| 1, 6]", "trips=[| 6, 8] strides=[| 1, 6]"), in_place,
        NULL);
  /* A shift by one, either way, and a transpose: fine apart, a race in place. */
  check(ONE_TOKEN("trips=[| 48] strides=[| 1]", "trips=[| 48] base=1 strides=[| 1]"), apart, NULL);
  check(ONE_TOKEN("trips=[| 48] strides=[| 1]", "trips=[| 48] base=1 strides=[| 1]"), in_place,
        "load 'lx', firing 0: formal 'x' is written by store 'sy'");
  check(ONE_TOKEN("trips=[| 48] base=1 strides=[| 1]", "trips=[| 48] strides=[| 1]"), in_place,
        "load 'lx', firing 0:");
  check(ONE_TOKEN("trips=[| 6, 8] strides=[| 1, 6]", "trips=[| 6, 8] strides=[| 8, 1]"), in_place,
        "load 'lx', firing 0:");
}

/* The sums of rows go to the last row, while that is being read. */
static void sumsOfRows(void **state) {
  (void)state;
  static const char listing[] = "section sums {\n"
                                "  symbol x dtype=f32 elements=64\n"
                                "  symbol y dtype=f32 elements=64 written=yes\n"
                                "  load lx symbol=x\n"
                                "    output dtype=f32 trips=[| 8, 8] strides=[| 8, 1]\n"
                                "  compute c trips=[| 8, 8] reduce=[1]\n"
                                "    input dtype=f32 strides=[| 8, 1]\n"
                                "    %1 = reduce_add f32 %0\n"
                                "    output dtype=f32 strides=[| 1, 0]\n"
                                "  store sy symbol=y\n"
                                "    input dtype=f32 trips=[| 8] base=56 strides=[| 1]\n"
                                "  stream s0 vector lx.out0 -> c.in0\n"
                                "  stream s1 vector c.out0 -> sy.in0\n"
                                "}\n";
  check(listing, apart, NULL);
  check(listing, in_place, "load 'lx', firing 0:");
}

/* y += sums of rows: each sum is stored where its old value was read. */
#define ADD_SUMS(store)                                                                            \
  "section accumulate {\n"                                                                         \
  "  symbol x dtype=f32 elements=64\n"                                                             \
  "  symbol y dtype=f32 elements=64 written=yes\n"                                                 \
  "  symbol rows dtype=f32 elements=64\n"                                                          \
  "  load old symbol=x\n"                                                                          \
  "    output dtype=f32 trips=[| 8] strides=[| 1]\n"                                               \
  "  load lx symbol=rows\n"                                                                        \
  "    output dtype=f32 trips=[| 8, 8] strides=[| 8, 1]\n"                                         \
  "  compute c trips=[| 8, 8] reduce=[1]\n"                                                        \
  "    input dtype=f32 strides=[| 8, 1]\n"                                                         \
  "    input dtype=f32 strides=[| 1, 0]\n"                                                         \
  "    %2 = reduce_add f32 %0\n"                                                                   \
  "    %3 = add f32 %2, %1\n"                                                                      \
  "    output dtype=f32 strides=[| 1, 0]\n"                                                        \
  "  store sy symbol=y\n"                                                                          \
  "    input dtype=f32 trips=[| 8] " store "\n"                                                    \
  "  stream s0 vector lx.out0 -> c.in0\n"                                                          \
  "  stream s1 vector old.out0 -> c.in1\n"                                                         \
  "  stream s2 vector c.out0 -> sy.in0\n"                                                          \
  "}\n"

static void addedSums(void **state) {
  (void)state;
  check(ADD_SUMS("strides=[| 1]"), in_place, NULL);
  check(ADD_SUMS("base=1 strides=[| 1]"), in_place, "load 'old', firing 0:");
  check(ADD_SUMS("base=7 strides=[| -1]"), in_place, "load 'old', firing 0:");
}

/* Memory of 4 GiB: rows are compared as wholes, and walks that never meet not at all. */
#define HUGE(load, store)                                                                          \
  "section huge {\n"                                                                               \
  "  symbol x dtype=f32 elements=1073741824\n"                                                     \
  "  symbol y dtype=f32 elements=1073741824 written=yes\n"                                         \
  "  load lx symbol=x\n"                                                                           \
  "    output dtype=f32 " load "\n"                                                                \
  "  store sy symbol=y\n"                                                                          \
  "    input dtype=f32 " store "\n"                                                                \
  "  stream s0 vector lx.out0 -> sy.in0\n"                                                         \
  "}\n"

static void hugeMemory(void **state) {
  (void)state;
  /* Rows 0, 2, .. and rows 1, 3, ..; elements of which one is even, the other odd. */
  check(HUGE("trips=[16384 | 32768] strides=[65536 | 1]",
             "trips=[16384 | 32768] base=32768 strides=[65536 | 1]"),
        in_place, NULL);
  check(HUGE("trips=[16384 | 32768] strides=[65536 | 2]",
             "trips=[16384 | 32768] base=65535 strides=[65536 | -2]"),
        in_place, NULL);
  /* A row is read, then the one before it is written; or the one behind it, too early. */
  check(HUGE("trips=[32767 | 32768] base=32768 strides=[32768 | 1]",
             "trips=[32767 | 32768] strides=[32768 | 1]"),
        in_place, NULL);
  check(HUGE("trips=[32767 | 32768] strides=[32768 | 1]",
             "trips=[32767 | 32768] base=32768 strides=[32768 | 1]"),
        in_place, "load 'lx', firing 1:");
  /* Half a row further: what is written first is still to be read, of the same row. */
  check(HUGE("trips=[32767 | 32768] strides=[32768 | 1]",
             "trips=[32767 | 32768] base=16384 strides=[32768 | 1]"),
        in_place, "load 'lx', firing 0:");
}

/* More elements than are looked at one by one, column by column, go through a PMU that gathers
 * 1,024 columns: what it hands on comes in the same order, so each is stored after it was read. */
static void gatheredTokens(void **state) {
  (void)state;
  check("section gather {\n"
        "  symbol x dtype=f32 elements=536870912\n"
        "  symbol y dtype=f32 elements=536870912 written=yes\n"
        "  load lx symbol=x\n"
        "    output dtype=f32 trips=[1048576 | 512] strides=[1 | 1048576]\n"
        "  buffer b slot_count=1 slot_elements=524288\n"
        "    input dtype=f32 trips=[1024 | 1024 | 512] strides=[0 | 512 | 1]\n"
        "    output dtype=f32 trips=[1024 | 1024 | 512] strides=[0 | 512 | 1]\n"
        "  store sy symbol=y\n"
        "    input dtype=f32 trips=[1048576 | 512] strides=[1 | 1048576]\n"
        "  stream s0 vector lx.out0 -> b.in0\n"
        "  stream s1 vector b.out0 -> sy.in0\n"
        "}\n",
        in_place, NULL);
}

/* A draw of walks within a round, and of how often rows are dealt to two units and collected. */
typedef struct Rounds {
  int base[2], row[2]; /* of the load and the store */
  int levels, dealt[3], collected[3];
} Rounds;

static int drawFrom(uint32_t *random, const int *values, int count) {
  *random = *random * 1664525 + 1013904223;
  return values[(*random >> 16) % (uint32_t)count];
}

static Rounds drawRounds(uint32_t *random) {
  static const int rows[] = {4, -4, 8, -8}, steps[] = {0, 4, 8, 12, 16, 20, 28, 32};
  static const int levels[] = {0, 1, 2, 3}, blocks[] = {1, 2};
  Rounds draw = {.levels = drawFrom(random, levels, 4)};
  for (int side = 0; side < 2; ++side) {
    draw.row[side] = drawFrom(random, rows, 4);
    draw.base[side] = 64 + drawFrom(random, steps, 8);
  }
  for (int level = 0; level < draw.levels; ++level) {
    draw.dealt[level] = drawFrom(random, blocks, 2);
    draw.collected[level] = drawFrom(random, blocks, 2);
  }
  return draw;
}

static void printRounds(const Rounds *draw, int rounds, SambaText *out) {
  SambaText streams = {0};
  const char *from = "lx";
  char name[16];
  sambaTextFormat(out,
                  "section rounds {\n"
                  "  symbol x dtype=f32 elements=4096\n"
                  "  symbol y dtype=f32 elements=4096 written=yes\n"
                  "  load lx symbol=x\n"
                  "    output dtype=f32 block=%d base=%d trips=[%d, 4 | 4] strides=[16, %d | 1]\n",
                  draw->levels ? draw->dealt[0] : 1, draw->base[0], rounds, draw->row[0]);
  for (int l = 0; l < draw->levels; ++l) {
    for (int side = 0; side < 2; ++side) {
      sambaTextFormat(out,
                      "  compute %c%d trips=[%d | 4]\n"
                      "    input dtype=f32 strides=[0 | 1]\n"
                      "    %%1 = neg f32 %%0\n"
                      "    output dtype=f32 strides=[0 | 1]\n",
                      "ab"[side], l, 2 * rounds);
      sambaTextFormat(&streams, "  stream d%c%d vector %s.out0 -> %c%d.in0\n", "ab"[side], l, from,
                      "ab"[side], l);
    }
    sambaTextFormat(out,
                    "  compute c%d trips=[%d | 4]\n"
                    "    input dtype=f32 block=%d strides=[0 | 1]\n"
                    "    %%1 = neg f32 %%0\n"
                    "    output dtype=f32 block=%d strides=[0 | 1]\n",
                    l, 4 * rounds, draw->collected[l],
                    l + 1 < draw->levels ? draw->dealt[l + 1] : 1);
    sambaTextFormat(&streams, "  stream ea%d vector a%d.out0 -> c%d.in0\n", l, l, l);
    sambaTextFormat(&streams, "  stream eb%d vector b%d.out0 -> c%d.in0\n", l, l, l);
    snprintf(name, sizeof name, "c%d", l);
    from = name;
  }
  sambaTextFormat(out,
                  "  store sy symbol=y\n"
                  "    input dtype=f32 base=%d trips=[%d, 4 | 4] strides=[16, %d | 1]\n"
                  "%s  stream s0 vector %s.out0 -> sy.in0\n"
                  "}\n",
                  draw->base[1], rounds, draw->row[1], sambaTextGet(&streams), from);
  sambaTextFree(&streams);
}

static bool isOrdered(const Rounds *draw, int rounds) {
  SambaText listing = {0};
  printRounds(draw, rounds, &listing);
  SambaStatus status = orderOf(sambaTextGet(&listing), in_place);
  bool ordered = !status;
  sambaStatusFree(status);
  sambaTextFree(&listing);
  return ordered;
}

/* The verdict over many rounds, of which the first ones stand for all, is that over a few, which
 * are all looked at. */
static void equalRounds(void **state) {
  (void)state;
  uint32_t random = 7, ordered = 0, dealt = 0;
  for (int i = 0; i < 3000; ++i) {
    Rounds draw = drawRounds(&random);
    int few = 3 * draw.levels + 5; /* units, and what is looked at beyond them */
    bool looked = isOrdered(&draw, few), stands = isOrdered(&draw, 120);
    if (looked != stands)
      fail_msg("%d rounds: %d, 120 rounds: %d; draw %d", few, looked, stands, i);
    ordered += looked;
    dealt += looked && draw.levels > 1;
  }
  assert_in_range(ordered, 100, 2900);
  assert_in_range(dealt, 50, 2900);
}

/* Addresses that only values decide are unordered unless one side has ended. */
static void indexed(void **state) {
  (void)state;
  static const char listing[] =
      "section scatter {\n"
      "  symbol x dtype=f32 elements=64\n"
      "  symbol y dtype=f32 elements=64 written=yes\n"
      "  symbol i dtype=i32 elements=4\n"
      "  load lx symbol=x\n"
      "    output dtype=f32 trips=[4 | 16] strides=[16 | 1]\n"
      "  load li symbol=i\n"
      "    output dtype=i32 trips=[4 |] strides=[1 |]\n"
      "  store sy symbol=y\n"
      "    input dtype=f32 trips=[4 | 16] strides=[0 | 1] has_index=yes index_stride=16 "
      "index_limit=4\n"
      "    input dtype=i32 token_elements=1\n"
      "  stream s0 vector lx.out0 -> sy.in0\n"
      "  stream s1 scalar li.out0 -> sy.in1\n"
      "}\n";
  check(listing, apart, NULL);
  check(listing, in_place, "load 'lx', firing 0: formal 'x' is written by store 'sy'");
}

/* Both halves of rows go to the places that indices say, each by a store of its own: half rows of
 * any two places do not meet, but those that begin a column earlier do. */
#define HALF_ROWS(second)                                                                          \
  "section halves {\n"                                                                             \
  "  symbol x dtype=f32 elements=64\n"                                                             \
  "  symbol y dtype=f32 elements=64 written=yes\n"                                                 \
  "  symbol i dtype=i32 elements=4\n"                                                              \
  "  load lx symbol=x\n"                                                                           \
  "    output dtype=f32 trips=[4 | 8] strides=[16 | 1]\n"                                          \
  "  load lz symbol=x\n"                                                                           \
  "    output dtype=f32 base=8 trips=[4 | 8] strides=[16 | 1]\n"                                   \
  "  load li symbol=i\n"                                                                           \
  "    output dtype=i32 trips=[4 |] strides=[1 |]\n"                                               \
  "  load lj symbol=i\n"                                                                           \
  "    output dtype=i32 trips=[4 |] strides=[1 |]\n"                                               \
  "  store sx symbol=y\n"                                                                          \
  "    input dtype=f32 trips=[4 | 8] strides=[0 | 1] has_index=yes index_stride=16 "               \
  "index_limit=4\n"                                                                                \
  "    input dtype=i32 token_elements=1\n"                                                         \
  "  store sz symbol=y\n"                                                                          \
  "    input dtype=f32 " second " trips=[4 | 8] strides=[0 | 1] has_index=yes index_stride=16 "    \
  "index_limit=4\n"                                                                                \
  "    input dtype=i32 token_elements=1\n"                                                         \
  "  stream s0 vector lx.out0 -> sx.in0\n"                                                         \
  "  stream s1 vector lz.out0 -> sz.in0\n"                                                         \
  "  stream s2 scalar li.out0 -> sx.in1\n"                                                         \
  "  stream s3 scalar lj.out0 -> sz.in1\n"                                                         \
  "}\n"

static void indexedParts(void **state) {
  (void)state;
  check(HALF_ROWS("base=8"), apart, NULL);
  check(HALF_ROWS("base=7"), apart,
        "store 'sx', firing 0: formal 'y' is written by store 'sz' in the same call");
}

/* Halves of x become rows of y by two stores, which no token orders. */
#define TWO_STORES(second)                                                                         \
  "section halves {\n"                                                                             \
  "  symbol x dtype=f32 elements=64\n"                                                             \
  "  symbol y dtype=f32 elements=64 written=yes\n"                                                 \
  "  load lx symbol=x\n"                                                                           \
  "    output dtype=f32 trips=[2 | 16] strides=[16 | 1]\n"                                         \
  "  load lz symbol=x\n"                                                                           \
  "    output dtype=f32 trips=[2 | 16] strides=[16 | 1]\n"                                         \
  "  store sx symbol=y\n"                                                                          \
  "    input dtype=f32 trips=[2 | 16] strides=[16 | 1]\n"                                          \
  "  store sz symbol=y\n"                                                                          \
  "    input dtype=f32 trips=[2 | 16] " second "\n"                                                \
  "  stream s0 vector lx.out0 -> sx.in0\n"                                                         \
  "  stream s1 vector lz.out0 -> sz.in0\n"                                                         \
  "}\n"

static void twoStores(void **state) {
  (void)state;
  check(TWO_STORES("base=32 strides=[16 | 1]"), apart, NULL); /* other rows */
  check(TWO_STORES("base=31 strides=[16 | 1]"), apart,
        "missing synchronisation: section 'halves', store 'sx', firing 1: formal 'y' is written "
        "by store 'sz' in the same call, and no stream orders the two");
  check(TWO_STORES("base=1 strides=[32 | 2]"), apart, "store 'sx', firing 0");
}

/* A control token after each firing of the first lets the second load its row: then it is the
 * second whose row stays. */
static void storesInTurn(void **state) {
  (void)state;
  static const char listing[] = "section turns {\n"
                                "  symbol x dtype=f32 elements=64\n"
                                "  symbol y dtype=f32 elements=64 written=yes\n"
                                "  load lx symbol=x\n"
                                "    output dtype=f32 trips=[2 | 16] strides=[16 | 1]\n"
                                "  load lz symbol=x\n"
                                "    input dtype=f32 token_elements=0\n"
                                "    output dtype=f32 trips=[2 | 16] base=32 strides=[16 | 1]\n"
                                "  store sx symbol=y\n"
                                "    input dtype=f32 trips=[2 | 16] strides=[16 | 1]\n"
                                "    output dtype=f32 token_elements=0\n"
                                "  store sz symbol=y\n"
                                "    input dtype=f32 trips=[2 | 16] strides=[16 | 1]\n"
                                "  stream s0 vector lx.out0 -> sx.in0\n"
                                "  stream s1 vector lz.out0 -> sz.in0\n"
                                "  stream s2 control sx.out0 -> lz.in0\n"
                                "}\n";
  check(listing, apart, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equalIndices), cmocka_unit_test(otherIndices),
      cmocka_unit_test(wholeBuffer),  cmocka_unit_test(slotPerRow),
      cmocka_unit_test(secondReader), cmocka_unit_test(sideBySide),
      cmocka_unit_test(hugeMemory),   cmocka_unit_test(indexed),
      cmocka_unit_test(twoStores),    cmocka_unit_test(storesInTurn),
      cmocka_unit_test(equalRounds),  cmocka_unit_test(withinFiring),
      cmocka_unit_test(sumsOfRows),   cmocka_unit_test(addedSums),
      cmocka_unit_test(indexedParts), cmocka_unit_test(gatheredTokens)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
