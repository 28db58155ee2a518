/* Tensors in host memory: what a program hands to Samba and gets back.
 *
 * A tensor has a shape, an element type, a name and a place in device memory, and in most cases
 * data. It outlives traces, sessions and the PEF. Its data are one of four things: not there (an
 * empty tensor: shapes are enough to trace and to compile), borrowed from the program, owned, or
 * lazy: made by a function when somebody needs them.
 *
 *   float numbers[6] = {1, 2, 3, 4, 5, 6};
 *   SambaBufferView view = {numbers, SAMBA_DTYPE_F32, 2, (int64_t[]){2, 3}, NULL};
 *   SambaTensor *x, *y;
 *   sambaTensorCreateFromBuffer(&view, sambaStringRef("x"), &x);   shares numbers
 *   sambaTensorTranspose2D(x, &y);                                 shares them too
 *   sambaTensorRelease(y);
 *   sambaTensorRelease(x);
 *
 * Tensors are counted references: a function that returns one through its last parameter gives the
 * caller one reference, and leaves the parameter NULL when it fails. References may be taken and
 * released by any thread; otherwise a tensor is used by one thread at a time. Data are row-major
 * unless strides say otherwise; sizes and strides count elements. */
#ifndef SAMBA_TENSOR_H
#define SAMBA_TENSOR_H

#include "samba/element_type.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SAMBA_TENSOR_MAX_RANK = 32 };

typedef struct SambaTensor SambaTensor;
typedef struct SambaGenerator SambaGenerator;

/* Receives text piece by piece. */
typedef void (*SambaTextSink)(void *user, const char *data, size_t size);

/* The type of the result of an operation on tensors, and on one number (NULL: none); see
 * sambaDTypeResult. */
SAMBA_EXPORT SambaDType sambaTensorResultType(uint32_t count, const SambaTensor *const *tensors,
                                              const SambaScalar *scalar);

/* ---- Random numbers ----
 *
 * The streams of PyTorch's generator for the CPU, bit for bit (docs/tensors.md says where). */

SAMBA_EXPORT SambaGenerator *sambaGeneratorCreate(uint64_t seed);
SAMBA_EXPORT void sambaGeneratorDestroy(SambaGenerator *generator);
SAMBA_EXPORT void sambaGeneratorSetSeed(SambaGenerator *generator, uint64_t seed);
SAMBA_EXPORT uint32_t sambaGeneratorDraw32(SambaGenerator *generator);
SAMBA_EXPORT uint64_t sambaGeneratorDraw64(SambaGenerator *generator);

/* ---- Creation ---- */

/* Data somewhere in memory. */
typedef struct SambaBufferView {
  void *data; /* the first element; NULL: there are no data */
  SambaDType dtype;
  uint32_t rank;
  const int64_t *dims;
  const int64_t *strides; /* in elements, 0 or more; NULL: row-major */
} SambaBufferView;

/* A tensor that shares the buffer, which must outlive it and all of its views; nothing is copied. A
 * NULL buffer gives a NULL tensor. The name may be empty. */
SAMBA_EXPORT SambaStatus sambaTensorCreateFromBuffer(const SambaBufferView *buffer,
                                                     SambaStringRef name, SambaTensor **out_tensor);
/* The same for a buffer that is handed over: release(user) is called when the last tensor that
 * shares it is gone, or when this fails. */
SAMBA_EXPORT SambaStatus sambaTensorCreateFromBufferOwned(const SambaBufferView *buffer,
                                                          void (*release)(void *user), void *user,
                                                          SambaStringRef name,
                                                          SambaTensor **out_tensor);
/* Shape and type alone: no data, and no memory for data. */
SAMBA_EXPORT SambaStatus sambaTensorCreateEmpty(SambaDType dtype, uint32_t rank,
                                                const int64_t *dims, SambaStringRef name,
                                                SambaTensor **out_tensor);
/* Data whose values are not set. */
SAMBA_EXPORT SambaStatus sambaTensorCreateUninitialized(SambaDType dtype, uint32_t rank,
                                                        const int64_t *dims, SambaStringRef name,
                                                        SambaTensor **out_tensor);
SAMBA_EXPORT SambaStatus sambaTensorCreateZeros(SambaDType dtype, uint32_t rank,
                                                const int64_t *dims, SambaStringRef name,
                                                SambaTensor **out_tensor);
SAMBA_EXPORT SambaStatus sambaTensorCreateOnes(SambaDType dtype, uint32_t rank, const int64_t *dims,
                                               SambaStringRef name, SambaTensor **out_tensor);
/* SAMBA_DTYPE_NONE: i1 for a bool, i64 for an integer, f32 for a float. */
SAMBA_EXPORT SambaStatus sambaTensorCreateFull(SambaDType dtype, uint32_t rank, const int64_t *dims,
                                               SambaScalar value, SambaStringRef name,
                                               SambaTensor **out_tensor);
/* start, start + step, ... below end (above it for a negative step). SAMBA_DTYPE_NONE: i64 when all
 * three are integers, else f32. */
SAMBA_EXPORT SambaStatus sambaTensorCreateArange(SambaDType dtype, SambaScalar start,
                                                 SambaScalar end, SambaScalar step,
                                                 SambaStringRef name, SambaTensor **out_tensor);
/* Normal numbers with mean 0 and deviation 1; the type is a float. */
SAMBA_EXPORT SambaStatus sambaTensorCreateRandn(SambaGenerator *generator, SambaDType dtype,
                                                uint32_t rank, const int64_t *dims,
                                                SambaStringRef name, SambaTensor **out_tensor);
/* Uniform in [0, 1); the type is a float. */
SAMBA_EXPORT SambaStatus sambaTensorCreateRand(SambaGenerator *generator, SambaDType dtype,
                                               uint32_t rank, const int64_t *dims,
                                               SambaStringRef name, SambaTensor **out_tensor);
/* Integers in [low, high); SAMBA_DTYPE_NONE: i64. */
SAMBA_EXPORT SambaStatus sambaTensorCreateRandint(SambaGenerator *generator, SambaDType dtype,
                                                  int64_t low, int64_t high, uint32_t rank,
                                                  const int64_t *dims, SambaStringRef name,
                                                  SambaTensor **out_tensor);
SAMBA_EXPORT SambaStatus sambaTensorCreateNormal(SambaGenerator *generator, SambaDType dtype,
                                                 double mean, double deviation, uint32_t rank,
                                                 const int64_t *dims, SambaStringRef name,
                                                 SambaTensor **out_tensor);
/* 1 with the given probability, otherwise 0. */
SAMBA_EXPORT SambaStatus sambaTensorCreateBernoulli(SambaGenerator *generator, SambaDType dtype,
                                                    double probability, uint32_t rank,
                                                    const int64_t *dims, SambaStringRef name,
                                                    SambaTensor **out_tensor);
/* Fresh tensors with the type of `like` unless another one is given. */
SAMBA_EXPORT SambaStatus sambaTensorNewEmpty(const SambaTensor *like, SambaDType dtype,
                                             uint32_t rank, const int64_t *dims,
                                             SambaTensor **out_tensor);
SAMBA_EXPORT SambaStatus sambaTensorNewFull(const SambaTensor *like, SambaDType dtype,
                                            uint32_t rank, const int64_t *dims, SambaScalar value,
                                            SambaTensor **out_tensor);
SAMBA_EXPORT SambaStatus sambaTensorNewOnes(const SambaTensor *like, SambaDType dtype,
                                            uint32_t rank, const int64_t *dims,
                                            SambaTensor **out_tensor);
SAMBA_EXPORT SambaStatus sambaTensorNewZeros(const SambaTensor *like, SambaDType dtype,
                                             uint32_t rank, const int64_t *dims,
                                             SambaTensor **out_tensor);

/* One more reference to the same tensor; NULL stays NULL. */
SAMBA_EXPORT SambaTensor *sambaTensorRetain(SambaTensor *tensor);
/* Gives one reference back; the last one frees the tensor. NULL is allowed. */
SAMBA_EXPORT void sambaTensorRelease(SambaTensor *tensor);
/* A number that no other tensor of this process has or had. */
SAMBA_EXPORT uint64_t sambaTensorGetId(const SambaTensor *tensor);

/* ---- Shape and type ---- */

SAMBA_EXPORT SambaDType sambaTensorGetDType(const SambaTensor *tensor);
SAMBA_EXPORT uint32_t sambaTensorGetRank(const SambaTensor *tensor);
/* Borrowed; one number per dimension. */
SAMBA_EXPORT const int64_t *sambaTensorGetDims(const SambaTensor *tensor);
SAMBA_EXPORT const int64_t *sambaTensorGetStrides(const SambaTensor *tensor);
/* Of one dimension; a negative one counts from the end. */
SAMBA_EXPORT SambaStatus sambaTensorGetDim(const SambaTensor *tensor, int64_t dim,
                                           int64_t *out_size);
SAMBA_EXPORT SambaStatus sambaTensorGetStride(const SambaTensor *tensor, int64_t dim,
                                              int64_t *out_stride);
/* Their product, and the bytes of that many elements. Both fit: creation refuses what does not. */
SAMBA_EXPORT int64_t sambaTensorGetNumElements(const SambaTensor *tensor);
SAMBA_EXPORT int64_t sambaTensorGetNumBytes(const SambaTensor *tensor);
SAMBA_EXPORT bool sambaTensorIsContiguous(const SambaTensor *tensor);

/* ---- What the compiler and the session look at ---- */

/* Borrowed until it is set again; "" when there is none. The characters are NUL-terminated. */
SAMBA_EXPORT SambaStringRef sambaTensorGetName(const SambaTensor *tensor);
SAMBA_EXPORT void sambaTensorSetName(SambaTensor *tensor, SambaStringRef name);
/* NAME__grad; "" without a name. */
SAMBA_EXPORT SambaStringRef sambaTensorGetGradName(const SambaTensor *tensor);
/* The place in device memory: tensors of one region share it. The name unless it is set. */
SAMBA_EXPORT SambaStringRef sambaTensorGetRegionName(const SambaTensor *tensor);
SAMBA_EXPORT void sambaTensorSetRegionName(SambaTensor *tensor, SambaStringRef region);

typedef enum {
  SAMBA_MEMORY_AUTO, /* the compiler decides */
  SAMBA_MEMORY_DDR,
  SAMBA_MEMORY_HBM,
  SAMBA_MEMORY_HOST
} SambaMemoryType;
SAMBA_EXPORT SambaMemoryType sambaTensorGetMemoryType(const SambaTensor *tensor);
SAMBA_EXPORT void sambaTensorSetMemoryType(SambaTensor *tensor, SambaMemoryType type);
/* Whether transfers use memory that is locked for them. */
SAMBA_EXPORT bool sambaTensorGetFastAccess(const SambaTensor *tensor);
SAMBA_EXPORT void sambaTensorSetFastAccess(SambaTensor *tensor, bool fast);

/* Only tensors of floats can have gradients. */
SAMBA_EXPORT bool sambaTensorGetRequiresGrad(const SambaTensor *tensor);
SAMBA_EXPORT SambaStatus sambaTensorSetRequiresGrad(SambaTensor *tensor, bool requires_grad);
/* The gradient in host memory, borrowed; NULL: none. It has the tensor's shape and type. */
SAMBA_EXPORT SambaTensor *sambaTensorGetGrad(const SambaTensor *tensor);
SAMBA_EXPORT SambaStatus sambaTensorSetGrad(SambaTensor *tensor, SambaTensor *grad);

/* What a library above hangs on a tensor; the tensor calls release(expression) when it goes or when
 * another one is set. Copies and views do not get it. */
SAMBA_EXPORT void *sambaTensorGetExpression(const SambaTensor *tensor);
SAMBA_EXPORT void sambaTensorSetExpression(SambaTensor *tensor, void *expression,
                                           void (*release)(void *expression));

/* ---- Data ---- */

/* Empty tensors and lazy ones that nobody needed yet have none. */
SAMBA_EXPORT bool sambaTensorHasData(const SambaTensor *tensor);
/* The first element; NULL when there are no data. */
SAMBA_EXPORT void *sambaTensorGetDataPtr(const SambaTensor *tensor);
/* The tensor as a buffer; dims and strides are borrowed from it. */
SAMBA_EXPORT void sambaTensorGetBuffer(const SambaTensor *tensor, SambaBufferView *out_view);
/* Do they have memory in common: one storage, or buffers of the program that overlap? */
SAMBA_EXPORT bool sambaTensorSharesStorage(const SambaTensor *a, const SambaTensor *b);
/* Can a transfer read the host memory as it is: there are data, row-major. */
SAMBA_EXPORT bool sambaTensorIsReusable(const SambaTensor *tensor);
/* The tensor takes data, shape and type of `source`, and shares its data. */
SAMBA_EXPORT SambaStatus sambaTensorSetData(SambaTensor *tensor, const SambaTensor *source);
/* Drops this tensor's data and keeps everything else; views keep them. */
SAMBA_EXPORT void sambaTensorClearData(SambaTensor *tensor);

/* Reads the elements in row-major order, or writes them from such. bytes is what the tensor has
 * (sambaTensorGetNumBytes). */
SAMBA_EXPORT SambaStatus sambaTensorReadData(const SambaTensor *tensor, void *data, int64_t bytes);
/* in_place: into the memory that views and the program share. Otherwise the tensor gets memory of
 * its own, and who shared the old one keeps the old values. */
SAMBA_EXPORT SambaStatus sambaTensorWriteData(SambaTensor *tensor, const void *data, int64_t bytes,
                                              bool in_place);
/* Elements as floats; count is what the tensor has. */
SAMBA_EXPORT SambaStatus sambaTensorCopyToFloat(const SambaTensor *tensor, float *data,
                                                int64_t count);
/* Writes the elements of `source`, broadcast and cast, in place. */
SAMBA_EXPORT SambaStatus sambaTensorCopyFrom(SambaTensor *tensor, const SambaTensor *source);
/* The number of a tensor with one element. */
SAMBA_EXPORT SambaStatus sambaTensorGetItem(const SambaTensor *tensor, SambaScalar *out_item);

/* ---- Lazy data ---- */

/* What a materializer is asked for. */
typedef struct SambaMaterializeRequest {
  SambaStringRef name;
  SambaDType dtype;
  uint32_t rank;
  const int64_t *dims;
  bool requires_grad;
  SambaGenerator *generator; /* may be NULL */
  void *data;                /* to be filled: `bytes` bytes, row-major */
  int64_t bytes;
} SambaMaterializeRequest;
typedef SambaStatus (*SambaMaterializer)(void *user, const SambaMaterializeRequest *request);

/* A NULL function takes the materializer away. release(user), which may be NULL, is called when it
 * is no longer needed. Views that are made afterwards share it. */
SAMBA_EXPORT void sambaTensorSetMaterializer(SambaTensor *tensor, SambaMaterializer materializer,
                                             void *user, void (*release)(void *user));
/* NULL when there is none; out_user may be NULL. */
SAMBA_EXPORT SambaMaterializer sambaTensorGetMaterializer(const SambaTensor *tensor,
                                                          void **out_user);
/* Makes the data of a tensor that has none; does nothing for one that has. An empty tensor without
 * a materializer is refused. */
SAMBA_EXPORT SambaStatus sambaTensorMaterialize(SambaTensor *tensor, SambaGenerator *generator);
/* The tensor itself when it has data; otherwise another one with the data that the materializer
 * makes now. The tensor stays without. */
SAMBA_EXPORT SambaStatus sambaTensorCopyMaterialized(SambaTensor *tensor, SambaGenerator *generator,
                                                     SambaTensor **out_tensor);

/* Materializers of parameters. Every number comes from the seed, the tensor's name and its place in
 * the tensor alone: the order of tensors and the number of threads do not matter. */
typedef enum {
  SAMBA_INITIALIZER_CONSTANT, /* value */
  SAMBA_INITIALIZER_UNIFORM,  /* between low and high */
  SAMBA_INITIALIZER_NORMAL    /* mean, deviation */
} SambaInitializerKind;
typedef struct SambaInitializer {
  SambaInitializerKind kind;
  double first;  /* value, low or mean */
  double second; /* high or deviation */
} SambaInitializer;
typedef enum { SAMBA_ROUND_NEAREST_EVEN, SAMBA_ROUND_TRUNCATION } SambaRounding;
/* "nearest_even" or "truncation". */
SAMBA_EXPORT SambaStatus sambaRoundingParse(SambaStringRef name, SambaRounding *out_rounding);
typedef struct SambaLazyOptions {
  bool seeded; /* false: the seed is drawn from the generator at each materialization */
  uint64_t seed;
  int32_t threads;                 /* at least 1 */
  bool inverse_transform_sampling; /* of normal numbers; else Box and Muller's transform */
  SambaRounding bf16_rounding;
} SambaLazyOptions;
SAMBA_EXPORT SambaStatus sambaTensorSetInitializer(SambaTensor *tensor,
                                                   const SambaInitializer *initializer,
                                                   const SambaLazyOptions *options);

/* ---- Casts, views and copies ----
 *
 * Views share the data of the tensor that they are made from, and keep them alive. A view of the
 * whole tensor, and a cast, keep name, region, memory type and requires_grad; a view of a part has
 * no name. Data are not needed: empty tensors give empty tensors. */

/* The same tensor (one more reference) when it has the type already. As PyTorch casts: floats round
 * to nearest even, become integers towards zero, and bools when they are not 0. */
SAMBA_EXPORT SambaStatus sambaTensorCast(SambaTensor *tensor, SambaDType dtype,
                                         SambaTensor **out_tensor);
SAMBA_EXPORT SambaStatus sambaTensorCastLike(SambaTensor *tensor, const SambaTensor *like,
                                             SambaTensor **out_tensor);
/* axes: a permutation of 0 .. rank - 1; negative ones count from the end. */
SAMBA_EXPORT SambaStatus sambaTensorPermute(SambaTensor *tensor, uint32_t rank, const int64_t *axes,
                                            SambaTensor **out_tensor);
/* Two dimensions are exchanged; less are left alone, more are refused. */
SAMBA_EXPORT SambaStatus sambaTensorTranspose2D(SambaTensor *tensor, SambaTensor **out_tensor);
/* One dimension may be -1: what is left. A view where the strides allow it, otherwise a copy. */
SAMBA_EXPORT SambaStatus sambaTensorReshape(SambaTensor *tensor, uint32_t rank, const int64_t *dims,
                                            SambaTensor **out_tensor);
/* Always a view: refused where the strides do not allow it. */
SAMBA_EXPORT SambaStatus sambaTensorViewAs(SambaTensor *tensor, const SambaTensor *like,
                                           SambaTensor **out_tensor);
/* Dimensions of size 1 are repeated, new ones come in front; -1 keeps a size. */
SAMBA_EXPORT SambaStatus sambaTensorExpand(SambaTensor *tensor, uint32_t rank, const int64_t *dims,
                                           SambaTensor **out_tensor);
/* `length` elements of one dimension from `start` on. */
SAMBA_EXPORT SambaStatus sambaTensorNarrow(SambaTensor *tensor, int64_t dim, int64_t start,
                                           int64_t length, SambaTensor **out_tensor);
/* The same tensor (one more reference) when it is row-major, otherwise a copy. */
SAMBA_EXPORT SambaStatus sambaTensorContiguous(SambaTensor *tensor, SambaTensor **out_tensor);
/* A row-major copy with data of its own. */
SAMBA_EXPORT SambaStatus sambaTensorClone(SambaTensor *tensor, SambaTensor **out_tensor);
/* A view that requires no gradient. */
SAMBA_EXPORT SambaStatus sambaTensorDetach(SambaTensor *tensor, SambaTensor **out_tensor);

/* ---- Indexing ---- */

typedef enum {
  SAMBA_INDEX_INT,      /* one element; the dimension goes */
  SAMBA_INDEX_SLICE,    /* from start to stop in steps */
  SAMBA_INDEX_NEW_AXIS, /* a new dimension of size 1 */
  SAMBA_INDEX_TENSOR,   /* the elements at these places: a tensor of rank 1 */
  SAMBA_INDEX_LIST      /* the same for numbers in an array; not for sambaTensorSetIndex */
} SambaIndexKind;
typedef struct SambaIndex {
  SambaIndexKind kind;
  int64_t at; /* of an int */
  bool has_start, has_stop, has_step;
  int64_t start, stop, step;
  const SambaTensor *tensor; /* integers, or floats that are whole numbers */
  uint32_t count;            /* of a list */
  const int64_t *list;
} SambaIndex;

/* Indices apply to the dimensions in order; those without one are kept whole. Negative places count
 * from the end. Without a tensor or list the result is a view, otherwise a copy. */
SAMBA_EXPORT SambaStatus sambaTensorIndex(SambaTensor *tensor, uint32_t count,
                                          const SambaIndex *indices, SambaTensor **out_tensor);
/* Writes the indexed elements in place. The update is broadcast and cast. Where an index tensor
 * names a place twice, the last one wins. */
SAMBA_EXPORT SambaStatus sambaTensorSetIndex(SambaTensor *tensor, uint32_t count,
                                             const SambaIndex *indices, const SambaTensor *update);
SAMBA_EXPORT SambaStatus sambaTensorSetIndexScalar(SambaTensor *tensor, uint32_t count,
                                                   const SambaIndex *indices, SambaScalar update);

/* ---- Shards ----
 *
 * A sharded tensor is spread over several devices: whole on each of them, or one range of an axis
 * on each. Its data stay where they are. */

/* Even sizes of `count` shards of `total` elements: the last ones may be smaller, or empty. */
SAMBA_EXPORT void sambaShardDefaultSplits(int64_t total, uint32_t count, int64_t *out_splits);

typedef struct SambaSharding {
  uint32_t device_count;
  const SambaStringRef *devices;
  bool replicated;       /* the whole tensor on each device; axis and splits are not read */
  int64_t axis;          /* a negative one counts from the end */
  const int64_t *splits; /* one size per device, together the size of the axis; NULL: even */
} SambaSharding;
/* What one device holds: a row-major tensor of its own. */
typedef struct SambaShard {
  int64_t start; /* of its range in the whole */
  int64_t dims[SAMBA_TENSOR_MAX_RANK];
  int64_t strides[SAMBA_TENSOR_MAX_RANK]; /* 0 for a dimension of size 1 */
} SambaShard;
/* The shards of a shape: `device_count` of them. */
SAMBA_EXPORT SambaStatus sambaShardShape(uint32_t rank, const int64_t *dims,
                                         const SambaSharding *sharding, SambaShard *out_shards);
/* A view that is sharded, with name and requires_grad of the tensor; a sharded tensor is refused.
 */
SAMBA_EXPORT SambaStatus sambaTensorShard(SambaTensor *tensor, const SambaSharding *sharding,
                                          SambaTensor **out_tensor);
SAMBA_EXPORT SambaStatus sambaTensorShardInPlace(SambaTensor *tensor,
                                                 const SambaSharding *sharding);
/* 1 and "cpu" for a tensor that is not sharded. */
SAMBA_EXPORT uint32_t sambaTensorGetDeviceCount(const SambaTensor *tensor);
SAMBA_EXPORT SambaStringRef sambaTensorGetDevice(const SambaTensor *tensor, uint32_t device);
/* False when the tensor is not sharded, or replicated. */
SAMBA_EXPORT bool sambaTensorGetShardAxis(const SambaTensor *tensor, uint32_t *out_axis);
/* A view of what one device holds. */
SAMBA_EXPORT SambaStatus sambaTensorGetShard(SambaTensor *tensor, uint32_t device,
                                             SambaTensor **out_tensor);

/* ---- Text and files ---- */

/* The elements as nested lists, [[1, 2], [3, 4]]: every one of them, with the fewest digits that
 * give it back. */
SAMBA_EXPORT SambaStatus sambaTensorPrintList(const SambaTensor *tensor, SambaTextSink sink,
                                              void *user);
/* One line: name, region, shape, type and where the data are. */
SAMBA_EXPORT void sambaTensorPrint(const SambaTensor *tensor, SambaTextSink sink, void *user);
/* NumPy's .npy files, whole or not at all; bf16 is written as f32, which NumPy has. */
SAMBA_EXPORT SambaStatus sambaTensorWriteNpy(const SambaTensor *tensor, const char *path);
SAMBA_EXPORT SambaStatus sambaTensorReadNpy(const char *path, SambaStringRef name,
                                            SambaTensor **out_tensor);

#ifdef __cplusplus
}
#endif

#endif
