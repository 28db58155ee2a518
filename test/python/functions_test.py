"""Every row of the function table against PyTorch: results, dtypes, gradients. T028 T029 T054 T061
T062 T068 T069 T080-T085 of tensors that are traced."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from device import check_function  # noqa: E402
from functions_cases import CASES  # noqa: E402


class FunctionsTest(unittest.TestCase):
    pass


def method(name, function, inputs, how):
    def test(self):
        check_function(function, inputs, **how)

    test.__doc__ = name
    return test


for _case in CASES:
    setattr(FunctionsTest, f"test_{_case[0]}", method(*_case))

if __name__ == "__main__":
    unittest.main()
