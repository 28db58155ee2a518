/* Command lines; see command_line.h. */
#include "support/text/command_line.h"

#include "support/base/version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const SambaOption *findOption(const SambaOption *options, const char *text, size_t length) {
  for (; options->name; ++options)
    if (strlen(options->name) == length && memcmp(options->name, text, length) == 0)
      return options;
  return NULL;
}

static SambaStatus store(const SambaOption *option, const char *value) {
  char *end = NULL;
  errno = 0;
  switch (option->kind) {
  case SAMBA_OPTION_FLAG:
    *(bool *)option->target = true;
    return NULL;
  case SAMBA_OPTION_STRING:
  case SAMBA_OPTION_CHOICE:
    *(const char **)option->target = value;
    return NULL;
  case SAMBA_OPTION_STRINGS:
    sambaArrayAppend((SambaStrings *)option->target, value);
    return NULL;
  case SAMBA_OPTION_INT: {
    long long number = strtoll(value, &end, 10);
    if (end == value || *end || errno || number < 0)
      return sambaStatusMake(SAMBA_INVALID,
                             "%s wants a whole number that is not negative, not '%s'", option->name,
                             value);
    *(int64_t *)option->target = number;
    return NULL;
  }
  case SAMBA_OPTION_FLOAT: {
    double number = strtod(value, &end);
    if (end == value || *end || !(number >= 0))
      return sambaStatusMake(SAMBA_INVALID, "%s wants a number that is not negative, not '%s'",
                             option->name, value);
    *(double *)option->target = number;
    return NULL;
  }
  }

  return NULL;
}

/* Lists and flags may be repeated; of two values one would be lost. */
static SambaStatus checkRepeated(const SambaOption *options, const SambaOption *option,
                                 const char **values, const char *value) {
  const char **earlier = &values[option - options];
  if (option->kind == SAMBA_OPTION_FLAG || option->kind == SAMBA_OPTION_STRINGS)
    return NULL;
  if (*earlier)
    return sambaStatusMake(SAMBA_INVALID, "%s is given twice, with '%s' and '%s'; give it once",
                           option->name, *earlier, value);
  *earlier = value;
  return NULL;
}

static SambaStatus parse(int argc, char **argv, const SambaOption *options, const char **values,
                         SambaStrings *positional, SambaAsked *out_asked) {
  bool ended = false;
  for (int i = 1; i < argc; ++i) {
    const char *text = argv[i];
    if (ended || text[0] != '-' || !text[1]) {
      sambaArrayAppend(positional, text);
      continue;
    }
    if (strcmp(text, "--") == 0) {
      ended = true;
      continue;
    }
    if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
      *out_asked = SAMBA_ASKED_HELP;
      continue;
    }
    if (strcmp(text, "--version") == 0) {
      *out_asked = *out_asked ? *out_asked : SAMBA_ASKED_VERSION;
      continue;
    }
    const char *equals = strchr(text, '=');
    const char *value = "";
    const SambaOption *option =
        findOption(options, text, equals ? (size_t)(equals - text) : strlen(text));
    if (!option)
      return sambaStatusMake(SAMBA_INVALID, "there is no option '%s'; --help lists them", text);
    if (option->kind == SAMBA_OPTION_FLAG) {
      if (equals)
        return sambaStatusMake(SAMBA_INVALID, "%s takes no value", option->name);
    } else if (equals) {
      value = equals + 1;
    } else if (option->kind == SAMBA_OPTION_CHOICE) {
      value = "";
    } else if (i + 1 < argc) {
      value = argv[++i];
    } else {
      return sambaStatusMake(SAMBA_INVALID, "%s wants %s", option->name,
                             option->argument ? option->argument : "a value");
    }
    bool text_wanted = option->kind == SAMBA_OPTION_STRING ||
                       option->kind == SAMBA_OPTION_STRINGS ||
                       (option->kind == SAMBA_OPTION_CHOICE && equals);
    if (text_wanted && !value[0])
      return sambaStatusMake(SAMBA_INVALID, "%s wants %s, not an empty text", option->name,
                             option->argument ? option->argument : "a value");
    SAMBA_RETURN_IF_ERROR(checkRepeated(options, option, values, value));
    SAMBA_RETURN_IF_ERROR(store(option, value));
  }

  return NULL;
}

SambaStatus sambaCommandLineParse(int argc, char **argv, const SambaOption *options,
                                  SambaStrings *positional, SambaAsked *out_asked) {
  size_t count = 0;
  while (options[count].name)
    ++count;
  const char **values = sambaAllocateZeroed(count, sizeof *values);
  *out_asked = SAMBA_ASKED_NOTHING;
  SambaStatus status = parse(argc, argv, options, values, positional, out_asked);
  free(values);
  return status;
}

static const char *argumentGap(const SambaOption *option) {
  if (!option->argument)
    return "";
  return option->kind == SAMBA_OPTION_CHOICE ? "[=" : " ";
}

/* "  --option VALUE    what it does", wrapped at 100 columns. */
static void printOption(const SambaOption *option) {
  enum { column = 30, width = 100 };
  int used = printf("  %s%s%s", option->name, argumentGap(option),
                    option->argument ? option->argument : "");
  if (option->kind == SAMBA_OPTION_CHOICE)
    used += printf("]");
  if (used + 2 > column) {
    putchar('\n');
    used = 0;
  }

  const char *rest = option->help;
  while (*rest) {
    int length = (int)strlen(rest);
    if (length > width - column) {
      length = width - column;
      while (length && rest[length] != ' ')
        --length;
      if (!length)
        length = (int)strcspn(rest, " ");
    }
    printf("%*s%.*s\n", column - used, "", length, rest);
    rest += length;
    rest += *rest == ' ';
    used = 0;
  }
}

/* Prints what was asked for; false when nothing was. */
static bool printAsked(const SambaTool *tool, SambaAsked asked) {
  static const SambaOption common[] = {
      {"--help, -h", SAMBA_OPTION_FLAG, NULL, NULL, "show this help"},
      {"--version", SAMBA_OPTION_FLAG, NULL, NULL, "show the versions of Samba and LLVM"}};
  if (asked == SAMBA_ASKED_VERSION)
    sambaPrintVersion(tool->name);
  if (asked != SAMBA_ASKED_HELP)
    return asked != SAMBA_ASKED_NOTHING;

  printf("usage: %s\n\n%s\n\noptions:\n", tool->usage, tool->summary);
  for (const SambaOption *option = tool->options; option->name; ++option)
    printOption(option);
  printOption(&common[0]);
  printOption(&common[1]);
  if (tool->more)
    printf("\n%s\n", tool->more);
  return true;
}

SambaStatus sambaToolAnswer(const SambaTool *tool, int argc, char **argv,
                            SambaStatus (*run)(void *user_data, const SambaStrings *positional,
                                               SambaArena *arena),
                            void *user_data) {
  SambaStrings positional = {0};
  SambaArena arena = {0};
  SambaAsked asked;

  SambaStatus status = sambaCommandLineParse(argc, argv, tool->options, &positional, &asked);
  if (!status && !printAsked(tool, asked))
    status = run(user_data, &positional, &arena);

  sambaArenaDestroy(&arena);
  sambaArrayFree(&positional);
  return status;
}

SambaStatus sambaSplitPair(SambaArena *arena, const char *option, const char *pair,
                           const char **out_name, const char **out_value) {
  const char *equals = strchr(pair, '=');
  if (!equals || equals == pair)
    return sambaStatusMake(SAMBA_INVALID, "%s wants NAME=VALUE, not '%s'", option, pair);
  *out_name = sambaArenaFormat(arena, "%.*s", (int)(equals - pair), pair);
  *out_value = equals + 1;
  return NULL;
}

int sambaReport(SambaStatus status) {
  if (!status)
    return 0;
  int code = sambaStatusGetCode(status) == SAMBA_MISMATCH ? 2 : 1;
  fprintf(stderr, "error: %s\n", sambaStatusGetMessage(status));
  sambaStatusFree(status);
  return code;
}
