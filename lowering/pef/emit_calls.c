/* Images from rdu.sections, the schedule from samba.calls; see emitter.h. */
#include "lowering/pef/emitter.h"

#include "backend/estimate/estimate.h"
#include "backend/estimate/predict.h"
#include "backend/pef/image/image.h"
#include "backend/section/check/order_check.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/rdu/section/known_section.h"
#include "dialect/samba/graph.h"

#include <stdlib.h>
#include <string.h>

/* Layers of the units in this call: those of the image (which has the layers of its first call)
 * renamed by place. */
static void emitLayers(SambaEmitter *emitter, MlirOperation operation, SambaPefCall *call) {
  MlirAttribute layers = mlirOperationGetDiscardableAttributeByName(
      operation, sambaMlirString(SAMBA_LAYERS_ATTRIBUTE));
  if (mlirAttributeIsNull(layers) || !mlirAttributeIsAArray(layers))
    return;
  uint32_t image_id = emitter->sections.data[call->section].image;
  while (emitter->first_layers.size <= image_id)
    sambaArrayAppend(&emitter->first_layers, mlirAttributeGetNull());
  MlirAttribute *first = &emitter->first_layers.data[image_id];

  if (mlirAttributeIsNull(*first))
    *first = layers;
  if (mlirAttributeEqual(*first, layers))
    return;
  const SambaPefImage *image = &emitter->images.data[image_id];
  call->layers_count = image->units_count;
  call->layers = SAMBA_ARENA_ARRAY(emitter->arena, SambaPefLayer, image->units_count + 1);

  for (uint32_t u = 0; u < image->units_count; ++u) {
    call->layers[u].name = image->units[u].layer;
    for (intptr_t i = 0;
         i < mlirArrayAttrGetNumElements(*first) && i < mlirArrayAttrGetNumElements(layers); ++i)
      if (sambaStringRefEqual(sambaEmitText(mlirArrayAttrGetElement(*first, i)),
                              image->units[u].layer)) {
        call->layers[u].name =
            sambaStringRefCopy(emitter->arena, sambaEmitText(mlirArrayAttrGetElement(layers, i)));
        break;
      }
  }
}

SambaPefSectionType sambaEmitTypeOfCall(MlirOperation call) {
  SambaPefSectionType type = SAMBA_PEF_SECTION_FWD;
  sambaPefSectionTypeFromName(sambaEmitText(sambaOperationAttribute(call, "type")), &type);
  return type;
}

/* The section that runs the image of an rdu.section as the call says. */
static SambaStatus sectionOfCall(const SambaEmitter *emitter, MlirOperation call,
                                 MlirOperation callee, uint32_t *out_section) {
  SambaPefSectionType type = sambaEmitTypeOfCall(call);
  uint32_t image;
  if (mlirOperationIsNull(callee) || !sambaPointerMapGet(&emitter->image_of, callee.ptr, &image))
    return sambaStatusMake(
        SAMBA_INVALID,
        "a call names something that is no rdu.section; run convert-linalg-to-rdu first");
  *out_section = emitter->first_sections.data[image];
  while (emitter->sections.data[*out_section].type != type)
    ++*out_section;
  return NULL;
}

/* The symbol behind a formal. */
static SambaStatus bindSymbol(SambaEmitter *emitter, MlirValue value, const SambaPefCall *call,
                              SambaPefBinding *binding) {
  uint32_t call_id = (uint32_t)emitter->calls.size;
  binding->kind = SAMBA_PEF_BINDING_SYMBOL;
  if (!sambaPointerMapGet(&emitter->symbol_of, value.ptr, &binding->symbol))
    return sambaStatusMake(SAMBA_INVALID,
                           "operand %u of a call is no argument, constant or result of a call",
                           call->bindings_count);
  SambaPefSymbol *symbol = &emitter->symbols.data[binding->symbol];
  if (symbol->first_call == SAMBA_PEF_NONE)
    symbol->first_call = call_id;
  symbol->last_call = call_id;
  return NULL;
}

/* What the call waits for: who made what it reads, and who needs what it overwrites. */
static void emitDepends(SambaEmitter *emitter, uint32_t operands, SambaPefCall *call) {
  SambaDependences *dependences = &emitter->dependences;
  sambaDependencesBegin(dependences, (uint32_t)emitter->calls.size);
  for (uint32_t i = 0; i < call->bindings_count; ++i) {
    if (call->bindings[i].kind != SAMBA_PEF_BINDING_SYMBOL)
      continue;
    const SambaPefSymbol *symbol = &emitter->symbols.data[call->bindings[i].symbol];
    if (i < operands)
      sambaDependencesRead(dependences, symbol->address, sambaPefSymbolSpan(symbol));
    else
      sambaDependencesWrite(dependences, symbol->address, symbol->bytes);
  }

  call->depends_count = (uint32_t)dependences->calls.size;
  call->depends = SAMBA_ARENA_ARRAY(emitter->arena, SambaPefDepend, dependences->calls.size + 1);
  for (uint32_t d = 0; d < call->depends_count; ++d)
    call->depends[d].call = dependences->calls.data[d];
}

/* A call that reads what it overwrites does so element by element. */
static SambaStatus checkInPlace(SambaEmitter *emitter, MlirOperation section, uint32_t operands,
                                const SambaPefCall *call) {
  const SambaPefSymbol *updated = NULL;
  uint64_t *addresses =
      SAMBA_ARENA_ARRAY(emitter->arena, uint64_t, (size_t)call->bindings_count + 1);
  uint32_t formals = 0, read = 0;
  for (uint32_t i = 0; i < call->bindings_count; ++i) {
    if (call->bindings[i].kind != SAMBA_PEF_BINDING_SYMBOL)
      continue;
    const SambaPefSymbol *symbol = &emitter->symbols.data[call->bindings[i].symbol];
    for (uint32_t f = 0; f < read && i >= operands; ++f)
      if (addresses[f] == symbol->address)
        updated = symbol;
    addresses[formals++] = symbol->address;
    read = i < operands ? formals : read;
  }
  if (!updated)
    return NULL;

  SambaKnownSection *known;
  SAMBA_RETURN_IF_ERROR(sambaKnownSectionTake(section, &known));
  SambaStatus status = sambaSectionCheckOrder(known->section, addresses);
  sambaKnownSectionDestroy(known);
  return sambaStatusAnnotate(status, "call %u updates '%.*s' in place",
                             (uint32_t)emitter->calls.size, SAMBA_STRING_ARGS(updated->name));
}

SambaStatus sambaEmitCall(SambaEmitter *emitter, MlirOperation function, MlirOperation operation,
                          uint32_t graph_id, MlirOperation section) {
  SambaPefCall call;
  sambaPefCallInitialize(&call);
  uint32_t call_id = (uint32_t)emitter->calls.size;

  SAMBA_RETURN_IF_ERROR(sectionOfCall(emitter, operation, section, &call.section));
  call.graph = graph_id;
  SAMBA_RETURN_IF_ERROR(sambaEmitResults(emitter, function, operation, call_id));
  intptr_t operands = mlirOperationGetNumOperands(operation);
  intptr_t results = mlirOperationGetNumResults(operation);
  call.bindings =
      SAMBA_ARENA_ARRAY(emitter->arena, SambaPefBinding, (size_t)(operands + results) + 1);
  uint32_t formals = 0, slots = 0;

  for (intptr_t i = 0; i < operands + results; ++i) {
    MlirValue value = i < operands ? mlirOperationGetOperand(operation, i)
                                   : mlirOperationGetResult(operation, i - operands);
    SambaPefBinding *binding = &call.bindings[call.bindings_count];
    sambaPefBindingInitialize(binding);
    if (sambaPointerMapGet(&emitter->argin_of, value.ptr, &binding->argin)) {
      binding->kind = SAMBA_PEF_BINDING_ARGIN;
      binding->formal = slots++;
    } else {
      binding->formal = formals++;
      SAMBA_RETURN_IF_ERROR(bindSymbol(emitter, value, &call, binding));
    }
    ++call.bindings_count;
  }

  emitDepends(emitter, (uint32_t)operands, &call);
  if (emitter->options->emitted) {
    uint32_t image = emitter->sections.data[call.section].image;
    SambaEmittedSection *emitted = &emitter->options->emitted->data[image];
    if (mlirAttributeIsNull(emitted->end))
      emitted->end = sambaOperationAttribute(operation, SAMBA_END_ATTRIBUTE);
  }
  SAMBA_RETURN_IF_ERROR(checkInPlace(emitter, section, (uint32_t)operands, &call));
  emitLayers(emitter, operation, &call);
  sambaArrayAppend(&emitter->calls, call);
  return NULL;
}

static void report(const SambaEmitter *emitter, const SambaSection *section,
                   const SambaPrediction *prediction) {
  uint32_t busiest = prediction->busy.unit[prediction->bottleneck];
  const SambaUnit *unit = busiest == SAMBA_NO_INDEX ? NULL : &section->units[busiest];
  SambaEmittedSection emitted = {.prediction = *prediction,
                                 .launch_cycles =
                                     sambaSectionLaunchCycles(section, emitter->machine),
                                 .flops = sambaSectionFlops(section),
                                 .unit = strdup(unit ? unit->name : ""),
                                 .layer = strdup(unit ? unit->layer : "")};
  sambaArrayAppend(emitter->options->emitted, emitted);
}

void sambaEmittedSectionsFree(SambaEmittedSections *sections) {
  for (size_t i = 0; i < sections->size; ++i) {
    free(sections->data[i].unit);
    free(sections->data[i].layer);
  }
  sambaArrayFree(sections);
}

SambaStatus sambaEmitSection(SambaEmitter *emitter, MlirOperation operation, uint32_t types) {
  SambaKnownSection *known;
  SambaPefImage image;
  SambaPefSection record;

  SAMBA_RETURN_IF_ERROR(sambaKnownSectionTake(operation, &known));
  const SambaSection *section = known->section;
  SambaStatus status = sambaPefEncodeImage(emitter->pef, section, emitter->machine, &image);
  if (status) {
    sambaKnownSectionDestroy(known);
    return status;
  }

  sambaPefSectionInitialize(&record);
  SambaSectionNeeds needs = sambaSectionCount(section);
  record.name = image.name;
  record.flags = section->split_k ? SAMBA_PEF_SPLIT_K : 0;
  record.pcus = needs.pcus;
  record.pmus = needs.pmus;
  record.ags = needs.ags;
  SambaPrediction prediction = sambaSectionPredict(section, emitter->machine, NULL);
  record.estimated_cycles = (uint64_t)prediction.cycles;
  if (emitter->options->emitted)
    report(emitter, section, &prediction);
  sambaSectionTraffic(section, &record.estimated_read_bytes, &record.estimated_write_bytes);
  record.image = (uint32_t)emitter->images.size;
  sambaKnownSectionDestroy(known);
  sambaPointerMapSet(&emitter->image_of, operation.ptr, record.image);
  sambaArrayAppend(&emitter->images, image);
  sambaArrayAppend(&emitter->first_sections, (uint32_t)emitter->sections.size);

  types = types ? types : 1u << SAMBA_PEF_SECTION_FWD;
  for (uint32_t place = 0; place < SAMBA_PEF_SECTION_TYPE_COUNT; ++place) {
    record.type = sambaPefSectionTypeAt(place);
    if (!(types >> record.type & 1))
      continue;
    if (types & (types - 1)) /* several: their names tell them apart */
      record.name =
          sambaStringRef(sambaArenaFormat(emitter->arena, "%.*s.%s", SAMBA_STRING_ARGS(image.name),
                                          sambaPefSectionTypeName(record.type)));
    sambaArrayAppend(&emitter->sections, record);
  }

  return NULL;
}
