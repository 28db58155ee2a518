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

static SambaStatus draw(const char *path, const char *section, const char *picture) {
  SambaPef *pef;
  SAMBA_RETURN_IF_ERROR(sambaPefOpen(path, &pef));
  SambaText text = {0};
  SambaStatus status = sambaStatusAnnotate(objdumpDraw(pef, section, &text), "%s", path);
  sambaPefDestroy(pef);
  if (!status)
    status = sambaWriteFile(picture, text.data, text.size);
  sambaTextFree(&text);

  return status;
}

/* The options that say what to do; each excludes the others. */
static SambaStatus checkOptions(bool assembling, bool fixing, const char *picture,
                                const char *section, const char *output) {
  if (assembling && fixing)
    return sambaStatusMake(SAMBA_INVALID, "--assemble and --fix-checksums exclude each other");
  if (picture && (assembling || fixing || output))
    return sambaStatusMake(SAMBA_INVALID, "--draw stands alone: no %s beside it",
                           assembling ? "--assemble"
                           : fixing   ? "--fix-checksums"
                                      : "-o");
  if (section && !picture)
    return sambaStatusMake(SAMBA_INVALID, "--section says what to draw: give --draw=FILE.svg too");
  if ((assembling || fixing) && !output)
    return sambaStatusMake(SAMBA_INVALID, "%s wants an output file: -o FILE.pef",
                           assembling ? "--assemble" : "--fix-checksums");
  return NULL;
}

int main(int argc, char **argv) {
  bool help = false, assembling = false, fixing = false, unchecked = false;
  const char *output = NULL, *picture = NULL, *section = NULL;
  const SambaOption table[] = {{"--assemble", SAMBA_OPTION_FLAG, &assembling, NULL,
                                "the input is a listing, the output a PEF", NULL},
                               {"--fix-checksums", SAMBA_OPTION_FLAG, &fixing, NULL,
                                "copy a PEF and make its checksums right", NULL},
                               {"--no-check", SAMBA_OPTION_FLAG, &unchecked, NULL,
                                "with --assemble: do not refuse sections that can deadlock", NULL},
                               {"-o", SAMBA_OPTION_STRING, &output, "FILE",
                                "output (a listing goes to standard output without it)", NULL},
                               {"--draw", SAMBA_OPTION_STRING, &picture, "FILE.svg",
                                "draw a section on the chip: its units and their streams", NULL},
                               {"--section", SAMBA_OPTION_STRING, &section, "ID",
                                "with --draw: the section, by name or number (default: the one "
                                "with the most units)",
                                NULL},
                               {0}};
  SambaStrings positional = {0};
  SambaStatus status = sambaCommandLineParse(argc, argv, table, &positional, &help);

  if (!status && help) {
    sambaCommandLineHelp(
        "samba-objdump FILE.pef > LISTING\n       samba-objdump --assemble LISTING -o FILE.pef\n"
        "       samba-objdump --fix-checksums IN.pef -o OUT.pef\n"
        "       samba-objdump --draw=FILE.svg FILE.pef",
        "Shows everything in a PEF as text, makes a PEF of such a text, draws a section.", table);
  } else if (!status && positional.size != 1) {
    status = sambaStatusMake(SAMBA_INVALID, "expected one input file, found %zu; try --help",
                             positional.size);
  } else if (!status) {
    const char *input = positional.data[0];
    status = checkOptions(assembling, fixing, picture, section, output);
    if (!status && !fixing) /* a PEF may be repaired in place */
      status = sambaCheckOutputIsNotInput(picture ? picture : output, input);
    if (!status && assembling)
      status = assemble(input, output, unchecked);
    else if (!status && fixing)
      status = sambaPefFixChecksums(input, output);
    else if (!status && picture)
      status = draw(input, section, picture);
    else if (!status)
      status = disassemble(input, output);
  }

  sambaArrayFree(&positional);
  return sambaReport(status);
}
