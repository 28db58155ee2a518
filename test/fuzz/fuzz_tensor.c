/* libFuzzer target: bytes as a program over a few tensors: views, indices, casts, shards, random
 * numbers, text. Every tensor that comes out is read to its last element. The bytes are also read
 * as a .npy file of host memory. test/fuzz/run builds and runs it. */
#include "samba/tensor.h"
#include "support/file/tensor_file.h"

#include <stdlib.h>

enum { slots = 4, mostElements = 1 << 14 };

typedef struct Program {
  const uint8_t *data;
  size_t size;
} Program;

static int next(Program *program) {
  if (!program->size)
    return 0;
  --program->size;
  return *program->data++;
}

/* Mostly small numbers around 0, now and then a large one. */
static int64_t number(Program *program) {
  int byte = next(program);
  if (byte == 255)
    return (int64_t)((uint64_t)next(program) << 56 | (uint64_t)next(program));
  return byte % 16 - 4;
}

static SambaDType dtype(Program *program) {
  return (SambaDType)(next(program) % (SAMBA_DTYPE_F64 + 2));
}

static void shape(Program *program, uint32_t *out_rank, int64_t *out_dims) {
  *out_rank = (uint32_t)next(program) % 6;
  for (uint32_t axis = 0; axis < *out_rank; ++axis)
    out_dims[axis] = number(program);
}

static void ignore(void *user, const char *data, size_t size) {
  uint8_t *sum = user;
  for (size_t i = 0; i < size; ++i)
    *sum ^= (uint8_t)data[i];
}

/* Touches everything that the tensor says it has. */
static void readAll(SambaTensor *tensor) {
  uint8_t sum = 0;
  int64_t bytes = sambaTensorGetNumBytes(tensor);
  sambaTensorPrint(tensor, ignore, &sum);
  if (!sambaTensorHasData(tensor) || bytes > mostElements * 8)
    return;
  void *copy = malloc((size_t)bytes + 1);
  SambaStatus status = sambaTensorReadData(tensor, copy, bytes);
  if (!copy || status)
    abort();
  free(copy);
  if (bytes < 4096)
    sambaStatusFree(sambaTensorPrintList(tensor, ignore, &sum));
}

static uint32_t indices(Program *program, SambaTensor *const *tensors, const int64_t *list,
                        SambaIndex *out_indices) {
  uint32_t count = (uint32_t)next(program) % 5;
  for (uint32_t i = 0; i < count; ++i) {
    int flags = next(program);
    out_indices[i] = (SambaIndex){.kind = (SambaIndexKind)(flags % 6),
                                  .at = number(program),
                                  .has_start = flags & 64,
                                  .has_stop = flags & 128,
                                  .has_step = flags & 32,
                                  .tensor = tensors[next(program) % slots],
                                  .count = 3,
                                  .list = list};
    out_indices[i].start = number(program);
    out_indices[i].stop = number(program);
    out_indices[i].step = number(program);
    if (!out_indices[i].tensor)
      out_indices[i].kind = SAMBA_INDEX_NEW_AXIS;
  }
  return count;
}

static SambaStatus createOne(Program *program, SambaGenerator *generator, SambaTensor **out) {
  static const SambaLazyOptions options = {true, 1, 2, false, SAMBA_ROUND_TRUNCATION};
  const SambaInitializer initializer = {(SambaInitializerKind)(next(program) % 3), 0, 1};
  SambaStringRef name = sambaStringRef("x");
  uint32_t rank;
  int64_t dims[8], elements = 1;
  SambaDType type = dtype(program);
  shape(program, &rank, dims);
  for (uint32_t axis = 0; axis < rank; ++axis)
    if (dims[axis] > 64 || (elements *= dims[axis] > 0 ? dims[axis] : 1) > mostElements)
      return sambaTensorCreateEmpty(type, rank, dims, name, out);

  switch (next(program) % 6) {
  case 0:
    return sambaTensorCreateRandn(generator, type, rank, dims, name, out);
  case 1:
    return sambaTensorCreateRandint(generator, type, number(program), number(program), rank, dims,
                                    name, out);
  case 2:
    return sambaTensorCreateFull(type, rank, dims, sambaScalarInt(number(program)), name, out);
  case 3:
    return sambaTensorCreateArange(type, sambaScalarInt(next(program)),
                                   sambaScalarInt(next(program)), sambaScalarFloat(next(program)),
                                   name, out);
  default:
    SAMBA_RETURN_IF_ERROR(sambaTensorCreateEmpty(type, rank, dims, name, out));
    sambaStatusFree(sambaTensorSetInitializer(*out, &initializer, &options));
    return NULL;
  }
}

static SambaStatus step(Program *program, SambaGenerator *generator, SambaTensor **tensors,
                        SambaTensor *from, SambaTensor **out) {
  static const SambaStringRef devices[] = {{"a", 1}, {"b", 1}, {"c", 1}};
  const int64_t list[] = {number(program), number(program), 0};
  SambaIndex each[8];
  uint32_t rank, count;
  int64_t dims[8];
  SambaTensor *other = tensors[next(program) % slots];
  SambaSharding sharding = {(uint32_t)next(program) % 4, devices, false, number(program), NULL};

  switch (next(program) % 13) {
  case 0:
    shape(program, &rank, dims);
    return sambaTensorReshape(from, rank, dims, out);
  case 1:
    shape(program, &rank, dims);
    return sambaTensorPermute(from, rank, dims, out);
  case 2:
    shape(program, &rank, dims);
    return sambaTensorExpand(from, rank, dims, out);
  case 3:
    return sambaTensorNarrow(from, number(program), number(program), number(program), out);
  case 4:
    return sambaTensorCast(from, dtype(program), out);
  case 5:
    return sambaTensorMaterialize(from, generator);
  case 6:
  case 7:
    count = indices(program, tensors, list, each);
    return sambaTensorIndex(from, count, each, out);
  case 8:
    count = indices(program, tensors, list, each);
    return sambaTensorSetIndexScalar(from, count, each, sambaScalarInt(number(program)));
  case 9:
    count = indices(program, tensors, list, each);
    return other ? sambaTensorSetIndex(from, count, each, other) : NULL;
  case 10:
    return sambaTensorShard(from, &sharding, out);
  case 11:
    return sambaTensorGetShard(from, (uint32_t)next(program) % 4, out);
  default:
    sambaTensorClearData(from);
    return other ? sambaTensorSetData(from, other) : NULL;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SambaTensor *tensors[slots] = {NULL};
  SambaGenerator *generator = sambaGeneratorCreate(size);
  Program program = {data, size};
  for (int steps = 0; program.size && steps < 64; ++steps) {
    int slot = next(&program) % slots;
    SambaTensor *made = NULL;
    SambaStatus status = NULL;
    if (!tensors[slot] || next(&program) % 8 == 0)
      status = createOne(&program, generator, &made);
    else
      status = step(&program, generator, tensors, tensors[slot], &made);
    if (status && made)
      abort(); /* a failure leaves nothing */
    sambaStatusFree(status);

    if (made && sambaTensorGetNumElements(made) > mostElements && sambaTensorHasData(made)) {
      sambaTensorRelease(made);
      made = NULL;
    }
    if (made) {
      sambaTensorRelease(tensors[slot]);
      tensors[slot] = made;
      readAll(made);
    }
  }
  for (int slot = 0; slot < slots; ++slot)
    sambaTensorRelease(tensors[slot]);
  sambaGeneratorDestroy(generator);

  SambaArena arena = {0};
  SambaTensorFile file;
  sambaStatusFree(sambaHostNpyParse("array", data, size, &arena, &file));
  sambaArenaDestroy(&arena);
  return 0;
}
