/* The reader of sections, shared by its parts: values, views and what is made of them. */
#ifndef SAMBA_DIALECT_STAGES_SECTION_READER_H
#define SAMBA_DIALECT_STAGES_SECTION_READER_H

#include "backend/stage/stage.h"
#include "dialect/samba/samba.h"
#include "support/container/pointer_map.h"

/* What an SSA value stands for. */
typedef struct SambaSectionReaderValue {
  SambaTensorType type;
  bool is_empty;          /* tensor.empty: gets a tensor when something is written into it */
  bool is_splat;          /* a constant of one repeated value */
  uint64_t splat;         /* bits in the value's dtype */
  bool is_argin;          /* a scalar of the launch, maybe seen in another shape */
  uint32_t slot;          /* of an argin: its place in the argument block */
  bool is_scalar;         /* an element-typed constant (fills of pads and inits) */
  SambaStageOperand view; /* base tensor and map over this value's axes */
  bool is_whole;          /* the view is the base tensor itself */
} SambaSectionReaderValue;

typedef struct SambaSectionReader {
  SambaArena *arena;
  SambaStageGraph *graph;
  SAMBA_ARRAY(SambaSectionReaderValue) values;
  SambaPointerMap value_of;               /* SSA value -> index in values */
  uint32_t place;                         /* of the operation in the section's body */
  SAMBA_ARRAY(uint32_t) stage_operations; /* of each stage: its operation's place */
  SAMBA_ARRAY(uint32_t) stage_ordinals;
  SAMBA_ARRAY(uint32_t) formals; /* per tensor */
  SAMBA_ARRAY(uint32_t) partial; /* tensors of which only a part is stored */
  uint32_t argin_count;          /* slots of the argument block so far */
  bool is_section;               /* a samba.section is read: copies can be made on the way */
  MlirOperation operation;       /* being read */
} SambaSectionReader;

/* False when the type is no static tensor that Samba knows; the callers say whose type it is. */
bool sambaReaderTensorType(MlirType type, SambaTensorType *out_type);
SambaStringRef sambaReaderName(MlirOperation operation);
const char *sambaReaderLayer(SambaSectionReader *reader);
/* What units of the operation's stages are called. */
const char *sambaReaderStageName(SambaSectionReader *reader);

/* Appends a tensor to the graph; formal as in SambaSectionStages.tensor_formal. */
uint32_t sambaReaderAddTensor(SambaSectionReader *reader, const SambaTensorType *type,
                              SambaTensorRole role, uint32_t alias_of, uint32_t formal,
                              const char *name);
SambaStageOperand sambaReaderIdentityView(uint32_t tensor, uint32_t rank);
uint32_t sambaReaderAddValue(SambaSectionReader *reader, MlirValue ssa,
                             const SambaSectionReaderValue *value);
/* The SSA value is this tensor. */
void sambaReaderAddWhole(SambaSectionReader *reader, MlirValue ssa, const SambaTensorType *type,
                         uint32_t tensor);
/* The SSA value is the next slot of the argument block. */
void sambaReaderAddArgin(SambaSectionReader *reader, MlirValue ssa, const SambaTensorType *type);
/* Index in values; a value that nothing read so far has made becomes an argument. */
SambaStatus sambaReaderGetValue(SambaSectionReader *reader, MlirValue ssa, uint32_t *out_index);
/* outer(view(x)): how a stage that reads a value by `outer` reads its base. False when no map can
 * say it (sambaStageOperandCompose). */
bool sambaReaderCompose(const SambaSectionReader *reader, const SambaSectionReaderValue *value,
                        const SambaStage *stage, const SambaStageOperand *outer,
                        SambaStageOperand *out);
/* For a view of a view: a stage over the axes of a value. */
SambaStage sambaReaderStageOver(const SambaTensorType *type);
SambaStatus sambaReaderNotComposable(SambaSectionReader *reader);
/* Replaces operand k of the stage, a splat or an argin, by what a lane has without a stream: an
 * immediate, or a read of the argument block. */
void sambaReaderInline(SambaSectionReader *reader, SambaStage *stage, uint32_t k,
                       const SambaSectionReaderValue *value);
/* Appends a stage of the operation that is being read, with its mapping. */
void sambaReaderAddStage(SambaSectionReader *reader, const SambaStage *stage, uint32_t ordinal);
/* Appends one that copies a value to a tensor of its shape. */
SambaStatus sambaReaderCopy(SambaSectionReader *reader, const SambaSectionReaderValue *value,
                            uint32_t tensor, uint32_t ordinal);
/* In a section, where nobody else can do it any more: the value becomes a tensor of its own, which
 * a first stage of the operation that is being read writes. */
SambaStatus sambaReaderSettle(SambaSectionReader *reader, SambaSectionReaderValue *value);
/* The result of the operation that is being read is the tensor in another shape. */
void sambaReaderReshape(SambaSectionReader *reader, uint32_t tensor, const SambaTensorType *type);
/* The value in another shape, its elements in the same order: as an alias of a tensor that is read
 * from its first element to its last, or a view where only axes of one element come and go. False:
 * it is neither. */
bool sambaReaderReshapeValue(SambaSectionReader *reader, const SambaSectionReaderValue *value,
                             const SambaTensorType *type);

#endif
