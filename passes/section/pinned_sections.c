/* Pinned sections and mappings; see pinned_sections.h. */
#include "passes/section/pinned_sections.h"

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "passes/section/placed_values.h"
#include "passes/section/section_trial.h"
#include "support/base/index.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

static int comparePinned(const void *a, const void *b) {
  const SambaPinned *x = a, *y = b;
  if (x->section != y->section)
    return x->section < y->section ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static bool isMapped(MlirOperation operation) {
  return !mlirAttributeIsNull(sambaOperationAttribute(operation, SAMBA_MAPPING_ATTRIBUTE));
}

uint32_t sambaPinnedCollect(bool sections, const MlirOperation *operators, uint32_t count,
                            SambaPinned *out) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; ++i) {
    MlirAttribute section = sambaOperationAttribute(operators[i], SAMBA_SECTION_ATTRIBUTE);
    bool pinned = sections && !mlirAttributeIsNull(section);
    if (pinned || isMapped(operators[i]))
      out[found++] = (SambaPinned){pinned ? mlirIntegerAttrGetValueInt(section) : -1, i};
  }
  if (found)
    qsort(out, found, sizeof *out, comparePinned);
  return found;
}

uint32_t sambaPinnedEnd(const SambaPinned *pinned, uint32_t count, uint32_t first) {
  uint32_t end = first + 1;
  while (end < count && pinned[first].section >= 0 && pinned[end].section == pinned[first].section)
    ++end;
  return end;
}

static void warn(MlirOperation operation, const char *what, const char *why) {
  SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(operation));
  SambaText text = {0};
  if (!layer.size)
    layer = sambaOperatorNameOf(operation);
  sambaTextFormat(&text, "the section that is pinned from '%.*s' on %s: %s",
                  SAMBA_STRING_ARGS(layer), what, why);
  sambaDiagnose(mlirOperationGetLocation(operation), MlirDiagnosticWarning,
                mlirStringRefCreate(text.data, text.size), 0, NULL);
  sambaTextFree(&text);
}

/* Mappings are those of the stages that a section has as a whole. */
static void giveUpMapping(MlirOperation operation) {
  mlirOperationRemoveAttributeByName(operation, sambaMlirString(SAMBA_MAPPING_ATTRIBUTE));
}

/* Whether the operators are a section; else their mappings are given up, if they have any. */
static bool fits(const SambaPlanTarget *target, MlirOperation *members, uint32_t count) {
  SambaPlanCost unused;
  SambaText why = {0};
  bool fine = sambaSectionTry(target, members, count, &unused, &why), mapped = false;
  for (uint32_t m = 0; m < count && !fine; ++m) {
    mapped |= isMapped(members[m]);
    giveUpMapping(members[m]);
  }
  if (mapped) {
    warn(members[0], "cannot have its mappings and is mapped anew", sambaTextGet(&why));
    sambaTextClear(&why);
    fine = sambaSectionTry(target, members, count, &unused, &why);
  }
  if (!fine)
    warn(members[0], "is none of this machine", sambaTextGet(&why));
  sambaTextFree(&why);
  return fine;
}

static bool haveOnePhase(const MlirOperation *members, uint32_t count) {
  bool one = true;
  for (uint32_t m = 1; m < count; ++m)
    one &= sambaPhaseOf(members[m]) == sambaPhaseOf(members[0]);
  if (!one)
    warn(members[0], "is none", "its operators are of several phases of training");
  return one;
}

/* Whether none takes by way of memory what another one makes. */
static bool needNoMemory(const MlirOperation *members, uint32_t count) {
  bool none = true;
  for (uint32_t reader = 0; reader < count && none; ++reader)
    for (uint32_t m = 0; sambaTakesPlacedOfPhase(members[reader]) && m < count && none; ++m)
      none = !sambaTakesPlaced(members[reader], members[m]);
  if (!none)
    warn(members[0], "is none",
         "an operator of it reads what another one leaves in memory (samba.stack, samba.unstack)");
  return none;
}

uint32_t *sambaPinnedSections(const SambaPlanTarget *target, bool sections,
                              const MlirOperation *operators, uint32_t count, SambaArena *arena) {
  SambaPinned *pinned = sambaAllocate(sambaArraySize(count + 1, sizeof *pinned));
  MlirOperation *members = sambaAllocate(sambaArraySize(count + 1, sizeof *members));
  uint32_t found = sambaPinnedCollect(sections, operators, count, pinned);
  uint32_t *joined = NULL;

  for (uint32_t first = 0, end; first < found; first = end) {
    uint32_t size = 0;
    end = sambaPinnedEnd(pinned, found, first);
    for (uint32_t p = first; p < end; ++p)
      members[size++] = operators[pinned[p].index];
    if (pinned[first].section < 0) {
      fits(target, members, size);
      continue;
    }
    if (!haveOnePhase(members, size) || !needNoMemory(members, size)) {
      for (uint32_t m = 0; m < size; ++m)
        giveUpMapping(members[m]);
      continue;
    }
    if (!fits(target, members, size))
      continue;
    if (!joined) {
      joined = SAMBA_ARENA_ARRAY(arena, uint32_t, count + 1);
      sambaClearIndices(joined, count);
    }
    for (uint32_t p = first; p < end; ++p)
      joined[pinned[p].index] = pinned[first].index;
  }

  free(pinned);
  free(members);
  return joined;
}

void sambaPinnedSectionsCheck(const uint32_t *joined, const uint32_t *group_of,
                              const MlirOperation *operators, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (joined[i] == SAMBA_NO_INDEX || group_of[i] != SAMBA_NO_INDEX)
      continue;
    giveUpMapping(operators[i]);
    if (joined[i] == i)
      warn(operators[i], "is none",
           "an operator outside of it reads what it makes and makes what it reads");
  }
}
