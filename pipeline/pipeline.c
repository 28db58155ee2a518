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
  onRequest = 1 << 2 /* only when training is asked for by options */
};

/* The steps in order. %t, %o, %p, %d, %r, %h: target, opt, precision; decisions and dump; what a
 * request for training says; whether inputs and outputs lie in host memory. */
static const struct {
  SambaPipelinePhase phase;
  unsigned levels;
  const char *text;
} steps[] = {
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
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-decompose-composites{target=%t}"},
    {SAMBA_PHASE_GRAPH, everyLevel, "canonicalize"},
    {SAMBA_PHASE_GRAPH, everyLevel, "cse"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-materialize-views"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-partition-sections{target=%t opt=%o}"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-update-in-place"},
    {SAMBA_PHASE_GRAPH, everyLevel, "samba-assign-memory{io_host_memory=%h}"},

    {SAMBA_PHASE_SECTIONS, everyLevel, "samba.section(convert-samba-to-linalg)"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "samba.section(samba-tile-sections%d)"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "samba.section(rdu-verify-mapping)"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "convert-linalg-to-rdu"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "rdu.section(rdu-split-programs)"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "rdu.section(rdu-place)"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "rdu.section(rdu-route)"},
    {SAMBA_PHASE_SECTIONS, everyLevel, "rdu.section(rdu-verify-section)"},
};
enum { stepCount = sizeof steps / sizeof *steps };

static const char *or(const char *value, const char *otherwise) {
  return value && value[0] ? value : otherwise;
}

SambaPipelineOptions sambaPipelineWithDefaults(const SambaPipelineOptions *options) {
  const char *optimizer = options->optimizer;
  return (SambaPipelineOptions){
      .target = or(options->target, "sn40l"),
      .opt = or(options->opt, "o1"),
      .mapping = or(options->mapping, "section"),
      .precision = or(options->precision, "mp0"),
      .inference = or(options->inference, "true"),
      .loss = or(options->loss, ""),
      .optimizer = optimizer && strcmp(optimizer, "none") == 0 ? "" : or(optimizer, ""),
      .freeze = or(options->freeze, ""),
      .accumulate = or(options->accumulate, "false"),
      .io_host_memory = or(options->io_host_memory, "false"),
      .rules = or(options->rules, ""),
      .decisions = or(options->decisions, ""),
      .dump = or(options->dump, ""),
  };
}

/* A value that a pass option can carry: quoted when it is empty or has spaces or braces. */
static const char *quoted(SambaArena *arena, const char *text) {
  return !text[0] || strpbrk(text, " {}\"'") ? sambaArenaFormat(arena, "'%s'", text) : text;
}

/* Defaults are filled in. */
static SambaStatus checkOptions(const SambaPipelineOptions *options) {
  static const char *const levels[] = {"o0", "o1", "o3", NULL};
  static const char *const precisions[] = {"mp0", "mp1", "mp4", "f32", "bf16", NULL};

  const char *opt = options->opt;
  const char *precision = options->precision;
  const char *mapping = options->mapping;

  if (!sambaStringRefIsOneOf(sambaStringRef(opt), levels))
    return sambaStatusMake(SAMBA_INVALID, "opt wants o0, o1 or o3, not '%s'", opt);
  if (strcmp(opt, "o3") == 0)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "opt=o3 (search) is not available in this version; use o0 or o1");
  if (!sambaStringRefIsOneOf(sambaStringRef(precision), precisions))
    return sambaStatusMake(SAMBA_INVALID, "precision wants mp0 (f32), mp1 or mp4 (bf16), not '%s'",
                           precision);
  if (strcmp(mapping, "section") != 0)
    return sambaStatusMake(strcmp(mapping, "spatial") == 0 ? SAMBA_UNSUPPORTED : SAMBA_INVALID,
                           strcmp(mapping, "spatial") == 0
                               ? "mapping=%s is not available in this version; use section"
                               : "mapping wants section or spatial, not '%s'",
                           mapping);
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
  if (options->rules[0])
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "rules=%s: fusion rule files are not available in this version",
                           options->rules);
  return NULL;
}

/* What stands in a step for % and a letter. */
static const char *optionText(SambaArena *arena, const SambaPipelineOptions *options, char letter) {
  switch (letter) {
  case 't':
    return quoted(arena, options->target);
  case 'o':
    return options->opt;
  case 'p':
    if (strcmp(options->precision, "f32") == 0)
      return "mp0";
    return strcmp(options->precision, "bf16") == 0 ? "mp4" : options->precision;
  case 'h':
    return options->io_host_memory;
  case 'r':
    return sambaArenaFormat(arena, "{loss=%s optimizer=%s freeze=%s accumulate=%s}",
                            quoted(arena, options->loss), quoted(arena, options->optimizer),
                            quoted(arena, options->freeze), options->accumulate);
  default:
    return sambaArenaFormat(arena, "{%s%s%s%s}", options->decisions[0] ? "decisions=" : "",
                            options->decisions[0] ? quoted(arena, options->decisions) : "",
                            options->dump[0] ? " dump=" : "",
                            options->dump[0] ? quoted(arena, options->dump) : "");
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

const char sambaPipelineDescription[] =
    "From a traced graph to placed and routed rdu sections; options target= opt= mapping= "
    "precision= inference= loss= optimizer= freeze= accumulate= io_host_memory= rules= decisions= "
    "dump=";

static const char *takeValue(SambaArena *arena, SambaStringRef text, size_t *at) {
  char quote = *at < text.size && (text.data[*at] == '\'' || text.data[*at] == '"')
                   ? text.data[(*at)++]
                   : ' ';
  size_t start = *at;
  while (*at < text.size && text.data[*at] != quote)
    ++*at;
  const char *value = sambaArenaFormat(arena, "%.*s", (int)(*at - start), text.data + start);
  *at += *at < text.size && quote != ' ';
  return value;
}

/* The texts of the values are in the arena. */
static SambaStatus readOptions(SambaArena *arena, SambaStringRef text,
                               SambaPipelineOptions *out_options) {
  static const struct {
    const char *name;
    size_t offset;
  } names[] = {{"target", offsetof(SambaPipelineOptions, target)},
               {"opt", offsetof(SambaPipelineOptions, opt)},
               {"mapping", offsetof(SambaPipelineOptions, mapping)},
               {"precision", offsetof(SambaPipelineOptions, precision)},
               {"inference", offsetof(SambaPipelineOptions, inference)},
               {"loss", offsetof(SambaPipelineOptions, loss)},
               {"optimizer", offsetof(SambaPipelineOptions, optimizer)},
               {"freeze", offsetof(SambaPipelineOptions, freeze)},
               {"accumulate", offsetof(SambaPipelineOptions, accumulate)},
               {"io_host_memory", offsetof(SambaPipelineOptions, io_host_memory)},
               {"rules", offsetof(SambaPipelineOptions, rules)},
               {"decisions", offsetof(SambaPipelineOptions, decisions)},
               {"dump", offsetof(SambaPipelineOptions, dump)}};
  enum { nameCount = sizeof names / sizeof *names };
  *out_options = (SambaPipelineOptions){0};

  for (size_t at = 0; at < text.size;) {
    if (text.data[at] == ' ') {
      ++at;
      continue;
    }
    size_t start = at;
    while (at < text.size && text.data[at] != '=' && text.data[at] != ' ')
      ++at;
    SambaStringRef name = {text.data + start, at - start};
    int i = 0;
    while (i < nameCount && !sambaStringRefEqualC(name, names[i].name))
      ++i;
    if (i == nameCount || at == text.size || text.data[at] != '=')
      return sambaStatusMake(
          SAMBA_INVALID,
          "samba-to-rdu has no option '%.*s'; it takes target=, opt=, mapping=, precision=, "
          "inference=, loss=, optimizer=, freeze=, accumulate=, io_host_memory=, rules=, "
          "decisions= "
          "and dump=",
          SAMBA_STRING_ARGS(name));
    ++at;
    *(const char **)((char *)out_options + names[i].offset) = takeValue(arena, text, &at);
  }

  return NULL;
}

SambaStatus sambaPipelineAdd(MlirOpPassManager manager, SambaStringRef text) {
  SambaArena arena = {0};
  SambaText passes = {0};
  SambaText message = {0};
  SambaPipelineOptions options;
  SambaStatus status = readOptions(&arena, text, &options);

  options = sambaPipelineWithDefaults(&options);
  if (!status)
    status = checkOptions(&options);
  if (!status) {
    appendPhase(&arena, &options, SAMBA_PHASE_REQUEST, &passes);
    appendPhase(&arena, &options, SAMBA_PHASE_GRAPH, &passes);
    appendPhase(&arena, &options, SAMBA_PHASE_SECTIONS, &passes);
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
