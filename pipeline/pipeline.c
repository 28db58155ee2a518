/* The pipeline samba-to-rdu; see pipeline.h. */
#include "pipeline/pipeline.h"

#include "dialect/bridge/text_sink.h"
#include "support/text/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The steps in order. %t, %o, %p, %d: target, opt, precision and decisions options. */
static const char *const steps[] = {
    "canonicalize",
    "cse",
    "samba-raise-idioms",
    "samba-mixed-precision{preset=%p}",
    "canonicalize",
    "cse",
    "samba-decompose-composites{target=%t}",
    "canonicalize",
    "cse",
    "samba-materialize-views",
    "samba-partition-sections{target=%t opt=%o}",
    "samba-assign-memory",
    "samba.section(convert-samba-to-linalg)", /* the back of sambaPipelineTexts begins here */
    "samba.section(samba-tile-sections%d)",
    "samba.section(rdu-verify-mapping)",
    "convert-linalg-to-rdu",
    "rdu.section(rdu-split-programs)",
    "rdu.section(rdu-place)",
    "rdu.section(rdu-route)",
    "rdu.section(rdu-verify-section)",
};
enum { stepCount = sizeof steps / sizeof *steps };

static const char *or(const char *value, const char *otherwise) {
  return value && value[0] ? value : otherwise;
}

/* A value that a pass option can carry: quoted when it has spaces or braces. */
static const char *quoted(SambaArena *arena, const char *text) {
  return strpbrk(text, " {}\"'") ? sambaArenaFormat(arena, "'%s'", text) : text;
}

static SambaStatus checkOptions(const SambaPipelineOptions *options) {
  static const char *const levels[] = {"o0", "o1", "o3", NULL};
  static const char *const precisions[] = {"mp0", "mp1", "mp4", "f32", "bf16", NULL};
  const char *opt = or(options->opt, "o1");
  const char *precision = or(options->precision, "mp0");
  const char *mapping = or(options->mapping, "section");

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
  if (strcmp(or(options->inference, "true"), "true") != 0)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "inference=%s: training is not available in this version",
                           options->inference);
  if (options->rules && options->rules[0])
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "rules=%s: fusion rule files are not available in this version",
                           options->rules);
  return NULL;
}

/* Steps [first, end). */
static const char *stepsText(SambaArena *arena, const SambaPipelineOptions *options, size_t first,
                             size_t end) {
  const char *opt = or(options->opt, "o1");
  const char *precision = or(options->precision, "mp0");

  if (strcmp(precision, "f32") == 0)
    precision = "mp0";
  if (strcmp(precision, "bf16") == 0)
    precision = "mp4";
  SambaText text = {0};

  for (size_t s = first; s < end; ++s) {
    if (strcmp(opt, "o0") == 0 && strcmp(steps[s], "samba-raise-idioms") == 0)
      continue;
    if (text.size)
      sambaTextAppendC(&text, ",");
    for (const char *at = steps[s]; *at; ++at) {
      const char *value = NULL;
      if (*at == '%') {
        switch (*++at) {
        case 't':
          value = quoted(arena, or(options->target, "sn40l"));
          break;
        case 'o':
          value = opt;
          break;
        case 'p':
          value = precision;
          break;
        default:
          value = options->decisions && options->decisions[0]
                      ? sambaArenaFormat(arena, "{decisions=%s}", quoted(arena, options->decisions))
                      : "";
          break;
        }
      }
      if (value)
        sambaTextAppendC(&text, value);
      else
        sambaTextAppend(&text, at, 1);
    }
  }

  return sambaTextToArena(&text, arena);
}

SambaStatus sambaPipelineTexts(SambaArena *arena, const SambaPipelineOptions *options,
                               const char **out_front, const char **out_back) {
  SAMBA_RETURN_IF_ERROR(checkOptions(options));
  size_t back = 0;
  while (!strstr(steps[back], "convert-samba-to-linalg"))
    ++back;
  *out_front = stepsText(arena, options, 0, back);
  *out_back = stepsText(arena, options, back, stepCount);
  return NULL;
}

const char sambaPipelineDescription[] =
    "From a traced graph to placed and routed rdu sections; options target= opt= mapping= "
    "precision= inference= rules= "
    "decisions=";

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
               {"rules", offsetof(SambaPipelineOptions, rules)},
               {"decisions", offsetof(SambaPipelineOptions, decisions)}};
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
          "inference=, rules= and decisions=",
          SAMBA_STRING_ARGS(name));
    ++at;
    *(const char **)((char *)out_options + names[i].offset) = takeValue(arena, text, &at);
  }

  return NULL;
}

SambaStatus sambaPipelineAdd(MlirOpPassManager manager, SambaStringRef text) {
  SambaArena arena = {0};
  SambaText message = {0};
  SambaPipelineOptions options;
  SambaStatus status = readOptions(&arena, text, &options);
  if (!status)
    status = checkOptions(&options);
  if (!status) {
    MlirStringRef passes =
        mlirStringRefCreateFromCString(stepsText(&arena, &options, 0, stepCount));
    if (mlirLogicalResultIsFailure(
            mlirOpPassManagerAddPipeline(manager, passes, sambaTextSink, &message)))
      status = sambaStatusMake(SAMBA_INVALID, "%s", sambaTextGet(&message));
  }
  sambaTextFree(&message);
  sambaArenaDestroy(&arena);
  return status;
}
