/* The optimizers that a training graph may ask for; see optimizer_kinds.h. */
#include "dialect/samba/table/training/optimizer_kinds.h"

#include "support/text/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTING(setting, ...) {.name = SAMBA_SETTING_##setting, .most = HUGE_VAL, __VA_ARGS__}
#define BETA(setting, value)                                                                       \
  {.name = SAMBA_SETTING_##setting, .otherwise = value, .most = 1, .below_most = true}

static const SambaOptimizerKind kinds[] = {
    {.kind = SAMBA_OPTIMIZER_SGD,
     .name = "sgd",
     .states = {"velocity"},
     .setting_count = 4,
     .settings = {SETTING(LR, .required = true, .bound = true),
                  SETTING(MOMENTUM, .bound = true),
                  SETTING(WEIGHT_DECAY, .bound = true),
                  {.name = SAMBA_SETTING_NESTEROV, .most = 1}}},
    {.kind = SAMBA_OPTIMIZER_ADAMW,
     .name = "adamw",
     .states = {"exp_avg", "exp_avg_sq", "fp32"},
     .setting_count = 7,
     .settings = {SETTING(LR, .otherwise = 1e-3, .bound = true),
                  SETTING(WEIGHT_DECAY, .bound = true),
                  BETA(BETA1, 0.9),
                  BETA(BETA2, 0.997),
                  SETTING(EPS, .otherwise = 1e-8),
                  SETTING(MAX_GRAD_NORM, .otherwise = 0),
                  {.name = SAMBA_SETTING_FP32_PARAMS, .most = 1, .rare = true}}}};
enum { kindCount = sizeof kinds / sizeof *kinds };

const char *sambaOptimizerSettingName(SambaOptimizerSettingName name) {
  static const char *const names[] = {"lr",    "momentum", "weight_decay",  "nesterov",   "beta1",
                                      "beta2", "eps",      "max_grad_norm", "fp32_params"};
  return names[name];
}

const SambaOptimizerKind *sambaOptimizerFind(SambaStringRef name) {
  for (size_t i = 0; i < kindCount; ++i)
    if (sambaStringRefEqualC(name, kinds[i].name))
      return &kinds[i];
  return NULL;
}

SambaStatus sambaOptimizerUnknown(SambaStringRef name) {
  return sambaStatusMake(SAMBA_UNSUPPORTED, "there is no optimizer '%.*s'; there are sgd and adamw",
                         SAMBA_STRING_ARGS(name));
}

void sambaOptimizerDefaults(const SambaOptimizerKind *kind, double values[SAMBA_SETTING_COUNT]) {
  memset(values, 0, SAMBA_SETTING_COUNT * sizeof *values);
  for (uint32_t i = 0; i < kind->setting_count; ++i)
    values[kind->settings[i].name] = kind->settings[i].required ? NAN : kind->settings[i].otherwise;
}

static SambaStatus unknownSetting(const SambaOptimizerKind *kind, SambaStringRef name) {
  char known[160] = "";
  size_t size = 0;
  for (uint32_t i = 0; i < kind->setting_count; ++i)
    size += (size_t)snprintf(known + size, sizeof known - size, "%s%s", i ? ", " : "",
                             sambaOptimizerSettingName(kind->settings[i].name));
  return sambaStatusMake(SAMBA_INVALID, "%s has no setting '%.*s'; it has %s", kind->name,
                         SAMBA_STRING_ARGS(name), known);
}

SambaStatus sambaOptimizerSet(const SambaOptimizerKind *kind, SambaStringRef name, double value,
                              double *values) {
  for (uint32_t i = 0; i < kind->setting_count; ++i) {
    const SambaOptimizerSetting *setting = &kind->settings[i];
    if (!sambaStringRefEqualC(name, sambaOptimizerSettingName(setting->name)))
      continue;
    bool fits = isfinite(value) && value >= setting->least &&
                (setting->below_most ? value < setting->most : value <= setting->most);
    if (!fits)
      return sambaStatusMake(SAMBA_INVALID, "%s: %s is %g, but must be a number from %g to %s%g",
                             kind->name, sambaOptimizerSettingName(setting->name), value,
                             setting->least, setting->below_most ? "below " : "", setting->most);
    values[setting->name] = value;
    return NULL;
  }
  return unknownSetting(kind, name);
}

SambaStatus sambaOptimizerCheck(const SambaOptimizerKind *kind,
                                const double values[SAMBA_SETTING_COUNT]) {
  for (uint32_t i = 0; i < kind->setting_count; ++i)
    if (isnan(values[kind->settings[i].name]))
      return sambaStatusMake(SAMBA_INVALID, "%s wants %s, for example %s,%s=0.1", kind->name,
                             sambaOptimizerSettingName(kind->settings[i].name), kind->name,
                             sambaOptimizerSettingName(kind->settings[i].name));
  return NULL;
}

/* "lr=0.1" */
static SambaStatus parseSetting(const SambaOptimizerKind *kind, SambaStringRef text, bool *given,
                                double *values) {
  const char *equals = memchr(text.data, '=', text.size);
  SambaStringRef name = {text.data, equals ? (size_t)(equals - text.data) : text.size};
  char number[40], *end = number;
  size_t size = equals ? text.size - name.size - 1 : 0;
  double value = 0;

  if (size && size < sizeof number) {
    memcpy(number, equals + 1, size);
    number[size] = 0;
    value = strtod(number, &end);
  }
  if (!size || size >= sizeof number || *end)
    return sambaStatusMake(SAMBA_INVALID, "%s: '%.*s' is no setting; settings are NAME=NUMBER",
                           kind->name, SAMBA_STRING_ARGS(text));

  SAMBA_RETURN_IF_ERROR(sambaOptimizerSet(kind, name, value, values));
  for (uint32_t i = 0; i < kind->setting_count; ++i) {
    if (!sambaStringRefEqualC(name, sambaOptimizerSettingName(kind->settings[i].name)))
      continue;
    if (given[i])
      return sambaStatusMake(SAMBA_INVALID, "%s: %.*s is given twice; once is enough", kind->name,
                             SAMBA_STRING_ARGS(name));
    given[i] = true;
  }
  return NULL;
}

SambaStatus sambaOptimizerParse(SambaStringRef text, const SambaOptimizerKind **out_kind,
                                double out_values[SAMBA_SETTING_COUNT]) {
  bool given[SAMBA_MAX_OPTIMIZER_SETTINGS] = {false};
  size_t at = 0;
  *out_kind = NULL;

  while (at <= text.size) {
    const char *comma = memchr(text.data + at, ',', text.size - at);
    size_t size = comma ? (size_t)(comma - text.data) - at : text.size - at;
    SambaStringRef part = {text.data + at, size};
    at += size + 1;
    if (*out_kind) {
      SAMBA_RETURN_IF_ERROR(parseSetting(*out_kind, part, given, out_values));
      continue;
    }
    *out_kind = sambaOptimizerFind(part);
    if (!*out_kind)
      return sambaOptimizerUnknown(part);
    sambaOptimizerDefaults(*out_kind, out_values);
  }

  return sambaOptimizerCheck(*out_kind, out_values);
}

void sambaOptimizerAppendSettings(SambaText *text, const SambaOptimizerKind *kind,
                                  const double *values) {
  bool any = false;
  for (uint32_t i = 0; i < kind->setting_count; ++i) {
    const SambaOptimizerSetting *setting = &kind->settings[i];
    if (setting->bound || (setting->rare && values[setting->name] == 0))
      continue;
    sambaTextFormat(text, "%s%s = %.9g", any ? ", " : " {",
                    sambaOptimizerSettingName(setting->name), values[setting->name]);
    any = true;
  }
  sambaTextAppendC(text, any ? "}" : "");
}
