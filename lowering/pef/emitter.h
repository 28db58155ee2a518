/* The state of one emission, and what its files give each other; inside lowering/pef.
 *
 * A symbol is a tensor in memory, an argin a scalar of a launch. Everything is made in the PEF's
 * arena, in the order of the graphs. */
#ifndef SAMBA_LOWERING_PEF_EMITTER_H
#define SAMBA_LOWERING_PEF_EMITTER_H

#include "backend/address/dependences.h"
#include "backend/pef/pef.h"
#include "dialect/rdu/regions.h"
#include "dialect/samba/samba.h"
#include "lowering/pef/emit_options.h"
#include "support/container/pointer_map.h"
#include "support/container/string_map.h"

/* The symbols of a region, in order: the first and the last; each knows the next. */
typedef struct SambaEmitterList {
  uint32_t first, last;
} SambaEmitterList;

typedef struct SambaEmitter {
  SambaPef *pef;
  SambaArena *arena;
  const SambaEmitOptions *options;
  const SambaMachine *machine;
  SAMBA_ARRAY(SambaPefSymbol) symbols;
  SAMBA_ARRAY(SambaPefRegion) regions;
  SAMBA_ARRAY(SambaPefSection) sections;
  SAMBA_ARRAY(SambaPefArgin) argins;
  SAMBA_ARRAY(SambaPefImage) images;
  SAMBA_ARRAY(SambaPefCall) calls;
  SAMBA_ARRAY(SambaPefGraph) graphs;
  SAMBA_ARRAY(uint32_t) first_sections;     /* per image: its first section; the others follow */
  SAMBA_ARRAY(MlirAttribute) first_layers;  /* per image: the layers of its first call */
  SAMBA_ARRAY(MlirAttribute) values;        /* per symbol: the initial data that it was given */
  SAMBA_ARRAY(SambaEmitterList) symbols_in; /* per region */
  SAMBA_ARRAY(uint32_t) next_in_region;     /* per symbol; SAMBA_PEF_NONE: it is the last */
  SambaRegions names_in_graph;              /* of the graph that is emitted */
  SambaDependences dependences;             /* of the calls so far */
  SambaStringMap region_of;                 /* name of a region of the graphs -> region */
  uint32_t activations;                     /* the region that activations share, SAMBA_PEF_NONE */
  uint32_t graph_symbols;                   /* symbols that earlier graphs have made */
  SambaPointerMap symbol_of;                /* SSA value -> symbol */
  SambaPointerMap argin_of;                 /* SSA value -> argin */
  SambaPointerMap image_of;                 /* rdu.section -> image */
  SambaStringMap names;                     /* symbol names in use */
  SambaStringMap argin_names;
} SambaEmitter;

/* A string attribute; empty when it is none. */
static inline SambaStringRef sambaEmitText(MlirAttribute attribute) {
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAString(attribute))
    return (SambaStringRef){"", 0};
  return sambaFromMlir(mlirStringAttrGetValue(attribute));
}

/* ---- Symbols and regions (emit_symbols.c) ---- */

/* A name that none of `names` is yet, and which stands for `index` there from now on: as given, or
 * with a number behind. */
SambaStringRef sambaEmitName(SambaEmitter *emitter, SambaStringMap *names, SambaStringRef name,
                             uint32_t index);
uint32_t sambaEmitRegion(SambaEmitter *emitter, SambaStringRef name, uint64_t address,
                         uint64_t bytes);
/* region: the name of the one that holds it; empty: its own. */
SambaStatus sambaEmitSymbol(SambaEmitter *emitter, MlirValue value, SambaStringRef name,
                            SambaPefSymbolKind kind, uint64_t address, SambaStringRef region,
                            uint32_t *out_symbol);
/* *out_kind is left alone where no kind is said. */
SambaStatus sambaEmitKind(SambaStringRef text, SambaPefSymbolKind *out_kind);
/* What a result of the graph is to its user; one that is none, -1, is an activation. */
SambaStatus sambaEmitKindOfResult(MlirOperation function, intptr_t output,
                                  SambaPefSymbolKind *out_kind);
void sambaEmitHostDType(SambaPefSymbol *symbol, MlirAttribute attribute);

/* ---- What symbols hold at first (emit_data.c) ---- */

/* Elements that stand in the IR. */
SambaStatus sambaEmitDenseData(SambaEmitter *emitter, MlirAttribute value, SambaPefSymbol *symbol);
/* The data of an argument: in a file, in the IR, or none. */
SambaStatus sambaEmitInitialData(SambaEmitter *emitter, MlirAttribute value,
                                 SambaPefSymbol *symbol);

/* ---- Arguments and constants of a graph (emit_arguments.c) ---- */

SambaStatus sambaEmitArguments(SambaEmitter *emitter, MlirOperation function, SambaPefGraph *graph);
/* The symbol of the argument that the map has for the text; SAMBA_PEF_NONE: there is none. */
uint32_t sambaEmittedArgument(const SambaEmitter *emitter, MlirOperation function,
                              const SambaStringMap *arguments, MlirAttribute text);
SambaStatus sambaEmitConstant(SambaEmitter *emitter, MlirOperation function,
                              MlirOperation operation);

/* ---- Results of calls and of the graph (emit_results.c) ---- */

SambaStatus sambaEmitResults(SambaEmitter *emitter, MlirOperation function, MlirOperation call,
                             uint32_t call_id);
/* The symbols of a samba.stack or samba.unstack, in memory that other symbols have, too. */
SambaStatus sambaEmitPlacement(SambaEmitter *emitter, MlirOperation function,
                               MlirOperation placement);
/* What the graph returns: outputs and losses to its user; updates and gradients are symbols. */
SambaStatus sambaEmitReturn(SambaEmitter *emitter, MlirOperation function, MlirOperation operation,
                            SambaPefGraph *graph);

/* ---- Images, sections, calls (emit_calls.c) ---- */

SambaPefSectionType sambaEmitTypeOfCall(MlirOperation call);
/* An image, and a section for each type of call that it has (bits of `types`, none: FWD): the same
 * configuration may run forward and backward. */
SambaStatus sambaEmitSection(SambaEmitter *emitter, MlirOperation operation, uint32_t types);
SambaStatus sambaEmitCall(SambaEmitter *emitter, MlirOperation function, MlirOperation operation,
                          uint32_t graph_id, MlirOperation section);

#endif
