/* What goes into a run: inputs that stay, and inputs that are fed slice by slice; see run.h. */
#include "tools/samba-run/run.h"

#include "support/number/shape.h"
#include "support/text/command_line.h"

#include <stdio.h>
#include <stdlib.h>

static const char *formatShape(char *buffer, const SambaTensorInfo *info) {
  return sambaShapeFormat(buffer, SAMBA_SHAPE_TEXT_BYTES, info->rank, info->dims,
                          sambaDTypeName(info->dtype));
}

/* Has the tensor the type and shape of the model's behind its first `leading` axes? */
static bool fits(const SambaTensorFile *tensor, const SambaTensorInfo *info, uint32_t leading) {
  bool same = tensor->dtype == info->dtype && tensor->rank == info->rank + leading;
  for (uint32_t a = leading; a < tensor->rank && same; ++a)
    same = tensor->dims[a] == info->dims[a - leading];
  return same;
}

static SambaStatus addSliced(SambaFeed *feed, const SambaSteps *steps, const SambaTensorInfo *info,
                             const char *path, const SambaTensorFile *tensor) {
  uint64_t batches = steps->micro_batches ? steps->micro_batches : 1;
  uint64_t slices = (uint64_t)tensor->dims[0];
  if (slices != steps->count && slices != steps->count * batches) {
    char shape[SAMBA_SHAPE_TEXT_BYTES];
    SambaStatus status = sambaStatusMake(
        SAMBA_INVALID, "input '%.*s': %s has %llu slices of %s, but the run has %llu steps",
        SAMBA_STRING_ARGS(info->name), path, (unsigned long long)slices, formatShape(shape, info),
        (unsigned long long)steps->count);
    if (batches > 1)
      status = sambaStatusNote(status, "a slice for each micro-batch makes %llu",
                               (unsigned long long)(steps->count * batches));
    return status;
  }

  sambaArrayAppend(&feed->sliced,
                   (SambaSlicedInput){.info = *info,
                                      .data = tensor->data,
                                      .bytes = tensor->bytes / slices,
                                      .passes = slices == steps->count ? batches : 1});
  return NULL;
}

static SambaStatus readInput(const SambaRunArguments *arguments, const SambaSteps *steps, size_t at,
                             SambaArena *arena, SambaFeed *feed) {
  const char *name, *path;
  SambaTensorFile tensor;
  SambaTensorInfo info;
  const SambaStrings *inputs = &arguments->inputs;
  SAMBA_RETURN_IF_ERROR(sambaSplitPair(arena, "--input", inputs->data[at], &name, &path));
  for (size_t j = 0; j < at; ++j)
    if (strncmp(inputs->data[j], name, strlen(name)) == 0 && inputs->data[j][strlen(name)] == '=')
      return sambaStatusMake(SAMBA_INVALID, "--input gives '%s' twice; once is enough", name);
  SAMBA_RETURN_IF_ERROR(sambaTensorFileRead(path, arena, &tensor));
  SAMBA_RETURN_IF_ERROR(sambaSessionGetTensorInfo(feed->session, sambaStringRef(name), &info));

  bool has_steps = arguments->steps >= 0 || arguments->micro_batches >= 0;
  if (has_steps && fits(&tensor, &info, 1))
    return addSliced(feed, steps, &info, path, &tensor);
  if (!fits(&tensor, &info, 0) && sambaSessionSkipInput(feed->session, info.name)) {
    fprintf(stderr,
            "remark: input '%s' does not have the type or shape of the data in %s; no section "
            "reads it\n",
            name, path);
    return NULL;
  }
  return sambaSessionSetInput(feed->session, info.name, tensor.dtype, tensor.rank, tensor.dims,
                              tensor.data);
}

static SambaStatus checkNothingMissing(const SambaSession *session, const SambaRunOrder *order) {
  SambaTensorInfo missing;
  if (!sambaSessionFindMissingInput(session, order, &missing))
    return NULL;
  char shape[SAMBA_SHAPE_TEXT_BYTES];
  return sambaStatusMake(SAMBA_INVALID, "input '%.*s' (%s) has no value; give --input %.*s=FILE",
                         SAMBA_STRING_ARGS(missing.name), formatShape(shape, &missing),
                         SAMBA_STRING_ARGS(missing.name));
}

SambaStatus sambaFeedOpen(const SambaRunArguments *arguments, const SambaSteps *steps,
                          SambaSession *session, SambaArena *arena, SambaFeed *out_feed) {
  out_feed->session = session;
  for (size_t i = 0; i < arguments->inputs.size; ++i)
    SAMBA_RETURN_IF_ERROR(readInput(arguments, steps, i, arena, out_feed));
  SAMBA_RETURN_IF_ERROR(sambaFeedPass(out_feed, 0));
  return arguments->timing_only ? NULL : checkNothingMissing(session, &steps->run.order);
}

SambaStatus sambaFeedPass(const SambaFeed *feed, uint64_t pass) {
  for (size_t i = 0; i < feed->sliced.size; ++i) {
    const SambaSlicedInput *input = &feed->sliced.data[i];
    const SambaTensorInfo *info = &input->info;
    SAMBA_RETURN_IF_ERROR(sambaSessionSetInput(feed->session, info->name, info->dtype, info->rank,
                                               info->dims,
                                               input->data + pass / input->passes * input->bytes));
  }
  return NULL;
}

void sambaFeedClose(SambaFeed *feed) { sambaArrayFree(&feed->sliced); }
