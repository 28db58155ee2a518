/* samba/tensor.h: indices that read and write. Rows T080, T081, T082, T083, T084, T085, T086,
 * T087, T089, E09. Numbers are the document's and PyTorch's. */
#include "test/support/tensor/tensor_checks.h"

static SambaIndex at(int64_t place) { return (SambaIndex){.kind = SAMBA_INDEX_INT, .at = place}; }
static SambaIndex all(void) { return (SambaIndex){.kind = SAMBA_INDEX_SLICE}; }
static SambaIndex range(int64_t start, int64_t stop, int64_t step) {
  return (SambaIndex){SAMBA_INDEX_SLICE, 0, true, true, true, start, stop, step, NULL, 0, NULL};
}
static SambaIndex newAxis(void) { return (SambaIndex){.kind = SAMBA_INDEX_NEW_AXIS}; }
static SambaIndex places(const SambaTensor *tensor) {
  return (SambaIndex){.kind = SAMBA_INDEX_TENSOR, .tensor = tensor};
}
#define INDICES(...)                                                                               \
  sizeof((SambaIndex[]){__VA_ARGS__}) / sizeof(SambaIndex), (SambaIndex[]) { __VA_ARGS__ }

/* T080, T083, E09: the document's example, whose index tensor is of floats. */
static void t083DocumentsExample(void **state) {
  (void)state;
  const double values[] = {.7102, -.8594, -.5047, .8140, -.4194, 1.5488};
  SambaTensor *tensor = tensorOf(SAMBA_DTYPE_F32, DIMS(2, 3), values), *column, *chosen,
              *index = tensorOf(SAMBA_DTYPE_F32, DIMS(2), (double[]){0, 2});
  expectOk(sambaTensorIndex(tensor, INDICES(all(), at(2)), &column));
  expectDims(column, DIMS(2));
  expectValues(column, VALUES(-.5047f, 1.5488f));
  assert_true(sambaTensorSharesStorage(column, tensor));

  expectOk(sambaTensorIndex(tensor, INDICES(newAxis(), all(), places(index)), &chosen));
  expectDims(chosen, DIMS(1, 2, 2));
  expectValues(chosen, VALUES(.7102f, -.5047f, .8140f, 1.5488f));
  assert_false(sambaTensorSharesStorage(chosen, tensor));
  sambaTensorRelease(tensor);
  sambaTensorRelease(column);
  sambaTensorRelease(chosen);
  sambaTensorRelease(index);
}

/* T086, T087: the second one works on the first one's result. */
static void t087SetInSequence(void **state) {
  (void)state;
  SambaTensor *tensor, *ones, *twos, *index = tensorOf(SAMBA_DTYPE_F32, DIMS(2), (double[]){0, 2});
  SambaStringRef name = sambaStringRef("");
  expectOk(sambaTensorCreateZeros(SAMBA_DTYPE_F32, DIMS(2, 3), name, &tensor));
  expectOk(sambaTensorCreateOnes(SAMBA_DTYPE_F32, DIMS(2), name, &ones));
  expectOk(
      sambaTensorCreateFull(SAMBA_DTYPE_NONE, DIMS(1, 2, 2), sambaScalarFloat(2), name, &twos));
  expectOk(sambaTensorSetIndex(tensor, INDICES(all(), at(2)), ones));
  expectValues(tensor, VALUES(0, 0, 1, 0, 0, 1));
  expectOk(sambaTensorSetIndex(tensor, INDICES(newAxis(), all(), places(index)), twos));
  expectValues(tensor, VALUES(2, 0, 2, 2, 0, 2));
  sambaTensorRelease(tensor);
  sambaTensorRelease(ones);
  sambaTensorRelease(twos);
  sambaTensorRelease(index);
}

typedef struct SliceCase {
  SambaIndex index;
  uint32_t count;
  double values[7];
} SliceCase;

/* T081: slices of 0 .. 6 as PyTorch takes them. */
static void t081Slices(void **state) {
  (void)state;
  SambaIndex open_start = {.kind = SAMBA_INDEX_SLICE, .has_stop = true, .stop = -2};
  SambaIndex open_stop = {.kind = SAMBA_INDEX_SLICE, .has_start = true, .start = -2};
  const SliceCase cases[] = {
      {all(), 7, {0, 1, 2, 3, 4, 5, 6}},
      {range(1, 6, 2), 3, {1, 3, 5}},
      {range(-5, -1, 3), 2, {2, 5}},
      {range(-100, 100, 4), 2, {0, 4}},
      {range(5, 2, 1), 0, {0}},
      {range(7, 9, 1), 0, {0}},
      {range(0, 7, INT64_MAX), 1, {0}},
      {open_start, 5, {0, 1, 2, 3, 4}},
      {open_stop, 2, {5, 6}},
  };
  SambaTensor *tensor = counting(SAMBA_DTYPE_I32, DIMS(7)), *part;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    expectOk(sambaTensorIndex(tensor, 1, &cases[i].index, &part));
    expectValues(part, cases[i].count, cases[i].values);
    sambaTensorRelease(part);
  }

  SambaIndex backwards = range(0, 7, -1), still = range(0, 7, 0);
  expectError(sambaTensorIndex(tensor, 1, &backwards, &part), SAMBA_INVALID,
              "a slice of dimension 0 has the step -1; expected 1 or more");
  expectError(sambaTensorIndex(tensor, 1, &still, &part), SAMBA_INVALID, "has the step 0");
  assert_null(part);
  sambaTensorRelease(tensor);
}

/* T080, T082, T085: mixtures, on a transposed tensor too. */
static void t082Mixtures(void **state) {
  (void)state;
  const int64_t list[] = {2, -3, 2};
  SambaIndex by_list = {.kind = SAMBA_INDEX_LIST, .count = 3, .list = list};
  SambaTensor *tensor = counting(SAMBA_DTYPE_I64, DIMS(2, 3, 4)), *turned, *part, *same,
              *index = tensorOf(SAMBA_DTYPE_I8, DIMS(3), (double[]){2, -3, 2}),
              *last = tensorOf(SAMBA_DTYPE_I32, 0, NULL, (double[]){-1});
  expectOk(sambaTensorIndex(tensor, INDICES(at(-1), by_list, range(0, 4, 3)), &part));
  expectDims(part, DIMS(3, 2));
  expectValues(part, VALUES(20, 23, 12, 15, 20, 23));
  expectOk(sambaTensorIndex(tensor, INDICES(at(-1), places(index), range(0, 4, 3)), &same));
  expectValues(same, VALUES(20, 23, 12, 15, 20, 23));
  sambaTensorRelease(part);
  sambaTensorRelease(same);

  expectOk(sambaTensorPermute(tensor, DIMS(2, 1, 0), &turned));
  expectOk(sambaTensorIndex(turned, INDICES(places(last), newAxis(), all(), at(1)), &part));
  expectDims(part, DIMS(1, 3));
  expectValues(part, VALUES(15, 19, 23));
  sambaTensorRelease(part);
  expectOk(sambaTensorIndex(turned, 0, NULL, &part));
  expectDims(part, DIMS(4, 3, 2));
  sambaTensorRelease(part);
  sambaTensorRelease(turned);
  sambaTensorRelease(tensor);
  sambaTensorRelease(index);
  sambaTensorRelease(last);
}

/* T080, T083, T084, T086: what is refused. */
static void t084Refusals(void **state) {
  (void)state;
  const int64_t list[] = {0};
  SambaIndex by_list = {.kind = SAMBA_INDEX_LIST, .count = 1, .list = list};
  SambaIndex many[SAMBA_TENSOR_MAX_RANK + 1], none = {.kind = (SambaIndexKind)77};
  SambaTensor *tensor = counting(SAMBA_DTYPE_F32, DIMS(2, 3)), *out,
              *half = tensorOf(SAMBA_DTYPE_F32, DIMS(2), (double[]){0, 0.5}),
              *index = tensorOf(SAMBA_DTYPE_I64, DIMS(1), (double[]){0}),
              *square = counting(SAMBA_DTYPE_I64, DIMS(1, 1)),
              *mask = counting(SAMBA_DTYPE_I1, DIMS(2)),
              *far = tensorOf(SAMBA_DTYPE_I64, DIMS(1), (double[]){3}), *empty;
  for (int i = 0; i <= SAMBA_TENSOR_MAX_RANK; ++i)
    many[i] = newAxis();
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_I64, DIMS(2), sambaStringRef("i"), &empty));

  expectError(sambaTensorIndex(tensor, INDICES(at(2)), &out), SAMBA_INVALID,
              "index 2 is out of bounds for dimension 0, which has the size 2");
  expectError(sambaTensorIndex(tensor, INDICES(all(), at(-4)), &out), SAMBA_INVALID,
              "index -4 is out of bounds for dimension 1, which has the size 3");
  expectError(sambaTensorIndex(tensor, INDICES(all(), places(far)), &out), SAMBA_INVALID,
              "index 3 is out of bounds for dimension 1");
  expectError(sambaTensorIndex(tensor, INDICES(at(0), at(0), at(0)), &out), SAMBA_INVALID,
              "too many indices for a tensor of shape 2x3xf32");
  expectError(sambaTensorIndex(tensor, SAMBA_TENSOR_MAX_RANK + 1, many, &out), SAMBA_UNSUPPORTED,
              "the indices give more than 32 dimensions, which a tensor can have");
  expectError(sambaTensorIndex(tensor, 1, &none, &out), SAMBA_INVALID, "77 is no kind of index");
  expectError(sambaTensorIndex(tensor, INDICES(places(half)), &out), SAMBA_INVALID,
              "element 1 of an index tensor is 0.5; expected a whole number");
  expectError(sambaTensorIndex(tensor, INDICES(places(square)), &out), SAMBA_UNSUPPORTED,
              "a tensor of shape 1x1xi64 as an index: expected a tensor of rank 1");
  expectError(sambaTensorIndex(tensor, INDICES(places(mask)), &out), SAMBA_UNSUPPORTED,
              "as an index: masks are not supported; use the places themselves");
  expectError(sambaTensorIndex(tensor, INDICES(places(index), places(index)), &out),
              SAMBA_UNSUPPORTED,
              "more than one index tensor or list; index one dimension after the other");
  expectError(sambaTensorIndex(tensor, INDICES(by_list, places(index)), &out), SAMBA_UNSUPPORTED,
              "more than one index tensor or list");
  expectError(sambaTensorIndex(tensor, INDICES(places(empty)), &out), SAMBA_INVALID,
              "indexing needs the data of tensor 'i'");
  expectError(sambaTensorSetIndexScalar(tensor, INDICES(by_list), sambaScalarInt(1)),
              SAMBA_UNSUPPORTED,
              "index 0 is a list, which can be read but not written; use a tensor");
  expectError(sambaTensorSetIndexScalar(empty, INDICES(at(0)), sambaScalarInt(1)), SAMBA_INVALID,
              "writing in place needs the data of tensor 'i' of shape 2xi64, which has none");
  expectError(sambaTensorSetIndex(tensor, INDICES(at(0)), empty), SAMBA_INVALID,
              "writing from it needs the data of");
  expectError(sambaTensorSetIndex(tensor, INDICES(at(0)), half), SAMBA_INVALID,
              "a tensor of shape 2xf32 cannot be broadcast to a tensor of shape 3xf32");
  assert_null(out);
  expectValues(tensor, VALUES(0, 1, 2, 3, 4, 5));

  SambaTensor *all_of[] = {tensor, half, index, square, mask, far, empty};
  for (size_t i = 0; i < sizeof all_of / sizeof *all_of; ++i)
    sambaTensorRelease(all_of[i]);
}

/* T089: of places that are named twice, the last one wins; numbers are cast and broadcast. */
static void t089LastWins(void **state) {
  (void)state;
  SambaTensor *tensor = counting(SAMBA_DTYPE_I32, DIMS(3)),
              *twice = tensorOf(SAMBA_DTYPE_I64, DIMS(2), (double[]){1, 1}),
              *updates = tensorOf(SAMBA_DTYPE_F32, DIMS(2), (double[]){7, 8.9}),
              *wide = tensorOf(SAMBA_DTYPE_F32, DIMS(1, 1, 1), (double[]){5});
  expectOk(sambaTensorSetIndex(tensor, INDICES(places(twice)), updates));
  expectValues(tensor, VALUES(0, 8, 2));
  expectOk(sambaTensorSetIndexScalar(tensor, INDICES(range(1, 3, 1)), sambaScalarFloat(-1.5)));
  expectValues(tensor, VALUES(0, -1, -1));
  expectOk(sambaTensorSetIndex(tensor, INDICES(at(0)), wide)); /* ones in front do not matter */
  expectValues(tensor, VALUES(5, -1, -1));

  /* What is read while it is written is read as it was. */
  SambaTensor *head;
  expectOk(sambaTensorSetIndex(tensor, INDICES(at(0)), wide));
  expectOk(sambaTensorIndex(tensor, INDICES(range(0, 2, 1)), &head));
  expectOk(sambaTensorSetIndex(tensor, INDICES(range(1, 3, 1)), head));
  expectValues(tensor, VALUES(5, 5, -1));
  sambaTensorRelease(head);
  sambaTensorRelease(tensor);
  sambaTensorRelease(twice);
  sambaTensorRelease(updates);
  sambaTensorRelease(wide);
}

/* Two buffers of a program may lie over each other: they are one memory all the same. */
static void overlappingBuffers(void **state) {
  (void)state;
  float numbers[] = {0, 1, 2, 3};
  const int64_t dims[] = {3};
  SambaBufferView low = {numbers, SAMBA_DTYPE_F32, 1, dims, NULL};
  SambaBufferView high = {numbers + 1, SAMBA_DTYPE_F32, 1, dims, NULL};
  SambaTensor *from, *to, *apart = counting(SAMBA_DTYPE_F32, DIMS(3));
  expectOk(sambaTensorCreateFromBuffer(&low, sambaStringRef(""), &from));
  expectOk(sambaTensorCreateFromBuffer(&high, sambaStringRef(""), &to));
  assert_true(sambaTensorSharesStorage(from, to));
  assert_false(sambaTensorSharesStorage(from, apart));
  expectOk(sambaTensorCopyFrom(to, from));
  expectValues(to, VALUES(0, 1, 2));
  sambaTensorRelease(from);
  sambaTensorRelease(to);
  sambaTensorRelease(apart);
}

/* Empty tensors are indexed by their shapes; parts have no name. */
static void indicesWithoutData(void **state) {
  (void)state;
  SambaTensor *tensor, *part, *index = tensorOf(SAMBA_DTYPE_I64, DIMS(4), (double[]){0, 1, 1, 0});
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(5, 2), sambaStringRef("x"), &tensor));
  expectOk(sambaTensorIndex(tensor, INDICES(range(0, 5, 2), places(index)), &part));
  expectDims(part, DIMS(3, 4));
  assert_false(sambaTensorHasData(part));
  assert_string_equal(sambaTensorGetName(part).data, "");
  sambaTensorRelease(part);
  sambaTensorRelease(tensor);
  sambaTensorRelease(index);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t083DocumentsExample), cmocka_unit_test(t087SetInSequence),
      cmocka_unit_test(t081Slices),           cmocka_unit_test(t082Mixtures),
      cmocka_unit_test(t084Refusals),         cmocka_unit_test(t089LastWins),
      cmocka_unit_test(indicesWithoutData),   cmocka_unit_test(overlappingBuffers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
