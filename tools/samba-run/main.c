/* samba-run: runs a PEF on the simulated RDU. A small client of runtime/. */
#include "runtime/summary.h"
#include "samba/session.h"
#include "support/base/memory.h"
#include "support/text/command_line.h"
#include "tools/samba-run/run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set by Ctrl-C; the engines look at it. */
static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number) {
  interrupted = 1;
  signal(signal_number, SIG_DFL); /* the second one ends the program at once */
}

static SambaStatus parseLaunch(const char *text, SambaOrchestration *out) {
  static const char *const names[] = {"hw", "sw", "none"};
  for (int i = 0; i < 3; ++i)
    if (strcmp(text, names[i]) == 0) {
      *out = (SambaOrchestration)i;
      return NULL;
    }
  return sambaStatusMake(SAMBA_INVALID, "--launch wants hw, sw or none, not '%s'", text);
}

static SambaStatus parseFidelity(const char *text, SambaFidelity *out) {
  *out = strcmp(text, "cycle") == 0 ? SAMBA_FIDELITY_CYCLE : SAMBA_FIDELITY_FAST;
  if (*out == SAMBA_FIDELITY_CYCLE || strcmp(text, "fast") == 0)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID, "--fidelity wants fast or cycle, not '%s'", text);
}

static SambaStatus deviceOptions(const SambaRunArguments *arguments,
                                 SambaSimulatedDeviceOptions *out) {
  *out = (SambaSimulatedDeviceOptions){.threads = (int)arguments->threads,
                                       .cpu = arguments->cpu,
                                       .trap_nan = arguments->trap_nan,
                                       .max_cycles = (uint64_t)arguments->max_cycles,
                                       .stop = &interrupted,
                                       .timing_only = arguments->timing_only,
                                       .values_only = arguments->values_only,
                                       .no_skip = arguments->no_skip,
                                       .no_memo = arguments->no_memo};
  if (arguments->values_only && arguments->timing_only)
    return sambaStatusMake(SAMBA_INVALID, "--values-only and --timing-only exclude each other");
  if (arguments->threads < 1 || arguments->threads > 1024)
    return sambaStatusMake(SAMBA_INVALID, "--threads wants a number from 1 to 1024");
  SAMBA_RETURN_IF_ERROR(parseFidelity(arguments->fidelity, &out->fidelity));
  const char *missing = arguments->csv ? "--csv" : NULL;
  if (arguments->report)
    missing = "--report";
  if (arguments->trace)
    missing = "--trace";
  if (missing)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "%s is not available in this version; --stats FILE.json has the figures",
                           missing);
  return parseLaunch(arguments->launch, &out->orchestration);
}

/* What the steps of a run call back. */
typedef struct {
  SambaFeed feed;
  SambaResults results;
  SambaProgress progress;
} Run;

static SambaStatus beforePass(void *user, uint64_t pass) {
  return sambaFeedPass(&((Run *)user)->feed, pass);
}

static SambaStatus afterPass(void *user, uint64_t pass) {
  (void)pass;
  return sambaResultsAddPass(&((Run *)user)->results);
}

static SambaStatus afterStep(void *user, uint64_t step) {
  Run *run = user;
  run->progress.done = step + 1;
  return sambaResultsAddStep(&run->results);
}

static void showProgress(void *user, uint32_t done, uint32_t total) {
  sambaProgressShow(&((Run *)user)->progress, done, total);
}

static SambaStatus runSteps(const SambaRunArguments *arguments, SambaSession *session,
                            SambaArena *arena, SambaSteps *steps, Run *run) {
  if (arguments->save)
    SAMBA_RETURN_IF_ERROR(sambaCheckpointCheckFolder(arguments->save));
  if (arguments->load)
    SAMBA_RETURN_IF_ERROR(sambaSessionLoad(session, arguments->load));
  if (arguments->seed >= 0)
    sambaSessionSeedGenerator(session, (uint64_t)arguments->seed);
  SAMBA_RETURN_IF_ERROR(sambaResultsOpen(arguments, steps, session, arena, &run->results));
  SAMBA_RETURN_IF_ERROR(sambaFeedOpen(arguments, steps, session, arena, &run->feed));

  steps->before_pass = beforePass;
  steps->after_pass = afterPass;
  steps->after_step = afterStep;
  steps->progress = showProgress;
  steps->user = run;
  run->progress = sambaProgressStart(steps->count);
  SambaStatus status = sambaSessionRunSteps(session, steps);
  sambaProgressEnd(&run->progress);
  return status;
}

/* What was counted until a fault, or until Ctrl-C. */
static SambaStatus reportFault(const SambaRunArguments *arguments, SambaSession *session,
                               SambaStatus fault) {
  SambaStatus status = NULL;
  if (arguments->stats)
    status = sambaWriteStatistics(arguments->stats, session, sambaStatusGetMessage(fault));
  if (!arguments->values_only)
    sambaPrintSummary(session);
  if (status)
    fault = sambaStatusNote(fault, "%s", sambaStatusGetMessage(status));
  sambaStatusFree(status);
  return fault;
}

static SambaStatus runSession(const SambaRunArguments *arguments, SambaSession *session,
                              SambaArena *arena, SambaSteps *steps, Run *run) {
  SambaStatus status = runSteps(arguments, session, arena, steps, run);
  if (status)
    return sambaStatusGetCode(status) == SAMBA_FAULT ? reportFault(arguments, session, status)
                                                     : status;
  if (arguments->save)
    SAMBA_RETURN_IF_ERROR(sambaSessionSave(session, arguments->save));
  SAMBA_RETURN_IF_ERROR(sambaResultsWrite(arguments, arena, &run->results));
  if (arguments->stats)
    SAMBA_RETURN_IF_ERROR(sambaWriteStatistics(arguments->stats, session, NULL));
  if (!arguments->values_only)
    sambaPrintSummary(session);
  return sambaResultsCompare(arguments, arena, &run->results);
}

static SambaStatus runPef(const SambaRunArguments *arguments, SambaArena *arena) {
  SambaSimulatedDeviceOptions device;
  SambaSteps steps;
  SambaSession *session = NULL;
  Run run = {0};

  SAMBA_RETURN_IF_ERROR(deviceOptions(arguments, &device));
  SAMBA_RETURN_IF_ERROR(sambaParseSteps(arguments, arena, &steps));
  SambaDeviceFactory factory = sambaSimulatedDevice(&device);
  SAMBA_RETURN_IF_ERROR(sambaSessionOpen(arguments->pef, &factory, &session));

  SambaStatus status = runSession(arguments, session, arena, &steps, &run);
  sambaFeedClose(&run.feed);
  sambaResultsClose(&run.results);
  sambaSessionClose(session);
  return status;
}

static SambaStatus answer(void *user_data, const SambaStrings *positional, SambaArena *arena) {
  SambaRunArguments *arguments = user_data;

  if (positional->size != 1)
    return sambaStatusMake(SAMBA_INVALID,
                           "samba-run wants one PEF, not %zu; --help lists the options",
                           positional->size);
  arguments->pef = positional->data[0];
  return runPef(arguments, arena);
}

/* Long: the options are a table, which points at the variables beside it. */
int main(int argc, char **argv) {
  SambaRunArguments options = {.rtol = -1,
                               .atol = -1,
                               .relative_l2 = -1,
                               .fidelity = "fast",
                               .launch = "hw",
                               .threads = sysconf(_SC_NPROCESSORS_ONLN),
                               .steps = -1,
                               .micro_batches = -1,
                               .seed = -1};
  const SambaOption table[] = {
      {"--input", SAMBA_OPTION_STRINGS, &options.inputs, "NAME=FILE",
       "value of a tensor (.npy or .pb); with a further leading axis, one slice for each step"},
      {"--output", SAMBA_OPTION_STRINGS, &options.outputs, "NAME=FILE",
       "write a tensor as .npy: its value after the last step"},
      {"--each-step", SAMBA_OPTION_STRINGS, &options.each_step, "NAME=FILE",
       "write a tensor as .npy: its values in all steps, stacked"},
      {"--steps", SAMBA_OPTION_INT, &options.steps, "N", "run N times (default 1)"},
      {"--micro-batches", SAMBA_OPTION_INT, &options.micro_batches, "K",
       "a step is ZEROGRAD, K times FWD and BCKWD, then the rest"},
      {"--set", SAMBA_OPTION_STRINGS, &options.set, "NAME=NUMBER",
       "set a hyperparameter, or all of a group (lr, weight_decay, momentum, p)"},
      {"--evaluate", SAMBA_OPTION_FLAG, &options.evaluate, NULL,
       "dropout is off, whatever its rates are"},
      {"--seed", SAMBA_OPTION_INT, &options.seed, "N",
       "start of the random generator, which draws the seeds of dropout (default 0)"},
      {"--load", SAMBA_OPTION_STRING, &options.load, "DIR", "start from this checkpoint"},
      {"--save", SAMBA_OPTION_STRING, &options.save, "DIR",
       "write a checkpoint after the last step: a folder"},
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
      {"--fidelity", SAMBA_OPTION_STRING, &options.fidelity, "fast|cycle",
       "engine that counts cycles: by events, or every vector in every cycle (default fast)"},
      {"--launch", SAMBA_OPTION_STRING, &options.launch, "hw|sw|none",
       "who launches sections: the chip, the host, or at no cost (default hw)"},
      {"--sections", SAMBA_OPTION_STRING, &options.sections, "ID,..",
       "run the sections with these ids, in this order (default: all)"},
      {"--section-types", SAMBA_OPTION_STRING, &options.section_types, "FWD,..",
       "run the sections of these types, in this order (default: all)"},
      {"--graph", SAMBA_OPTION_STRING, &options.graph, "NAME",
       "run only this graph (default: all)"},
      {"--threads", SAMBA_OPTION_INT, &options.threads, "N",
       "host threads (default: all cores); bits do not depend on it"},
      {"--max-cycles", SAMBA_OPTION_INT, &options.max_cycles, "N",
       "a section that takes longer is a fault (default: 100 times its estimate)"},
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
      .more =
          "Exit code: 0, 1 after an error, 2 when an output differs from what --expect names, 130 "
          "after Ctrl-C. After a fault and after Ctrl-C, --stats says what was counted until "
          "then."};
  sambaKeepFreedMemory();
  signal(SIGINT, interrupt);
  SambaStatus status = sambaToolAnswer(&tool, argc, argv, answer, &options);
  sambaArrayFree(&options.inputs);
  sambaArrayFree(&options.outputs);
  sambaArrayFree(&options.each_step);
  sambaArrayFree(&options.expectations);
  sambaArrayFree(&options.set);

  bool stopped = status && interrupted;
  int code = sambaReport(status);
  return stopped ? 128 + SIGINT : code;
}
