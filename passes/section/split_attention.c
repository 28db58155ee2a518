/* samba-split-attention: attention with a causal mask computes no scores that the mask hides.
 *
 * A section that is causal attention and nothing else becomes several, each for some rows of the
 * query and for the keys up to the last one that they see. With n parts of equal rows
 * (n + 1) / 2n of the scores are left. What is left out would have become exactly 0: a score of
 * minus infinity is no maximum, and its power is 0 in the sum and beside the values. Each part
 * stores its rows where the result lies (samba.put_slice in a region).
 *
 * Parts cost launches, so the bandwidth model decides whether and how often to split. */
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/failed_section.h"
#include "dialect/rdu/mapping.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/rdu/regions.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/match.h"
#include "dialect/samba/samba.h"
#include "dialect/stages/known_plan.h"
#include "dialect/stages/known_stages.h"
#include "passes/passes.h"
#include "passes/section/number_calls.h"
#include "support/base/memory.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 16, MOST_PERMUTES = 4 };

/* Twice as many sections should take less than this of what they took: less is within what the
 * model knows, and each has a plan and a place to be found. */
static const double worthwhile = 0.96;

/* A section that is causal attention: views, the attention, and maybe a copy of its result in
 * another order. Rows are the query's. */
typedef struct {
  MlirOperation section, attention, copy; /* copy: null where there is none */
  MlirOperation permutes[MOST_PERMUTES];  /* from the attention to the copy */
  intptr_t permute_count;
  intptr_t axis; /* of the rows, in what the section yields */
  int64_t rows, keys, offset;
} Causal;

/* Rows [start, end) of the query, and the keys that they see. */
typedef struct {
  int64_t start, end, keys;
} Part;

typedef struct {
  uint32_t count;
  Part parts[MOST_PARTS];
} Parts;

/* Memory of results that are made part by part; the next one of the type lies there too when
 * nobody reads the last one any more. */
typedef struct {
  MlirType type;
  MlirOperation reader; /* the last one; null: none */
  char name[32];
} Place;

typedef struct {
  MlirOperation module, function;
  MlirSymbolTable symbols;
  SAMBA_ARRAY(Place) places;
  uint32_t named;  /* regions that have been tried */
  uint32_t wanted; /* parts; 0: the best */
  bool changed;
} Split;

/*===-- What can be split ---------------------------------------------------------------------===*/

static bool usedOnce(MlirValue value) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  return !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

static bool flagOf(MlirOperation operation, const char *name) {
  MlirAttribute flag = sambaOperationAttribute(operation, name);
  return !mlirAttributeIsNull(flag) && mlirBoolAttrGetValue(flag);
}

static int64_t integerOf(MlirOperation operation, const char *name, int64_t otherwise) {
  MlirAttribute number = sambaOperationAttribute(operation, name);
  return mlirAttributeIsNull(number) ? otherwise : mlirIntegerAttrGetValueInt(number);
}

/* The attention of a section, and the copy of its result if there is one; false: something else is
 * there too. */
static bool findOperators(MlirOperation section, Causal *out) {
  *out = (Causal){.section = section};
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(section));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    MlirOperation *found = NULL;
    if (sambaOperationIs(operation, "samba.scaled_dot_product_attention"))
      found = &out->attention;
    else if (sambaOperationIs(operation, "samba.contiguous"))
      found = &out->copy;
    else if (sambaOperationIsOperator(operation))
      return false;
    if (found && !mlirOperationIsNull(*found))
      return false;
    if (found)
      *found = operation;
  }
  return !mlirOperationIsNull(out->attention);
}

/* The permutations from the attention to the copy, and where they put the axis of the rows. */
static bool followPermutes(Causal *causal) {
  MlirOperation permutes[MOST_PERMUTES];
  MlirValue value = mlirOperationGetOperand(causal->copy, 0);
  intptr_t count = 0;
  for (;;) {
    MlirOperation maker = sambaDefiningOperation(value);
    if (mlirOperationIsNull(maker) || !usedOnce(value))
      return false;
    if (mlirOperationEqual(maker, causal->attention))
      break;
    if (count == MOST_PERMUTES || !sambaOperationIs(maker, "samba.permute"))
      return false;
    permutes[count++] = maker;
    value = mlirOperationGetOperand(maker, 0);
  }

  causal->permute_count = count;
  for (intptr_t i = 0; i < count; ++i) {
    causal->permutes[i] = permutes[count - 1 - i];
    MlirAttribute dims = sambaOperationAttribute(causal->permutes[i], "dims");
    intptr_t axis = 0;
    while (mlirDenseI64ArrayGetElement(dims, axis) != causal->axis)
      ++axis;
    causal->axis = axis;
  }
  return true;
}

static bool findCausal(MlirOperation section, Causal *out) {
  if (!findOperators(section, out) || !flagOf(out->attention, "is_causal") ||
      sambaParallelDivisor(section) > 1 ||
      !mlirAttributeIsNull(sambaOperationAttribute(out->attention, SAMBA_MAPPING_ATTRIBUTE)) ||
      !mlirAttributeIsNull(sambaOperationAttribute(section, "arg_attrs")))
    return false;
  MlirValue result = sambaMatchResult(out->attention), query, key;
  out->axis = sambaMatchRank(result) - 2;
  query = mlirOperationGetOperand(out->attention, 0);
  key = mlirOperationGetOperand(out->attention, 1);
  out->rows = sambaMatchSize(query, sambaMatchRank(query) - 2);
  out->keys = sambaMatchSize(key, sambaMatchRank(key) - 2);
  out->offset = integerOf(out->attention, "causal_offset", 0);
  if (out->offset < 0 || out->offset >= out->keys - 1)
    return false;

  bool copies = !mlirOperationIsNull(out->copy);
  MlirOperation yield = mlirBlockGetTerminator(sambaBodyOf(section));
  MlirValue yielded = copies ? sambaMatchResult(out->copy) : result;
  return mlirOperationGetNumOperands(yield) == 1 && usedOnce(yielded) &&
         mlirValueEqual(mlirOperationGetOperand(yield, 0), yielded) &&
         (!copies || followPermutes(out));
}

/*===-- Sections of parts ---------------------------------------------------------------------===*/

/* Elements [start, end) of the value along an axis. */
static MlirValue sliceOf(MlirOperation root, MlirValue value, intptr_t axis, int64_t start,
                         int64_t end) {
  MlirContext context = mlirOperationGetContext(root);
  int64_t starts[SAMBA_MAX_RANK] = {0}, ends[SAMBA_MAX_RANK], steps[SAMBA_MAX_RANK];
  intptr_t rank = sambaMatchRank(value);
  if (start == 0 && end == sambaMatchSize(value, axis))
    return value;
  for (intptr_t a = 0; a < rank; ++a) {
    ends[a] = sambaMatchSize(value, a);
    steps[a] = 1;
  }
  starts[axis] = start;
  ends[axis] = end;
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "starts", mlirDenseI64ArrayGet(context, rank, starts)),
      sambaNamedAttribute(context, "ends", mlirDenseI64ArrayGet(context, rank, ends)),
      sambaNamedAttribute(context, "steps", mlirDenseI64ArrayGet(context, rank, steps))};
  return sambaRaiseBuild(root, "samba.slice", 1, &value, 3, attributes);
}

static MlirNamedAttribute integerAttribute(MlirContext context, const char *name, int64_t value) {
  return sambaNamedAttribute(context, name,
                             mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), value));
}

/* The attention of a part, built in front of the whole one. */
static MlirValue attentionOf(const Causal *causal, const Part *part) {
  MlirOperation whole = causal->attention;
  MlirContext context = mlirOperationGetContext(whole);
  MlirValue operands[4];
  intptr_t count = mlirOperationGetNumOperands(whole);
  for (intptr_t i = 0; i < count; ++i) {
    operands[i] = mlirOperationGetOperand(whole, i);
    intptr_t rank = sambaMatchRank(operands[i]);
    if (i == 0)
      operands[i] = sliceOf(whole, operands[i], rank - 2, part->start, part->end);
    else if (i < 3)
      operands[i] = sliceOf(whole, operands[i], rank - 2, 0, part->keys);
    if (i == 3 && rank >= 1 && sambaMatchSize(operands[i], rank - 1) > 1)
      operands[i] = sliceOf(whole, operands[i], rank - 1, 0, part->keys);
    if (i == 3 && rank >= 2 && sambaMatchSize(operands[i], rank - 2) > 1)
      operands[i] = sliceOf(whole, operands[i], rank - 2, part->start, part->end);
  }

  MlirNamedAttribute attributes[8];
  intptr_t attribute_count = 0;
  static const char *const kept[] = {"scale", "fill", "is_causal"};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) {
    MlirAttribute given = sambaOperationAttribute(whole, kept[i]);
    if (!mlirAttributeIsNull(given))
      attributes[attribute_count++] = sambaNamedAttribute(context, kept[i], given);
  }
  if (causal->offset + part->start)
    attributes[attribute_count++] =
        integerAttribute(context, "causal_offset", causal->offset + part->start);
  return sambaRaiseBuild(whole, "samba.scaled_dot_product_attention", count, operands,
                         attribute_count, attributes);
}

/* A section that computes and stores the part, not in the module so far. Parts behind the first
 * one take the result as it is before. */
static MlirOperation buildPart(const Causal *causal, const Part *part) {
  MlirOperation section = mlirOperationClone(causal->section);
  MlirContext context = mlirOperationGetContext(section);
  MlirBlock body = sambaBodyOf(section);
  Causal own;
  findCausal(section, &own);

  MlirOperation last = mlirOperationIsNull(own.copy) ? own.attention : own.copy;
  MlirValue operands[2] = {attentionOf(&own, part)};
  for (intptr_t i = 0; i < own.permute_count; ++i) {
    MlirNamedAttribute dims =
        sambaNamedAttribute(context, "dims", sambaOperationAttribute(own.permutes[i], "dims"));
    operands[0] = sambaRaiseBuild(own.permutes[i], "samba.permute", 1, operands, 1, &dims);
  }
  MlirType type = mlirValueGetType(sambaMatchResult(last));
  intptr_t inputs = mlirBlockGetNumArguments(body);
  if (part->start) {
    operands[1] = mlirBlockAddArgument(body, type, mlirOperationGetLocation(section));
    MlirType *types = sambaAllocate(sambaArraySize((size_t)inputs + 1, sizeof *types));
    for (intptr_t i = 0; i <= inputs; ++i)
      types[i] = mlirValueGetType(mlirBlockGetArgument(body, i));
    MlirType function = mlirFunctionTypeGet(context, inputs + 1, types, 1, &type);
    mlirOperationSetAttributeByName(section, sambaMlirString("function_type"),
                                    mlirTypeAttrGet(function));
    free(types);
  }
  MlirNamedAttribute attributes[] = {integerAttribute(context, "dim", own.axis),
                                     integerAttribute(context, "start", part->start),
                                     integerAttribute(context, "size", own.rows)};
  MlirValue put =
      sambaRaiseBuild(last, "samba.put_slice", part->start ? 2 : 1, operands, 3, attributes);
  mlirValueReplaceAllUsesOfWith(sambaMatchResult(last), put);

  if (!mlirOperationIsNull(own.copy))
    mlirOperationDestroy(own.copy);
  for (intptr_t i = own.permute_count; i-- > 0;)
    mlirOperationDestroy(own.permutes[i]);
  mlirOperationDestroy(own.attention);
  return section;
}

/*===-- Prices --------------------------------------------------------------------------------===*/

static bool priceOf(const SambaPlanTarget *target, MlirOperation section, double *out_cycles) {
  SambaKnownStages *known = NULL;
  SambaPlanCost cost = {0};
  SambaStatus status = sambaKnownStagesTake(section, &known);
  bool fits = !status && sambaPlanTry(target, known->stages.graph, &cost, NULL);
  *out_cycles = cost.cycles;
  sambaStatusFree(status);
  sambaKnownStagesDestroy(known);
  return fits;
}

static bool priceOfPart(const SambaPlanTarget *target, const Causal *causal, const Part *part,
                        double *out_cycles) {
  MlirOperation section = buildPart(causal, part);
  bool fits = priceOf(target, section, out_cycles);
  mlirOperationDestroy(section);
  return fits;
}

/* About `count` parts of equal rows, whole vectors of them; the last has the rest. */
static Parts partsOf(const Causal *causal, uint32_t count, int64_t lanes) {
  Parts parts = {0};
  int64_t rows = (causal->rows + count - 1) / count;
  rows = (rows + lanes - 1) / lanes * lanes;
  for (int64_t start = 0; start < causal->rows; start += rows) {
    Part *part = &parts.parts[parts.count++];
    part->start = start;
    part->end = start + rows < causal->rows ? start + rows : causal->rows;
    part->keys = part->end + causal->offset;
    part->keys = part->keys < causal->keys ? part->keys : causal->keys;
  }
  return parts;
}

static bool priceParts(const SambaPlanTarget *target, const Causal *causal, const Parts *parts,
                       double *out_cycles) {
  double cycles;
  *out_cycles = 0;
  for (uint32_t i = 0; i < parts->count; ++i, *out_cycles += cycles)
    if (!priceOfPart(target, causal, &parts->parts[i], &cycles))
      return false;
  return true;
}

/* Into which parts the section is split; one: it stays. */
static Parts chooseParts(const SambaPlanTarget *target, const Causal *causal) {
  Parts best = {.count = 1};
  double least, cycles;
  if (!priceOf(target, causal->section, &least))
    return best;
  for (uint32_t count = 2; count <= MOST_PARTS; count *= 2) {
    Parts parts = partsOf(causal, count, target->machine->simd_lanes);
    if (parts.count <= best.count || !priceParts(target, causal, &parts, &cycles) ||
        cycles >= worthwhile * least)
      break;
    best = parts;
    least = cycles;
  }
  return best;
}

/*===-- Calls ---------------------------------------------------------------------------------===*/

/* Whether something of the graph has the region. */
static bool isTaken(const Split *split, SambaStringRef region) {
  SambaRegions regions = {0};
  uint32_t unused;
  sambaRegionsRead(split->function, &regions);
  bool taken = sambaStringMapGet(&regions.argument_in, region, &unused) ||
               sambaStringMapGet(&regions.result_in, region, &unused);
  sambaRegionsFree(&regions);
  MlirOperation call = mlirBlockGetFirstOperation(sambaBodyOf(split->function));
  for (; !mlirOperationIsNull(call) && !taken; call = mlirOperationGetNextInBlock(call))
    for (intptr_t r = 0; r < mlirOperationGetNumResults(call) && !taken; ++r)
      taken = sambaOperationIs(call, "samba.call") &&
              sambaStringRefEqual(sambaRegionOfCallResult(split->function, call, r), region);
  return taken;
}

/* The last operation that reads the value; null: nobody does. */
static MlirOperation lastReader(MlirValue value) {
  MlirOperation last = {NULL};
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (mlirOperationIsNull(last) || mlirOperationIsBeforeInBlock(last, user))
      last = user;
  }
  return last;
}

/* Where the result of a call lies whose parts are stored one by one. */
static const char *placeFor(Split *split, MlirOperation call) {
  MlirValue result = mlirOperationGetResult(call, 0);
  Place made = {.type = mlirValueGetType(result), .reader = lastReader(result)};
  for (size_t i = 0; i < split->places.size; ++i) {
    Place *place = &split->places.data[i];
    bool free =
        mlirOperationIsNull(place->reader) || mlirOperationIsBeforeInBlock(place->reader, call);
    if (free && mlirTypeEqual(place->type, made.type)) {
      place->reader = made.reader;
      return place->name;
    }
  }

  do
    snprintf(made.name, sizeof made.name, "parts%u", split->named++);
  while (isTaken(split, sambaStringRef(made.name)));
  sambaArrayAppend(&split->places, made);
  return split->places.data[split->places.size - 1].name;
}

/* Calls of the parts instead of the call. */
static void splitCall(Split *split, MlirOperation call, const MlirOperation *sections,
                      uint32_t count) {
  MlirContext context = mlirOperationGetContext(call);
  MlirValue result = mlirOperationGetResult(call, 0), value = {NULL};
  MlirType type = mlirValueGetType(result);
  MlirAttribute region = mlirStringAttrGet(context, sambaMlirString(placeFor(split, call)));
  intptr_t inputs = mlirOperationGetNumOperands(call);
  intptr_t attribute_count = mlirOperationGetNumAttributes(call);
  MlirValue *operands = sambaAllocate(sambaArraySize((size_t)inputs + 1, sizeof *operands));
  MlirNamedAttribute *attributes =
      sambaAllocate(sambaArraySize((size_t)attribute_count + 1, sizeof *attributes));
  for (intptr_t i = 0; i < inputs; ++i)
    operands[i] = mlirOperationGetOperand(call, i);
  for (intptr_t i = 0; i < attribute_count; ++i)
    attributes[i] = mlirOperationGetAttribute(call, i);

  for (uint32_t i = 0; i < count; ++i) {
    operands[inputs] = value;
    SambaOperationParts parts = {.name = "samba.call",
                                 .location = mlirOperationGetLocation(call),
                                 .operand_count = inputs + (i > 0),
                                 .operands = operands,
                                 .result_count = 1,
                                 .results = &type,
                                 .attribute_count = attribute_count,
                                 .attributes = attributes};
    MlirOperation part = sambaBuildOperation(&parts);
    MlirStringRef symbol = mlirStringAttrGetValue(sambaOperationAttribute(sections[i], "sym_name"));
    mlirOperationSetAttributeByName(part, sambaMlirString("callee"),
                                    mlirFlatSymbolRefAttrGet(context, symbol));
    mlirOperationSetDiscardableAttributeByName(part, sambaMlirString(SAMBA_REGIONS_ATTRIBUTE),
                                               mlirArrayAttrGet(context, 1, &region));
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(call), call, part);
    value = mlirOperationGetResult(part, 0);
  }
  mlirValueReplaceAllUsesOfWith(result, value);
  mlirOperationDestroy(call);
  free(operands);
  free(attributes);
}

static bool isCallOf(MlirOperation call, MlirOperation section) {
  MlirStringRef symbol = mlirStringAttrGetValue(sambaOperationAttribute(section, "sym_name"));
  return sambaOperationIs(call, "samba.call") &&
         mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(sambaOperationAttribute(call, "callee")),
                            symbol);
}

/* Whether a samba.stack or samba.unstack says where the value lies. */
static bool isPlaced(MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    if (sambaOperationIsPlacement(mlirOpOperandGetOwner(use)))
      return true;
  return false;
}

/* Whether the call may become several: its result lies where nobody says, and the graph need not
 * be one section. */
static bool maySplit(MlirOperation function, MlirOperation call) {
  return mlirAttributeIsNull(sambaOperationAttribute(function, SAMBA_SPATIAL_ATTRIBUTE)) &&
         !sambaRegionOfCallResult(function, call, 0).size &&
         !isPlaced(mlirOperationGetResult(call, 0));
}

/* Counts the calls of the section in all graphs, and those that may be split. With the sections of
 * parts these are split. */
static void visitCalls(Split *split, MlirOperation section, const MlirOperation *sections,
                       uint32_t count, uint32_t *out_calls, uint32_t *out_splittable) {
  MlirOperation function = mlirBlockGetFirstOperation(sambaBodyOf(split->module));
  *out_calls = *out_splittable = 0;
  for (; !mlirOperationIsNull(function); function = mlirOperationGetNextInBlock(function)) {
    if (!sambaOperationIsGraph(function))
      continue;
    if (!mlirOperationEqual(split->function, function))
      split->places.size = 0; /* each graph has places of its own */
    split->function = function;
    MlirOperation next, call = mlirBlockGetFirstOperation(sambaBodyOf(function));
    for (; !mlirOperationIsNull(call); call = next) {
      next = mlirOperationGetNextInBlock(call);
      if (!isCallOf(call, section))
        continue;
      ++*out_calls;
      if (!maySplit(function, call))
        continue;
      ++*out_splittable;
      if (count)
        splitCall(split, call, sections, count);
    }
  }
}

/*===-- The pass ------------------------------------------------------------------------------===*/

/* Those that are asked for, else those of the fewest cycles. */
static Parts partsFor(const Split *split, const Causal *causal, SambaPlanTarget *target) {
  if (split->wanted)
    return partsOf(causal, split->wanted, target->machine->simd_lanes);
  target->counts = sambaPortCountsCreate(target->machine);
  Parts parts = chooseParts(target, causal);
  sambaPortCountsFree(target->counts);
  return parts;
}

static bool splitSection(Split *split, MlirOperation section) {
  Causal causal;
  SambaMachine machine;
  SambaPlanTarget target = {.machine = &machine,
                            .attribute = sambaOperationAttribute(section, "machine"),
                            .compares = SAMBA_COMPARE_REPLICAS};
  uint32_t calls, splittable;
  if (!findCausal(section, &causal) || mlirAttributeIsNull(target.attribute))
    return true;
  visitCalls(split, section, NULL, 0, &calls, &splittable);
  if (!splittable)
    return true;
  SambaStatus status = sambaMachineFromAttribute(target.attribute, &machine);
  if (status)
    return sambaEmitOpStatus(section, status);
  Parts parts = partsFor(split, &causal, &target);
  if (parts.count < 2)
    return true;

  MlirOperation sections[MOST_PARTS];
  for (uint32_t i = 0; i < parts.count; ++i) {
    sections[i] = buildPart(&causal, &parts.parts[i]);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(section), section, sections[i]);
    mlirSymbolTableInsert(split->symbols, sections[i]); /* with a name of its own */
  }
  visitCalls(split, section, sections, parts.count, &calls, &splittable);
  if (calls == splittable)
    mlirSymbolTableErase(split->symbols, section);
  split->changed = true;
  return true;
}

bool sambaSplitAttention(MlirOperation module, const char *parts) {
  char *end;
  long wanted = strtol(parts, &end, 10);
  if (*end || (parts[0] && (wanted < 1 || wanted > MOST_PARTS)))
    return sambaEmitOpError(module,
                            "samba-split-attention: parts wants a number from 1 to %d, not '%s'",
                            MOST_PARTS, parts);
  Split split = {
      .module = module, .symbols = mlirSymbolTableCreate(module), .wanted = (uint32_t)wanted};
  MlirOperation next, section = mlirBlockGetFirstOperation(sambaBodyOf(module));
  bool fine = true;
  for (; !mlirOperationIsNull(section) && fine; section = next) {
    next = mlirOperationGetNextInBlock(section);
    if (sambaOperationIs(section, "samba.section"))
      fine = splitSection(&split, section);
  }
  if (split.changed)
    sambaNumberCalls(module);
  mlirSymbolTableDestroy(split.symbols);
  sambaArrayFree(&split.places);
  return fine;
}
