/* Result stores: what is put is found with its function and digest only, is taken once, and the
 * oldest goes first; several threads. */
#include "support/container/result_store.h"

#include "support/base/memory.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static int destroyed;
static void destroyOne(void *result) {
  ++destroyed;
  free(result);
}
static void destroyOther(void *result) { free(result); }

static SambaContentDigest digestOf(uint64_t number) {
  return (SambaContentDigest){{number % 7, number}};
}
static int *made(int value) {
  int *result = sambaAllocate(sizeof *result);
  *result = value;
  return result;
}
static void copyOut(const void *result, void *user) { *(int *)user = *(const int *)result; }

static void keepsUntilTaken(void **state) {
  (void)state;
  SambaResultStore *store = sambaResultStoreCreate(3);
  int value = 0;
  destroyed = 0;

  for (int i = 0; i < 4; ++i)
    sambaResultStorePut(store, digestOf((uint64_t)i), made(i), destroyOne);
  assert_int_equal(destroyed, 1); /* the first, of more than three */
  assert_false(sambaResultStoreRead(store, digestOf(0), destroyOne, copyOut, &value));
  assert_true(sambaResultStoreRead(store, digestOf(2), destroyOne, copyOut, &value));
  assert_int_equal(value, 2);
  assert_false(sambaResultStoreRead(store, digestOf(2), destroyOther, NULL, NULL));

  int *taken = sambaResultStoreTake(store, digestOf(2), destroyOne);
  assert_int_equal(*taken, 2);
  free(taken);
  assert_null(sambaResultStoreTake(store, digestOf(2), destroyOne));

  sambaResultStorePut(store, digestOf(3), made(30), destroyOne);
  assert_int_equal(destroyed, 2); /* replaced */
  assert_true(sambaResultStoreRead(store, digestOf(3), destroyOne, copyOut, &value));
  assert_int_equal(value, 30);
  sambaResultStoreDestroy(store);
  assert_int_equal(destroyed, 4);

  /* Without a store nothing is kept. */
  sambaResultStorePut(NULL, digestOf(1), made(1), destroyOne);
  assert_int_equal(destroyed, 5);
  assert_null(sambaResultStoreTake(NULL, digestOf(1), destroyOne));
  assert_false(sambaResultStoreRead(NULL, digestOf(1), destroyOne, NULL, NULL));
}

/* Of one kind the oldest go, those of another stay. */
static void trims(void **state) {
  (void)state;
  SambaResultStore *store = sambaResultStoreCreate(16);
  for (int i = 0; i < 4; ++i)
    sambaResultStorePut(store, digestOf((uint64_t)i), made(i), i == 1 ? free : destroyOther);
  sambaResultStoreTrim(store, destroyOther, 3);
  assert_true(sambaResultStoreRead(store, digestOf(0), destroyOther, NULL, NULL));
  sambaResultStoreTrim(store, destroyOther, 1);
  assert_false(sambaResultStoreRead(store, digestOf(0), destroyOther, NULL, NULL));
  assert_true(sambaResultStoreRead(store, digestOf(1), free, NULL, NULL));
  assert_false(sambaResultStoreRead(store, digestOf(2), destroyOther, NULL, NULL));
  assert_true(sambaResultStoreRead(store, digestOf(3), destroyOther, NULL, NULL));
  sambaResultStoreTrim(NULL, free, 0);
  sambaResultStoreDestroy(store);
}

enum { perThread = 2000 };
typedef struct Worker {
  SambaResultStore *store;
  int first, taken;
} Worker;

static void *work(void *argument) {
  Worker *worker = argument;
  for (int i = 0; i < perThread; ++i) {
    SambaContentDigest digest = digestOf((uint64_t)(worker->first + i));
    sambaResultStorePut(worker->store, digest, made(worker->first + i), destroyOther);
    int *taken = sambaResultStoreTake(worker->store, digest, destroyOther);
    worker->taken += taken && *taken == worker->first + i;
    free(taken);
  }
  return NULL;
}

static void threadsShare(void **state) {
  (void)state;
  SambaResultStore *store = sambaResultStoreCreate(16);
  Worker workers[4];
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    workers[i] = (Worker){store, i * perThread, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < 4; ++i) {
    pthread_join(threads[i], NULL);
    assert_int_equal(workers[i].taken, perThread);
  }
  sambaResultStoreDestroy(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(keepsUntilTaken), cmocka_unit_test(trims),
                                     cmocka_unit_test(threadsShare)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
