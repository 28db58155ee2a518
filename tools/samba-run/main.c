/* samba-run: runs a PEF on the simulated RDU. A small client of runtime/. */
#include "runtime/simulated/simulated_device.h"
#include "runtime/summary.h"
#include "support/file/atomic_file.h"
#include "support/number/shape.h"
#include "support/text/command_line.h"
#include "tools/samba-run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  SambaStrings inputs, outputs, expectations;
  double rtol, atol, relative_l2;
  bool argmax, trap_nan, values_only, timing_only, no_skip, no_memo;
  const char *fidelity, *launch, *sections, *section_types, *cpu, *stats, *trace, *report, *csv;
  int64_t threads, max_cycles;
} Options;

static SambaStatus parseLaunch(const char *text, SambaOrchestration *out) {
  static const char *const names[] = {"hw", "sw", "none"};
  for (int i = 0; i < 3; ++i)
    if (strcmp(text, names[i]) == 0) {
      *out = (SambaOrchestration)i;
      return NULL;
    }
  return sambaStatusMake(SAMBA_INVALID, "--launch wants hw, sw or none, not '%s'", text);
}

static SambaStatus deviceOptions(const Options *options, SambaSimulatedDeviceOptions *out) {
  *out = (SambaSimulatedDeviceOptions){.threads = (int)options->threads,
                                       .cpu = options->cpu,
                                       .trap_nan = options->trap_nan,
                                       .max_cycles = (uint64_t)options->max_cycles,
                                       .timing_only = options->timing_only,
                                       .values_only = options->values_only,
                                       .no_skip = options->no_skip,
                                       .no_memo = options->no_memo};
  if (options->values_only && options->timing_only)
    return sambaStatusMake(SAMBA_INVALID, "--values-only and --timing-only exclude each other");
  if (options->threads < 1 || options->threads > 1024)
    return sambaStatusMake(SAMBA_INVALID, "--threads wants a number from 1 to 1024");
  if (strcmp(options->fidelity, "tile") != 0)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "--fidelity=%s is not available in this version; use tile",
                           options->fidelity);
  const char *missing = options->csv ? "--csv" : NULL;
  if (options->report)
    missing = "--report";
  if (options->trace)
    missing = "--trace";
  if (missing)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "%s is not available in this version; --stats FILE.json has the figures",
                           missing);
  return parseLaunch(options->launch, &out->orchestration);
}

/* "3,5": section ids; "FWD,BCKWD": types. */
static SambaStatus parseRun(const Options *options, SambaArena *arena, SambaRunOptions *out) {
  const char *text = options->sections ? options->sections : options->section_types;
  if (options->sections && options->section_types)
    return sambaStatusMake(SAMBA_INVALID, "--sections and --section-types exclude each other");
  if (!text)
    return NULL;
  size_t most = strlen(text) + 1;
  uint32_t *ids = SAMBA_ARENA_ARRAY(arena, uint32_t, most);
  SambaPefSectionType *types = SAMBA_ARENA_ARRAY(arena, SambaPefSectionType, most);

  for (const char *at = text;;) {
    size_t length = strcspn(at, ",");
    if (options->sections) {
      char *end;
      unsigned long id = strtoul(at, &end, 10);
      if (end == at || end != at + length || *at == '-' || id > UINT32_MAX)
        return sambaStatusMake(SAMBA_INVALID, "--sections wants section ids like 0,3, not '%s'",
                               text);
      ids[out->section_count++] = (uint32_t)id;
    } else if (!sambaPefSectionTypeFromName((SambaStringRef){at, length},
                                            &types[out->type_count++])) {
      return sambaStatusMake(
          SAMBA_INVALID,
          "there is no section type '%.*s'; types are ZEROGRAD, FWD, BCKWD, OPT, REDUCE, GRADNORM",
          (int)length, at);
    }
    if (!at[length])
      break;
    at += length + 1;
  }

  out->sections = ids;
  out->types = types;
  return NULL;
}

static void showProgress(void *user, uint32_t done, uint32_t total) {
  (void)user;
  fprintf(stderr, "\rcall %u of %u ", done + 1, total);
}

static SambaStatus readInputs(const Options *options, SambaSession *session, SambaArena *arena) {
  for (size_t i = 0; i < options->inputs.size; ++i) {
    const char *name, *path;
    SambaTensorFile tensor;
    SAMBA_RETURN_IF_ERROR(sambaSplitPair(arena, "--input", options->inputs.data[i], &name, &path));
    for (size_t j = 0; j < i; ++j)
      if (strncmp(options->inputs.data[j], name, strlen(name)) == 0 &&
          options->inputs.data[j][strlen(name)] == '=')
        return sambaStatusMake(SAMBA_INVALID, "--input gives '%s' twice; once is enough", name);
    SAMBA_RETURN_IF_ERROR(sambaTensorFileRead(path, arena, &tensor));
    const SambaPefSymbol *symbol;
    SAMBA_RETURN_IF_ERROR(sambaSessionFindTensor(session, sambaStringRef(name), &symbol));
    bool fits = tensor.dtype == symbol->host_dtype && tensor.rank == symbol->dims_count;
    for (uint32_t a = 0; a < tensor.rank && fits; ++a)
      fits = tensor.dims[a] == symbol->dims[a].size;
    if (!fits && sambaSessionSkipInput(session, symbol->name))
      fprintf(stderr,
              "remark: input '%s' does not have the type or shape of the data in %s; no section "
              "reads it\n",
              name, path);
    else
      SAMBA_RETURN_IF_ERROR(sambaSessionSetInput(session, sambaStringRef(name), tensor.dtype,
                                                 tensor.rank, tensor.dims, tensor.data));
  }

  const SambaPefSymbol *missing =
      options->timing_only ? NULL : sambaSessionFindMissingInput(session);
  if (!missing)
    return NULL;
  char shape[SAMBA_SHAPE_TEXT_BYTES];
  int64_t *dims = SAMBA_ARENA_ARRAY(arena, int64_t, missing->dims_count + 1);
  for (uint32_t a = 0; a < missing->dims_count; ++a)
    dims[a] = (int64_t)missing->dims[a].size;
  return sambaStatusMake(SAMBA_INVALID, "input '%.*s' (%s) has no value; give --input %.*s=FILE",
                         SAMBA_STRING_ARGS(missing->name),
                         sambaShapeFormat(shape, sizeof shape, missing->dims_count, dims,
                                          sambaDTypeName(missing->host_dtype)),
                         SAMBA_STRING_ARGS(missing->name));
}

static SambaStatus addPaths(SambaArena *arena, const char *option, const SambaStrings *pairs,
                            SambaStrings *paths) {
  for (size_t i = 0; i < pairs->size; ++i) {
    const char *name, *path;
    SAMBA_RETURN_IF_ERROR(sambaSplitPair(arena, option, pairs->data[i], &name, &path));
    sambaArrayAppend(paths, path);
  }
  return NULL;
}

/* An output is none of the files that are read, and no two outputs are one file. */
static SambaStatus checkFiles(const Options *options, const char *pef, SambaArena *arena) {
  SambaStrings inputs = {0}, outputs = {0};
  sambaArrayAppend(&inputs, pef);
  sambaArrayAppend(&outputs, options->stats);

  SambaStatus status = addPaths(arena, "--input", &options->inputs, &inputs);
  if (!status)
    status = addPaths(arena, "--expect", &options->expectations, &inputs);
  if (!status)
    status = addPaths(arena, "--output", &options->outputs, &outputs);
  if (!status)
    status = sambaCheckOutputs(&outputs, &inputs);
  sambaArrayFree(&inputs);
  sambaArrayFree(&outputs);
  return status;
}

/* What --output and --expect ask for exists: said before anything runs. The references are kept in
 * `references`. */
static SambaStatus checkNames(const Options *options, const SambaSession *session, const char *pef,
                              SambaArena *arena, SambaTensorFile *references) {
  if (options->timing_only && options->outputs.size + options->expectations.size)
    return sambaStatusMake(SAMBA_INVALID,
                           "--output and --expect want values, which --timing-only leaves out");

  for (int list = 0; list < 2; ++list) {
    const SambaStrings *pairs = list ? &options->expectations : &options->outputs;
    for (size_t i = 0; i < pairs->size; ++i) {
      const char *name, *path;
      const SambaPefSymbol *symbol;
      SAMBA_RETURN_IF_ERROR(
          sambaSplitPair(arena, list ? "--expect" : "--output", pairs->data[i], &name, &path));
      SAMBA_RETURN_IF_ERROR(sambaSessionFindTensor(session, sambaStringRef(name), &symbol));
      if (list) {
        SAMBA_RETURN_IF_ERROR(sambaTensorFileRead(path, arena, &references[i]));
        continue;
      }
      size_t length = strlen(path);
      if (length < 4 || strcmp(path + length - 4, ".npy") != 0)
        return sambaStatusMake(SAMBA_UNSUPPORTED,
                               "%s: outputs are written as .npy; give a name that ends so", path);
    }
  }

  return checkFiles(options, pef, arena);
}

static SambaStatus writeOutputs(const Options *options, SambaSession *session, SambaArena *arena) {
  for (size_t i = 0; i < options->outputs.size; ++i) {
    const char *name, *path;
    SambaHostTensor tensor;
    SAMBA_RETURN_IF_ERROR(
        sambaSplitPair(arena, "--output", options->outputs.data[i], &name, &path));
    SAMBA_RETURN_IF_ERROR(sambaSessionGetOutput(session, sambaStringRef(name), &tensor));
    SambaStatus status = sambaNpyWrite(path, tensor.dtype, tensor.rank, tensor.dims, tensor.data);
    free(tensor.data);
    SAMBA_RETURN_IF_ERROR(status);
  }
  return NULL;
}

static SambaStatus checkExpectations(const Options *options, SambaSession *session,
                                     SambaArena *arena, const SambaTensorFile *references) {
  SambaCriteria criteria = {options->rtol, options->atol, options->relative_l2, options->argmax};
  if (criteria.rtol < 0 && criteria.atol < 0 && criteria.relative_l2 < 0 && !criteria.argmax)
    criteria.rtol = 1e-3, criteria.atol = 1e-5;
  else if (criteria.rtol >= 0 && criteria.atol < 0)
    criteria.atol = 1e-5;
  else if (criteria.atol >= 0 && criteria.rtol < 0)
    criteria.rtol = 1e-3;

  for (size_t i = 0; i < options->expectations.size; ++i) {
    const char *name, *path;
    SambaHostTensor tensor;
    SAMBA_RETURN_IF_ERROR(
        sambaSplitPair(arena, "--expect", options->expectations.data[i], &name, &path));
    SAMBA_RETURN_IF_ERROR(sambaSessionGetOutput(session, sambaStringRef(name), &tensor));
    SambaStatus status = sambaCompareTensors(name, &tensor, &references[i], &criteria);
    free(tensor.data);
    SAMBA_RETURN_IF_ERROR(status);
  }

  return NULL;
}

static SambaStatus run(const Options *options, const char *path, SambaArena *arena) {
  SambaSimulatedDeviceOptions device;
  SambaRunOptions selection = {0};
  SambaSession *session = NULL;

  SAMBA_RETURN_IF_ERROR(deviceOptions(options, &device));
  SAMBA_RETURN_IF_ERROR(parseRun(options, arena, &selection));
  SambaDeviceFactory factory = sambaSimulatedDevice(&device);
  SAMBA_RETURN_IF_ERROR(sambaSessionOpen(path, &factory, &session));
  bool terminal = isatty(STDERR_FILENO);
  SambaTensorFile *references =
      SAMBA_ARENA_ARRAY(arena, SambaTensorFile, options->expectations.size);
  SambaStatus status = checkNames(options, session, path, arena, references);
  if (!status)
    status = readInputs(options, session, arena);
  if (!status)
    status = sambaSessionRun(session, &selection, terminal ? showProgress : NULL, NULL);
  if (terminal)
    fprintf(stderr, "\r\033[K");
  if (!status)
    status = writeOutputs(options, session, arena);
  if (!status && options->stats)
    status = sambaWriteStatistics(options->stats, session);
  if (!status && !options->values_only)
    sambaPrintSummary(session);
  if (!status)
    status = checkExpectations(options, session, arena, references);
  sambaSessionClose(session);

  return status;
}

/* Answers the command line: help, or a PEF that is run. */
static SambaStatus answer(const SambaTool *tool, int argc, char **argv, Options *options) {
  SambaStrings positional = {0};
  SambaArena arena = {0};
  SambaAsked asked;

  SambaStatus status = sambaCommandLineParse(argc, argv, tool->options, &positional, &asked);
  if (!status && sambaCommandLineAnswer(tool, asked))
    ;
  else if (!status && positional.size != 1)
    status =
        sambaStatusMake(SAMBA_INVALID, "samba-run wants one PEF, not %zu; --help lists the options",
                        positional.size);
  else if (!status)
    status = run(options, positional.data[0], &arena);

  sambaArenaDestroy(&arena);
  sambaArrayFree(&positional);
  return status;
}

/* Long: the options are a table, which points at the variables beside it. */
int main(int argc, char **argv) {
  Options options = {.rtol = -1,
                     .atol = -1,
                     .relative_l2 = -1,
                     .fidelity = "tile",
                     .launch = "hw",
                     .threads = sysconf(_SC_NPROCESSORS_ONLN)};
  const SambaOption table[] = {
      {"--input", SAMBA_OPTION_STRINGS, &options.inputs, "NAME=FILE",
       "value of a graph input (.npy or .pb)"},
      {"--output", SAMBA_OPTION_STRINGS, &options.outputs, "NAME=FILE", "write an output as .npy"},
      {"--expect", SAMBA_OPTION_STRINGS, &options.expectations, "NAME=FILE",
       "compare an output with a reference; exit code 2 when it differs"},
      {"--rtol", SAMBA_OPTION_FLOAT, &options.rtol, "R",
       "relative tolerance of --expect (default 1e-3)"},
      {"--atol", SAMBA_OPTION_FLOAT, &options.atol, "A",
       "absolute tolerance of --expect (default 1e-5)"},
      {"--rel-l2", SAMBA_OPTION_FLOAT, &options.relative_l2, "R",
       "bound of --expect on the relative L2 difference (default: none)"},
      {"--argmax", SAMBA_OPTION_FLAG, &options.argmax, NULL,
       "the largest element of each decided row must agree"},
      {"--trap-nan", SAMBA_OPTION_FLAG, &options.trap_nan, NULL,
       "a NaN written to memory is a fault"},
      {"--values-only", SAMBA_OPTION_FLAG, &options.values_only, NULL,
       "compute values, count no cycles"},
      {"--timing-only", SAMBA_OPTION_FLAG, &options.timing_only, NULL,
       "count cycles, compute no values"},
      {"--fidelity", SAMBA_OPTION_STRING, &options.fidelity, "tile",
       "detail of the timing engine (default and only choice: tile)"},
      {"--launch", SAMBA_OPTION_STRING, &options.launch, "hw|sw|none",
       "who launches sections: the chip, the host, or at no cost (default hw)"},
      {"--sections", SAMBA_OPTION_STRING, &options.sections, "ID,..",
       "run only the sections with these ids (default: all)"},
      {"--section-types", SAMBA_OPTION_STRING, &options.section_types, "FWD,..",
       "run only sections of these types (default: all)"},
      {"--threads", SAMBA_OPTION_INT, &options.threads, "N",
       "host threads (default: all cores); bits do not depend on it"},
      {"--max-cycles", SAMBA_OPTION_INT, &options.max_cycles, "N",
       "a section that takes longer is a fault (default: no bound)"},
      {"--cpu", SAMBA_OPTION_STRING, &options.cpu, "NAME",
       "host CPU to compile lane programs for (default: this host)"},
      {"--no-skip", SAMBA_OPTION_FLAG, &options.no_skip, NULL,
       "time every period of a steady state"},
      {"--no-memo", SAMBA_OPTION_FLAG, &options.no_memo, NULL, "time every call anew"},
      {"--stats", SAMBA_OPTION_STRING, &options.stats, "FILE.json",
       "write the figures of the run as JSON"},
      {"--trace", SAMBA_OPTION_STRING, &options.trace, "FILE.json",
       "refused: event traces are not in this version; --stats has the figures"},
      {"--report", SAMBA_OPTION_STRING, &options.report, "FILE.html",
       "refused: reports are not in this version; --stats has the figures"},
      {"--csv", SAMBA_OPTION_STRING, &options.csv, "DIR",
       "refused: tables are not in this version; --stats has the figures"},
      {0}};
  const SambaTool tool = {
      .name = "samba-run",
      .usage = "samba-run FILE.pef [options]",
      .summary = "Runs a PEF on the simulated RDU: real values, cycles, statistics.",
      .options = table,
      .more = "Exit code: 0, 1 after an error, 2 when an output differs from what --expect names."};
  SambaStatus status = answer(&tool, argc, argv, &options);
  sambaArrayFree(&options.inputs);
  sambaArrayFree(&options.outputs);
  sambaArrayFree(&options.expectations);
  return sambaReport(status);
}
