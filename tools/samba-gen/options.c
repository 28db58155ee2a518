/* The options of samba-gen: rows of options.def, what each model takes, which sizes fit. */
#include "tools/samba-gen/options.h"

#include "support/text/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Columns of options.def that are no number: the model has no such option; the default is another
 * option's value. */
enum { NO = -2, SAME = 0, OFF = 0, ON = 1, YES = 0, NOT_GIVEN = -1 };

/* More than any network has, and little enough for products of two. */
static const int64_t most = 1000000000;

typedef struct Row {
  const char *name, *argument, *help, *word;
  SambaOptionKind kind;
  size_t offset; /* in Options */
  int64_t least;
  int64_t columns[MODEL_COUNT];
} Row;

static const Row rows[] = {
#define NUMBER(field, name, least, a, b, c, d, e, f, help)                                         \
  {name, "N", help, NULL, SAMBA_OPTION_INT, offsetof(Options, field), least, {a, b, c, d, e, f}},
#define FLAG(field, name, a, b, c, d, e, f, help)                                                  \
  {name, NULL, help, NULL, SAMBA_OPTION_FLAG, offsetof(Options, field), 0, {a, b, c, d, e, f}},
#define WORD(field, name, words, a, b, c, d, e, f, standard, help)                                 \
  {name,                                                                                           \
   words,                                                                                          \
   help,                                                                                           \
   standard,                                                                                       \
   SAMBA_OPTION_STRING,                                                                            \
   offsetof(Options, field),                                                                       \
   0,                                                                                              \
   {a, b, c, d, e, f}},
#include "tools/samba-gen/options.def"
#undef NUMBER
#undef FLAG
#undef WORD
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };

static const char *const models[] = {
#define MODEL(name) #name,
    SAMBA_GEN_MODELS(MODEL)
#undef MODEL
};

static void *target(Options *options, const Row *row) { return (char *)options + row->offset; }

/* "llama 32, gpt2 12": which models have the option, with their defaults. */
static void appendModels(const Row *row, bool defaults, SambaText *text) {
  const char *separator = "";
  for (int model = 0; model < MODEL_COUNT; ++model) {
    int64_t value = row->columns[model];
    if (value == NO)
      continue;
    sambaTextFormat(text, "%s%s", separator, models[model]);
    if (defaults && row->kind == SAMBA_OPTION_INT && value != SAME)
      sambaTextFormat(text, " %lld", (long long)value);
    if (defaults && row->kind == SAMBA_OPTION_FLAG && value == ON)
      sambaTextAppendC(text, " always");
    separator = ", ";
  }
}

const SambaOption *optionsTable(Options *options, SambaArena *arena) {
  SambaOption *table = sambaArenaAllocate(arena, (ROW_COUNT + 2) * sizeof *table);
  *options = (Options){0};
  table[0] = (SambaOption){"-o", SAMBA_OPTION_STRING, &options->output, "FILE.mlir",
                           "the file to write; -: standard output"};

  for (size_t i = 0; i < ROW_COUNT; ++i) {
    SambaText help = {0};
    sambaTextFormat(&help, "%s [", rows[i].help);
    if (rows[i].word)
      sambaTextFormat(&help, "default %s: ", rows[i].word);
    appendModels(&rows[i], true, &help);
    sambaTextAppendC(&help, "]");
    table[i + 1] =
        (SambaOption){rows[i].name, rows[i].kind, target(options, &rows[i]), rows[i].argument,
                      sambaStringRefCopy(arena, sambaStringRef(sambaTextGet(&help))).data};
    if (rows[i].kind == SAMBA_OPTION_INT)
      *(int64_t *)target(options, &rows[i]) = NOT_GIVEN;
    sambaTextFree(&help);
  }

  table[ROW_COUNT + 1] = (SambaOption){0};
  return table;
}

/* Is the option given? */
static bool isGiven(Options *options, const Row *row) {
  const void *value = target(options, row);
  if (row->kind == SAMBA_OPTION_INT)
    return *(const int64_t *)value != NOT_GIVEN;
  if (row->kind == SAMBA_OPTION_FLAG)
    return *(const bool *)value;
  return *(const char *const *)value != NULL;
}

static SambaStatus refuseOption(const Row *row, Model model) {
  SambaText text = {0};
  appendModels(row, false, &text);
  SambaStatus status = sambaStatusMake(SAMBA_INVALID, "%s is no option of %s, but of %s", row->name,
                                       models[model], sambaTextGet(&text));
  sambaTextFree(&text);
  return status;
}

static SambaStatus settleRow(Options *options, const Row *row) {
  int64_t standard = row->columns[options->model];
  void *value = target(options, row);
  bool given = isGiven(options, row);

  if (given && standard == NO)
    return refuseOption(row, options->model);
  if (given && row->kind == SAMBA_OPTION_INT) {
    int64_t number = *(int64_t *)value;
    if (number < row->least || number > most)
      return sambaStatusMake(SAMBA_INVALID, "%s is %lld, and has to be between %lld and %lld",
                             row->name, (long long)number, (long long)row->least, (long long)most);
  }
  if (given || standard == NO)
    return NULL;

  if (row->kind == SAMBA_OPTION_INT)
    *(int64_t *)value = standard;
  else if (row->kind == SAMBA_OPTION_FLAG)
    *(bool *)value = standard == ON;
  else
    *(const char **)value = row->word;
  return NULL;
}

/* ---- Words ---- */

static SambaStatus readType(Options *options) {
  if (!strcmp(options->dtype, "f32"))
    options->type = SAMBA_DTYPE_F32;
  else if (!strcmp(options->dtype, "bf16"))
    options->type = SAMBA_DTYPE_BF16;
  else
    return sambaStatusMake(SAMBA_INVALID, "--dtype wants f32 or bf16, not '%s'", options->dtype);
  return NULL;
}

static SambaStatus readBlocks(Options *options) {
  const char *rest = options->blocks;
  bool more = rest != NULL;
  while (more) {
    char *end;
    errno = 0;
    long long number = strtoll(rest, &end, 10);
    if (end == rest || errno || number < 1 || number > 1000 || (*end && *end != ',') ||
        options->stage_count == MOST_STAGES)
      return sambaStatusMake(SAMBA_INVALID,
                             "--blocks wants at most %d numbers between 1 and 1000, separated by "
                             "commas, not '%s'",
                             MOST_STAGES, options->blocks);
    options->stage_blocks[options->stage_count++] = number;
    more = *end == ',';
    rest = end + 1;
  }
  return NULL;
}

/* ---- What contradicts itself ---- */

static SambaStatus checkHeads(const Options *options) {
  if (options->d_model % options->heads)
    return sambaStatusMake(SAMBA_INVALID, "--heads %lld do not divide --d-model %lld",
                           (long long)options->heads, (long long)options->d_model);
  if (options->model != MODEL_llama)
    return NULL;
  if (options->heads % options->kv_heads)
    return sambaStatusMake(SAMBA_INVALID, "--kv-heads %lld do not divide --heads %lld",
                           (long long)options->kv_heads, (long long)options->heads);
  if (options->d_model / options->heads % 2)
    return sambaStatusMake(SAMBA_INVALID,
                           "a head of %lld elements (--d-model / --heads) has no halves, which "
                           "rotary positions exchange; it has to be even",
                           (long long)(options->d_model / options->heads));
  return NULL;
}

/* Options that belong to a mode: given without it, or in spite of it. */
static SambaStatus checkModes(const Options *options, bool has_tokens, bool has_cache,
                              bool has_causal) {
  if (options->decode && has_tokens)
    return sambaStatusMake(SAMBA_INVALID,
                           "--decode has one new token; leave out --tokens, or give the tokens "
                           "before it as --cache");
  if (options->decode && has_causal)
    return sambaStatusMake(SAMBA_INVALID,
                           "--decode has one new token, which sees all others; leave out --causal");
  if (options->decode && options->loss)
    return sambaStatusMake(SAMBA_INVALID, "--decode and --loss exclude each other");
  if (!options->decode && has_cache)
    return sambaStatusMake(SAMBA_INVALID, "--cache wants --decode too");
  if (options->loss && !options->vocabulary)
    return sambaStatusMake(SAMBA_INVALID,
                           "--loss compares tokens, of which --vocabulary 0 has none");
  return NULL;
}

static SambaStatus checkPositions(const Options *options) {
  int64_t last = options->decode ? options->cache + 1 : options->tokens;
  if (last <= options->positions)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID,
                         "%lld tokens want as many positions, but there are --positions %lld",
                         (long long)last, (long long)options->positions);
}

SambaStatus optionsSettle(Options *options, const char *model) {
  int found = 0;
  while (found < MODEL_COUNT && strcmp(models[found], model) != 0)
    ++found;
  if (found == MODEL_COUNT)
    return sambaStatusMake(SAMBA_INVALID,
                           "there is no model '%s'; give llama, gpt2, bert, resnet, matmul or "
                           "chain",
                           model);

  options->model = (Model)found;
  bool has_tokens = options->tokens != NOT_GIVEN;
  bool has_cache = options->cache != NOT_GIVEN;
  bool has_causal = options->causal;
  for (size_t i = 0; i < ROW_COUNT; ++i)
    SAMBA_RETURN_IF_ERROR(settleRow(options, &rows[i]));
  SAMBA_RETURN_IF_ERROR(readType(options));
  SAMBA_RETURN_IF_ERROR(readBlocks(options));

  bool has_attention = found == MODEL_llama || found == MODEL_gpt2 || found == MODEL_bert;
  if (!has_attention)
    return NULL;
  if (options->model == MODEL_llama && options->kv_heads == SAME)
    options->kv_heads = options->heads;
  if (options->decode)
    options->tokens = 1;
  SAMBA_RETURN_IF_ERROR(checkHeads(options));
  SAMBA_RETURN_IF_ERROR(checkModes(options, has_tokens, has_cache, has_causal));
  return options->model == MODEL_llama ? NULL : checkPositions(options);
}
