/* Versions; see version.h. */
#include "support/base/version.h"

#include <stdio.h>
#include <string.h>

const char *sambaLlvmVersion(void) { return SAMBA_LLVM_VERSION; }

void sambaPrintVersion(const char *program) {
  printf("%s %s, built with LLVM %s\n", program, SAMBA_VERSION, SAMBA_LLVM_VERSION);
}

bool sambaAnswerVersion(int argc, char **argv, const char *program) {
  bool asked = argc == 2 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-version"));
  if (asked)
    sambaPrintVersion(program);
  return asked;
}
