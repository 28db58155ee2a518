/* samba-objdump: shows what is in a PEF, assembles a PEF from such a listing, repairs checksums. */
#include "support/file/input_file.h"
#include "tools/samba-objdump/objdump.h"

#include "backend/pef/container/file.h"
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

int main(int argc, char **argv) {
  bool help = false, assembling = false, fixing = false, unchecked = false;
  const char *output = NULL;
  const SambaOption table[] = {{"--assemble", SAMBA_OPTION_FLAG, &assembling, NULL,
                                "the input is a listing, the output a PEF", NULL},
                               {"--fix-checksums", SAMBA_OPTION_FLAG, &fixing, NULL,
                                "copy a PEF and make its checksums right", NULL},
                               {"--no-check", SAMBA_OPTION_FLAG, &unchecked, NULL,
                                "with --assemble: do not refuse sections that can deadlock", NULL},
                               {"-o", SAMBA_OPTION_STRING, &output, "FILE",
                                "output (a listing goes to standard output without it)", NULL},
                               {0}};
  SambaStrings positional = {0};
  SambaStatus status = sambaCommandLineParse(argc, argv, table, &positional, &help);

  if (!status && help) {
    sambaCommandLineHelp(
        "samba-objdump FILE.pef > LISTING\n       samba-objdump --assemble LISTING -o FILE.pef\n"
        "       samba-objdump --fix-checksums IN.pef -o OUT.pef",
        "Shows everything in a PEF as text, and makes a PEF of such a text.", table);
  } else if (!status && positional.size != 1) {
    status = sambaStatusMake(SAMBA_INVALID, "expected one input file, found %zu; try --help",
                             positional.size);
  } else if (!status && assembling && fixing) {
    status = sambaStatusMake(SAMBA_INVALID, "--assemble and --fix-checksums exclude each other");
  } else if (!status && (assembling || fixing) && !output) {
    status = sambaStatusMake(SAMBA_INVALID, "%s wants an output file: -o FILE.pef",
                             assembling ? "--assemble" : "--fix-checksums");
  } else if (!status) {
    const char *input = positional.data[0];
    if (!fixing) /* a PEF may be repaired in place */
      status = sambaCheckOutputIsNotInput(output, input);
    if (!status)
      status = assembling ? assemble(input, output, unchecked)
               : fixing   ? sambaPefFixChecksums(input, output)
                          : disassemble(input, output);
  }

  sambaArrayFree(&positional);
  return sambaReport(status);
}
