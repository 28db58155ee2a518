/* The evaluator of stage graphs for tests; see evaluate.h. */
#include "test/dialect/samba/table/evaluate.h"

#include "backend/evaluate/evaluate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static bool computes_double;

void evaluateInDouble(bool in_double) { computes_double = in_double; }

double evaluateBits(SambaDType dtype, uint64_t bits) { return sambaEvaluateBits(dtype, bits); }

/* A float of 16 bits must have been rounded by the stage that makes it. */
static void checkRounded(const SambaStageGraph *graph, double **values) {
  for (uint32_t s = 0; s < graph->stage_count && !computes_double; ++s) {
    const SambaStageTensor *tensor = &graph->tensors[graph->stages[s].output.tensor];
    const double *made = values[graph->stages[s].output.tensor];
    int64_t elements = tensor->dtype == SAMBA_DTYPE_BF16;
    for (uint32_t axis = 0; axis < tensor->rank; ++axis)
      elements *= tensor->dims[axis];
    for (int64_t i = 0; i < elements; ++i)
      assert_true(made[i] != made[i] ||
                  made[i] == (double)sambaBf16ToFloat(sambaFloatToBf16((float)made[i])));
  }
}

void evaluateStageGraph(const SambaStageGraph *graph, double **values) {
  SambaStatus status = sambaEvaluateStages(graph, computes_double, values);
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
  checkRounded(graph, values);
}
