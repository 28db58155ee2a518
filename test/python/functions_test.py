"""Every row of the function table against PyTorch: results, dtypes, gradients. T028 T029 T054 T061
T062 T068 T069 T080-T085 of tensors that are traced."""
import os
import sys
import unittest
import unittest.mock

import samba  # noqa: E402
from samba.functions import NAMES  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from device import check_function  # noqa: E402
from functions_cases import CASES  # noqa: E402


built = set()
# Rows of which the modules make use (modules_test), which only refuse (tracing_test), or which
# torch reaches by another name in this version.
ELSEWHERE = set(
    "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell dropout1d dropout3d "
    "multi_head_attention_forward feature_dropout bernoulli normal uniform rand_like randn_like "
    "randint_like Tensor.cuda Tensor.double Tensor.__matmul__ Tensor.__mod__ Tensor.__rdiv__ "
    "Tensor.__rmatmul__ Tensor.requires_grad_ resolve_conj resolve_neg rms_norm concatenate "
    "scaled_dot_product_attention Tensor.__rand__ Tensor.__ror__ Tensor.__rxor__ "
    "Tensor.type".split()
)


class FunctionsTest(unittest.TestCase):
    def test_zz_every_row_has_a_case(self):
        """The last test: rows that no case has built."""
        if len(built) < 100:
            self.skipTest("only some cases ran")
        self.assertEqual(sorted(set(NAMES) - built - ELSEWHERE), [])


def method(name, function, inputs, how):
    def test(self):
        original = samba.tracing.Tracer.build

        def build(tracer, row, *args):
            built.add(row.name.rstrip("_") if row.inplace else row.name)
            return original(tracer, row, *args)

        with unittest.mock.patch.object(samba.tracing.Tracer, "build", build):
            check_function(function, inputs, **how)

    test.__doc__ = name
    return test


for _case in CASES:
    setattr(FunctionsTest, f"test_{_case[0]}", method(*_case))

if __name__ == "__main__":
    unittest.main()
