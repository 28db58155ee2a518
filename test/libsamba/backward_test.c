/* Gradients of lazy tensors. */
#include "test/libsamba/checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* T070 N060: the sum of four numbers has gradient 1 for each; twice doubles it. */
static void t070Sum(void **state) {
  (void)state;
  SambaTensor *x = wanted(vector(4, (float[]){1, 2, 3, 4}));
  SambaTensor *y = sum(x);
  assert_true(sambaTensorGetRequiresGrad(y));
  fine(sambaTensorBackward(y, NULL, true));
  expectNumbers(sambaTensorGetGrad(x), 4, (float[]){1, 1, 1, 1});
  expectNumbers(y, 1, (float[]){10}); /* it was computed on the way */
  fine(sambaTensorBackward(y, NULL, true));
  expectNumbers(sambaTensorGetGrad(x), 4, (float[]){2, 2, 2, 2});
  drop(2, (SambaTensor *[]){x, y});
}

/* N060: x + x has gradient 2. */
static void n060UsedTwice(void **state) {
  (void)state;
  SambaTensor *x = wanted(vector(3, (float[]){1, 2, 3}));
  SambaTensor *twice = call2("add", x, x), *y = sum(twice);
  fine(sambaTensorBackward(y, NULL, false));
  expectNumbers(sambaTensorGetGrad(x), 3, (float[]){2, 2, 2});
  drop(3, (SambaTensor *[]){x, twice, y});
}

/* T070 N060: more than one element wants a gradient, of its shape and type. */
static void n060Gradient(void **state) {
  (void)state;
  SambaTensor *x = wanted(vector(3, (float[]){1, 2, 3})), *g = vector(3, (float[]){1, 10, 100});
  SambaTensor *y = call2("mul", x, x), *narrow = vector(2, (float[]){1, 1});
  expectError(sambaTensorBackward(y, NULL, false),
              "backward: tensor '' of shape 3xf32 has more than one element; give a gradient of "
              "its shape");
  expectError(sambaTensorBackward(y, narrow, false),
              "backward: the gradient is tensor '' of shape 2xf32, but it is for tensor '' of "
              "shape 3xf32");
  assert_null(sambaTensorGetGrad(x));
  fine(sambaTensorBackward(y, g, false));
  expectNumbers(sambaTensorGetGrad(x), 3, (float[]){2, 40, 600});
  drop(4, (SambaTensor *[]){x, g, y, narrow});
}

/* T071: the gradient that is given requires none afterwards. */
static void t071GradientOfGradient(void **state) {
  (void)state;
  SambaTensor *x = wanted(vector(2, (float[]){1, 2})), *g = wanted(vector(2, (float[]){3, 4}));
  SambaTensor *y = call1("neg", x);
  fine(sambaTensorBackward(y, g, false));
  expectNumbers(sambaTensorGetGrad(x), 2, (float[]){-3, -4});
  assert_null(sambaTensorGetGrad(g));
  assert_false(sambaTensorGetRequiresGrad(sambaTensorGetGrad(x)));
  drop(3, (SambaTensor *[]){x, g, y});
}

/* T072: a second call is refused when the first did not retain the graph. */
static void t072Retain(void **state) {
  (void)state;
  SambaTensor *x = wanted(vector(2, (float[]){1, 2}));
  SambaTensor *square = call2("mul", x, x), *y = sum(square);
  fine(sambaTensorBackward(y, NULL, false));
  expectError(sambaTensorBackward(y, NULL, false),
              "backward: gradients have passed here once, and the expressions are forgotten; "
              "retain the graph in the call before");
  SambaTensor *z = sum(square); /* through what is forgotten */
  expectError(sambaTensorBackward(z, NULL, false), "gradients have passed here once");
  expectNumbers(sambaTensorGetGrad(x), 2, (float[]){2, 4});
  drop(4, (SambaTensor *[]){x, square, y, z});
}

/* N061: tensors that require none get none; N063: shape (1) is one element. */
static void n061OnlyWhoAsks(void **state) {
  (void)state;
  SambaTensor *x = wanted(vector(1, (float[]){3})), *c = vector(1, (float[]){5});
  SambaTensor *y = call2("mul", x, c);
  fine(sambaTensorBackward(y, NULL, false));
  expectNumbers(sambaTensorGetGrad(x), 1, (float[]){5});
  assert_null(sambaTensorGetGrad(c));
  SambaTensor *z = call2("mul", c, c);
  assert_false(sambaTensorGetRequiresGrad(z));
  expectError(sambaTensorBackward(z, NULL, false),
              "does not require a gradient, and neither does anything that it is computed from");
  drop(4, (SambaTensor *[]){x, c, y, z});
}

/* N033: the gradient of x * detach(x) is x; through detach alone passes nothing. */
static void n033Detach(void **state) {
  (void)state;
  SambaTensor *x = wanted(vector(3, (float[]){2, 3, 4}));
  SambaTensor *held = call1("detach", x), *product = call2("mul", x, held), *y = sum(product);
  assert_false(sambaTensorGetRequiresGrad(held));
  fine(sambaTensorBackward(y, NULL, false));
  expectNumbers(sambaTensorGetGrad(x), 3, (float[]){2, 3, 4});

  SambaTensor *w = wanted(vector(3, (float[]){1, 1, 1}));
  SambaTensor *v = wanted(vector(3, (float[]){5, 6, 7})), *still = call1("detach", v);
  SambaTensor *mixed = call2("mul", w, still), *z = sum(mixed);
  fine(sambaTensorBackward(z, NULL, false));
  expectNumbers(sambaTensorGetGrad(w), 3, (float[]){5, 6, 7});
  assert_null(sambaTensorGetGrad(v));
  drop(9, (SambaTensor *[]){x, held, product, y, w, v, still, mixed, z});
}

/* N041: contiguous_backward changes no number, neither forward nor backward. */
static void n041ContiguousBackward(void **state) {
  (void)state;
  SambaTensor *x = wanted(vector(3, (float[]){1, 2, 3}));
  SambaTensor *same = call1("contiguous_backward", x), *square = call2("mul", same, same);
  SambaTensor *y = sum(square);
  fine(sambaTensorBackward(y, NULL, false));
  expectNumbers(y, 1, (float[]){14});
  expectNumbers(sambaTensorGetGrad(x), 3, (float[]){2, 4, 6});
  drop(4, (SambaTensor *[]){x, same, square, y});
}

/* What is realized in between keeps its gradient, and so does a longer way. */
static void testThroughRealized(void **state) {
  (void)state;
  SambaTensor *x = wanted(vector(2, (float[]){1, 3}));
  SambaTensor *square = call2("mul", x, x);
  fine(sambaTensorRealize(1, &square, NULL));
  expectNumbers(square, 2, (float[]){1, 9});
  SambaTensor *cube = call2("mul", square, x), *y = sum(cube);
  fine(sambaTensorBackward(y, NULL, false));
  expectNumbers(y, 1, (float[]){28});
  expectNumbers(sambaTensorGetGrad(x), 2, (float[]){3, 27});
  drop(4, (SambaTensor *[]){x, square, cube, y});
}

/* A linear layer learns: four steps of gradient descent in place, checked against the same sums
 * on the host; the graph is compiled once. */
static void testLearning(void **state) {
  (void)state;
  const int64_t four[] = {4, 2}, one[] = {1, 2};
  const float xs[] = {1, 2, 3, -1, 0, 1, 2, 2}, targets[] = {1, 2, 0.5f, 3};
  float w[] = {0.1f, -0.2f};
  SambaTensor *x = numbers(2, four, xs), *t = numbers(2, (int64_t[]){4, 1}, targets);
  SambaTensor *weight = wanted(numbers(2, one, w));
  uint64_t compilations = 0;
  for (int step = 0; step < 4; ++step) {
    SambaTensor *y = call2("linear", x, weight), *d = call2("sub", y, t);
    SambaTensor *square = call2("mul", d, d), *loss = sum(square);
    fine(sambaTensorBackward(loss, NULL, false));

    double expected = 0, gradient[2] = {0};
    for (int n = 0; n < 4; ++n) {
      double e = (double)xs[2 * n] * w[0] + (double)xs[2 * n + 1] * w[1] - targets[n];
      expected += e * e;
      gradient[0] += 2 * e * xs[2 * n];
      gradient[1] += 2 * e * xs[2 * n + 1];
    }
    expectNumbers(loss, 1, (float[]){(float)expected});
    expectNumbers(sambaTensorGetGrad(weight), 2, (float[]){(float)gradient[0], (float)gradient[1]});
    for (int i = 0; i < 2; ++i)
      w[i] -= 0.01f * (float)gradient[i];
    SambaTensor *next = numbers(2, one, w);
    fine(sambaTensorAssign(weight, next));
    fine(sambaTensorSetGrad(weight, NULL));
    if (!step)
      compilations = statistics().compilations;
    drop(5, (SambaTensor *[]){y, d, square, loss, next});
  }
  assert_int_equal(statistics().compilations, compilations);
  drop(3, (SambaTensor *[]){x, t, weight});
}

/* A leaf is its own gradient's end. */
static void testLeaf(void **state) {
  (void)state;
  SambaTensor *x = wanted(vector(1, (float[]){3}));
  fine(sambaTensorBackward(x, NULL, false));
  fine(sambaTensorBackward(x, NULL, false));
  expectNumbers(sambaTensorGetGrad(x), 1, (float[]){2});
  sambaTensorRelease(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(t070Sum),
                                     cmocka_unit_test(n060UsedTwice),
                                     cmocka_unit_test(n060Gradient),
                                     cmocka_unit_test(t071GradientOfGradient),
                                     cmocka_unit_test(t072Retain),
                                     cmocka_unit_test(n061OnlyWhoAsks),
                                     cmocka_unit_test(n033Detach),
                                     cmocka_unit_test(n041ContiguousBackward),
                                     cmocka_unit_test(testThroughRealized),
                                     cmocka_unit_test(testLearning),
                                     cmocka_unit_test(testLeaf)};
  return cmocka_run_group_tests_name("backward", tests, makeContext, dropContext);
}
