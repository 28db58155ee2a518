/* Making, freeing and asking a SambaPef; see pef.h. */
#include "backend/pef/pef.h"

#include "backend/pef/schema.h"
#include "support/base/version.h"
#include "support/text/escape.h"

#include <stdlib.h>
#include <strings.h>

/* clang-format off */
/* Typed initializers of records. */
#define PEF_TABLE(Type, singular, plural, place, need, doc) \
  void sambaPef##Type##Initialize(SambaPef##Type *record) { \
    *record = (SambaPef##Type){0}; \
    sambaPefRecordInitialize(sambaPefTable(SAMBA_PEF_TABLE_##Type), record); \
  }
#include "backend/pef/fields_none.def"
#include "backend/pef/tables.def"
/* clang-format on */

SambaPef *sambaPefCreate(void) {
  SambaPef *pef = sambaAllocateZeroed(1, sizeof *pef);
  sambaPefHeaderInitialize(&pef->header);
  sambaPefMachineInitialize(&pef->machine);
  pef->header.major = SAMBA_PEF_MAJOR;
  pef->header.minor = SAMBA_PEF_MINOR;
  pef->header.producer = sambaStringRef("samba " SAMBA_VERSION);
  return pef;
}

void sambaPefReleaseFile(SambaPef *pef) {
  if (pef->file)
    pef->close_file(pef->file);
  pef->file = NULL;
}

void sambaPefDestroy(SambaPef *pef) {
  if (!pef)
    return;
  sambaPefReleaseFile(pef);
  sambaArenaDestroy(&pef->arena);
  free(pef);
}

/* The two enumerations are the same words: those of the file never change their values. */
static const SambaPefParameterReason pef_reasons[SAMBA_REASON_COUNT] = {
#define X(enumerator, key, word) [SAMBA_REASON_##enumerator] = SAMBA_PEF_PARAMETER_##enumerator,
    SAMBA_REASON_KINDS(X)
#undef X
};

static SambaPefParameterReason reasonToPef(SambaReasonKind kind) { return pef_reasons[kind]; }

static SambaReasonKind reasonFromPef(SambaPefParameterReason reason) {
  int kind = SAMBA_REASON_COUNT - 1;
  while (kind > 0 && pef_reasons[kind] != reason)
    --kind;
  return (SambaReasonKind)kind;
}

void sambaPefSetMachine(SambaPef *pef, const SambaMachine *machine) {
  SambaPefMachine *to = &pef->machine;
  to->name = sambaStringRefCopy(&pef->arena, sambaStringRef(machine->name));
  to->parameters_count = SAMBA_PARAMETER_COUNT;
  to->parameters = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefParameter, SAMBA_PARAMETER_COUNT);

  for (uint32_t i = 0; i < SAMBA_PARAMETER_COUNT; ++i) {
    const SambaReason *reason = &machine->reasons[i];
    to->parameters[i] = (SambaPefParameter){
        .name = sambaStringRef(sambaParameterName(i)),
        .type = SAMBA_PEF_PARAMETER_INTEGER,
        .value = (uint64_t)sambaMachineGet(machine, i),
        .unit = sambaStringRef(sambaParameterUnit(i)),
        .reason = reasonToPef(reason->kind),
        .source = reason->text ? sambaStringRefCopy(&pef->arena, sambaStringRef(reason->text))
                               : sambaStringRef(""),
    };
  }
}

SambaStatus sambaPefGetMachine(const SambaPef *pef, SambaMachine *out_machine) {
  const SambaPefMachine *from = &pef->machine;
  SambaMachine machine = {0};

  if (from->name.size == 0 || from->name.size >= sizeof machine.name ||
      memchr(from->name.data, 0, from->name.size))
    return sambaStatusMake(SAMBA_INVALID,
                           "the machine's name has %zu bytes, expected 1 to %zu without zero bytes",
                           from->name.size, sizeof machine.name - 1);
  memcpy(machine.name, from->name.data, from->name.size);
  bool seen[SAMBA_PARAMETER_COUNT] = {false};
  SambaArena arena = {0};
  SambaStatus status = NULL;

  for (uint32_t i = 0; i < from->parameters_count && !status; ++i) {
    const SambaPefParameter *parameter = &from->parameters[i];
    SambaParameter which = sambaParameterFromName(parameter->name);
    const char *name = sambaStringEscape(&arena, parameter->name).data;
    if (which == SAMBA_PARAMETER_COUNT)
      status = sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "machine parameter %s is unknown; use the version of Samba that wrote this", name);
    else if (seen[which])
      status = sambaStatusMake(SAMBA_INVALID, "machine parameter %s is given twice", name);
    else if (!sambaStringRefEqualC(parameter->unit, sambaParameterUnit(which)))
      status = sambaStatusMake(SAMBA_INVALID, "machine parameter %s is in %s, expected \"%s\"",
                               name, sambaStringEscape(&arena, parameter->unit).data,
                               sambaParameterUnit(which));
    if (status)
      break;
    seen[which] = true;
    SambaReasonKind kind = reasonFromPef(parameter->reason);
    sambaMachineSet(
        &machine, which, (int64_t)parameter->value,
        (SambaReason){kind, kind == SAMBA_REASON_ASSUMED ? NULL : parameter->source.data});
  }

  for (uint32_t i = 0; i < SAMBA_PARAMETER_COUNT && !status; ++i)
    if (!seen[i])
      status = sambaStatusMake(
          SAMBA_INVALID, "machine parameter \"%s\" is missing; compile again with this version",
          sambaParameterName(i));
  sambaArenaDestroy(&arena);
  SAMBA_RETURN_IF_ERROR(status);
  SAMBA_RETURN_IF_ERROR(sambaMachineCheck(&machine));
  *out_machine = machine;

  return NULL;
}

uint64_t sambaPefSymbolElements(const SambaPefSymbol *symbol) {
  uint64_t elements = 1;
  for (uint32_t i = 0; i < symbol->dims_count; ++i)
    elements *= symbol->dims[i].size;
  return elements;
}

void sambaPefSymbolBlocks(const SambaPefSymbol *symbol, uint64_t *out_bytes, uint64_t *out_step) {
  bool blocks = symbol->layout == SAMBA_PEF_LAYOUT_BLOCKS;
  *out_bytes = blocks ? symbol->block_bytes : symbol->bytes;
  *out_step = blocks ? symbol->block_step : symbol->bytes;
}

uint64_t sambaPefSymbolSpan(const SambaPefSymbol *symbol) {
  uint64_t bytes, step;
  sambaPefSymbolBlocks(symbol, &bytes, &step);
  return symbol->bytes ? (symbol->bytes / bytes - 1) * step + bytes : 0;
}

bool sambaPefSymbolsMeet(const SambaPefSymbol *one, const SambaPefSymbol *other) {
  return one->region == other->region &&
         one->address < other->address + sambaPefSymbolSpan(other) &&
         other->address < one->address + sambaPefSymbolSpan(one);
}

uint32_t sambaPefFindSymbol(const SambaPef *pef, SambaStringRef name) {
  for (uint32_t i = 0; i < pef->symbols_count; ++i)
    if (sambaStringRefEqual(pef->symbols[i].name, name))
      return i;
  return SAMBA_PEF_NONE;
}

uint32_t sambaPefFindSection(const SambaPef *pef, SambaStringRef name) {
  for (uint32_t i = 0; i < pef->sections_count; ++i)
    if (sambaStringRefEqual(pef->sections[i].name, name))
      return i;
  return SAMBA_PEF_NONE;
}

#define ENUMERATOR(enumerator, value, name) {value, name},
static const SambaPefEnumerator sectionTypes[] = {SAMBA_PEF_SECTION_TYPES(ENUMERATOR){0, NULL}};

const char *sambaPefSectionTypeName(SambaPefSectionType type) {
  const char *name = sambaPefEnumeratorName(sectionTypes, type);
  return name ? name : "invalid";
}

SambaPefSectionType sambaPefSectionTypeAt(uint32_t place) {
  static const SambaPefSectionType step[SAMBA_PEF_SECTION_TYPE_COUNT] = {
      SAMBA_PEF_SECTION_ZEROGRAD, SAMBA_PEF_SECTION_FWD,      SAMBA_PEF_SECTION_BCKWD,
      SAMBA_PEF_SECTION_REDUCE,   SAMBA_PEF_SECTION_GRADNORM, SAMBA_PEF_SECTION_OPT};
  return step[place];
}

uint32_t sambaPefSectionTypePlace(SambaPefSectionType type) {
  uint32_t place = 0;
  while (place + 1 < SAMBA_PEF_SECTION_TYPE_COUNT && sambaPefSectionTypeAt(place) != type)
    ++place;
  return place;
}

bool sambaPefSectionTypeFromName(SambaStringRef name, SambaPefSectionType *out_type) {
  for (const SambaPefEnumerator *type = sectionTypes; type->name; ++type)
    if (strlen(type->name) == name.size && strncasecmp(type->name, name.data, name.size) == 0) {
      *out_type = type->value;
      return true;
    }
  return false;
}
