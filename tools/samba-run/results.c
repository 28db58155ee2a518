/* What comes out of a run: values after the last step, values stacked over the steps, comparison;
 * see run.h. */
#include "tools/samba-run/run.h"

#include "support/file/atomic_file.h"
#include "support/text/command_line.h"

#include <stdlib.h>

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
static SambaStatus checkFiles(const SambaRunArguments *arguments, SambaArena *arena) {
  SambaStrings inputs = {0}, outputs = {0};
  sambaArrayAppend(&inputs, arguments->pef);
  sambaArrayAppend(&outputs, arguments->stats);

  SambaStatus status = addPaths(arena, "--input", &arguments->inputs, &inputs);
  if (!status)
    status = addPaths(arena, "--expect", &arguments->expectations, &inputs);
  if (!status)
    status = addPaths(arena, "--output", &arguments->outputs, &outputs);
  if (!status)
    status = addPaths(arena, "--each-step", &arguments->each_step, &outputs);
  if (!status)
    status = sambaCheckOutputs(&outputs, &inputs);
  sambaArrayFree(&inputs);
  sambaArrayFree(&outputs);
  return status;
}

static SambaStatus findPair(const SambaSession *session, SambaArena *arena, const char *option,
                            const char *pair, SambaTensorInfo *out_info, const char **out_path) {
  const char *name;
  SAMBA_RETURN_IF_ERROR(sambaSplitPair(arena, option, pair, &name, out_path));
  return sambaSessionGetTensorInfo(session, sambaStringRef(name), out_info);
}

static SambaStatus findOutput(const SambaSession *session, SambaArena *arena, const char *option,
                              const char *pair, SambaTensorInfo *out_info, const char **out_path) {
  SAMBA_RETURN_IF_ERROR(findPair(session, arena, option, pair, out_info, out_path));
  size_t length = strlen(*out_path);
  if (length < 4 || strcmp(*out_path + length - 4, ".npy") != 0)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "%s: outputs are written as .npy; give a name that ends so", *out_path);
  return NULL;
}

/* Does each forward pass make a new value? What accumulates or is updated has one for each step. */
static bool isOfPass(const SambaSession *session, const SambaTensorInfo *info) {
  SambaTensorInfo updated = *info;
  if (info->kind == SAMBA_SYMBOL_UPDATE && info->update_of.size)
    sambaStatusFree(sambaSessionGetTensorInfo(session, info->update_of, &updated));
  switch (updated.kind) {
  case SAMBA_SYMBOL_WEIGHT:
  case SAMBA_SYMBOL_OPTIMIZER_STATE:
  case SAMBA_SYMBOL_GRADIENT:
  case SAMBA_SYMBOL_UPDATE:
    return false;
  default:
    return true;
  }
}

static SambaStatus openStack(const SambaSteps *steps, const SambaTensorInfo *info, const char *path,
                             SambaResults *results) {
  SambaStack stack = {.info = *info, .of_pass = isOfPass(results->session, info)};
  int64_t dims[SAMBA_TENSOR_FILE_MAX_RANK + 1];
  if (info->rank >= SAMBA_TENSOR_FILE_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "tensor '%.*s' has too many axes to be stacked",
                           SAMBA_STRING_ARGS(info->name));
  dims[0] =
      (int64_t)steps->count * (stack.of_pass && steps->micro_batches ? steps->micro_batches : 1);
  for (uint32_t a = 0; a < info->rank; ++a)
    dims[a + 1] = info->dims[a];

  SAMBA_RETURN_IF_ERROR(sambaNpyBegin(path, info->dtype, info->rank + 1, dims, &stack.file));
  sambaArrayAppend(&results->stacks, stack);
  return NULL;
}

static SambaStatus openAll(const SambaRunArguments *arguments, const SambaSteps *steps,
                           SambaArena *arena, SambaResults *results) {
  SambaTensorInfo info;
  const char *path;
  for (size_t i = 0; i < arguments->outputs.size; ++i)
    SAMBA_RETURN_IF_ERROR(
        findOutput(results->session, arena, "--output", arguments->outputs.data[i], &info, &path));
  for (size_t i = 0; i < arguments->expectations.size; ++i) {
    SAMBA_RETURN_IF_ERROR(findPair(results->session, arena, "--expect",
                                   arguments->expectations.data[i], &info, &path));
    SAMBA_RETURN_IF_ERROR(sambaTensorFileRead(path, arena, &results->references[i]));
  }

  for (size_t i = 0; i < arguments->each_step.size; ++i)
    SAMBA_RETURN_IF_ERROR(findOutput(results->session, arena, "--each-step",
                                     arguments->each_step.data[i], &info, &path));
  SAMBA_RETURN_IF_ERROR(checkFiles(arguments, arena));
  for (size_t i = 0; i < arguments->each_step.size; ++i) {
    SAMBA_RETURN_IF_ERROR(findOutput(results->session, arena, "--each-step",
                                     arguments->each_step.data[i], &info, &path));
    SAMBA_RETURN_IF_ERROR(openStack(steps, &info, path, results));
  }
  return NULL;
}

SambaStatus sambaResultsOpen(const SambaRunArguments *arguments, const SambaSteps *steps,
                             SambaSession *session, SambaArena *arena, SambaResults *out_results) {
  out_results->session = session;
  out_results->references =
      SAMBA_ARENA_ARRAY(arena, SambaTensorFile, arguments->expectations.size + 1);
  bool wants_values =
      arguments->outputs.size + arguments->each_step.size + arguments->expectations.size ||
      arguments->save;
  if (arguments->timing_only && wants_values)
    return sambaStatusMake(SAMBA_INVALID, "--output, --each-step, --save and --expect want values, "
                                          "which --timing-only leaves out");
  return openAll(arguments, steps, arena, out_results);
}

static SambaStatus addValues(SambaResults *results, bool of_pass) {
  for (size_t i = 0; i < results->stacks.size; ++i) {
    SambaStack *stack = &results->stacks.data[i];
    SambaTensor *tensor;
    if (stack->of_pass != of_pass)
      continue;
    SAMBA_RETURN_IF_ERROR(sambaSessionReadTensor(results->session, stack->info.name, &tensor));
    SambaStatus status = sambaAtomicFileWrite(&stack->file, sambaTensorGetDataPtr(tensor),
                                              (size_t)sambaTensorGetNumBytes(tensor));
    sambaTensorRelease(tensor);
    SAMBA_RETURN_IF_ERROR(status);
  }
  return NULL;
}

SambaStatus sambaResultsAddPass(SambaResults *results) { return addValues(results, true); }
SambaStatus sambaResultsAddStep(SambaResults *results) { return addValues(results, false); }

SambaStatus sambaResultsWrite(const SambaRunArguments *arguments, SambaArena *arena,
                              SambaResults *results) {
  for (size_t i = 0; i < arguments->outputs.size; ++i) {
    SambaTensorInfo info;
    const char *path;
    SambaTensor *tensor;
    SAMBA_RETURN_IF_ERROR(
        findOutput(results->session, arena, "--output", arguments->outputs.data[i], &info, &path));
    SAMBA_RETURN_IF_ERROR(sambaSessionReadTensor(results->session, info.name, &tensor));
    SambaBufferView view;
    sambaTensorGetBuffer(tensor, &view);
    SambaStatus status = sambaNpyWrite(path, view.dtype, view.rank, view.dims, view.data);
    sambaTensorRelease(tensor);
    SAMBA_RETURN_IF_ERROR(status);
  }

  for (size_t i = 0; i < results->stacks.size; ++i)
    SAMBA_RETURN_IF_ERROR(sambaAtomicFileCommit(&results->stacks.data[i].file));
  return NULL;
}

SambaStatus sambaResultsCompare(const SambaRunArguments *arguments, SambaArena *arena,
                                const SambaResults *results) {
  SambaCriteria criteria = {arguments->rtol, arguments->atol, arguments->relative_l2,
                            arguments->argmax};
  if (criteria.rtol < 0 && criteria.atol < 0 && criteria.relative_l2 < 0 && !criteria.argmax)
    criteria.rtol = 1e-3, criteria.atol = 1e-5;
  else if (criteria.rtol >= 0 && criteria.atol < 0)
    criteria.atol = 1e-5;
  else if (criteria.atol >= 0 && criteria.rtol < 0)
    criteria.rtol = 1e-3;

  for (size_t i = 0; i < arguments->expectations.size; ++i) {
    const char *name, *path;
    SambaTensor *tensor;
    SAMBA_RETURN_IF_ERROR(
        sambaSplitPair(arena, "--expect", arguments->expectations.data[i], &name, &path));
    SAMBA_RETURN_IF_ERROR(sambaSessionReadTensor(results->session, sambaStringRef(name), &tensor));
    SambaStatus status = sambaCompareTensors(name, tensor, &results->references[i], &criteria);
    sambaTensorRelease(tensor);
    SAMBA_RETURN_IF_ERROR(status);
  }

  return NULL;
}

void sambaResultsClose(SambaResults *results) {
  for (size_t i = 0; i < results->stacks.size; ++i)
    sambaAtomicFileDiscard(&results->stacks.data[i].file);
  sambaArrayFree(&results->stacks);
}
