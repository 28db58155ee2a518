/* backend/listing/listing.h: print and parse, sections written by hand, errors with line
 * and column. */
#include "backend/config/encoding.h"
#include "backend/listing/listing.h"
#include "test/backend/sample_sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assertOk(SambaStatus status) {
  if (status)
    print_message("%s\n", sambaStatusGetMessage(status));
  assert_null(status);
}

static void append(const char *data, size_t size, void *user) {
  SambaByteBuffer *buffer = user;
  for (size_t i = 0; i < size; ++i)
    sambaArrayAppend(buffer, (uint8_t)data[i]);
}

/* Print, parse, encode: the same bytes; print again: the same text. */
static void checkRoundTrip(const SambaSection *section, const SambaMachine *machine,
                           SambaArena *arena) {
  SambaByteBuffer text = {0}, again = {0}, bytes = {0}, bytesAgain = {0};
  sambaSectionPrint(section, append, &text);
  size_t position = 0;
  SambaSection *parsed;

  assertOk(sambaSectionParse((SambaStringRef){(const char *)text.data, text.size}, &position, arena,
                             &parsed));
  assert_int_equal(position, text.size - 1); /* behind the brace, before the line end */
  sambaSectionPrint(parsed, append, &again);
  assert_int_equal(text.size, again.size);
  assert_memory_equal(text.data, again.data, text.size);
  assertOk(sambaSectionEncode(section, machine, &bytes));
  assertOk(sambaSectionEncode(parsed, machine, &bytesAgain));
  assert_int_equal(bytes.size, bytesAgain.size);
  assert_memory_equal(bytes.data, bytesAgain.data, bytes.size);
  sambaArrayFree(&text);
  sambaArrayFree(&again);
  sambaArrayFree(&bytes);
  sambaArrayFree(&bytesAgain);
}

static void samplesRoundTrip(void **state) {
  (void)state;
  SambaArena arena = {0};

  checkRoundTrip(sampleMatmul(&arena), sampleMachine(), &arena);
  SambaSection *gather = sampleGather(&arena);
  checkRoundTrip(gather, sampleLargeMachine(), &arena);

  /* Names of any bytes, twice the same name, another order of streams at a port. */
  gather->name = "strange \"name\" \\ \x01\xff";
  gather->units[0].name = gather->units[1].name = "same";
  gather->units[2].name = "";
  gather->units[3].name = "7";
  gather->units[4].layer = "encoder.layer/0";
  gather->units[5].layer = "two words";
  gather->symbols[0].name = gather->symbols[1].name = "x y";
  gather->split_k = true;
  gather->units[1].outputs[0].access.fill = 0x7fc00000; /* a NaN has no decimal text */
  gather->units[4].inputs[0].streams = LIST(&arena, uint32_t, 4, 3);
  gather->units[1].outputs[0].streams = LIST(&arena, uint32_t, 2, 1);
  checkRoundTrip(gather, sampleLargeMachine(), &arena);
  SambaSection *matmul = sampleMatmul(&arena);
  matmul->units[2].buffer.initial = 0x3f80;
  matmul->units[2].buffer.loop_carried = true;
  matmul->units[4].compute.program.ops =
      LIST(&arena, SambaLaneOp, {SAMBA_LANE_MAC, SAMBA_DTYPE_F32, {0, 1, 0}, 0},
           {SAMBA_LANE_CONSTANT, SAMBA_DTYPE_F32, {0, 0, 0}, 0x3eaaaaab});
  matmul->units[4].outputs[0].compute.value = 2;
  checkRoundTrip(matmul, sampleMachine(), &arena);
  sambaArenaDestroy(&arena);
}

/* y = x * x + x over 64 elements, and a wrapped counter: nothing that samba has an operator for. */
static const char byHand[] = "# by hand\n"
                             "section scale {\n"
                             "  symbol x dtype=f32 elements=64\n"
                             "  symbol y dtype=f32 elements=64 written=yes   # the result\n"
                             "\n"
                             "  load lx symbol=x\n"
                             "    output dtype=f32 trips=[4 | 16] strides=[16 | 1]\n"
                             "  compute twice trips=[4 | 16] layer=\"my layer\"\n"
                             "    input dtype=f32 strides=[0 | 1]\n"
                             "    %1 = const f32 -1.5e-3\n"
                             "    %2 = counter i32 1\n"
                             "    %3 = wrap i32 %2 to i8\n"
                             "    %4 = int_to_float i32 %3\n"
                             "    %5 = fma f32 %0, %4, %1\n"
                             "    output dtype=f32 strides=[0 | 1]\n"
                             "  store sy symbol=y\n"
                             "    input dtype=f32 trips=[4 | 16] strides=[16 | 1] fill=0.0\n"
                             "      guard limit=63 strides=[16 | 1]\n"
                             "  stream s0 vector lx.out0 -> twice.in0\n"
                             "  stream s1 vector twice.out0 -> sy.in0\n"
                             "} # done\n"
                             "rest";

static void byHandIsPleasant(void **state) {
  (void)state;
  SambaArena arena = {0};
  size_t position = 0;
  SambaSection *section;

  assertOk(sambaSectionParse(sambaStringRef(byHand), &position, &arena, &section));
  assert_string_equal(byHand + position, " # done\nrest");
  assert_string_equal(section->name, "scale");
  assert_int_equal(section->unit_count, 3);
  const SambaUnit *unit = &section->units[1];
  assert_string_equal(unit->layer, "my layer");
  assert_int_equal(unit->x, -1);
  assert_int_equal(section->units[0].load_store.ag, SAMBA_NO_INDEX);
  assert_int_equal(unit->compute.token_level, 1);
  assert_int_equal(unit->inputs[0].compute.level, 1);
  assert_int_equal(unit->inputs[0].token_elements, 16);
  assert_int_equal(unit->outputs[0].compute.value, 5);
  assert_int_equal(unit->outputs[0].token_elements, 16);
  assert_int_equal(unit->compute.program.op_count, 5);
  float constant;
  memcpy(&constant, &unit->compute.program.ops[0].immediate, sizeof constant);
  assert_true(constant == -1.5e-3f);
  assert_int_equal(unit->compute.program.ops[2].immediate, SAMBA_DTYPE_I8);
  assert_int_equal(section->units[2].inputs[0].access.guards[0].limit, 63);
  assert_int_equal(section->streams[1].hop_count, 0);
  sambaArenaDestroy(&arena);
}

typedef struct BadText {
  const char *text, *message;
} BadText;

/* What is between the braces of a section, and what its refusal says. */
static const BadText badTexts[] = {
    {"hello\n", "line 2, column 1: expected symbol, load, store, buffer, compute, input, output, "
                "guard, %value, stream, hop or }"},
    {"  symbol 5\n", "line 2, column 10: expected a name"},
    {"symbol \"a\n", "line 2, column 8: the quoted name does not end on its line"},
    {"symbol \"a\\q\"\n", "line 2, column 11: unknown escape, expected \\\", \\\\ or \\xNN"},
    {"symbol \"a\\x0\"\n", "expected two hex digits after \\x, not both zero"},
    {"symbol x dtype=f64\n",
     "line 2, column 16: expected an element type (f32, bf16, f16, i1, i8, ui8, i16, i32 or i64)"},
    {"symbol x elements=lots\n", "line 2, column 19: expected elements, a number"},
    {"symbol x elements=12q\n", "expected elements, a number, found '12q'"},
    {"symbol x elements=-1\n", "elements is -1, expected 0 to 281474976710655"},
    {"symbol x written=maybe\n", "written is yes or no"},
    {"buffer b banking=rows\n", "line 2, column 18: banking is column, row or diagonal"},
    {"symbol x size=4\n", "unknown field 'size' of symbol"},
    {"symbol x dtype\n", "line 2, column 15: expected '=', found the end of the line"},
    {"symbol x dtype:f32\n", "expected '=', found ':'"},
    {"load l symbol=q\n", "line 2, column 15: no symbol 'q' above"},
    {"input dtype=f32\n", "line 2, column 1: a port before any unit"},
    {"guard limit=3\n", "a guard belongs behind a port with trips and strides"},
    {"load l\n guard limit=3\n", "a guard belongs behind a port with trips and strides"},
    {"%0 = neg f32 %0\n", "a lane operation outside a compute unit"},
    {"load l\noutput dtype=f32 trips=[1, 0 |]\n", "a trip count is 0, expected 1 to 4294967295"},
    {"load l\noutput dtype=f32 trips=[4 4 |]\n", "line 3, column 27: expected ',', found '4'"},
    {"load l\noutput trips=[4]\n",
     "expected one bar (tokens | elements) between the trip counts, found 0"},
    {"buffer b\ninput trips=[4]\n",
     "expected one or two bars (slots | tokens | elements, or slots | elements)"},
    {"load l\noutput trips=[4 |] strides=[1, 2]\n",
     "2 strides, but the chain has 1 counters (trips come first)"},
    {"load l\noutput trips=[4 |]\n", "this port needs strides"},
    {"load l\noutput dtype=f32\n", "this port needs trips"},
    {"load l\noutput trips=[4 |] strides=[1]\nguard limit=2\n", "this guard needs strides"},
    {"load l\noutput trips=[4 |] strides=[1] fill=x\n",
     "expected a value of type f32, or its bits as 0x..., found 'x'"},
    {"compute c trips=[4 |]\ninput dtype=f32\n", "this port needs strides"},
    {"compute c trips=[4 |]\n%1 = neg f32 %0\n",
     "value %1, expected %0: inputs and operations are numbered in order"},
    {"compute c trips=[4 |]\n%0 = conv f32 %0\n",
     "line 3, column 6: unknown lane operation 'conv'"},
    {"compute c trips=[4 |]\n%0 = neg f32 %0 %1\n", "expected the end of the line"},
    {"compute c trips=[4 |]\n%0 = const f32 1.0\ninput strides=[0]\n",
     "inputs come before lane operations, whose numbers follow theirs"},
    {"compute c trips=[4 |] reduce=[70]\n", "a counter is 70, expected 0 to 63"},
    {"stream s vector a.out0 -> b.in0\n", "no unit 'a' above"},
    {"stream s wide a.out0\n", "expected vector, scalar or control"},
    {"stream s vector a -> b.in0\n", "expected a unit's port, like NAME.out0"},
    {"load l\nstream s vector l.out0 -> b.in0\n", "unit 'l' has 0 output lines, no output 0"},
    {"hop (0, 0) unit lane 0 flow 0 -> unit lane 0 flow 0\n", "a hop before any stream"},
    {"load l\noutput trips=[4 |] strides=[x]\n", "expected a stride, a number"},
    {"load l symbol=99999999999\n", "a symbol is 99999999999, expected 0 to 4294967295"},
    {"compute c trips=[4 |]\n%0 = counter i32 x\n", "expected its number, a number"},
    {"load l\noutput trips=[4 |] strides=[1] streams=[]\nstore t\ninput trips=[4 |] "
     "strides=[1]\nstream s vector "
     "l.out0 -> t.in0\nhop (x, 0)\n",
     "expected a column, a number"},
    {"load l\noutput trips=[|] strides=[]\nstore t\ninput trips=[|] strides=[] streams=[s, "
     "s]\nstream s vector l.out0 "
     "-> t.in0\n",
     "this port lists 2 streams, but 1 stream lines name it"},
    {"load l\noutput trips=[|] strides=[]\nstore t\ninput trips=[|] strides=[] streams=[q]\nstream "
     "s vector l.out0 -> "
     "t.in0\n",
     "no stream 'q' below"},
    {"load l\noutput trips=[|] strides=[]\nstore t\ninput trips=[|] strides=[]\nstream s vector "
     "l.out0 -> t.in0 rate=500\n",
     "expected the end of the line"},
    {"load l\noutput trips=[|] strides=[]\nstore t\ninput trips=[|] strides=[]\nstream s vector "
     "l.out0 -> t.in0\nhop "
     "(0, 0) up\n",
     "expected north, east, south, west, unit or ag"},
    {"load l\noutput trips=[|] strides=[]\n",
     "section 's': unit 'l' (load): output 0: no stream is connected"},
};

static void errorsNameLineAndColumn(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof badTexts / sizeof badTexts[0]; ++i) {
    SambaArena arena = {0};
    char text[512];
    snprintf(text, sizeof text, "section s {\n%s}\n", badTexts[i].text);
    size_t position = 0;
    SambaSection *section;
    SambaStatus status = sambaSectionParse(sambaStringRef(text), &position, &arena, &section);
    assert_non_null(status);
    if (!strstr(sambaStatusGetMessage(status), badTexts[i].message))
      print_message("got:    %s\nwanted: %s\n", sambaStatusGetMessage(status), badTexts[i].message);
    assert_non_null(strstr(sambaStatusGetMessage(status), badTexts[i].message));
    assert_int_equal(position, 0);
    sambaStatusFree(status);
    sambaArenaDestroy(&arena);
  }
}

static void assertParseFails(const char *text, const char *message) {
  SambaArena arena = {0};
  size_t position = 0;
  SambaSection *section;
  SambaStatus status = sambaSectionParse(sambaStringRef(text), &position, &arena, &section);
  assert_non_null(status);
  assert_non_null(strstr(sambaStatusGetMessage(status), message));
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
}

static void wholeTextsThatAreWrong(void **state) {
  (void)state;
  assertParseFails("", "expected 'section', found the end of the line");
  assertParseFails("section s {\n", "line 2, column 1: the text ends before the section's }");
  char many[512] = "section s {\ncompute c trips=[";
  for (int i = 0; i < 65; ++i)
    strcat(many, "1, ");
  strcat(many, "1 |]\n}");
  assertParseFails(many, "a list of more than 64 numbers");
}

/* Any prefix and any changed character: an error or a section, never a crash. */
static void brokenTextsAreRefused(void **state) {
  (void)state;
  SambaArena source = {0};
  SambaByteBuffer text = {0};

  sambaSectionPrint(sampleGather(&source), append, &text);
  for (int round = 0; round < 2; ++round) {
    const char *from = round ? byHand : (const char *)text.data;
    size_t size = round ? sizeof byHand - 1 : text.size;
    for (size_t i = 0; i < size; ++i)
      for (int change = 0; change < 6; ++change) {
        SambaArena arena = {0};
        size_t length = change ? size : i;
        size_t position = 0;
        char *copy = sambaAllocate(length);
        memcpy(copy, from, length);
        if (change)
          copy[i] = "\n[9%\"\\"[change];
        SambaSection *section;
        SambaStatus status =
            sambaSectionParse((SambaStringRef){copy, length}, &position, &arena, &section);
        sambaStatusFree(status);
        free(copy);
        sambaArenaDestroy(&arena);
      }
  }

  sambaArrayFree(&text);
  sambaArenaDestroy(&source);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samplesRoundTrip),        cmocka_unit_test(byHandIsPleasant),
      cmocka_unit_test(errorsNameLineAndColumn), cmocka_unit_test(wholeTextsThatAreWrong),
      cmocka_unit_test(brokenTextsAreRefused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
