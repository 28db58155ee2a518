/* samba-assign-memory; see passes.h. One assignment for all graphs of a module. Activations share
 * addresses by their lifetimes in calls; a region has one place, whoever uses it; arguments,
 * constants and outputs without a region keep theirs for themselves. Fast memory first:
 * activations, then what is read most often per byte; what `samba.mem` asks for is honoured, and
 * for inputs and outputs without it the option io_host_memory. */
#include "backend/address/address_assignment.h"
#include "backend/address/bank_columns.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/machine_file.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/rdu/regions.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "passes/passes.h"
#include "support/container/pointer_map.h"
#include "support/container/string_map.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

typedef enum { memoryAny, memoryFast, memorySlow, memoryHost } Memory;

/* Memory that keeps its bytes: of a region, or of one tensor. */
typedef struct {
  SambaStringRef name; /* of the region; empty: none */
  SambaDType dtype;
  Memory memory; /* asked for */
  uint64_t bytes, address;
  uint32_t uses, index;
  bool exchanged, kept; /* an input, output or loss lies here; something else does */
  bool beside;          /* large, and streamed beside another large one */
  bool placed;          /* it has its address */
} Home;

/* Instead of a home: the region of a part of what is taken apart. */
static const uint32_t regionOfPart = UINT32_MAX;

typedef struct {
  SAMBA_ARRAY(Home) homes;
  SambaStringMap by_name; /* region -> home */
  SAMBA_ARRAY(SambaMemoryInterval) activations;
  SambaPointerMap place;   /* value -> 2 * home or 2 * activation + 1 */
  SambaPointerMap part_of; /* value that lies in another one's memory -> its offset */
  SAMBA_ARRAY(uint64_t) part_offsets;
  SAMBA_ARRAY(uint32_t) used;     /* homes, call by call */
  SAMBA_ARRAY(size_t) used_until; /* of each call: where its homes end in `used` */
  uint32_t calls;                 /* so far, of all graphs */
  uint64_t activation_bytes, activation_start;
  uint64_t alignment;      /* of every address */
  uint64_t part_alignment; /* of what lies in another one's memory, from its start */
} Assignment;

static SambaStatus bytesOf(MlirValue value, uint64_t *out_bytes) {
  SambaTensorType type;
  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirValueGetType(value), &type));
  *out_bytes = sambaDTypeBytes(type.dtype);
  for (uint32_t a = 0; a < type.rank; ++a)
    if (__builtin_mul_overflow(*out_bytes, (uint64_t)type.dims[a], out_bytes) ||
        *out_bytes > UINT64_MAX / 4)
      return sambaStatusMake(SAMBA_EXHAUSTED, "a tensor has more bytes than 64 bits can count");
  return NULL;
}

static uint32_t usesOf(MlirValue value) {
  uint32_t uses = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    ++uses;
  return uses;
}

static SambaStatus sharesRegionOfPart(SambaStringRef region) {
  return sambaStatusMake(SAMBA_INVALID,
                         "region '%.*s' is a part of a samba.unstack, so it lies where the whole "
                         "does, but another value has that region, too; give it another one",
                         SAMBA_STRING_ARGS(region));
}

/* The home of the value: that of the region, which may be there already, or a new one. */
static SambaStatus addHome(Assignment *assignment, MlirValue value, SambaStringRef region,
                           Home **out_home) {
  Home home = {.name = region, .index = (uint32_t)assignment->homes.size};
  SambaTensorType type;
  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirValueGetType(value), &type));
  SAMBA_RETURN_IF_ERROR(bytesOf(value, &home.bytes));
  home.bytes += home.bytes == 0; /* a tensor without elements has an address all the same */
  home.dtype = type.dtype;

  uint32_t index = home.index;
  if (!region.size || sambaStringMapInsert(&assignment->by_name, region, home.index, &index)) {
    index = home.index;
    sambaArrayAppend(&assignment->homes, home);
  }
  if (index == regionOfPart)
    return sharesRegionOfPart(region);
  Home *kept = &assignment->homes.data[index];
  if (kept->dtype != type.dtype)
    return sambaStatusMake(SAMBA_INVALID,
                           "region '%.*s' holds %s and %s; what shares a region has one element "
                           "type",
                           SAMBA_STRING_ARGS(region), sambaDTypeName(kept->dtype),
                           sambaDTypeName(type.dtype));
  kept->bytes = home.bytes > kept->bytes ? home.bytes : kept->bytes;
  kept->uses += usesOf(value);
  sambaPointerMapSet(&assignment->place, value.ptr, 2 * index);
  *out_home = kept;
  return NULL;
}

static Memory memoryFrom(MlirAttribute attribute) {
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAString(attribute))
    return memoryAny;
  SambaStringRef text = sambaFromMlir(mlirStringAttrGetValue(attribute));
  if (sambaStringRefEqualC(text, "hbm"))
    return memoryFast;
  return sambaStringRefEqualC(text, "ddr") ? memorySlow : memoryHost;
}

static const char *memoryName(Memory memory) {
  static const char *const names[] = {"any", "HBM", "DDR", "host memory"};
  return names[memory];
}

/* Takes down what argument or result number `index` says of its memory, and whether the user
 * exchanges it with the graph. */
static SambaStatus askFor(Home *home, MlirOperation function, const char *list, intptr_t index,
                          const SambaMachine *machine) {
  static const char *const exchanged[] = {"input", "output", "loss", NULL};
  MlirAttribute kind = sambaFunctionAttribute(function, list, index, SAMBA_KIND_ATTRIBUTE);
  if (mlirAttributeIsNull(kind) ||
      sambaStringRefIsOneOf(sambaFromMlir(mlirStringAttrGetValue(kind)), exchanged))
    home->exchanged = true;
  else
    home->kept = true;

  Memory asked = memoryFrom(sambaFunctionAttribute(function, list, index, SAMBA_MEMORY_ATTRIBUTE));
  if ((asked == memoryFast && machine->hbm_bytes == 0) ||
      (asked == memorySlow && machine->ddr_bytes == 0))
    return sambaStatusMake(SAMBA_INVALID,
                           "target %s has no %s, which samba.mem asks for; leave "
                           "samba.mem out and the compiler decides",
                           machine->name, memoryName(asked));
  if (asked && home->memory && asked != home->memory)
    return sambaStatusMake(SAMBA_INVALID, "region '%.*s' is asked to be in %s and in %s",
                           SAMBA_STRING_ARGS(home->name), memoryName(home->memory),
                           memoryName(asked));
  home->memory = asked ? asked : home->memory;
  return NULL;
}

static SambaStatus collectArgument(Assignment *assignment, MlirOperation function, intptr_t index,
                                   SambaStringRef region, const SambaMachine *machine) {
  Home *home;
  MlirValue argument = mlirBlockGetArgument(sambaBodyOf(function), index);
  SambaStatus status = addHome(assignment, argument, region, &home);
  if (!status)
    status = askFor(home, function, "arg_attrs", index, machine);
  return sambaStatusAnnotate(status, "argument %ld", (long)index);
}

/* Takes down that the call reads the value's home. */
static void addUse(Assignment *assignment, MlirValue value) {
  size_t calls = assignment->used_until.size;
  uint32_t place;
  if (!sambaPointerMapGet(&assignment->place, value.ptr, &place) || place % 2)
    return;
  for (size_t i = calls ? assignment->used_until.data[calls - 1] : 0; i < assignment->used.size;
       ++i)
    if (assignment->used.data[i] == place / 2)
      return;
  sambaArrayAppend(&assignment->used, place / 2);
}

typedef struct Asking {
  Home *home;
  MlirOperation function;
  const SambaMachine *machine;
} Asking;

static SambaStatus askForResult(void *user, intptr_t result) {
  const Asking *asking = user;
  return sambaStatusAnnotate(
      askFor(asking->home, asking->function, "res_attrs", result, asking->machine), "result %ld",
      (long)result);
}

static SambaStatus askForResults(Home *home, MlirOperation function, MlirValue value,
                                 const SambaMachine *machine) {
  Asking asking = {home, function, machine};
  return sambaVisitGraphResults(function, value, askForResult, &asking);
}

static SambaStatus collectCall(Assignment *assignment, MlirOperation function, MlirOperation call,
                               const SambaMachine *machine) {
  uint32_t place;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(call); ++i)
    if (sambaPointerMapGet(&assignment->place, mlirOperationGetOperand(call, i).ptr, &place) &&
        place % 2)
      assignment->activations.data[place / 2].last_call = assignment->calls;

  for (intptr_t r = 0; r < mlirOperationGetNumResults(call); ++r) {
    MlirValue value = mlirOperationGetResult(call, r);
    SambaStringRef region = sambaRegionOfCallResult(function, call, r);
    if (region.size || sambaGraphReturns(function, value)) {
      Home *home;
      SAMBA_RETURN_IF_ERROR(addHome(assignment, value, region, &home));
      SAMBA_RETURN_IF_ERROR(askForResults(home, function, value, machine));
      continue;
    }
    SambaMemoryInterval interval = {.first_call = assignment->calls,
                                    .last_call = assignment->calls};
    SAMBA_RETURN_IF_ERROR(bytesOf(value, &interval.bytes));
    sambaPointerMapSet(&assignment->place, value.ptr,
                       2 * (uint32_t)assignment->activations.size + 1);
    sambaArrayAppend(&assignment->activations, interval);
  }

  for (intptr_t i = 0; i < mlirOperationGetNumOperands(call); ++i)
    addUse(assignment, mlirOperationGetOperand(call, i));
  sambaArrayAppend(&assignment->used_until, assignment->used.size);
  ++assignment->calls;
  return NULL;
}

/* Takes down that the value lies in the memory with that place, so many bytes behind its start. */
static void addPart(Assignment *assignment, MlirValue part, uint32_t place, uint64_t offset) {
  sambaPointerMapSet(&assignment->place, part.ptr, place);
  sambaPointerMapSet(&assignment->part_of, part.ptr, (uint32_t)assignment->part_offsets.size);
  sambaArrayAppend(&assignment->part_offsets, offset);
}

/* The bytes of each of the parts of the whole. */
static SambaStatus bytesOfParts(const Assignment *assignment, MlirValue whole, intptr_t count,
                                uint64_t *out_bytes) {
  SAMBA_RETURN_IF_ERROR(bytesOf(whole, out_bytes));
  *out_bytes /= (uint64_t)count;
  if (*out_bytes % assignment->part_alignment == 0)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID,
                         "its parts have %llu bytes, but a part begins at a multiple of %llu "
                         "bytes; stack tensors of such sizes only",
                         (unsigned long long)*out_bytes,
                         (unsigned long long)assignment->part_alignment);
}

/* What is stacked lives where the stack does, from the first call that makes a part to the last one
 * that reads the stack or a part. */
static SambaStatus collectStack(Assignment *assignment, MlirOperation stack) {
  MlirValue whole = mlirOperationGetResult(stack, 0);
  intptr_t count = mlirOperationGetNumOperands(stack);
  SambaMemoryInterval interval = {.first_call = UINT32_MAX};
  uint64_t part_bytes;
  SAMBA_RETURN_IF_ERROR(bytesOf(whole, &interval.bytes));
  SAMBA_RETURN_IF_ERROR(bytesOfParts(assignment, whole, count, &part_bytes));
  uint32_t stacked = 2 * (uint32_t)assignment->activations.size + 1;

  for (intptr_t i = 0; i < count; ++i) {
    MlirValue part = mlirOperationGetOperand(stack, i);
    uint32_t place, unused;
    if (!sambaPointerMapGet(&assignment->place, part.ptr, &place) || place % 2 == 0 ||
        sambaPointerMapGet(&assignment->part_of, part.ptr, &unused))
      return sambaStatusMake(SAMBA_INVALID,
                             "part %ld has a place of its own, as an argument, a constant, a "
                             "result of the graph, or as a part of another stack; stack what "
                             "calls leave for other calls only, and once",
                             (long)i);
    SambaMemoryInterval *own = &assignment->activations.data[place / 2];
    if (own->first_call < interval.first_call)
      interval.first_call = own->first_call;
    if (own->last_call > interval.last_call)
      interval.last_call = own->last_call;
    own->bytes = 0;
    addPart(assignment, part, stacked, (uint64_t)i * part_bytes);
  }
  sambaPointerMapSet(&assignment->place, whole.ptr, stacked);
  sambaArrayAppend(&assignment->activations, interval);
  return NULL;
}

/* The regions of parts that the graph returns are their own: they have no home but the whole's. */
static SambaStatus collectUnstack(Assignment *assignment, MlirOperation function,
                                  MlirOperation unstack) {
  MlirValue whole = mlirOperationGetOperand(unstack, 0);
  intptr_t count = mlirOperationGetNumResults(unstack);
  uint32_t place;
  uint64_t part_bytes;
  if (!sambaPointerMapGet(&assignment->place, whole.ptr, &place))
    return sambaStatusMake(SAMBA_INVALID, "what it takes apart is not in memory");
  SAMBA_RETURN_IF_ERROR(bytesOfParts(assignment, whole, count, &part_bytes));
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue part = mlirOperationGetResult(unstack, i);
    SambaStringRef region = sambaRegionOfResult(function, sambaGraphResultOf(function, part));
    uint32_t unused;
    if (region.size && !sambaStringMapInsert(&assignment->by_name, region, regionOfPart, &unused))
      return sharesRegionOfPart(region);
    addPart(assignment, part, place, (uint64_t)i * part_bytes);
  }
  return NULL;
}

static SambaStatus collectArguments(Assignment *assignment, MlirOperation function,
                                    const SambaMachine *machine) {
  MlirBlock body = sambaBodyOf(function);
  SambaRegions regions = {0};
  SambaStatus status = NULL;
  sambaRegionsRead(function, &regions);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body) && !status; ++i)
    if (!sambaValueIsArgin(mlirBlockGetArgument(body, i))) /* comes with the launch */
      status = collectArgument(assignment, function, i, regions.of_argument.data[i], machine);
  sambaRegionsFree(&regions);
  return status;
}

static SambaStatus collect(Assignment *assignment, MlirOperation function,
                           const SambaMachine *machine) {
  SAMBA_RETURN_IF_ERROR(collectArguments(assignment, function, machine));
  MlirBlock body = sambaBodyOf(function);
  MlirOperation operation = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    Home *unused;
    if (sambaOperationIsConstant(operation))
      SAMBA_RETURN_IF_ERROR(addHome(assignment, mlirOperationGetResult(operation, 0),
                                    (SambaStringRef){NULL, 0}, &unused));
    else if (sambaOperationIs(operation, "samba.call"))
      SAMBA_RETURN_IF_ERROR(collectCall(assignment, function, operation, machine));
    else if (sambaOperationIs(operation, "samba.stack"))
      SAMBA_RETURN_IF_ERROR(
          sambaStatusAnnotate(collectStack(assignment, operation), "samba.stack"));
    else if (sambaOperationIs(operation, "samba.unstack"))
      SAMBA_RETURN_IF_ERROR(
          sambaStatusAnnotate(collectUnstack(assignment, function, operation), "samba.unstack"));
  }
  return NULL;
}

/* What must be in the fast memory, then what is used most. */
static int mostUsedFirst(const void *left, const void *right) {
  const Home *const *a = left, *const *b = right;
  if (((*a)->memory == memoryFast) != ((*b)->memory == memoryFast))
    return (*a)->memory == memoryFast ? -1 : 1;
  if ((*a)->uses != (*b)->uses)
    return (*a)->uses < (*b)->uses ? 1 : -1;
  return (*a)->index < (*b)->index ? -1 : 1;
}

/* in_host: it is host memory that is too small. */
static SambaStatus doesNotFit(const Assignment *assignment, const char *which,
                              const SambaMachine *machine, uint64_t needed, uint64_t there,
                              bool in_host) {
  enum { named = 3 };
  const Home *largest[named] = {NULL};
  uint64_t outputs = 0;
  for (size_t i = 0; i < assignment->homes.size; ++i) {
    const Home *home = &assignment->homes.data[i];
    if ((home->memory == memoryHost) != in_host)
      continue;
    outputs += home->name.size ? 0 : sambaMemoryRound(home->bytes, assignment->alignment);
    for (int k = 0; k < named && home->name.size; ++k)
      if (!largest[k] || home->bytes > largest[k]->bytes) {
        const Home *smaller = largest[k];
        largest[k] = home;
        home = smaller;
        if (!home)
          break;
      }
  }

  SambaStatus status =
      sambaStatusMake(SAMBA_EXHAUSTED, "the graph needs %llu bytes of %s memory, but %s%s has %llu",
                      (unsigned long long)needed, in_host ? "host" : "device", which, machine->name,
                      (unsigned long long)there);
  for (int k = 0; k < named && largest[k]; ++k)
    sambaStatusNote(status, "region '%.*s' has %llu bytes", SAMBA_STRING_ARGS(largest[k]->name),
                    (unsigned long long)largest[k]->bytes);
  if (in_host)
    return sambaStatusNote(status,
                           "outputs have %llu bytes; try a smaller batch, or leave "
                           "--io-host-memory or samba.mem = \"host\" out",
                           (unsigned long long)outputs);
  sambaStatusNote(status, "activations have %llu bytes, outputs and constants %llu",
                  (unsigned long long)assignment->activation_bytes, (unsigned long long)outputs);
  return sambaStatusNote(status,
                         "try a smaller batch, --precision=mp4, another --target, or samba.mem = "
                         "\"host\" on what is read seldom");
}

/* Finds the homes for which it matters in which banks of the fast memory they lie. */
static void findStreams(Assignment *assignment, const SambaMachine *machine) {
  uint64_t least = sambaBankColumnsLeast(machine);
  for (size_t call = 0, first = 0; least && call < assignment->used_until.size; ++call) {
    size_t end = assignment->used_until.data[call];
    uint32_t large = 0;
    for (int pass = 0; pass < 2; ++pass)
      for (size_t i = first; i < end; ++i) {
        Home *home = &assignment->homes.data[assignment->used.data[i]];
        if (home->memory > memoryFast || home->bytes < least)
          continue;
        large += pass == 0;
        home->beside |= pass == 1 && large > 1;
      }
    first = end;
  }
}

/* Those homes get addresses behind `start`, so that the ones of a call keep out of each other's
 * banks. Where there is not enough room, they get none. */
static void placeInColumns(Assignment *assignment, const SambaMachine *machine, uint64_t start) {
  uint32_t home_count = (uint32_t)assignment->homes.size, count = 0, teams = 0, size = 0;
  uint32_t *number = sambaAllocate(sambaArraySize(home_count, sizeof *number));
  SambaColumnTensor *tensors = sambaAllocate(sambaArraySize(home_count, sizeof *tensors));
  uint32_t *members = sambaAllocate(sambaArraySize(assignment->used.size, sizeof *members));
  SambaColumnTeam *team = sambaAllocate(sambaArraySize(assignment->used_until.size, sizeof *team));

  for (uint32_t h = 0; h < home_count; ++h) {
    const Home *home = &assignment->homes.data[h];
    number[h] = count;
    if (home->beside)
      tensors[count++].bytes = sambaMemoryRound(home->bytes, assignment->alignment);
  }
  for (size_t call = 0, i = 0; call < assignment->used_until.size; ++call) {
    uint32_t first = size;
    for (; i < assignment->used_until.data[call]; ++i)
      if (assignment->homes.data[assignment->used.data[i]].beside)
        members[size++] = number[assignment->used.data[i]];
    if (size > first)
      team[teams++] = (SambaColumnTeam){members + first, size - first};
  }

  if (count && sambaBankColumnsAssign(machine, tensors, count, team, teams, start,
                                      (uint64_t)machine->hbm_bytes))
    for (uint32_t h = 0; h < home_count; ++h)
      if (assignment->homes.data[h].beside) {
        assignment->homes.data[h].address = tensors[number[h]].address;
        assignment->homes.data[h].placed = true;
      }
  free(number);
  free(tensors);
  free(members);
  free(team);
}

/* Addresses: the fast memory is filled from 0, the slow one starts behind it, host memory behind
 * that. */
static SambaStatus place(Assignment *assignment, const SambaMachine *machine) {
  uint64_t fast = (uint64_t)machine->hbm_bytes;
  uint64_t slow = (uint64_t)machine->ddr_bytes;
  uint64_t used_fast = 0, used_slow = 0, used_host = 0;
  size_t count = assignment->homes.size;

  Home **order = sambaAllocate(sambaArraySize(count + 1, sizeof *order));
  assignment->activation_bytes =
      sambaMemoryRound(assignment->activation_bytes, assignment->alignment);
  bool activations_fast = assignment->activation_bytes <= fast;
  if (activations_fast)
    assignment->activation_start = used_fast, used_fast += assignment->activation_bytes;
  else
    assignment->activation_start = fast + used_slow, used_slow += assignment->activation_bytes;
  bool everything = used_fast <= fast;
  uint64_t sum = used_fast, alone = used_fast;
  for (size_t i = 0; i < count; ++i) {
    order[i] = &assignment->homes.data[i];
    if (order[i]->memory > memoryFast || !everything)
      continue;
    uint64_t bytes = sambaMemoryRound(order[i]->bytes, assignment->alignment);
    alone += order[i]->beside ? 0 : bytes;
    everything = (sum += bytes) <= fast;
  }
  if (everything)
    placeInColumns(assignment, machine, alone);
  else /* only then does the order matter; otherwise keep that of the graphs */
    qsort(order, count, sizeof *order, mostUsedFirst);

  for (size_t i = 0; i < count; ++i) {
    if (order[i]->placed)
      continue;
    uint64_t bytes = sambaMemoryRound(order[i]->bytes, assignment->alignment);
    Memory memory = order[i]->memory;
    if (memory == memoryAny)
      memory = bytes <= fast - (used_fast < fast ? used_fast : fast) ? memoryFast : memorySlow;
    uint64_t *used = &used_host;
    uint64_t start = fast + slow;
    if (memory != memoryHost) {
      used = memory == memoryFast ? &used_fast : &used_slow;
      start = memory == memoryFast ? 0 : fast;
    }
    order[i]->address = start + *used;
    *used += bytes;
  }

  free(order);
  if (used_fast > fast) /* that was asked for: the others go to the slow memory */
    return doesNotFit(assignment, "the HBM of ", machine, used_fast, fast, false);
  if (used_slow > slow)
    return doesNotFit(assignment, "", machine, used_fast + used_slow, fast + slow, false);
  if (used_host > (uint64_t)machine->host_bytes)
    return doesNotFit(assignment, "the host of ", machine, used_host, (uint64_t)machine->host_bytes,
                      true);
  return NULL;
}

/* 0 for what is not in memory. */
static uint64_t addressOf(const Assignment *assignment, MlirValue value) {
  uint32_t place, part;
  if (!sambaPointerMapGet(&assignment->place, value.ptr, &place))
    return 0;
  uint64_t address =
      place % 2 ? assignment->activation_start + assignment->activations.data[place / 2].offset
                : assignment->homes.data[place / 2].address;
  bool is_part = sambaPointerMapGet(&assignment->part_of, value.ptr, &part);
  return address + (is_part ? assignment->part_offsets.data[part] : 0);
}

static void write(const Assignment *assignment, MlirOperation function) {
  MlirContext context = mlirOperationGetContext(function);
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  MlirBlock body = sambaBodyOf(function);
  intptr_t arguments = mlirBlockGetNumArguments(body);
  uint32_t place;
  MlirAttribute given = sambaOperationAttribute(function, "arg_attrs");
  MlirAttribute *dictionaries =
      sambaAllocate(sambaArraySize((size_t)arguments + 1, sizeof *dictionaries));

  for (intptr_t i = 0; i < arguments; ++i) {
    MlirAttribute old = mlirAttributeIsNull(given) ? mlirDictionaryAttrGet(context, 0, NULL)
                                                   : mlirArrayAttrGetElement(given, i);
    intptr_t count = mlirDictionaryAttrGetNumElements(old);
    intptr_t kept = 0;
    MlirNamedAttribute *entries = sambaAllocate(sambaArraySize((size_t)count + 1, sizeof *entries));
    for (intptr_t k = 0; k < count; ++k) {
      entries[kept] = mlirDictionaryAttrGetElement(old, k);
      kept += !mlirStringRefEqual(mlirIdentifierStr(entries[kept].name),
                                  sambaMlirString(SAMBA_ADDRESS_ATTRIBUTE));
    }

    if (sambaPointerMapGet(&assignment->place, mlirBlockGetArgument(body, i).ptr, &place))
      entries[kept++] = sambaNamedAttribute(
          context, SAMBA_ADDRESS_ATTRIBUTE,
          mlirIntegerAttrGet(i64, (int64_t)assignment->homes.data[place / 2].address));
    dictionaries[i] = mlirDictionaryAttrGet(context, kept, entries);
    free(entries);
  }

  if (arguments)
    mlirOperationSetAttributeByName(function, sambaMlirString("arg_attrs"),
                                    mlirArrayAttrGet(context, arguments, dictionaries));
  free(dictionaries);
  MlirOperation operation = mlirBlockGetFirstOperation(body);

  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    intptr_t results = mlirOperationGetNumResults(operation);
    int64_t *addresses = sambaAllocate(sambaArraySize((size_t)results + 1, sizeof *addresses));
    for (intptr_t r = 0; r < results; ++r)
      addresses[r] = (int64_t)addressOf(assignment, mlirOperationGetResult(operation, r));
    if (sambaOperationIs(operation, "samba.call") || sambaOperationIsPlacement(operation))
      mlirOperationSetDiscardableAttributeByName(operation,
                                                 sambaMlirString(SAMBA_ADDRESSES_ATTRIBUTE),
                                                 mlirDenseI64ArrayGet(context, results, addresses));
    else if (sambaOperationIsConstant(operation))
      mlirOperationSetDiscardableAttributeByName(operation,
                                                 sambaMlirString(SAMBA_ADDRESS_ATTRIBUTE),
                                                 mlirIntegerAttrGet(i64, addresses[0]));
    free(addresses);
  }

  int64_t shared[] = {(int64_t)assignment->activation_start, (int64_t)assignment->activation_bytes};
  mlirOperationSetDiscardableAttributeByName(function, sambaMlirString(SAMBA_ACTIVATIONS_ATTRIBUTE),
                                             mlirDenseI64ArrayGet(context, 2, shared));
}

/* What the user exchanges with the graph goes to the host, unless it says where it wants to be. */
static void moveToHost(Assignment *assignment) {
  for (size_t i = 0; i < assignment->homes.size; ++i) {
    Home *home = &assignment->homes.data[i];
    if (home->memory == memoryAny && home->exchanged && !home->kept)
      home->memory = memoryHost;
  }
}

bool sambaAssignMemory(MlirOperation module, const char *io_host_memory) {
  bool io_in_host = strcmp(io_host_memory, "true") == 0;
  if (!io_in_host && strcmp(io_host_memory, "false") != 0)
    return sambaEmitOpError(module,
                            "samba-assign-memory: io_host_memory wants true or false, not '%s'",
                            io_host_memory);
  Assignment all = {0};
  Assignment *assignment = &all;
  SambaMachine machine;
  MlirOperation at = module; /* whom an error names */
  SambaStatus status = sambaModuleMachine(module, &machine);
  assignment->alignment = status ? 1 : sambaMachineMemoryAlignment(&machine);
  assignment->part_alignment = status ? 1 : sambaMachinePartAlignment(&machine);
  MlirOperation first = mlirBlockGetFirstOperation(sambaBodyOf(module));

  for (MlirOperation operation = first; !mlirOperationIsNull(operation) && !status;
       operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation)) {
      at = operation;
      status = collect(assignment, operation, &machine);
    }
  if (io_in_host)
    moveToHost(assignment);
  if (!status)
    status = sambaMemoryAssign(assignment->activations.data, (uint32_t)assignment->activations.size,
                               assignment->alignment, &assignment->activation_bytes);
  if (!status)
    status = sambaMemoryCheck(assignment->activations.data, (uint32_t)assignment->activations.size,
                              assignment->alignment, assignment->activation_bytes);
  if (!status) {
    findStreams(assignment, &machine);
    status = place(assignment, &machine);
  }
  for (MlirOperation operation = first; !mlirOperationIsNull(operation) && !status;
       operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      write(assignment, operation);

  sambaArrayFree(&assignment->homes);
  sambaPointerMapFree(&assignment->part_of);
  sambaArrayFree(&assignment->part_offsets);
  sambaArrayFree(&assignment->activations);
  sambaArrayFree(&assignment->used);
  sambaArrayFree(&assignment->used_until);
  sambaPointerMapFree(&assignment->place);
  sambaStringMapFree(&assignment->by_name);
  return !status || sambaEmitOpStatus(at, status);
}
