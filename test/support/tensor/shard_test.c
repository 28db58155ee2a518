/* samba/tensor.h: shards. Rows N001, N036, N037, E15; sizes and strides are the rows'. */
#include "test/support/tensor/tensor_checks.h"

static const SambaStringRef devices[] = {{"rdu:0", 5}, {"rdu:1", 5}, {"rdu:2", 5}, {"rdu:3", 5}};

/* N036: 5 over 4 and 4 over 3. */
static void n036DefaultSizes(void **state) {
  (void)state;
  static const struct {
    int64_t total;
    uint32_t count;
    int64_t sizes[4];
  } cases[] = {{5, 4, {2, 2, 1, 0}}, {4, 3, {2, 2, 0}}, {8, 2, {4, 4}},
               {1, 3, {1, 0, 0}},    {0, 2, {0, 0}},    {7, 1, {7}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    int64_t sizes[4];
    sambaShardDefaultSplits(cases[i].total, cases[i].count, sizes);
    for (uint32_t k = 0; k < cases[i].count; ++k)
      assert_int_equal(sizes[k], cases[i].sizes[k]);
  }
}

/* N036, E15: (2, 3) along axis 1 in 2 and 1. */
static void e15ShapesAndStrides(void **state) {
  (void)state;
  const int64_t splits[] = {2, 1}, dims[] = {2, 3};
  SambaSharding sharding = {2, devices, false, -1, splits};
  SambaShard shards[2];
  expectOk(sambaShardShape(2, dims, &sharding, shards));
  assert_int_equal(shards[0].start, 0);
  assert_int_equal(shards[0].dims[0], 2);
  assert_int_equal(shards[0].dims[1], 2);
  assert_int_equal(shards[0].strides[0], 2);
  assert_int_equal(shards[0].strides[1], 1);
  assert_int_equal(shards[1].start, 2);
  assert_int_equal(shards[1].dims[0], 2);
  assert_int_equal(shards[1].dims[1], 1);
  assert_int_equal(shards[1].strides[0], 1);
  assert_int_equal(shards[1].strides[1], 0);

  sharding.replicated = true;
  expectOk(sambaShardShape(2, dims, &sharding, shards));
  assert_int_equal(shards[1].start, 0);
  assert_int_equal(shards[1].dims[1], 3);
  assert_int_equal(shards[1].strides[0], 3);
}

/* E15: the shards are views whose concatenation is the original. */
static void e15ShardsAreViews(void **state) {
  (void)state;
  const int64_t splits[] = {2, 1};
  SambaSharding sharding = {2, devices, false, 1, splits};
  SambaTensor *tensor = counting(SAMBA_DTYPE_F32, DIMS(2, 3)), *sharded, *first, *second, *bad;
  uint32_t axis = 77;
  sambaTensorSetName(tensor, sambaStringRef("w"));
  expectOk(sambaTensorSetRequiresGrad(tensor, true));
  assert_int_equal(sambaTensorGetDeviceCount(tensor), 1);
  assert_string_equal(sambaTensorGetDevice(tensor, 0).data, "cpu"); /* N001 */
  assert_false(sambaTensorGetShardAxis(tensor, &axis));

  expectOk(sambaTensorShard(tensor, &sharding, &sharded));
  assert_true(sambaTensorSharesStorage(sharded, tensor));
  assert_true(sambaTensorGetRequiresGrad(sharded));
  assert_string_equal(sambaTensorGetName(sharded).data, "w");
  assert_int_equal(sambaTensorGetDeviceCount(sharded), 2);
  assert_string_equal(sambaTensorGetDevice(sharded, 1).data, "rdu:1");
  assert_int_equal(sambaTensorGetDevice(sharded, 2).size, 0);
  assert_true(sambaTensorGetShardAxis(sharded, &axis));
  assert_int_equal(axis, 1);
  expectOk(sambaTensorGetShard(sharded, 0, &first));
  expectOk(sambaTensorGetShard(sharded, 1, &second));
  expectValues(first, VALUES(0, 1, 3, 4));
  expectValues(second, VALUES(2, 5));
  assert_true(sambaTensorSharesStorage(second, tensor));

  expectError(sambaTensorShard(sharded, &sharding, &bad), SAMBA_INVALID,
              "tensor 'w' of shape 2x3xf32 is sharded already, over 2 devices");
  expectError(sambaTensorShardInPlace(sharded, &sharding), SAMBA_INVALID, "is sharded already");
  expectError(sambaTensorGetShard(sharded, 2, &bad), SAMBA_INVALID,
              "shard 2 of tensor 'w' of shape 2x3xf32, which has 2");
  assert_null(bad);
  sambaTensorRelease(tensor);
  sambaTensorRelease(sharded);
  sambaTensorRelease(first);
  sambaTensorRelease(second);
}

/* N037: in place; whole on each device. */
static void n037Replicated(void **state) {
  (void)state;
  SambaSharding sharding = {3, devices, true, 0, NULL};
  SambaTensor *tensor = counting(SAMBA_DTYPE_F32, 0, NULL), *shard;
  uint32_t axis;
  expectOk(sambaTensorShardInPlace(tensor, &sharding));
  assert_int_equal(sambaTensorGetDeviceCount(tensor), 3);
  assert_false(sambaTensorGetShardAxis(tensor, &axis));
  expectOk(sambaTensorGetShard(tensor, 2, &shard));
  assert_ptr_equal(sambaTensorGetDataPtr(shard), sambaTensorGetDataPtr(tensor));
  sambaTensorRelease(shard);
  sambaTensorRelease(tensor);
}

static void n036Refusals(void **state) {
  (void)state;
  const int64_t dims[] = {2, 3}, short_sizes[] = {1, 1}, negative[] = {4, -1},
                huge[] = {INT64_MAX, INT64_MAX};
  SambaSharding sharding = {2, devices, false, 1, short_sizes};
  SambaShard shards[2];
  expectError(sambaShardShape(2, dims, &sharding, shards), SAMBA_INVALID,
              "the sizes of the shards do not add up: dimension 1 has 3 elements, but they have 2");
  sharding.splits = negative;
  expectError(sambaShardShape(2, dims, &sharding, shards), SAMBA_INVALID, "do not add up");
  sharding.splits = huge;
  expectError(sambaShardShape(2, dims, &sharding, shards), SAMBA_INVALID, "do not add up");
  sharding.splits = NULL;
  sharding.axis = 2;
  expectError(sambaShardShape(2, dims, &sharding, shards), SAMBA_INVALID,
              "sharding along dimension 2 of a tensor of rank 2");
  sharding.axis = -3;
  expectError(sambaShardShape(2, dims, &sharding, shards), SAMBA_INVALID, "dimension -3");
  sharding.device_count = 0;
  expectError(sambaShardShape(2, dims, &sharding, shards), SAMBA_INVALID,
              "sharding over no devices; expected 1 or more");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(n036DefaultSizes), cmocka_unit_test(e15ShapesAndStrides),
      cmocka_unit_test(n037Replicated), cmocka_unit_test(e15ShardsAreViews),
      cmocka_unit_test(n036Refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
