"""Sequences that are made and used inside the graph, with known positions and with positions at run
time."""
import sys

import numpy as np
from model_check import check, failures

A, B, C = (np.arange(24, dtype=np.float32).reshape(2, 3, 4) + 100 * n for n in range(3))
D = np.ones([5, 3, 4], np.float32)
construct = ("SequenceConstruct", ["a", "b", "c"], ["s"], {})
abc = {"a": A, "b": B, "c": C}


def number(value):
    return np.array(value, np.int64)


for p in range(-3, 3):
    check(
        f"at {p}",
        [construct, ("SequenceAt", ["s", "p"], ["y"], {})],
        abc,
        {"y": [A, B, C][p]},
        {"p": number(p)},
    )
    check(
        f"at {p}, run time",
        [construct, ("SequenceAt", ["s", "p"], ["y"], {})],
        {**abc, "p": number(p)},
        {"y": [A, B, C][p]},
    )
    rest = [x for i, x in enumerate([A, B, C]) if i != p % 3]
    for known in (True, False):
        inputs, constants = (abc, {"p": number(p)}) if known else ({**abc, "p": number(p)}, {})
        check(
            f"erase {p} {known}",
            [
                construct,
                ("SequenceErase", ["s", "p"], ["t"], {}),
                ("ConcatFromSequence", ["t"], ["y"], {"axis": -1}),
                ("SequenceLength", ["t"], ["n"], {}),
            ],
            inputs,
            {"y": np.concatenate(rest, -1), "n": number(2)},
            constants,
        )
for p in range(-2, 3):
    expected = [B, C]
    expected.insert(p if p >= 0 else 2 + p, A)
    for known in (True, False):
        inputs, constants = (abc, {"p": number(p)}) if known else ({**abc, "p": number(p)}, {})
        check(
            f"insert {p} {known}",
            [
                ("SequenceConstruct", ["b", "c"], ["s"], {}),
                ("SequenceInsert", ["s", "a", "p"], ["t"], {}),
                ("ConcatFromSequence", ["t"], ["y"], {"axis": 1, "new_axis": 1}),
            ],
            inputs,
            {"y": np.stack(expected, 1)},
            constants,
        )
check(
    "grow",
    [
        ("SequenceEmpty", [], ["s"], {}),
        ("SequenceInsert", ["s", "a"], ["t"], {}),
        ("SequenceInsert", ["t", "d"], ["u"], {}),
        ("SequenceErase", ["u"], ["v"], {}),
        ("SequenceAt", ["u", "p"], ["y"], {}),
        ("SequenceLength", ["v"], ["n"], {}),
    ],
    {"a": A, "d": D},
    {"y": D, "n": number(1)},
    {"p": number(1)},
)
check(
    "split",
    [
        ("SplitToSequence", ["a", "z"], ["s"], {"axis": 2}),
        ("SequenceAt", ["s", "p"], ["y"], {}),
        ("SequenceLength", ["s"], ["n"], {}),
    ],
    {"a": A},
    {"y": A[:, :, 3:], "n": number(2)},
    {"z": number(3), "p": number(-1)},
)
check(
    "split by sizes",
    [
        ("SplitToSequence", ["a", "z"], ["s"], {"axis": 1, "keepdims": 0}),
        ("ConcatFromSequence", ["s"], ["y"], {"axis": 1}),
    ],
    {"a": A},
    {"y": A},
    {"z": number([1, 0, 2])},
)
check(
    "split into single rows",
    [
        ("SplitToSequence", ["a"], ["s"], {"axis": 1, "keepdims": 0}),
        ("SequenceAt", ["s", "p"], ["y"], {}),
    ],
    {"a": A, "p": number(1)},
    {"y": A[:, 1]},
)
check(
    "shapes",
    [
        ("Shape", ["a"], ["h"], {}),
        ("SplitToSequence", ["h"], ["s"], {}),
        ("ConcatFromSequence", ["s"], ["k"], {"axis": 0}),
        ("Expand", ["d", "k"], ["y"], {}),
    ],
    {"a": A, "d": np.ones([1], np.float32)},
    {"y": np.ones([2, 3, 4], np.float32)},
)
check(
    "optional",
    [
        ("Optional", ["a"], ["o"], {}),
        ("OptionalHasElement", ["o"], ["h"], {}),
        ("OptionalGetElement", ["o"], ["y"], {}),
    ],
    {"a": A},
    {"y": A, "h": np.array(True)},
)
print("\n".join(failures))
sys.exit(1 if failures else 0)
