/* samba-reduce-graph: makes a module smaller while a test finds it interesting.
 *
 * Upstream's reduction-tree erases operations with what uses them, so a straight list of operations
 * stays as long as it is. Here a range of operations goes, and what it made becomes arguments; or
 * the graph ends earlier. Ranges are halved from the whole down to single operations. */
#include "passes/passes.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/text_sink.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/interface.h"
#include "dialect/samba/samba.h"
#include "support/file/atomic_file.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* One reduction. A candidate is a changed clone of `best`; when the test likes it, it is the best
 * from then on. */
typedef struct Reduction {
  MlirOperation best;
  const char *test;
  unsigned added; /* arguments so far */
  SambaStatus status;
} Reduction;

/*===-- The test ------------------------------------------------------------------------------===*/

static MlirLogicalResult dropDiagnostic(MlirDiagnostic diagnostic, void *user) {
  (void)diagnostic;
  (void)user;
  return mlirLogicalResultSuccess();
}

static bool isValid(MlirOperation module) {
  MlirContext context = mlirOperationGetContext(module);
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(context, dropDiagnostic, NULL, NULL);
  bool is_valid = mlirOperationVerify(module);
  mlirContextDetachDiagnosticHandler(context, handler);
  return is_valid;
}

/* As for mlir-reduce: the test gets the file, and ends with another exit code than 0 when it is
 * interesting. */
static SambaStatus runTest(const char *test, const char *path, bool *out_interesting) {
  extern char **environ;
  char *const arguments[] = {(char *)test, (char *)path, NULL};
  pid_t child;
  int state;
  if (posix_spawnp(&child, test, NULL, NULL, arguments, environ) != 0)
    return sambaStatusMake(SAMBA_IO, "samba-reduce-graph: cannot run test='%s'", test);
  while (waitpid(child, &state, 0) < 0 && errno == EINTR)
    ;
  *out_interesting = !WIFEXITED(state) || WEXITSTATUS(state) != 0;
  return NULL;
}

static bool isInteresting(Reduction *reduction, MlirOperation module) {
  const char *folder = getenv("TMPDIR");
  SambaText path = {0}, text = {0};
  bool interesting = false;
  sambaTextFormat(&path, "%s/samba-reduce-%ld.mlir", folder && *folder ? folder : "/tmp",
                  (long)getpid());
  mlirOperationPrint(module, sambaTextSink, &text);
  SambaStatus status = sambaWriteFile(sambaTextGet(&path), text.data, text.size);
  if (!status)
    status = runTest(reduction->test, sambaTextGet(&path), &interesting);
  unlink(sambaTextGet(&path));
  sambaTextFree(&path);
  sambaTextFree(&text);
  if (status)
    reduction->status = status;
  return !status && interesting;
}

/* Takes the candidate over if the test likes it, else destroys it. */
static bool tryCandidate(Reduction *reduction, MlirOperation candidate) {
  bool better = !reduction->status && isValid(candidate) && isInteresting(reduction, candidate);
  mlirOperationDestroy(better ? reduction->best : candidate);
  if (better)
    reduction->best = candidate;
  return better;
}

/*===-- Changes of a candidate ----------------------------------------------------------------===*/

static MlirOperation nthOperation(MlirBlock block, intptr_t number) {
  MlirOperation operation = mlirBlockGetFirstOperation(block);
  while (number-- > 0 && !mlirOperationIsNull(operation))
    operation = mlirOperationGetNextInBlock(operation);
  return operation;
}

/* Operations in front of the terminator, or of a module. */
static intptr_t countOperations(MlirBlock block, bool terminated) {
  intptr_t count = 0;
  for (MlirOperation operation = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation))
    ++count;
  return count - terminated;
}

static bool isUnused(MlirOperation operation) {
  for (intptr_t r = 0; r < mlirOperationGetNumResults(operation); ++r)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(operation, r))))
      return false;
  return true;
}

/* What nobody reads goes, from the end. */
static void eraseUnused(MlirBlock body) {
  SAMBA_ARRAY(MlirOperation) operations = {0};
  MlirOperation last = mlirBlockGetTerminator(body);
  for (MlirOperation operation = mlirBlockGetFirstOperation(body);
       !mlirOperationEqual(operation, last); operation = mlirOperationGetNextInBlock(operation))
    sambaArrayAppend(&operations, operation);
  for (size_t i = operations.size; i-- > 0;)
    if (isUnused(operations.data[i]))
      mlirOperationDestroy(operations.data[i]);
  sambaArrayFree(&operations);
}

/* Arguments that nobody reads go. */
static void eraseArguments(SambaInterface *interface) {
  MlirBlock body = sambaBodyOf(interface->function);
  for (size_t i = interface->arguments.size; i-- > 0;) {
    MlirValue argument = mlirBlockGetArgument(body, (intptr_t)i);
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(argument)))
      continue;
    mlirBlockEraseArgument(body, (unsigned)i);
    memmove(&interface->arguments.data[i], &interface->arguments.data[i + 1],
            (--interface->arguments.size - i) * sizeof *interface->arguments.data);
  }
}

static void finish(SambaInterface *interface) {
  eraseUnused(sambaBodyOf(interface->function));
  eraseArguments(interface);
  sambaInterfaceWrite(interface);
  sambaInterfaceFree(interface);
}

/* A new argument in place of a value; with a name where arguments have names. */
static MlirValue addArgument(Reduction *reduction, SambaInterface *interface, MlirType type) {
  MlirContext context = mlirOperationGetContext(interface->function);
  char name[32];
  snprintf(name, sizeof name, "reduced%u", reduction->added++);
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, SAMBA_NAME_ATTRIBUTE,
                          mlirStringAttrGet(context, sambaMlirString(name))),
      sambaNamedAttribute(context, SAMBA_KIND_ATTRIBUTE,
                          mlirStringAttrGet(context, sambaMlirString("input")))};
  bool named = false;
  for (size_t i = 0; i < interface->arguments.size; ++i)
    named |= sambaInterfaceText(interface->arguments.data[i], SAMBA_NAME_ATTRIBUTE).size > 0;
  return sambaInterfaceAddArgument(interface, type, named ? 2 : 0, attributes);
}

/* Operations `from` to `to` go; what they made and others read becomes arguments. */
static void cutRange(Reduction *reduction, MlirOperation function, intptr_t from, intptr_t to) {
  MlirBlock body = sambaBodyOf(function);
  SambaInterface interface = {0};
  sambaInterfaceRead(function, &interface);
  for (intptr_t i = to; i-- > from;) {
    MlirOperation operation = nthOperation(body, i);
    for (intptr_t r = 0; r < mlirOperationGetNumResults(operation); ++r) {
      MlirValue result = mlirOperationGetResult(operation, r);
      if (mlirOpOperandIsNull(mlirValueGetFirstUse(result)))
        continue;
      MlirValue argument = addArgument(reduction, &interface, mlirValueGetType(result));
      mlirValueReplaceAllUsesOfWith(result, argument);
      for (size_t k = 0; k < interface.returned.size; ++k)
        if (mlirValueEqual(interface.returned.data[k], result))
          interface.returned.data[k] = argument;
    }
    mlirOperationDestroy(operation);
  }
  finish(&interface);
}

/* The graph returns what operation number `last` makes, and nothing else. */
static void endAt(MlirOperation function, intptr_t last) {
  MlirOperation operation = nthOperation(sambaBodyOf(function), last);
  SambaInterface interface = {0};
  sambaInterfaceRead(function, &interface);
  interface.results.size = 1;
  interface.returned.size = 1;
  interface.returned.data[0] = mlirOperationGetResult(operation, 0);
  sambaInterfaceWrite(&interface);
  finish(&interface);
}

/* Result number `result` goes. */
static void dropResult(MlirOperation function, size_t result) {
  SambaInterface interface = {0};
  sambaInterfaceRead(function, &interface);
  size_t behind = --interface.results.size - result;
  --interface.returned.size;
  memmove(&interface.results.data[result], &interface.results.data[result + 1],
          behind * sizeof *interface.results.data);
  memmove(&interface.returned.data[result], &interface.returned.data[result + 1],
          behind * sizeof *interface.returned.data);
  sambaInterfaceWrite(&interface);
  finish(&interface);
}

/*===-- The search ----------------------------------------------------------------------------===*/

static MlirOperation clonedFunction(Reduction *reduction, intptr_t function,
                                    MlirOperation *out_module) {
  *out_module = mlirOperationClone(reduction->best);
  return nthOperation(sambaBodyOf(*out_module), function);
}

/* Half of the operations, three quarters of them, and so on. */
static bool shortenEnd(Reduction *reduction, intptr_t function) {
  MlirBlock body = sambaBodyOf(nthOperation(sambaBodyOf(reduction->best), function));
  intptr_t count = countOperations(body, true);
  for (intptr_t rest = count; rest > 1; rest /= 2) {
    intptr_t last = count - 1 - rest / 2;
    MlirOperation module;
    if (mlirOperationGetNumResults(nthOperation(body, last)) == 0)
      continue;
    endAt(clonedFunction(reduction, function, &module), last);
    if (tryCandidate(reduction, module))
      return true;
  }
  return false;
}

static bool shortenMiddle(Reduction *reduction, intptr_t function) {
  bool shorter = false;
  MlirBlock body = sambaBodyOf(nthOperation(sambaBodyOf(reduction->best), function));
  intptr_t count = countOperations(body, true);
  for (intptr_t size = count; size > 0; size /= 2)
    for (intptr_t from = 0; from < count;) {
      MlirOperation module;
      intptr_t to = from + size < count ? from + size : count;
      cutRange(reduction, clonedFunction(reduction, function, &module), from, to);
      if (!tryCandidate(reduction, module)) {
        from = to;
        continue;
      }
      shorter = true;
      body = sambaBodyOf(nthOperation(sambaBodyOf(reduction->best), function));
      count = countOperations(body, true);
    }
  return shorter;
}

static bool dropResults(Reduction *reduction, intptr_t function) {
  bool fewer = false;
  MlirOperation last =
      mlirBlockGetTerminator(sambaBodyOf(nthOperation(sambaBodyOf(reduction->best), function)));
  for (intptr_t r = mlirOperationGetNumOperands(last); r-- > 0;) {
    MlirOperation module;
    dropResult(clonedFunction(reduction, function, &module), (size_t)r);
    fewer |= tryCandidate(reduction, module);
  }
  return fewer;
}

/* Functions and sections that the test can do without. */
static bool dropSymbols(Reduction *reduction) {
  bool fewer = false;
  for (intptr_t i = countOperations(sambaBodyOf(reduction->best), false); i-- > 0;) {
    MlirOperation module = mlirOperationClone(reduction->best);
    mlirOperationDestroy(nthOperation(sambaBodyOf(module), i));
    fewer |= tryCandidate(reduction, module);
  }
  return fewer;
}

static bool reduceOnce(Reduction *reduction) {
  bool smaller = dropSymbols(reduction);
  for (intptr_t i = 0; i < countOperations(sambaBodyOf(reduction->best), false); ++i) {
    MlirOperation operation = nthOperation(sambaBodyOf(reduction->best), i);
    if (!sambaOperationIsGraph(operation) ||
        !mlirBlockIsNull(mlirBlockGetNextInRegion(sambaBodyOf(operation))))
      continue;
    smaller |= shortenEnd(reduction, i);
    smaller |= dropResults(reduction, i);
    smaller |= shortenMiddle(reduction, i);
  }
  return smaller && !reduction->status;
}

/* The module gets the best candidate's operations and attributes. */
static void takeOver(MlirOperation module, MlirOperation best) {
  MlirBlock into = sambaBodyOf(module), from = sambaBodyOf(best);
  for (MlirOperation next, operation = mlirBlockGetFirstOperation(into);
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    mlirOperationDestroy(operation);
  }
  for (MlirOperation next, operation = mlirBlockGetFirstOperation(from);
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    mlirOperationRemoveFromParent(operation);
    mlirBlockAppendOwnedOperation(into, operation);
  }
}

bool sambaReduceGraph(MlirOperation module, const char *test) {
  Reduction reduction = {.best = mlirOperationClone(module), .test = test};
  if (!test[0])
    reduction.status =
        sambaStatusMake(SAMBA_INVALID, "samba-reduce-graph wants a program: test=PROGRAM");
  else if (!isInteresting(&reduction, reduction.best) && !reduction.status)
    reduction.status =
        sambaStatusMake(SAMBA_INVALID,
                        "samba-reduce-graph: the test '%s' ends with exit code 0, which says that "
                        "the module is not interesting as it is",
                        test);
  while (!reduction.status && reduceOnce(&reduction))
    ;

  bool is_good = !reduction.status;
  if (is_good)
    takeOver(module, reduction.best);
  mlirOperationDestroy(reduction.best);
  return is_good || sambaEmitOpStatus(module, reduction.status);
}
