/* The pipeline samba-to-rdu; see pipeline.h. */
#include "pipeline/pipeline.h"

#include "dialect/bridge/text_sink.h"
#include "support/text/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
  levelO0 = 1 << 0,
  levelO1 = 1 << 1,
  everyLevel = levelO0 | levelO1,
  onRequest = 1 << 2,  /* only when training is asked for by options */
  onDecisions = 1 << 3 /* only with a decisions file */
};

#define ROW(field, initial, help) {#field, offsetof(SambaPipelineOptions, field), initial, help}
const SambaPipelineOption sambaPipelineOptionTable[] = {
    ROW(entry, "", "the function to compile; none: every public one"),
    ROW(target, "sn40l", "a shipped machine or a machine file"),
    ROW(opt, "o1", "o0 (every operator its own section), o1 (fused) or o3 (searched)"),
    ROW(search_seconds, "",
        "seconds that the search of o3 may take, by its work; none: 3, or 30 to train"),
    ROW(mapping, "section", "section, or spatial: the whole graph is one section"),
    ROW(precision, "mp0", "mp0 (f32), mp1 (contractions in bf16) or mp4 (bf16)"),
    ROW(inference, "true", "false: the graph is trained, as the next four say"),
    ROW(loss, "", "results that are losses, separated by commas"),
    ROW(optimizer, "", "sgd or adamw with settings, sgd,lr=0.1; none: gradients only"),
    ROW(freeze, "", "weights that are not trained, separated by commas"),
    ROW(accumulate, "false", "true: gradients are summed until ZEROGRAD"),
    ROW(io_host_memory, "false", "true: inputs and outputs lie in host memory"),
    ROW(rules, "", "a file of fusion rules, or llama, gpt2, bert or resnet"),
    ROW(decisions, "", "a file of decisions, by the names of layers"),
    ROW(dump, "", "a folder for the plan of each section, as text"),
    {0}};
#undef ROW

/* The steps in order. %e, %t, %o, %s, %p, %f, %d, %u, %r, %h: entry, target, opt, mapping or
 * seconds of the search, precision, rules, decisions, dump; what a request for training says;
 * whether inputs and outputs lie in host memory. */
static const struct {
  SambaPipelinePhase phase;
  unsigned levels;
  const char *text;
} steps[] = {
    {SAMBA_PHASE_ENTER, everyLevel, "samba-select-graphs%e"},

    {SAMBA_PHASE_FOREIGN, everyLevel, "samba-check-foreign"},
    {SAMBA_PHASE_FOREIGN, everyLevel, "convert-tosa-to-samba"},
    {SAMBA_PHASE_FOREIGN, everyLevel, "canonicalize"},
    {SAMBA_PHASE_FOREIGN, everyLevel, "samba-enter-linalg"},
    {SAMBA_PHASE_FOREIGN, everyLevel, "func.func(convert-elementwise-to-linalg)"},
    {SAMBA_PHASE_FOREIGN, everyLevel, "samba-raise-linalg"},
    {SAMBA_PHASE_FOREIGN, everyLevel, "samba-settle-graphs"},
    {SAMBA_PHASE_FOREIGN, everyLevel, "canonicalize"},

    {SAMBA_PHASE_REQUEST, everyLevel | onRequest, "samba-request-training%r"},
    {SAMBA_PHASE_GRAPH, everyLevel, "canonicalize"},
    {SAMBA_PHASE_GRAPH, everyLevel, "cse"},
    {SAMBA_PHASE_GRAPH, levelO1, "samba-raise-idioms"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-differentiate-graph"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-add-optimizers{precision=%p}"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-mixed-precision{preset=%p}"},
    {SAMBA_PHASE_GRAPH, everyLevel, "canonicalize"},
    {SAMBA_PHASE_GRAPH, everyLevel, "cse"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-move-row-factors"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-decompose-composites{target=%t}"},
    {SAMBA_PHASE_GRAPH, everyLevel, "canonicalize"},
    {SAMBA_PHASE_GRAPH, everyLevel, "cse"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-append-in-place"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-add-rows-in-place"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-pad-rows{target=%t}"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-channels-last"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-split-sums{target=%t}"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-materialize-views"},
    {SAMBA_PHASE_GRAPH, levelO1, "samba-stack-products{target=%t}"},
    {SAMBA_PHASE_GRAPH, everyLevel | onDecisions, "samba-pin-decisions{decisions=%d}"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-partition-sections{target=%t opt=%o%s%f}"},
    {SAMBA_PHASE_GRAPH, levelO1, "samba-split-attention"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-update-in-place"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-assign-memory{io_host_memory=%h}"},

    {SAMBA_PHASE_SECTIONS, everyLevel, "samba.section(convert-samba-to-linalg)"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "samba.section(samba-tile-sections%u)"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "samba.section(rdu-verify-mapping)"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "convert-linalg-to-rdu"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "rdu.section(rdu-split-programs)"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "rdu.section(rdu-place)"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "rdu.section(rdu-route)"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "rdu.section(rdu-verify-section)"},

    {SAMBA_PHASE_MAPPINGS, everyLevel, "samba.section(samba-tile-sections%u)"},
};
enum { stepCount = sizeof steps / sizeof *steps };

static const char **fieldOf(SambaPipelineOptions *options, const SambaPipelineOption *option) {
  return (const char **)((char *)options + option->offset);
}

SambaPipelineOptions sambaPipelineWithDefaults(const SambaPipelineOptions *options) {
  SambaPipelineOptions all = *options;
  for (const SambaPipelineOption *option = sambaPipelineOptionTable; option->name; ++option) {
    const char **field = fieldOf(&all, option);
    if (!*field || !**field)
      *field = option->initial;
  }
  if (strcmp(all.optimizer, "none") == 0)
    all.optimizer = "";
  return all;
}

/* A value that a pass option can carry: quoted when it is empty or has spaces or braces. */
static const char *quoted(SambaArena *arena, const char *text) {
  return !text[0] || strpbrk(text, " {}\"'") ? sambaArenaFormat(arena, "'%s'", text) : text;
}

/* Defaults are filled in. */
static SambaStatus checkOptions(const SambaPipelineOptions *options) {
  static const char *const levels[] = {"o0", "o1", "o3", NULL};
  static const char *const mappings[] = {"section", "spatial", NULL};
  static const char *const precisions[] = {"mp0", "mp1", "mp4", "f32", "bf16", NULL};

  const char *opt = options->opt;
  const char *precision = options->precision;
  const char *mapping = options->mapping;

  if (!sambaStringRefIsOneOf(sambaStringRef(opt), levels))
    return sambaStatusMake(SAMBA_INVALID, "opt wants o0, o1 or o3, not '%s'", opt);
  if (!sambaStringRefIsOneOf(sambaStringRef(precision), precisions))
    return sambaStatusMake(SAMBA_INVALID, "precision wants mp0 (f32), mp1 or mp4 (bf16), not '%s'",
                           precision);
  char *end;
  double seconds = strtod(options->search_seconds, &end);
  if (options->search_seconds[0] && (end == options->search_seconds || *end || !(seconds >= 0)))
    return sambaStatusMake(SAMBA_INVALID, "search_seconds wants a number from 0 on, not '%s'",
                           options->search_seconds);
  if (!sambaStringRefIsOneOf(sambaStringRef(mapping), mappings))
    return sambaStatusMake(SAMBA_INVALID, "mapping wants section or spatial, not '%s'", mapping);
  if (strcmp(mapping, "spatial") == 0 && strcmp(opt, "o0") == 0)
    return sambaStatusMake(
        SAMBA_INVALID, "opt=o0 makes every operator a section, but mapping=spatial makes one of "
                       "all; leave one of them out");
  bool trains = strcmp(options->inference, "false") == 0;
  if (!trains && strcmp(options->inference, "true") != 0)
    return sambaStatusMake(SAMBA_INVALID, "inference wants true or false, not '%s'",
                           options->inference);
  bool asks = options->loss[0] || options->optimizer[0] || options->freeze[0] ||
              strcmp(options->accumulate, "false") != 0;
  if (asks && !trains)
    return sambaStatusMake(
        SAMBA_INVALID,
        "loss, optimizer, freeze and accumulate are for training; give inference=false too");
  if (strcmp(options->io_host_memory, "true") != 0 && strcmp(options->io_host_memory, "false") != 0)
    return sambaStatusMake(SAMBA_INVALID, "io_host_memory wants true or false, not '%s'",
                           options->io_host_memory);
  if (options->rules[0] && strcmp(opt, "o0") == 0)
    return sambaStatusMake(SAMBA_INVALID,
                           "rules join operators, and with opt=o0 nothing is joined; use o1");
  return NULL;
}

/* What stands in a step for % and a letter. */
static const char *optionText(SambaArena *arena, const SambaPipelineOptions *options, char letter) {
  switch (letter) {
  case 'e':
    return options->entry[0] ? sambaArenaFormat(arena, "{entry=%s}", quoted(arena, options->entry))
                             : "";
  case 't':
    return quoted(arena, options->target);
  case 'o':
    return options->opt;
  case 's':
    if (strcmp(options->mapping, "spatial") == 0)
      return " mapping=spatial";
    return strcmp(options->opt, "o3") == 0 && options->search_seconds[0]
               ? sambaArenaFormat(arena, " search_seconds=%s", options->search_seconds)
               : "";
  case 'p':
    if (strcmp(options->precision, "f32") == 0)
      return "mp0";
    return strcmp(options->precision, "bf16") == 0 ? "mp4" : options->precision;
  case 'f':
    return options->rules[0] ? sambaArenaFormat(arena, " rules=%s", quoted(arena, options->rules))
                             : "";
  case 'h':
    return options->io_host_memory;
  case 'r':
    return sambaArenaFormat(arena, "{loss=%s optimizer=%s freeze=%s accumulate=%s}",
                            quoted(arena, options->loss), quoted(arena, options->optimizer),
                            quoted(arena, options->freeze), options->accumulate);
  case 'd':
    return quoted(arena, options->decisions);
  default:
    return sambaArenaFormat(arena, "{%s%s%s}", options->dump[0] ? "dump=" : "",
                            options->dump[0] ? quoted(arena, options->dump) : "",
                            strcmp(options->opt, "o3") == 0 ? " compare=true" : "");
  }
}

/* Appends the steps of a phase, after a comma when some stand there already. */
static void appendPhase(SambaArena *arena, const SambaPipelineOptions *options,
                        SambaPipelinePhase phase, SambaText *text) {
  unsigned level = strcmp(options->opt, "o0") == 0 ? levelO0 : levelO1;
  for (size_t s = 0; s < stepCount; ++s) {
    if (steps[s].phase != phase || !(steps[s].levels & level))
      continue;
    if ((steps[s].levels & onRequest) && strcmp(options->inference, "false") != 0)
      continue;
    if ((steps[s].levels & onDecisions) && !options->decisions[0])
      continue;
    if (text->size)
      sambaTextAppendC(text, ",");
    for (const char *at = steps[s].text; *at; ++at) {
      if (*at == '%')
        sambaTextAppendC(text, optionText(arena, options, *++at));
      else
        sambaTextAppend(text, at, 1);
    }
  }
}

SambaStatus sambaPipelineText(SambaArena *arena, const SambaPipelineOptions *options,
                              SambaPipelinePhase phase, const char **out_text) {
  SambaPipelineOptions all = sambaPipelineWithDefaults(options);
  SambaText text = {0};
  SAMBA_RETURN_IF_ERROR(checkOptions(&all));
  appendPhase(arena, &all, phase, &text);
  *out_text = sambaTextToArena(&text, arena);
  return NULL;
}

enum {
  ENTER = 1 << SAMBA_PHASE_ENTER | 1 << SAMBA_PHASE_FOREIGN,
  DOWN = 1 << SAMBA_PHASE_REQUEST | 1 << SAMBA_PHASE_GRAPH | 1 << SAMBA_PHASE_SECTIONS
};
const SambaPipeline sambaPipelineTable[] = {
    {"samba-to-rdu", "From a traced graph to placed and routed rdu sections",
     1 << SAMBA_PHASE_ENTER | DOWN},
    {"tosa-to-samba", "From TOSA to a graph of samba operations", ENTER},
    {"tosa-to-rdu", "From TOSA to placed and routed rdu sections", ENTER | DOWN},
    {"linalg-to-samba", "From linalg on tensors to a graph of samba and structured operations",
     ENTER},
    {"linalg-to-rdu", "From linalg on tensors to placed and routed rdu sections", ENTER | DOWN},
    {0}};

SambaStatus sambaPipelineAdd(MlirOpPassManager manager, const SambaPipeline *pipeline,
                             const char *const *values) {
  SambaArena arena = {0};
  SambaText passes = {0};
  SambaText message = {0};
  SambaPipelineOptions options = {0};
  for (size_t i = 0; sambaPipelineOptionTable[i].name; ++i)
    *fieldOf(&options, &sambaPipelineOptionTable[i]) = values[i];
  options = sambaPipelineWithDefaults(&options);
  SambaStatus status = checkOptions(&options);

  if (!status) {
    for (unsigned phase = 0; phase <= SAMBA_PHASE_SECTIONS; ++phase)
      if (pipeline->phases >> phase & 1)
        appendPhase(&arena, &options, (SambaPipelinePhase)phase, &passes);
    MlirStringRef whole = mlirStringRefCreate(passes.data, passes.size);
    if (mlirLogicalResultIsFailure(
            mlirOpPassManagerAddPipeline(manager, whole, sambaTextSink, &message)))
      status = sambaStatusMake(SAMBA_INVALID, "%s", sambaTextGet(&message));
  }

  sambaTextFree(&passes);
  sambaTextFree(&message);
  sambaArenaDestroy(&arena);
  return status;
}
