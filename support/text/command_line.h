/* Command lines: a table of options, "--name value" and "--name=value", single-dash short forms,
 * positional arguments. */
#ifndef SAMBA_SUPPORT_TEXT_COMMAND_LINE_H
#define SAMBA_SUPPORT_TEXT_COMMAND_LINE_H

#include "support/base/memory.h"
#include "support/base/status.h"
#include "support/text/string_ref.h"

typedef enum {
  SAMBA_OPTION_FLAG,    /* bool */
  SAMBA_OPTION_STRING,  /* const char * */
  SAMBA_OPTION_CHOICE,  /* const char *: "" without a value, which only follows a '=' */
  SAMBA_OPTION_STRINGS, /* SambaStrings: every one given, in order */
  SAMBA_OPTION_INT,     /* int64_t, not negative */
  SAMBA_OPTION_FLOAT    /* double, not negative */
} SambaOptionKind;

typedef struct SambaOption {
  const char *name; /* with its dashes: "--input", "-o"; NULL ends a table */
  SambaOptionKind kind;
  void *target;         /* where the value goes; `kind` says its type */
  const char *argument; /* for the help: "NAME=FILE" */
  const char *help;
} SambaOption;

/* What a program says about itself. */
typedef struct SambaTool {
  const char *name, *usage, *summary;
  const SambaOption *options;
  const char *more; /* what the help says after the options; may be NULL */
} SambaTool;

typedef enum { SAMBA_ASKED_NOTHING, SAMBA_ASKED_HELP, SAMBA_ASKED_VERSION } SambaAsked;

/* Fills the targets. Positional arguments go to `positional`; "--" ends the options. An option with
 * a value may be given once, unless it is a list. Errors name the option and what it wants.
 * out_asked tells whether --help, -h or --version was given. Strings are borrowed from argv. */
SambaStatus sambaCommandLineParse(int argc, char **argv, const SambaOption *options,
                                  SambaStrings *positional, SambaAsked *out_asked);
/* Answers a whole command line: prints the help or the version when one is asked for, else calls
 * `run` with the positional arguments and an arena that is freed afterwards. Options have been
 * stored by then; user_data is passed on. */
SambaStatus sambaToolAnswer(const SambaTool *tool, int argc, char **argv,
                            SambaStatus (*run)(void *user_data, const SambaStrings *positional,
                                               SambaArena *arena),
                            void *user_data);

/* Splits NAME=VALUE at the first '='; out_name is copied into the arena. */
SambaStatus sambaSplitPair(SambaArena *arena, const char *option, const char *pair,
                           const char **out_name, const char **out_value);

/* Prints "error: MESSAGE" for a failure, frees it and returns the exit code: 2 for a mismatch, else
 * 1; 0 for success. */
int sambaReport(SambaStatus status);

#endif
