/* samba-objdump: shows what is in a PEF, assembles a PEF from such a listing, repairs checksums,
 * draws sections. */
#include "support/file/input_file.h"
#include "tools/samba-objdump/objdump.h"

#include "backend/pef/container/file.h"
#include "backend/pef/container/fix.h"
#include "backend/pef/container/reader.h"
#include "backend/pef/container/writer.h"
#include "support/file/atomic_file.h"
#include "support/text/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A PEF listing of a large model has some megabytes; what is larger is a mistake. */
#define MAX_LISTING_BYTES ((uint64_t)1 << 30)

static SambaStatus assemble(const char *path, const char *output, bool unchecked) {
  int fd;
  uint64_t bytes;

  SAMBA_RETURN_IF_ERROR(sambaInputFileOpen(path, &fd, &bytes));
  SambaStatus status = NULL;
  if (bytes > MAX_LISTING_BYTES)
    status = sambaStatusMake(SAMBA_INVALID, "%s: a listing of %llu bytes is too large; is it one?",
                             path, (unsigned long long)bytes);
  char *text = status ? NULL : sambaAllocate(bytes);
  if (!status)
    status = sambaPefFileRead(fd, path, "the listing", 0, text, bytes);
  close(fd);
  SambaPef *pef = NULL;
  if (!status)
    status = objdumpAssemble(path, (SambaStringRef){text, bytes}, unchecked, &pef);
  free(text);
  if (!status)
    status = sambaPefWrite(pef, output);
  sambaPefDestroy(pef);

  return status;
}

static SambaStatus disassemble(const char *path, const char *output) {
  SambaPef *pef;
  SAMBA_RETURN_IF_ERROR(sambaPefOpen(path, &pef));
  char *text = NULL;
  size_t size = 0;
  FILE *out = output ? open_memstream(&text, &size) : stdout;
  SambaStatus status =
      out ? objdumpPrint(out, pef, path)
          : sambaStatusMake(SAMBA_IO, "%s: cannot be written: out of memory", output);
  sambaPefDestroy(pef);
  bool failed = out && (output ? fclose(out) != 0 : fflush(out) != 0 || ferror(out));

  if (!status && failed)
    status = sambaStatusMake(SAMBA_IO, "%s: writing the listing failed",
                             output ? output : "standard output");
  if (!status && output)
    status = sambaWriteFile(output, text, size);
  free(text);

  return status;
}

typedef struct Options {
  bool assembling, fixing, placement, predict, unchecked;
  const char *output, *picture, *section;
} Options;

/* A section as a picture or as text. */
static SambaStatus show(const char *path, const Options *options) {
  SambaPef *pef;
  SAMBA_RETURN_IF_ERROR(sambaPefOpen(path, &pef));
  SambaText text = {0};
  SambaStatus status = objdumpShow(pef, options->section, options->picture != NULL, &text);
  sambaPefDestroy(pef);

  const char *output = options->picture ? options->picture : options->output;
  if (status)
    sambaStatusAnnotate(status, "%s", path);
  else if (output)
    status = sambaWriteFile(output, text.data, text.size);
  else if (fwrite(text.data, 1, text.size, stdout) != text.size || fflush(stdout) != 0)
    status = sambaStatusMake(SAMBA_IO, "standard output: writing the placement failed");
  sambaTextFree(&text);

  return status;
}

/* What the model predicts for each section, as JSON. */
static SambaStatus predict(const char *path, const char *output) {
  SambaPef *pef;
  SAMBA_RETURN_IF_ERROR(sambaPefOpen(path, &pef));
  char *text = NULL;
  SambaStatus status = objdumpPredict(pef, &text);
  sambaPefDestroy(pef);

  if (status)
    sambaStatusAnnotate(status, "%s", path);
  else if (output)
    status = sambaWriteFile(output, text, strlen(text));
  else if (fputs(text, stdout) < 0 || fflush(stdout) != 0)
    status = sambaStatusMake(SAMBA_IO, "standard output: writing the prediction failed");
  free(text);

  return status;
}

/* At most one option says what to do, and the others go with it. */
static SambaStatus checkOptions(const Options *options) {
  const struct {
    bool given;
    const char *name;
  } modes[] = {{options->assembling, "--assemble"},
               {options->fixing, "--fix-checksums"},
               {options->picture != NULL, "--draw"},
               {options->placement, "--placement"},
               {options->predict, "--predict"}};
  const char *mode = NULL;
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i) {
    if (modes[i].given && mode)
      return sambaStatusMake(SAMBA_INVALID, "%s and %s exclude each other", mode, modes[i].name);
    if (modes[i].given)
      mode = modes[i].name;
  }

  if (options->picture && options->output)
    return sambaStatusMake(SAMBA_INVALID, "--draw says where to write: no -o beside it");
  if (options->section && !options->picture && !options->placement)
    return sambaStatusMake(SAMBA_INVALID,
                           "--section goes with --draw=FILE.svg or --placement: give one too");
  if ((options->assembling || options->fixing) && !options->output)
    return sambaStatusMake(SAMBA_INVALID, "%s wants an output file: -o FILE.pef", mode);
  return NULL;
}

static SambaStatus run(const char *input, const Options *options) {
  SAMBA_RETURN_IF_ERROR(checkOptions(options));
  /* A PEF may be repaired in place. */
  SAMBA_RETURN_IF_ERROR(sambaCheckOutput(options->picture ? options->picture : options->output,
                                         options->fixing ? NULL : input));
  if (options->assembling)
    return assemble(input, options->output, options->unchecked);
  if (options->fixing)
    return sambaPefFixChecksums(input, options->output);
  if (options->picture || options->placement)
    return show(input, options);
  if (options->predict)
    return predict(input, options->output);
  return disassemble(input, options->output);
}

static SambaStatus answer(void *user_data, const SambaStrings *positional, SambaArena *arena) {
  Options *options = user_data;
  (void)arena;

  if (options->output && strcmp(options->output, "-") == 0 && !options->assembling &&
      !options->fixing)
    options->output = NULL; /* a text may go to standard output */
  if (positional->size != 1)
    return sambaStatusMake(SAMBA_INVALID, "expected one input file, found %zu; try --help",
                           positional->size);
  return run(positional->data[0], options);
}

int main(int argc, char **argv) {
  Options options = {0};
  const SambaOption table[] = {{"--assemble", SAMBA_OPTION_FLAG, &options.assembling, NULL,
                                "the input is a listing, the output a PEF"},
                               {"--fix-checksums", SAMBA_OPTION_FLAG, &options.fixing, NULL,
                                "copy a PEF and make its checksums right"},
                               {"--no-check", SAMBA_OPTION_FLAG, &options.unchecked, NULL,
                                "with --assemble: do not refuse sections that can deadlock"},
                               {"-o", SAMBA_OPTION_STRING, &options.output, "FILE",
                                "output (text goes to standard output without it)"},
                               {"--draw", SAMBA_OPTION_STRING, &options.picture, "FILE.svg",
                                "draw a section on the chip: its units and their streams"},
                               {"--placement", SAMBA_OPTION_FLAG, &options.placement, NULL,
                                "show where a section's units are and how its streams run"},
                               {"--predict", SAMBA_OPTION_FLAG, &options.predict, NULL,
                                "print what the planner's model predicts for each section, as "
                                "JSON"},
                               {"--section", SAMBA_OPTION_STRING, &options.section, "ID",
                                "with --draw or --placement: the section, by name or number "
                                "(default: the one with the most units)"},
                               {0}};
  const SambaTool tool = {
      .name = "samba-objdump",
      .usage =
          "samba-objdump FILE.pef > LISTING\n       samba-objdump --assemble LISTING -o FILE.pef"
          "\n       samba-objdump --fix-checksums IN.pef -o OUT.pef"
          "\n       samba-objdump --draw=FILE.svg FILE.pef",
      .summary = "Shows everything in a PEF as text, makes a PEF of such a text, draws a section.",
      .options = table};
  return sambaReport(sambaToolAnswer(&tool, argc, argv, answer, &options));
}
