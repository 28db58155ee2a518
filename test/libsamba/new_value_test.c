/* Replace and assign. */
#include "test/libsamba/checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* N030: replace takes data and type of the other; only the shapes must agree. */
static void n030Replace(void **state) {
  (void)state;
  SambaTensor *t = vector(2, (float[]){1, 2}), *x, *wide = vector(3, (float[]){1, 2, 3});
  const uint16_t halves[] = {0x4040, 0x40a0}; /* 3 and 5 in bf16 */
  fine(sambaTensorCreateUninitialized(SAMBA_DTYPE_BF16, 1, (int64_t[]){2}, sambaStringRef(""), &x));
  fine(sambaTensorWriteData(x, halves, sizeof halves, true));
  SambaTensor *before = call1("neg", t);
  fine(sambaTensorReplace(t, x));
  assert_int_equal(sambaTensorGetDType(t), SAMBA_DTYPE_BF16);
  assert_ptr_equal(sambaTensorGetDataPtr(t), sambaTensorGetDataPtr(x));

  /* What was made before still means the old value. */
  fine(sambaTensorRealize(1, &before, NULL));
  expectNumbers(before, 2, (float[]){-1, -2});

  expectError(sambaTensorReplace(t, wide),
              "replace: the tensor has shape [2], but its new value [3]");
  SambaTensor *w = wanted(vector(2, (float[]){1, 1}));
  expectError(sambaTensorReplace(t, w),
              "replace: the new value requires a gradient, which would be lost; detach it");
  SambaTensor *y = call1("neg", w), *plain = vector(2, (float[]){7, 8});
  expectError(sambaTensorReplace(y, plain),
              "replace: the tensor is computed from what requires a gradient, which would be lost; "
              "replace a detached one");
  drop(7, (SambaTensor *[]){t, x, wide, before, w, y, plain});
}

/* N030: an expression, too, can be what a tensor becomes. */
static void n030Expression(void **state) {
  (void)state;
  SambaTensor *t = vector(2, (float[]){1, 2}), *x = call2("add", t, t);
  fine(sambaTensorReplace(t, x));
  assert_false(sambaTensorIsRealized(t));
  fine(sambaTensorRealize(1, &t, NULL));
  expectNumbers(t, 2, (float[]){2, 4});
  SambaContextStatistics before = statistics();
  fine(sambaTensorRealize(1, &x, NULL)); /* it is the same value */
  assert_int_equal(statistics().launches, before.launches);
  expectNumbers(x, 2, (float[]){2, 4});
  drop(2, (SambaTensor *[]){t, x});
}

/* N031: a realized tensor is written in place: whoever shares its memory sees it. */
static void n031AssignInPlace(void **state) {
  (void)state;
  float data[] = {1, 2, 3};
  SambaBufferView view = {data, SAMBA_DTYPE_F32, 1, (int64_t[]){3}, NULL};
  SambaTensor *t;
  fine(sambaTensorCreateFromBuffer(&view, sambaStringRef("t"), &t));
  sambaTensorSetRegionName(t, sambaStringRef("place"));
  SambaTensor *x = call2("add", t, t);
  fine(sambaTensorAssign(t, x)); /* t = t + t */
  assert_ptr_equal(sambaTensorGetDataPtr(t), data);
  assert_true(data[0] == 2 && data[1] == 4 && data[2] == 6);
  assert_memory_equal(sambaTensorGetRegionName(t).data, "place", 5);
  fine(sambaTensorAssign(t, t)); /* nothing happens */
  assert_true(data[0] == 2);
  fine(sambaTensorAssignScalar(t, sambaScalarInt(5)));
  assert_true(data[0] == 5 && data[2] == 5);
  drop(2, (SambaTensor *[]){t, x});
}

static void unmap(void *data) { munmap(data, 2 * sizeof(float)); }

/* N032: a tensor over a mapped file: assigning writes through to the file. */
static void n032Disk(void **state) {
  (void)state;
  char path[] = "/tmp/samba-disk-XXXXXX";
  float data[] = {1, 2};
  int fd = mkstemp(path);
  assert_int_equal(write(fd, data, sizeof data), sizeof data);
  void *mapped = mmap(NULL, sizeof data, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  assert_ptr_not_equal(mapped, MAP_FAILED);
  SambaBufferView view = {mapped, SAMBA_DTYPE_F32, 1, (int64_t[]){2}, NULL};
  SambaTensor *t;
  fine(sambaTensorCreateFromBufferOwned(&view, unmap, mapped, sambaStringRef("disk"), &t));
  SambaTensor *y = call1("neg", t);
  fine(sambaTensorAssign(t, y));
  drop(2, (SambaTensor *[]){t, y});

  assert_int_equal(pread(fd, data, sizeof data, 0), sizeof data);
  assert_true(data[0] == -1 && data[1] == -2);
  close(fd);
  unlink(path);
}

/* N031: a tensor that is not realized is replaced. */
static void n031AssignReplaces(void **state) {
  (void)state;
  SambaTensor *a = vector(2, (float[]){1, 2}), *b = vector(2, (float[]){5, 6});
  SambaTensor *t = call1("neg", a);
  fine(sambaTensorAssign(t, b));
  expectNumbers(t, 2, (float[]){5, 6});
  assert_ptr_equal(sambaTensorGetDataPtr(t), sambaTensorGetDataPtr(b));
  SambaTensor *u = call1("neg", a);
  fine(sambaTensorAssignScalar(u, sambaScalarFloat(1.5)));
  expectNumbers(u, 2, (float[]){1.5f, 1.5f});
  drop(4, (SambaTensor *[]){a, b, t, u});
}

/* N031: each check says both values. */
static void n031Checks(void **state) {
  (void)state;
  SambaTensor *t = vector(2, (float[]){1, 2}), *longer = vector(3, (float[]){1, 2, 3}), *whole;
  expectError(sambaTensorAssign(t, longer),
              "assign: the tensor has shape [2], but its new value [3]");
  fine(sambaTensorCreateZeros(SAMBA_DTYPE_I32, 1, (int64_t[]){2}, sambaStringRef(""), &whole));
  expectError(sambaTensorAssign(t, whole), "assign: the tensor is f32, but its new value i32");
  SambaTensor *w = wanted(vector(2, (float[]){1, 1}));
  expectError(sambaTensorAssign(t, w),
              "assign: the new value requires a gradient, which would be lost; detach it");
  expectNumbers(t, 2, (float[]){1, 2});
  drop(4, (SambaTensor *[]){t, longer, whole, w});
}

static void expectDevice(const SambaTensor *tensor, uint32_t index, const char *name) {
  SambaStringRef device = sambaTensorGetDevice(tensor, index);
  assert_int_equal(device.size, strlen(name));
  assert_memory_equal(device.data, name, device.size);
}

/* N034: the same device gives the same tensor, another one a copy with the gradient; several give a
 * replica each. */
static void n034ToDevices(void **state) {
  (void)state;
  SambaStringRef cpu = sambaStringRef("cpu"), one = sambaStringRef("rdu:1");
  SambaTensor *t = wanted(vector(2, (float[]){1, 2})), *g = vector(2, (float[]){3, 4});
  SambaTensor *same, *moved, *both, *again;
  fine(sambaTensorSetGrad(t, g));
  fine(sambaTensorToDevices(t, 1, &cpu, &same));
  assert_ptr_equal(same, t);

  fine(sambaTensorToDevices(t, 1, &one, &moved));
  assert_ptr_not_equal(moved, t);
  assert_ptr_not_equal(sambaTensorGetDataPtr(moved), sambaTensorGetDataPtr(t));
  expectNumbers(moved, 2, (float[]){1, 2});
  expectDevice(moved, 0, "rdu:1");
  expectDevice(t, 0, "cpu");
  assert_true(sambaTensorGetRequiresGrad(moved));
  expectNumbers(sambaTensorGetGrad(moved), 2, (float[]){3, 4});
  expectDevice(sambaTensorGetGrad(moved), 0, "rdu:1");
  fine(sambaTensorToDevices(moved, 1, &one, &again));
  assert_ptr_equal(again, moved);

  fine(sambaTensorToDevices(t, 2, (SambaStringRef[]){cpu, one}, &both));
  uint32_t axis;
  assert_int_equal(sambaTensorGetDeviceCount(both), 2);
  assert_false(sambaTensorGetShardAxis(both, &axis));
  drop(6, (SambaTensor *[]){t, g, same, moved, both, again});
}

/* N034: what is not computed yet goes along, and so do its gradients. */
static void n034Expression(void **state) {
  (void)state;
  SambaStringRef one = sambaStringRef("rdu:1");
  SambaTensor *x = wanted(vector(2, (float[]){1, 2})), *y = call2("mul", x, x), *moved;
  fine(sambaTensorToDevices(y, 1, &one, &moved));
  assert_false(sambaTensorIsRealized(moved));
  SambaTensor *total = sum(moved);
  fine(sambaTensorBackward(total, NULL, false));
  expectNumbers(sambaTensorGetGrad(x), 2, (float[]){2, 4});
  fine(sambaTensorRealize(1, &moved, NULL));
  expectNumbers(moved, 2, (float[]){1, 4});
  drop(4, (SambaTensor *[]){x, y, moved, total});
}

/* N035: in place, from one device to another and back. */
static void n035ToDevicesInPlace(void **state) {
  (void)state;
  SambaStringRef one = sambaStringRef("rdu:1"), cpu = sambaStringRef("cpu");
  SambaTensor *t = vector(2, (float[]){1, 2}), *other = vector(2, (float[]){5, 6});
  const void *data = sambaTensorGetDataPtr(t);
  fine(sambaTensorToDevicesInPlace(t, 1, &one));
  expectDevice(t, 0, "rdu:1");
  assert_ptr_equal(sambaTensorGetDataPtr(t), data);
  expectError(sambaTensorAssign(t, other),
              "assign: the tensor is on device rdu:1, but its new value on cpu");
  fine(sambaTensorToDevicesInPlace(t, 1, &cpu));
  fine(sambaTensorAssign(t, other));
  expectNumbers(t, 2, (float[]){5, 6});
  drop(2, (SambaTensor *[]){t, other});
}

/* N031: shards along another axis do not fit. */
static void n031ShardAxis(void **state) {
  (void)state;
  const int64_t dims[] = {2, 2};
  const float data[] = {1, 2, 3, 4};
  SambaStringRef devices[] = {sambaStringRef("rdu:0"), sambaStringRef("rdu:1")};
  SambaSharding rows = {.device_count = 2, .devices = devices, .axis = 0};
  SambaSharding columns = {.device_count = 2, .devices = devices, .axis = 1};
  SambaTensor *t = numbers(2, dims, data), *other = numbers(2, dims, data);
  fine(sambaTensorShardInPlace(t, &rows));
  fine(sambaTensorShardInPlace(other, &columns));
  expectError(sambaTensorAssign(t, other),
              "assign: the tensor is sharded along axis 0, but its new value along 1");
  drop(2, (SambaTensor *[]){t, other});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(n030Replace),       cmocka_unit_test(n030Expression),
      cmocka_unit_test(n031AssignInPlace), cmocka_unit_test(n031AssignReplaces),
      cmocka_unit_test(n032Disk),          cmocka_unit_test(n031Checks),
      cmocka_unit_test(n031ShardAxis),     cmocka_unit_test(n034ToDevices),
      cmocka_unit_test(n034Expression),    cmocka_unit_test(n035ToDevicesInPlace)};
  return cmocka_run_group_tests_name("new value", tests, makeContext, dropContext);
}
