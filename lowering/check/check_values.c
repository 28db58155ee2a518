/* samba-check-values: runs passes one by one and computes the module after each of them; the first
 * one that changes values is named. */
#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/operation_digest.h"
#include "dialect/bridge/text_sink.h"
#include "lowering/check/module_values.h"
#include "lowering/passes.h"

#include "mlir-c/Pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One check: the module is `module`, and what it computed at first is `original`. */
typedef struct Check {
  MlirOperation module;
  SambaInputOptions inputs;
  double rtol, atol;
  SambaModuleValues original;
} Check;

/*===-- Passes one by one ---------------------------------------------------------------------===*/

typedef SAMBA_ARRAY(const char *) Steps;

/* Where the item at the start of the text ends: at a comma or at the end, both outside of brackets
 * and quotes. */
static size_t endOfItem(SambaStringRef text) {
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < text.size; ++i) {
    char c = text.data[i];
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '\'' || c == '"')
      quote = c;
    else if (c == ',' && depth == 0)
      return i;
    else
      depth += (c == '(' || c == '{') - (c == ')' || c == '}');
  }
  return text.size;
}

/* `a,b(c,d{x=1})` between `before` and `after` as the steps `a`, `b(c)`, `b(d{x=1})`. */
static void splitPasses(SambaArena *arena, SambaStringRef text, const char *before,
                        const char *after, Steps *steps) {
  while (text.size) {
    size_t end = endOfItem(text);
    size_t head = strcspn(text.data, "({,)");
    if (head < end && text.data[head] == '(') {
      const char *inner = sambaArenaFormat(arena, "%s%.*s(", before, (int)head, text.data);
      SambaStringRef nested = {text.data + head + 1, end - head - 2};
      splitPasses(arena, nested, inner, sambaArenaFormat(arena, ")%s", after), steps);
    } else {
      sambaArrayAppend(steps,
                       sambaArenaFormat(arena, "%s%.*s%s", before, (int)end, text.data, after));
    }
    end += end < text.size;
    text = (SambaStringRef){text.data + end, text.size - end};
  }
}

/* The passes of a pipeline: pipelines by name are taken apart by MLIR, which prints what they are.
 */
static SambaStatus findSteps(SambaArena *arena, MlirContext context, const char *passes,
                             Steps *steps) {
  SambaText text = {0};
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirOpPassManager all = mlirPassManagerGetAsOpPassManager(manager);
  SambaStatus status = NULL;
  if (mlirLogicalResultIsFailure(
          mlirOpPassManagerAddPipeline(all, sambaMlirString(passes), sambaTextSink, &text)))
    status = sambaStatusMake(SAMBA_INVALID, "samba-check-values: %s", sambaTextGet(&text));
  else
    mlirPrintPassPipeline(all, sambaTextSink, &text);
  mlirPassManagerDestroy(manager);

  if (!status) {
    const char *whole = sambaTextToArena(&text, arena);
    const char *inner = strchr(whole, '(');
    if (inner)
      splitPasses(arena, (SambaStringRef){inner + 1, strlen(inner) - 2}, "", "", steps);
    return NULL;
  }
  sambaTextFree(&text);
  return status;
}

/* Errors of the pass have been emitted. */
static bool runStep(MlirOperation module, const char *step) {
  SambaText message = {0};
  MlirPassManager manager = mlirPassManagerCreate(mlirOperationGetContext(module));
  MlirLogicalResult result = mlirOpPassManagerAddPipeline(
      mlirPassManagerGetAsOpPassManager(manager), sambaMlirString(step), sambaTextSink, &message);
  if (mlirLogicalResultIsSuccess(result))
    result = mlirPassManagerRunOnOp(manager, module);
  mlirPassManagerDestroy(manager);
  sambaTextFree(&message);
  return mlirLogicalResultIsSuccess(result);
}

/*===-- Comparison ----------------------------------------------------------------------------===*/

/* The result of that name; in its place, where names are lost on the way to other compilers. */
static const SambaGraphValue *findResult(const SambaModuleValues *values,
                                         const SambaGraphValue *like) {
  const SambaGraphValue *in_place = NULL;
  for (size_t r = 0; r < values->results.size; ++r) {
    const SambaGraphValue *result = &values->results.data[r];
    if (strcmp(result->graph, like->graph) != 0)
      continue;
    if (strcmp(result->name, like->name) == 0)
      return result;
    in_place = result->number == like->number ? result : in_place;
  }
  return in_place;
}

static size_t countElements(const SambaTensorType *type) {
  size_t elements = 1;
  for (uint32_t axis = 0; axis < type->rank; ++axis)
    elements *= (size_t)type->dims[axis];
  return elements;
}

/* "[1, 2]" of an element. */
static const char *placeOf(SambaArena *arena, const SambaTensorType *type, size_t element) {
  const char *text = "]";
  for (uint32_t axis = type->rank; axis-- > 0; element /= (size_t)type->dims[axis])
    text = sambaArenaFormat(arena, "%s%zu%s", axis ? ", " : "", element % (size_t)type->dims[axis],
                            text);
  return sambaArenaFormat(arena, "[%s", text);
}

/* What the elements are on average: their root mean square. */
static double averageOf(const SambaGraphValue *result, size_t count) {
  double squares = 0;
  for (size_t i = 0; i < count; ++i)
    squares += isfinite(result->elements[i]) ? result->elements[i] * result->elements[i] : 0;
  return count ? sqrt(squares / (double)count) : 0;
}

static bool isSame(double before, double after, double room) {
  return before == after || (before != before && after != after) || fabs(before - after) <= room;
}

static SambaStatus compareResult(const Check *check, const SambaGraphValue *before,
                                 const SambaGraphValue *after) {
  if (!after)
    return sambaStatusMake(SAMBA_MISMATCH, "result '%s' of graph @%s is no longer there",
                           before->name, before->graph);
  size_t count = countElements(&before->type);
  if (count != countElements(&after->type))
    return sambaStatusMake(SAMBA_MISMATCH, "result '%s' of graph @%s had %zu elements and has %zu",
                           before->name, before->graph, count, countElements(&after->type));
  size_t wrong = 0, first = 0;
  double average = averageOf(before, count);
  bool rounds = sambaDTypeIsFloat(before->type.dtype);
  for (size_t i = 0; i < count; ++i) {
    double size = fmax(average, fabs(before->elements[i]));
    double room = rounds ? check->atol + check->rtol * size : 0;
    if (!isSame(before->elements[i], after->elements[i], room)) {
      first = wrong ? first : i;
      ++wrong;
    }
  }
  if (!wrong)
    return NULL;

  SambaArena arena = {0};
  SambaStatus status = sambaStatusMake(
      SAMBA_MISMATCH,
      "result '%s' of graph @%s, element %s: it was %.9g and is %.9g; %zu of %zu elements differ",
      before->name, before->graph, placeOf(&arena, &before->type, first), before->elements[first],
      after->elements[first], wrong, count);
  sambaArenaDestroy(&arena);
  return status;
}

/* After a step: the same values as at first? Floats may differ by rounding, relative to the element
 * or to what the elements of the result are on average. */
static SambaStatus compareModule(const Check *check, const char *step) {
  SambaModuleValues now = {0};
  SambaStatus status = sambaModuleEvaluate(check->module, &check->inputs, &check->original, &now);
  status = sambaStatusAnnotate(status, "after pass '%s' the module cannot be computed", step);
  for (size_t r = 0; !status && r < check->original.results.size; ++r) {
    const SambaGraphValue *before = &check->original.results.data[r];
    status = sambaStatusAnnotate(compareResult(check, before, findResult(&now, before)),
                                 "pass '%s' changes values", step);
  }
  sambaModuleValuesFree(&now);
  return status;
}

/*===-- The pass ------------------------------------------------------------------------------===*/

static SambaStatus readNumber(const char *name, const char *text, double least,
                              double *out_number) {
  char *end;
  *out_number = strtod(text, &end);
  if (end != text && !*end && *out_number >= least)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID,
                         "samba-check-values: %s wants a number of at least %g, not '%s'", name,
                         least, text);
}

static SambaStatus readOptions(Check *check, const char *seed, const char *integers,
                               const char *rtol, const char *atol) {
  double number;
  SAMBA_RETURN_IF_ERROR(readNumber("seed", seed, 0, &number));
  check->inputs.seed = (uint64_t)number;
  SAMBA_RETURN_IF_ERROR(readNumber("integers", integers, 1, &number));
  check->inputs.integers = (int64_t)number;
  SAMBA_RETURN_IF_ERROR(readNumber("rtol", rtol, 0, &check->rtol));
  return readNumber("atol", atol, 0, &check->atol);
}

/* False when a pass has failed by itself. */
static bool checkSteps(Check *check, const Steps *steps, SambaStatus *out_status) {
  *out_status = sambaStatusAnnotate(
      sambaModuleEvaluate(check->module, &check->inputs, NULL, &check->original),
      "samba-check-values: before the first pass");
  for (size_t s = 0; !*out_status && s < steps->size; ++s) {
    SambaContentDigest before = sambaOperationDigest(check->module);
    if (!runStep(check->module, steps->data[s]))
      return false;
    SambaContentDigest after = sambaOperationDigest(check->module);
    if (memcmp(&before, &after, sizeof before) != 0)
      *out_status = compareModule(check, steps->data[s]);
  }
  return true;
}

bool sambaCheckPassValues(MlirOperation module, const char *passes, const char *seed,
                          const char *integers, const char *rtol, const char *atol) {
  Check check = {.module = module};
  SambaArena arena = {0};
  Steps steps = {0};
  bool ran = true;
  SambaStatus status = readOptions(&check, seed, integers, rtol, atol);
  if (!status)
    status = findSteps(&arena, mlirOperationGetContext(module), passes, &steps);
  if (!status)
    ran = checkSteps(&check, &steps, &status);

  bool is_good = ran && (!status || sambaEmitOpStatus(module, status));
  sambaModuleValuesFree(&check.original);
  sambaArrayFree(&steps);
  sambaArenaDestroy(&arena);
  return is_good;
}
