/* The structs of a PEF in memory: everything that compiler and simulator tell each other.
 *
 * The structs come from backend/pef/tables.def (fields and their meaning are documented there and
 * in docs/pef-format.md). A child table appears as an array of its parent: symbol->dims[i].size,
 * i < symbol->dims_count. */
#ifndef SAMBA_BACKEND_PEF_PEF_TYPES_H
#define SAMBA_BACKEND_PEF_PEF_TYPES_H

#include "support/base/memory.h"
#include "support/base/status.h"
#include "support/number/dtype.h"
#include "support/text/string_ref.h"

enum { SAMBA_PEF_MAJOR = 3, SAMBA_PEF_MINOR = 1, SAMBA_PEF_DIGEST_BYTES = 32 };
#define SAMBA_PEF_NONE UINT32_MAX /* an optional index that refers to nothing */

/* X(enumerator, value, name): enumerations and sets of flags. Values never change their meaning. */
#define SAMBA_PEF_PARAMETER_TYPES(X) X(PARAMETER_INTEGER, 0, "integer")
#define SAMBA_PEF_PARAMETER_REASONS(X)                                                             \
  X(PARAMETER_ASSUMED, 0, "assumed")                                                               \
  X(PARAMETER_SOURCED, 1, "sourced")                                                               \
  X(PARAMETER_DERIVED, 2, "derived")                                                               \
  X(PARAMETER_ANALOGY, 3, "analogy")
#define SAMBA_PEF_MEMORIES(X)                                                                      \
  X(MEMORY_ANY, 0, "any") X(MEMORY_HBM, 1, "hbm") X(MEMORY_DDR, 2, "ddr") X(MEMORY_HOST, 3, "host")
#define SAMBA_PEF_SYMBOL_KINDS(X)                                                                  \
  X(SYMBOL_INPUT, 0, "input")                                                                      \
  X(SYMBOL_WEIGHT, 1, "weight")                                                                    \
  X(SYMBOL_BUFFER, 2, "buffer")                                                                    \
  X(SYMBOL_OPTIMIZER_STATE, 3, "optimizer_state")                                                  \
  X(SYMBOL_CONSTANT, 4, "constant")                                                                \
  X(SYMBOL_OUTPUT, 5, "output")                                                                    \
  X(SYMBOL_LOSS, 6, "loss")                                                                        \
  X(SYMBOL_UPDATE, 7, "update")                                                                    \
  X(SYMBOL_ACTIVATION, 8, "activation")                                                            \
  X(SYMBOL_GRADIENT, 9, "gradient")
#define SAMBA_PEF_SYMBOL_FLAGS(X)                                                                  \
  X(PERSISTENT, 1, "persistent")                                                                   \
  X(REQUIRES_GRAD, 2, "requires_grad")                                                             \
  X(HAS_DATA, 4, "has_data")                                                                       \
  X(FAST_ACCESS, 8, "fast_access")                                                                 \
  X(IN_PLACE, 16, "in_place")
#define SAMBA_PEF_LAYOUTS(X) X(LAYOUT_ROW_MAJOR, 0, "row_major") X(LAYOUT_BLOCKS, 1, "blocks")
#define SAMBA_PEF_INITS(X)                                                                         \
  X(INIT_NONE, 0, "none")                                                                          \
  X(INIT_BLOB, 1, "blob") X(INIT_FILE, 2, "file") X(INIT_FILL, 3, "fill") X(INIT_RNG, 4, "rng")
#define SAMBA_PEF_ARGIN_KINDS(X)                                                                   \
  X(ARGIN_OTHER, 0, "other")                                                                       \
  X(ARGIN_LR, 1, "lr")                                                                             \
  X(ARGIN_WEIGHT_DECAY, 2, "weight_decay")                                                         \
  X(ARGIN_MOMENTUM, 3, "momentum")                                                                 \
  X(ARGIN_DROPOUT_RATE, 4, "dropout_rate")                                                         \
  X(ARGIN_DROPOUT_SEED, 5, "dropout_seed")
#define SAMBA_PEF_ARGIN_FLAGS(X)                                                                   \
  X(HAS_DEFAULT, 1, "has_default") X(HAS_MINIMUM, 2, "has_minimum") X(HAS_MAXIMUM, 4, "has_maximum")
#define SAMBA_PEF_SECTION_TYPES(X)                                                                 \
  X(SECTION_ZEROGRAD, 0, "ZEROGRAD")                                                               \
  X(SECTION_FWD, 1, "FWD")                                                                         \
  X(SECTION_BCKWD, 2, "BCKWD")                                                                     \
  X(SECTION_OPT, 3, "OPT")                                                                         \
  X(SECTION_REDUCE, 4, "REDUCE")                                                                   \
  X(SECTION_GRADNORM, 5, "GRADNORM")
#define SAMBA_PEF_SECTION_FLAGS(X) X(SPLIT_K, 1, "split_k")
#define SAMBA_PEF_BINDING_KINDS(X) X(BINDING_SYMBOL, 0, "symbol") X(BINDING_ARGIN, 1, "argin")
#define SAMBA_PEF_GRAPH_MODES(X) X(GRAPH_INFERENCE, 0, "inference") X(GRAPH_TRAINING, 1, "training")
#define SAMBA_PEF_MAPPINGS(X) X(MAPPING_SECTION, 0, "section") X(MAPPING_SPATIAL, 1, "spatial")
#define SAMBA_PEF_NAMINGS(X) X(NAMING_TRACE_ORDER, 0, "trace_order")
#define SAMBA_PEF_OUTPUT_FLAGS(X) X(OUTPUT_LOSS, 1, "loss")

#define X(enumerator, value, name) SAMBA_PEF_##enumerator = value,
typedef enum { SAMBA_PEF_PARAMETER_TYPES(X) } SambaPefParameterType;
typedef enum { SAMBA_PEF_PARAMETER_REASONS(X) } SambaPefParameterReason;
typedef enum { SAMBA_PEF_MEMORIES(X) } SambaPefMemory;
typedef enum { SAMBA_PEF_SYMBOL_KINDS(X) } SambaPefSymbolKind;
typedef enum { SAMBA_PEF_SYMBOL_FLAGS(X) } SambaPefSymbolFlags;
typedef enum { SAMBA_PEF_LAYOUTS(X) } SambaPefLayout;
typedef enum { SAMBA_PEF_INITS(X) } SambaPefInit;
typedef enum { SAMBA_PEF_ARGIN_KINDS(X) } SambaPefArginKind;
typedef enum { SAMBA_PEF_ARGIN_FLAGS(X) } SambaPefArginFlags;
typedef enum { SAMBA_PEF_SECTION_TYPES(X) } SambaPefSectionType;
typedef enum { SAMBA_PEF_SECTION_FLAGS(X) } SambaPefSectionFlags;
typedef enum { SAMBA_PEF_BINDING_KINDS(X) } SambaPefBindingKind;
typedef enum { SAMBA_PEF_GRAPH_MODES(X) } SambaPefGraphMode;
typedef enum { SAMBA_PEF_MAPPINGS(X) } SambaPefMapping;
typedef enum { SAMBA_PEF_NAMINGS(X) } SambaPefNaming;
typedef enum { SAMBA_PEF_OUTPUT_FLAGS(X) } SambaPefOutputFlags;
#undef X

/* Bytes in memory, borrowed (the arena of the SambaPef when read from a file). */
typedef struct SambaPefBytes {
  const uint8_t *data;
  uint64_t size;
} SambaPefBytes;

/* Receives the data of one symbol (container/weights.h); used inside SambaPefSource.produce. */
typedef struct SambaPefSink SambaPefSink;

/* Where sambaPefWrite takes a symbol's data from (init blob, and init file for its checksum): the
 * first of `produce`, `data`, `path` that is not NULL. Exactly symbol.init_bytes bytes, elements of
 * init_dtype, row-major, little-endian. */
typedef struct SambaPefSource {
  const void *data; /* in memory, borrowed */
  const char *path; /* in a file, from `offset` on; never read into memory whole */
  const char
      *folder; /* in which the file must lie ("": the current one), or below; NULL: anywhere */
  uint64_t offset;
  SambaStatus (*produce)(void *user,
                         SambaPefSink *sink); /* computes the data; called at most once */
  void *user;
} SambaPefSource;

/* The record structs. */
#define PEF_TABLE(Type, singular, plural, place, need, doc)                                        \
  typedef struct SambaPef##Type SambaPef##Type;
#include "backend/pef/fields_none.def"
#include "backend/pef/tables.def"

#define PEF_TABLE(Type, singular, plural, place, need, doc) struct SambaPef##Type {
#define PEF_U32(name, doc) uint32_t name;
#define PEF_U64(name, doc) uint64_t name;
#define PEF_STRING(name, doc) SambaStringRef name;
#define PEF_ENUM(name, LIST, Enum, doc) Enum name;
#define PEF_FLAGS(name, LIST, doc) uint32_t name;
#define PEF_DTYPE(name, doc) SambaDType name;
#define PEF_INDEX(name, Target, doc) uint32_t name;
#define PEF_OPTIONAL(name, Target, doc) uint32_t name;
#define PEF_CHILDREN(name, Target, doc)                                                            \
  uint32_t name##_count;                                                                           \
  SambaPef##Target *name;
#define PEF_BYTES(name, BLOBS, doc) SambaPefBytes name;
#define PEF_DIGEST(name, doc) uint8_t name[SAMBA_PEF_DIGEST_BYTES];
#define PEF_SOURCE(name) SambaPefSource name;
#define PEF_END(Type)                                                                              \
  }                                                                                                \
  ;
#include "backend/pef/tables.def"

/* A whole PEF. Root tables are arrays of `plural_count` records; header and machine have exactly
 * one. */
typedef struct SambaPef {
  SambaArena arena; /* owns what a reader made; a compiler may use it too */
  SambaPefHeader header;
  SambaPefMachine machine;
  uint32_t regions_count, symbols_count, argins_count, images_count, sections_count, calls_count,
      graphs_count, options_count;
  SambaPefRegion *regions;
  SambaPefSymbol *symbols;
  SambaPefArgin *argins;
  SambaPefImage *images;
  SambaPefSection *sections;
  SambaPefCall *calls;
  SambaPefGraph *graphs;
  SambaPefOption *options;
  /* Of a PEF that was opened: where the data are, and what closes it; else NULL. */
  struct SambaPefFile *file;
  void (*close_file)(struct SambaPefFile *file);
} SambaPef;

#endif
