/* samba-partition-sections: which operators share a section, then outlining. Why a section ends is
 * said on its calls.
 *
 * o0: every operator its own section. o1: greedy along the trace: the next operator joins when the
 * section with it can be planned and emitted within the machine's units, and is estimated to be no
 * slower than two sections with their launches. Elementwise operators between a value with several
 * readers and the one value that comes of it join at once. */
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/machine_file.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "dialect/stages/read_operators.h"
#include "passes/passes.h"
#include "passes/section/outline_sections.h"
#include "passes/section/section_trial.h"
#include "passes/section/updates.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

/* Operators of one section at most: keeps the trials of a long graph linear. Updates are tried as
 * wholes, of which small ones have many operators each. */
enum { maxOperatorsPerSection = 24, maxOperatorsOfUpdates = 72 };

/* The operators of a graph while they are grouped. */
typedef struct Partition {
  const SambaPlanTarget *target;
  MlirOperation *operators;
  uint32_t count;
  uint32_t border; /* a section begins there: behind the scalars of the updates */
} Partition;

/* Why a section ends where it ends (`rdu.end` of its calls). */
typedef enum {
  END_OF_GRAPH,   /* there is no operator behind it */
  END_BY_ORDER,   /* the next operator must begin a section */
  END_BY_NUMBER,  /* it has as many operators as one may have */
  END_BY_ROOM,    /* with the next operators it finds no plan; `why` tells */
  END_BY_CYCLES,  /* the next operators are faster in a section of their own */
  END_BY_REQUEST, /* every operator is a section (o0) */
} EndKind;

static const char *const endNames[] = {"graph", "order", "number", "room", "cycles", "request"};

typedef struct SectionEnd {
  EndKind kind;
  uint32_t next;          /* operators that would join together */
  double together, apart; /* cycles with them, and of two sections, launches included */
  SambaText why;
} SectionEnd;

/* A section has one phase. */
static bool startsSection(const Partition *partition, uint32_t index) {
  MlirOperation operation = partition->operators[index];
  MlirStringRef start = sambaMlirString(SAMBA_SECTION_START_ATTRIBUTE);
  return index == partition->border ||
         sambaPhaseOf(partition->operators[index - 1]) != sambaPhaseOf(operation) ||
         !mlirAttributeIsNull(mlirOperationGetAttributeByName(operation, start));
}

/* Whether operators [from, to) join those before them: together they fit, and are estimated to be
 * no slower than the two apart, each with its launch. */
static bool join(const Partition *partition, const MlirOperation *operators, uint32_t from,
                 uint32_t to, double *together, SectionEnd *end) {
  double alone, joined;
  sambaTextClear(&end->why);
  end->kind = END_BY_ROOM;
  end->next = to - from;
  if (!sambaSectionTry(partition->target, operators, to, &joined, &end->why) ||
      !sambaSectionTry(partition->target, operators + from, to - from, &alone, &end->why))
    return false;
  if (joined > *together + alone) {
    end->kind = END_BY_CYCLES;
    end->together = joined;
    end->apart = *together + alone;
    return false;
  }
  *together = joined;
  return true;
}

/* The operator among these that reads the value last; SAMBA_NO_INDEX: what reads it is not among
 * them. */
static uint32_t lastReader(MlirValue value, const MlirOperation *operators, uint32_t count) {
  uint32_t last = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = sambaUserInBlockOf(value, use);
    uint32_t at = 0;
    while (at < count && !mlirOperationEqual(operators[at], user))
      ++at;
    if (at == count)
      return SAMBA_NO_INDEX;
    last = at > last ? at : last;
  }
  return last;
}

/* An elementwise operator, or a structured operation with one result that reduces nothing. */
static bool isElementwise(MlirOperation operation) {
  const SambaOperator *operator = sambaOperatorOf(operation);
  if (operator)
    return operator->elementwise;
  MlirAttribute iterators = sambaOperationAttribute(operation, "iterator_types");
  if (!sambaOperationIsStructured(operation) || mlirAttributeIsNull(iterators) ||
      mlirOperationGetNumResults(operation) != 1)
    return false;
  MlirAttribute parallel = mlirAttributeParseGet(
      mlirOperationGetContext(operation), sambaMlirString("#linalg.iterator_type<parallel>"));
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(iterators); ++i)
    if (!mlirAttributeEqual(mlirArrayAttrGetElement(iterators, i), parallel))
      return false;
  return true;
}

/* How many elementwise operators there are from a value with several readers to where all that
 * comes of it is one value again; 1: it does not become one. */
static uint32_t branchingOperators(const MlirOperation *operators, uint32_t most) {
  uint32_t reach = 0;
  for (uint32_t i = 0; i < most; ++i) {
    if (!isElementwise(operators[i]))
      return 1;
    if (i && reach <= i)
      return i > 1 ? i + 1 : 1; /* one reader makes no branch */
    uint32_t last = lastReader(mlirOperationGetResult(operators[i], 0), operators, most);
    if (last == SAMBA_NO_INDEX)
      return 1;
    reach = last > reach ? last : reach;
  }
  return 1;
}

/* How many operators join at once. Those of a branch that fits go into a section as a whole: cut
 * anywhere inside, several values would go through memory. */
static uint32_t joinAtOnce(const Partition *partition, const MlirOperation *operators,
                           uint32_t most) {
  double unused;
  uint32_t count = branchingOperators(operators, most);
  return count > 1 && sambaSectionTry(partition->target, operators, count, &unused, NULL) ? count
                                                                                          : 1;
}

static uint32_t growOneByOne(const Partition *partition, const MlirOperation *operators,
                             uint32_t most, SectionEnd *end) {
  double together = 0;
  uint32_t size = joinAtOnce(partition, operators, most);
  bool fits = sambaSectionTry(partition->target, operators, size, &together, NULL);
  while (fits && size < most) {
    uint32_t next = size + joinAtOnce(partition, operators + size, most - size);
    if (!join(partition, operators, size, next, &together, end))
      break;
    size = next;
  }
  return size;
}

/* Updates of parameters go into sections as wholes: the first operators of one have nothing in
 * common that they could be pipelined along, and what they make would go through memory. One that
 * does not fit is grown like everything else, up to its end. */
static uint32_t growUpdates(const Partition *partition, const MlirOperation *operators,
                            uint32_t most, SectionEnd *end) {
  double together = 0;
  uint32_t size = sambaWholeUpdates(operators, 0, most);
  if (!size || !sambaSectionTry(partition->target, operators, size, &together, NULL))
    return growOneByOne(partition, operators, size ? size : most, end);

  for (uint32_t next = sambaWholeUpdates(operators, size, most);
       next && join(partition, operators, size, next, &together, end);
       next = sambaWholeUpdates(operators, size, most))
    size = next;
  return size;
}

static uint32_t growSection(const Partition *partition, uint32_t first, SectionEnd *end) {
  const MlirOperation *operators = &partition->operators[first];
  bool updates = sambaPhaseOf(operators[0]) == SAMBA_PEF_SECTION_OPT;
  uint32_t limit = updates ? maxOperatorsOfUpdates : maxOperatorsPerSection;
  uint32_t most = 1;
  while (first + most < partition->count && most < limit && !startsSection(partition, first + most))
    ++most;
  uint32_t size = updates ? growUpdates(partition, operators, most, end)
                          : growOneByOne(partition, operators, most, end);
  if (first + size == partition->count)
    end->kind = END_OF_GRAPH;
  else if (startsSection(partition, first + size))
    end->kind = END_BY_ORDER;
  else if (size == limit)
    end->kind = END_BY_NUMBER;
  return size;
}

/* The attribute that tells why a section ends; `next` is the operator behind it, null: none. */
static MlirAttribute endAttribute(const SectionEnd *end, MlirContext context, MlirOperation next) {
  MlirType integer = mlirIntegerTypeGet(context, 64);
  MlirNamedAttribute parts[5];
  intptr_t count = 0;
  parts[count++] = sambaNamedAttribute(
      context, "reason", mlirStringAttrGet(context, sambaMlirString(endNames[end->kind])));
  if (!mlirOperationIsNull(next)) {
    SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(next));
    SambaStringRef name = layer.size ? layer : sambaOperatorNameOf(next);
    parts[count++] =
        sambaNamedAttribute(context, "next", mlirStringAttrGet(context, sambaToMlir(name)));
  }
  if (end->kind == END_BY_ROOM)
    parts[count++] = sambaNamedAttribute(
        context, "why", mlirStringAttrGet(context, sambaToMlir(sambaTextRef(&end->why))));
  if (end->kind == END_BY_CYCLES) {
    parts[count++] = sambaNamedAttribute(context, "together",
                                         mlirIntegerAttrGet(integer, (int64_t)end->together));
    parts[count++] =
        sambaNamedAttribute(context, "apart", mlirIntegerAttrGet(integer, (int64_t)end->apart));
  }
  return mlirDictionaryAttrGet(context, count, parts);
}

static uint32_t partitionGreedily(const Partition *partition, uint32_t *section_of,
                                  MlirAttribute *ends) {
  uint32_t section = 0;
  for (uint32_t first = 0, size; first < partition->count; first += size, ++section) {
    SectionEnd end = {0};
    size = growSection(partition, first, &end);
    MlirOperation last = partition->operators[first + size - 1];
    MlirOperation next = {NULL};
    if (first + size < partition->count)
      next = partition->operators[first + size];
    ends[section] = endAttribute(&end, mlirOperationGetContext(last), next);
    sambaTextFree(&end.why);
    for (uint32_t i = 0; i < size; ++i)
      section_of[first + i] = section;
  }
  return section;
}

/* The first operation of the block that reads the value, through views or not; null: none. */
static MlirOperation firstReader(MlirValue value) {
  MlirOperation first = {NULL};
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = sambaUserInBlockOf(value, use);
    if (sambaOperationIsView(user))
      user = firstReader(mlirOperationGetResult(user, 0));
    if (!mlirOperationIsNull(user) &&
        (mlirOperationIsNull(first) || mlirOperationIsBeforeInBlock(user, first)))
      first = user;
  }
  return first;
}

/* An argin belongs to the layer that reads it first, unless it says another. A call of a section
 * tells no more which of its layers that was. */
static void nameLayersOfArgins(MlirOperation function) {
  MlirBlock body = sambaBodyOf(function);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    MlirValue argument = mlirBlockGetArgument(body, i);
    MlirLocation location = mlirValueGetLocation(argument);
    if (!sambaValueIsArgin(argument) || sambaLayerOfLocation(location).size)
      continue;
    MlirOperation reader = firstReader(argument);
    if (mlirOperationIsNull(reader))
      continue;
    SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(reader));
    if (layer.size)
      mlirBlockArgumentSetLocation(argument, mlirLocationNameGet(mlirOperationGetContext(function),
                                                                 sambaToMlir(layer), location));
  }
}

static bool isForeign(MlirOperation operation) {
  if (!sambaOperationIs(operation, "func.return"))
    return !sambaOperatorNameOf(operation).size;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i) {
    MlirOperation maker = sambaDefiningOperation(mlirOperationGetOperand(operation, i));
    if (mlirOperationIsNull(maker) || sambaOperationIsView(maker))
      return true;
  }
  return false;
}

/* Passes of others may have changed what samba-materialize-views made: there are operations of
 * other dialects, or a graph returns what no operator of it makes. */
static bool hasForeign(MlirOperation module) {
  MlirOperation function = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(function); function = mlirOperationGetNextInBlock(function)) {
    if (!sambaOperationIsGraph(function))
      continue;
    MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
    for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
      if (isForeign(operation))
        return true;
  }
  return false;
}

static bool partitionFunction(MlirOperation function, const SambaPlanTarget *target, bool fuse,
                              SambaOutlinedSections *sections, int64_t *call_id) {
  uint32_t count, sectionCount;
  if (!sambaGraphCheckStructured(function))
    return false;
  MlirOperation *operators = sambaFunctionOperators(function, &count);
  if (!sambaPhasesCheck(operators, count)) {
    free(operators);
    return false;
  }
  nameLayersOfArgins(function);
  uint32_t *section_of = sambaAllocate(sambaArraySize(count + 1, sizeof *section_of));
  MlirAttribute *ends = sambaAllocate(sambaArraySize(count + 1, sizeof *ends));

  if (fuse) {
    Partition partition = {target, operators, count, sambaScalarsFirst(operators, count)};
    sectionCount = partitionGreedily(&partition, section_of, ends);
  } else {
    sectionCount = count;
    const SectionEnd end = {.kind = END_BY_REQUEST};
    const MlirOperation none = {NULL};
    for (uint32_t i = 0; i < count; ++i) {
      section_of[i] = i;
      ends[i] = endAttribute(&end, mlirOperationGetContext(function),
                             i + 1 < count ? operators[i + 1] : none);
    }
  }

  sambaOutlineSections(sections, function, operators, section_of, ends, count, sectionCount,
                       target->attribute, call_id);
  free(section_of);
  free(ends);
  free(operators);
  return true;
}

bool sambaPartitionSections(MlirOperation module, const char *target, const char *opt) {
  if (strcmp(opt, "o0") != 0 && strcmp(opt, "o1") != 0)
    return sambaEmitOpError(module, "samba-partition-sections: opt wants o0 or o1, not '%s'", opt);
  if (!sambaModuleCheckGraphs(module))
    return false;
  if (hasForeign(module) && !sambaMaterializeViews(module))
    return false;
  SambaMachine machine;
  SambaPlanTarget plan_target = {.machine = &machine};
  SambaStatus status = sambaTargetMachine(mlirOperationGetLocation(module), target, &machine,
                                          &plan_target.attribute);
  if (!status)
    status = sambaModuleOrderGraphs(module);
  if (status)
    return sambaEmitOpStatus(module, status);
  SambaOutlinedSections sections = {0};
  int64_t call_id = 0;
  bool fine = true;

  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       fine && !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      fine =
          partitionFunction(operation, &plan_target, strcmp(opt, "o1") == 0, &sections, &call_id);
  sambaOutlinedSectionsFree(&sections);
  if (!fine)
    return false;
  status = call_id == 0 ? sambaModuleMachine(module, &machine) : NULL;
  if (status) /* there is no section that says what the machine is */
    mlirOperationSetAttributeByName(module, sambaMlirString(SAMBA_MODULE_MACHINE_ATTRIBUTE),
                                    plan_target.attribute);
  sambaStatusFree(status);

  return true;
}
