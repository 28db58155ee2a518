/* What samba-gen is asked for: a model, and its sizes. */
#ifndef SAMBA_TOOLS_SAMBA_GEN_OPTIONS_H
#define SAMBA_TOOLS_SAMBA_GEN_OPTIONS_H

#include "support/base/status.h"
#include "support/text/command_line.h"

/* The models, in the order of the columns of options.def. */
#define SAMBA_GEN_MODELS(X) X(llama) X(gpt2) X(bert) X(resnet) X(matmul) X(chain)

typedef enum {
#define MODEL(name) MODEL_##name,
  SAMBA_GEN_MODELS(MODEL)
#undef MODEL
      MODEL_COUNT
} Model;

enum { MOST_STAGES = 8 };

typedef struct Options {
  Model model;
#define NUMBER(field, ...) int64_t field;
#define FLAG(field, ...) bool field;
#define WORD(field, ...) const char *field;
#include "tools/samba-gen/options.def"
#undef NUMBER
#undef FLAG
#undef WORD
  const char *output;

  /* Read from the words. */
  SambaDType type;
  size_t stage_count;
  int64_t stage_blocks[MOST_STAGES];
} Options;

/* The options as the command line parser takes them, texts in the arena; options are set to "not
 * given". */
const SambaOption *optionsTable(Options *options, SambaArena *arena);
/* Fills in the defaults of the model that is named; refuses what the model does not have, and sizes
 * that contradict each other. */
SambaStatus optionsSettle(Options *options, const char *model);

#endif
