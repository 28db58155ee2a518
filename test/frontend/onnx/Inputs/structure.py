"""Models with functions of their own, branches, sequences and optionals: what folds away while
importing, against numpy."""
import subprocess
import sys
import tempfile

import numpy as np
from model_check import compile_model, failures
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
x = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
y = np.sin(x)


def constant(name, value):
    return helper.make_node(
        "Constant", [], [name], value=numpy_helper.from_array(np.asarray(value), name)
    )


def check(name, nodes, expected, functions=(), initializers=(), opset=18, refused=None):
    with tempfile.TemporaryDirectory() as folder:
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info(n, FLOAT, [3, 4]) for n in ["x", "y"]],
            [
                helper.make_tensor_value_info(
                    "out",
                    FLOAT if expected is None or expected.dtype == np.float32 else INT64,
                    None,
                )
            ],
            list(initializers),
        )
        sets = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
        done = compile_model(
            helper.make_model(graph, opset_imports=sets, functions=list(functions), ir_version=8),
            folder,
        )
        if done.returncode or refused:
            if not (
                refused
                and done.returncode == 1
                and refused in done.stderr
                and len(done.stderr) < 500
            ):
                failures.append(f"{name}: {done.stderr[:500]}")
            return
        np.save(f"{folder}/x.npy", x), np.save(f"{folder}/y.npy", y)
        command = [
            "samba-run",
            f"{folder}/m.pef",
            "--input",
            f"x={folder}/x.npy",
            "--input",
            f"y={folder}/y.npy",
            "--output",
            f"out={folder}/out.npy",
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        got = np.load(f"{folder}/out.npy") if done.returncode == 0 else None
        if (
            got is None
            or got.shape != expected.shape
            or not np.allclose(got, expected, rtol=1e-5, atol=1e-6)
        ):
            failures.append(
                f"{name}: {done.stderr[:300] if got is None else got} instead of {expected}"
            )


def function(name, inputs, outputs, nodes, attributes=(), defaults=(), opset=18):
    sets = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    made = helper.make_function("local", name, inputs, outputs, nodes, sets, list(attributes))
    for default in defaults:  # attribute_proto, field 11, which this onnx may not know
        data = default.SerializeToString()
        made.MergeFromString(bytes([11 << 3 | 2, len(data)]) + data)
    return made


def call(name, inputs, outputs, **attributes):
    return helper.make_node(name, inputs, outputs, domain="local", **attributes)


def reference(node, name, source, kind):
    attribute = node.attribute.add()
    attribute.name, attribute.ref_attr_name, attribute.type = name, source, kind
    return node


# Functions: one in another, names that are the caller's own, attributes by reference, their own
# operator sets.
leaky = function(
    "Leaky",
    ["x"],
    ["out"],
    [reference(helper.make_node("LeakyRelu", ["x"], ["out"]), "alpha", "slope", 1)],
    ["slope"],
)
twice = function(
    "Twice",
    ["a", "b"],
    ["s", "p"],
    [
        call("Leaky", ["a"], ["x"], slope=0.5),
        helper.make_node("Add", ["x", "b"], ["s"]),
        helper.make_node("Mul", ["x", "b"], ["p"]),
    ],
)
bent = np.where(x < 0, x * np.float32(0.5), x)
check(
    "nested functions",
    [call("Twice", ["x", "y"], ["p", "q"]), helper.make_node("Sub", ["p", "q"], ["out"])],
    (bent + y) - bent * y,
    [twice, leaky],
)
check(
    "one function, two calls",
    [call("Leaky", ["x"], ["a"], slope=0.25), call("Leaky", ["a"], ["out"], slope=2.0)],
    np.where(x < 0, x * 0.5, x).astype(np.float32),
    [leaky],
)
summed = function(
    "Summed",
    ["x"],
    ["out"],
    [reference(helper.make_node("ReduceSum", ["x"], ["out"], keepdims=0), "axes", "dims", 7)],
    ["dims"],
    opset=12,
)
check(
    "a function's own operator set", [call("Summed", ["x"], ["out"], dims=[1])], x.sum(1), [summed]
)
optional = function(
    "Clipped", ["x", "low"], ["out"], [helper.make_node("Clip", ["x", "low"], ["out"])]
)
check("an input left out", [call("Clipped", ["x"], ["out"])], x, [optional])
scaled = function(
    "Scaled",
    ["x"],
    ["out"],
    [
        reference(helper.make_node("Constant", [], ["f"]), "value_float", "factor", 1),
        helper.make_node("Mul", ["x", "f"], ["out"]),
    ],
    defaults=[helper.make_attribute("factor", 3.0)],
)
check(
    "a default attribute",
    [call("Scaled", ["x"], ["a"]), call("Scaled", ["a"], ["out"], factor=0.5)],
    x * 1.5,
    [scaled],
)
check(
    "recursion",
    [call("Loop", ["x"], ["out"])],
    None,
    [function("Loop", ["x"], ["out"], [call("Loop", ["x"], ["out"])])],
    refused=(
        'function "Loop" calls itself ("Loop" -> "Loop"); '
        "ONNX does not allow recursive functions: export the model without the recursion"
    ),
)


def calls(name, callee, conditional=False):
    """A function that only calls another one, if wanted from a branch."""
    if not conditional:
        return function(name, ["x"], ["out"], [call(callee, ["x"], ["out"])])
    inside = helper.make_graph(
        [call(callee, ["x"], ["t"])],
        "branch",
        [],
        [helper.make_tensor_value_info("t", FLOAT, None)],
    )
    return function(
        name,
        ["x"],
        ["out"],
        [
            constant("c", True),
            helper.make_node("If", ["c"], ["out"], then_branch=inside, else_branch=inside),
        ],
    )


# An error inside a function or branch is one short line however deep it lies.
cycle = [calls("Start", "F0")] + [calls(f"F{i}", f"F{(i + 1) % 9}", i == 4) for i in range(9)]
check(
    "a cycle of functions",
    [call("Start", ["x"], ["out"])],
    None,
    cycle,
    refused=(
        'function "F0" calls itself ("F0" -> 3 more -> "F3" -> "F4" -> "F5" -> "F6" -> "F7" -> "F8"'
        ' -> "F0"); ONNX does not'
    ),
)
deep = [
    calls(f"AFunctionWithALongName{i}", f"AFunctionWithALongName{i + 1}") for i in range(70)
] + [
    function("AFunctionWithALongName70", ["x"], ["out"], [helper.make_node("Relu", ["x"], ["out"])])
]
check(
    "nested too deep",
    [call("AFunctionWithALongName0", ["x"], ["out"])],
    None,
    deep,
    refused="functions and branches are nested deeper than 64 levels",
)
check(
    "too many inputs",
    [call("Leaky", ["x", "y"], ["out"], slope=1.0)],
    None,
    [leaky],
    refused="has 2 inputs, but the function takes 1",
)
check(
    "too many outputs",
    [call("Leaky", ["x"], ["out", "more"], slope=1.0)],
    None,
    [leaky],
    refused="has 2 outputs, but the function makes 1",
)
check(
    "nobody makes it",
    [call("Hollow", ["x"], ["out"])],
    None,
    [function("Hollow", ["x"], ["out"], [helper.make_node("Relu", ["x"], ["z"])])],
    refused='output "out" is made by no node inside',
)
check(
    "a name of the graph",
    [call("Peeks", ["x"], ["out"])],
    None,
    [function("Peeks", ["a"], ["out"], [helper.make_node("Add", ["a", "y"], ["out"])])],
    refused="is missing: no node makes it",
)


# Branches: the graph around is seen, initializers of a branch, a branch in a branch and in a
# function.
def branch(nodes, output, initializers=()):
    return helper.make_graph(
        nodes,
        "branch",
        [],
        [helper.make_tensor_value_info(output, FLOAT, None)],
        list(initializers),
    )


def conditional(condition, then, otherwise, output="out"):
    return helper.make_node("If", [condition], [output], then_branch=then, else_branch=otherwise)


two = numpy_helper.from_array(np.full((4,), 2, np.float32), "k")
then = branch([helper.make_node("Mul", ["x", "k"], ["t"])], "t", [two])
other = branch([helper.make_node("Neg", ["y"], ["t"])], "t")
for value in [True, False]:
    check(
        f"if {value}", [constant("c", value), conditional("c", then, other)], x * 2 if value else -y
    )
inner = branch(
    [
        constant("d", False),
        conditional("d", then, other, "u"),
        helper.make_node("Add", ["u", "x"], ["t"]),
    ],
    "t",
)
check("if in if", [constant("c", True), conditional("c", inner, other)], x - y)
sized = [
    helper.make_node("Shape", ["x"], ["s"]),
    helper.make_node("Size", ["s"], ["n"]),
    constant("two", np.int64(2)),
    helper.make_node("Equal", ["n", "two"], ["c"]),
]
check("a condition on the rank", sized + [conditional("c", then, other)], x * 2)
chooses = function(
    "Chooses",
    ["v", "w"],
    ["r"],
    [
        constant("c", True),
        conditional(
            "c",
            branch(
                [reference(helper.make_node("LeakyRelu", ["w"], ["t"]), "alpha", "slope", 1)], "t"
            ),
            branch([helper.make_node("Neg", ["v"], ["t"])], "t"),
            "r",
        ),
    ],
    ["slope"],
)
check("if in a function", [call("Chooses", ["y", "x"], ["out"], slope=0.5)], bent, [chooses])
check(
    "condition at run time",
    [
        helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
        helper.make_node("Cast", ["m"], ["c"], to=BOOL),
        conditional("c", then, other),
    ],
    None,
    refused=(
        "an If whose condition is not known at compile time is not supported; if it comes from a"
        " graph input, use --bind NAME=FILE"
    ),
)
check(
    "two outputs",
    [
        constant("c", True),
        helper.make_node("If", ["c"], ["out", "more"], then_branch=then, else_branch=other),
    ],
    None,
    refused="has 2 outputs, but the branch makes 1",
)
check(
    "no branch",
    [constant("c", False), helper.make_node("If", ["c"], ["out"], then_branch=then)],
    None,
    refused="attribute 'else_branch' is missing",
)


# Operands at run time: the shape is declared where the function or the branch is used, or in the
# branch.
def check_reshaped(name, node, functions=(), result=(2, 6)):
    rows, target = helper.make_tensor_value_info("x", FLOAT, [3, 4]), helper.make_tensor_value_info(
        "target", INT64, [2]
    )
    graph = helper.make_graph(
        [constant("c", True), node],
        "g",
        [rows, target],
        [helper.make_tensor_value_info("out", FLOAT, list(result))],
    )
    with tempfile.TemporaryDirectory() as folder:
        sets = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
        done = compile_model(
            helper.make_model(graph, opset_imports=sets, functions=list(functions), ir_version=8),
            folder,
        )
        if done.returncode:
            failures.append(f"{name}: {done.stderr[:300]}")


reshape = helper.make_node("Reshape", ["x", "target"], ["t"])
check_reshaped("declared around a branch", conditional("c", branch([reshape], "t"), other))
check_reshaped(
    "declared around a function",
    call("Shaped", ["x", "target"], ["out"]),
    [function("Shaped", ["x", "target"], ["t"], [reshape])],
)
inside = branch(
    [
        reshape,
        helper.make_node("ReduceSum", ["t"], ["sum"]),
        helper.make_node("Add", ["sum", "k"], ["u"]),
    ],
    "u",
    [two],
)
inside.value_info.append(helper.make_tensor_value_info("t", FLOAT, [2, 6]))
check_reshaped("declared in a branch", conditional("c", inside, other), result=(1, 4))


# Loops: values that are carried on, results of all trips, a condition that ends them; the graph
# around is seen.
def body(nodes, outputs, carried=("v",)):
    inputs = [
        helper.make_tensor_value_info("i", INT64, []),
        helper.make_tensor_value_info("go", BOOL, []),
    ] + [helper.make_tensor_value_info(n, FLOAT, None) for n in carried]
    return helper.make_graph(
        nodes,
        "body",
        inputs,
        [
            helper.make_tensor_value_info(n, BOOL if k == 0 else FLOAT, None)
            for k, n in enumerate(outputs)
        ],
    )


def loop(inputs, outputs, graph):
    return helper.make_node("Loop", inputs, outputs, body=graph)


double = [
    helper.make_node("Identity", ["go"], ["again"]),
    helper.make_node("Add", ["v", "y"], ["next"]),
    helper.make_node("Neg", ["next"], ["seen"]),
]
three = constant("n", np.int64(3))

# The number of the trip has the rank that the body declares for it.
listed = helper.make_graph(
    [
        helper.make_node("Identity", ["cond"], ["again"]),
        helper.make_node("Identity", ["carried"], ["next"]),
        helper.make_node("Concat", ["i", "i"], ["pair"], axis=0),
    ],
    "body",
    [
        helper.make_tensor_value_info("i", INT64, [1]),
        helper.make_tensor_value_info("cond", BOOL, [1]),
        helper.make_tensor_value_info("carried", FLOAT, None),
    ],
    [
        helper.make_tensor_value_info("again", BOOL, [1]),
        helper.make_tensor_value_info("next", FLOAT, None),
        helper.make_tensor_value_info("pair", INT64, [2]),
    ],
)
check(
    "a number that is a list",
    [three, loop(["n", "", "x"], ["last", "out"], listed)],
    np.array([[0, 0], [1, 1], [2, 2]], np.int64),
)
check("carried", [three, loop(["n", "", "x"], ["out"], body(double, ["again", "next"]))], x + 3 * y)
check(
    "results of trips",
    [
        three,
        constant("c", True),
        loop(["n", "c", "x"], ["last", "out"], body(double, ["again", "next", "seen"])),
    ],
    np.stack([-(x + k * y) for k in [1, 2, 3]]),
)
stops = [
    constant("two", np.int64(1)),
    helper.make_node("Less", ["i", "two"], ["again"]),
    helper.make_node("Cast", ["i"], ["f"], to=FLOAT),
    helper.make_node("Add", ["v", "f"], ["next"]),
]
check(
    "a condition that ends it",
    [constant("c", True), three, loop(["n", "c", "x"], ["out"], body(stops, ["again", "next"]))],
    x + 1,
)
check(
    "no trip",
    [constant("c", False), three, loop(["n", "c", "x"], ["out"], body(double, ["again", "next"]))],
    x,
)
check(
    "no trip, no results",
    [
        constant("c", False),
        three,
        loop(["n", "c", "x"], ["last", "out"], body(double, ["again", "next", "seen"])),
    ],
    None,
    refused=(
        "output 1 has no elements: the loop makes no trip, and its body does not declare the shape"
    ),
)
declared = body(double, ["again", "next", "seen"])
declared.output[2].type.CopyFrom(helper.make_tensor_value_info("seen", FLOAT, [3, 4]).type)
check(
    "no trip, results declared",
    [constant("c", False), three, loop(["n", "c", "x"], ["last", "out"], declared)],
    np.zeros([0, 3, 4], np.float32),
)
empty = [
    helper.make_node("Identity", ["go"], ["again"]),
    constant("none", np.int64([0])),
    helper.make_node("Slice", ["x", "none", "none"], ["cut"]),
    helper.make_node("Neg", ["v"], ["next"]),
]
check(
    "trips without elements",
    [three, loop(["n", "", "x"], ["last", "out"], body(empty, ["again", "next", "cut"]))],
    np.zeros([3, 0, 4], np.float32),
)
depends = [
    helper.make_node("ReduceMax", ["v"], ["m"], keepdims=0),
    helper.make_node("Cast", ["m"], ["again"], to=BOOL),
    helper.make_node("Add", ["v", "y"], ["next"]),
]
check(
    "a condition of data",
    [three, loop(["n", "", "x"], ["out"], body(depends, ["again", "next"]))],
    None,
    refused=(
        "a Loop whose condition depends on data is not supported; its trips must be known at"
        " compile time"
    ),
)
counted = [
    helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
    helper.make_node("Cast", ["m"], ["n"], to=INT64),
]
check(
    "a count of data",
    counted + [loop(["n", "", "x"], ["out"], body(double, ["again", "next"]))],
    None,
    refused=(
        "a Loop whose trip count or condition is not known at compile time is not supported; if it"
        " comes from a graph input, use --bind NAME=FILE"
    ),
)
check(
    "too many trips",
    [constant("n", np.int64(5000)), loop(["n", "", "x"], ["out"], body(double, ["again", "next"]))],
    None,
    refused="a Loop of more than 1024 trips is not supported",
)
inner = body(
    [
        helper.make_node("Identity", ["go"], ["again"]),
        loop(["n", "", "v"], ["last"], body(double, ["again", "next"])),
    ],
    ["again", "last"],
)
check(
    "too many nodes",
    [constant("n", np.int64(1000)), loop(["n", "", "x"], ["out"], inner)],
    None,
    refused="functions, branches and loops have more than 131072 nodes",
)
check(
    "a body that does not fit",
    [three, loop(["n", "", "x", "y"], ["out"], body(double, ["again", "next"]))],
    None,
    refused="attribute 'body' does not fit the node's 4 inputs and 1 outputs",
)
check(
    "nobody makes it inside",
    [three, loop(["n", "", "x"], ["out"], body(double, ["again", "lost"]))],
    None,
    refused='output "lost" is made by no node inside',
)

# Sequences.
make = helper.make_node("SequenceConstruct", ["x", "y", "x"], ["s"])
for position in [0, 1, -2]:
    check(
        f"at {position}",
        [
            make,
            constant("p", np.int64(position)),
            helper.make_node("SequenceAt", ["s", "p"], ["out"]),
        ],
        [x, y, x][position],
    )
check(
    "insert, erase",
    [
        helper.make_node("SequenceEmpty", [], ["e"]),
        helper.make_node("SequenceInsert", ["e", "x"], ["a"]),
        constant("p", np.int64(0)),
        helper.make_node("SequenceInsert", ["a", "y", "p"], ["b"]),
        helper.make_node("SequenceInsert", ["b", "x"], ["c"]),
        helper.make_node("SequenceErase", ["c"], ["d"]),
        helper.make_node("ConcatFromSequence", ["d"], ["out"], axis=1),
    ],
    np.concatenate([y, x], 1),
)
check(
    "erase the second",
    [
        make,
        constant("p", np.int64(-2)),
        helper.make_node("SequenceErase", ["s", "p"], ["d"]),
        helper.make_node("ConcatFromSequence", ["d"], ["out"], axis=0),
    ],
    np.concatenate([x, x]),
)
check(
    "join in a new dimension",
    [make, helper.make_node("ConcatFromSequence", ["s"], ["out"], axis=-1, new_axis=1)],
    np.stack([x, y, x], -1),
)
check("length", [make, helper.make_node("SequenceLength", ["s"], ["out"])], np.int64(3))
one = [constant("p", np.int64(1)), helper.make_node("SequenceAt", ["s", "p"], ["out"])]
check(
    "split: parts of one",
    [helper.make_node("SplitToSequence", ["x"], ["s"], axis=1, keepdims=0)] + one,
    x[:, 1],
)
check(
    "split: parts of one, kept",
    [helper.make_node("SplitToSequence", ["x"], ["s"], axis=-1)] + one,
    x[:, 1:2],
)
check(
    "split: chunks",
    [
        constant("k", np.int64(3)),
        helper.make_node("SplitToSequence", ["x", "k"], ["s"], axis=1, keepdims=0),
    ]
    + one,
    x[:, 3:],
)
check(
    "split: sizes",
    [constant("k", np.array([1, 2])), helper.make_node("SplitToSequence", ["x", "k"], ["s"])] + one,
    x[1:],
)

# Optionals.
check(
    "optional",
    [
        helper.make_node("Optional", ["x"], ["o"]),
        helper.make_node("OptionalHasElement", ["o"], ["c"]),
        helper.make_node("OptionalGetElement", ["o"], ["g"]),
        conditional("c", branch([helper.make_node("Neg", ["g"], ["t"])], "t"), other),
    ],
    -x,
)

print("\n".join(failures))
sys.exit(bool(failures))
