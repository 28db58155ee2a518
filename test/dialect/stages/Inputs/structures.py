"""Forms of linalg.generic against NumPy: many operands, maps, initial values, reductions that are
more than one operation, gathers, partial writes. Usage: structures.py WORK_FOLDER"""
import os
import subprocess
import sys

import numpy as np

os.chdir(sys.argv[1])
PIPELINE = (
    "builtin.module(samba-enter-linalg,samba-settle-graphs,samba-materialize-views,"
    "samba-partition-sections{target=sn40l},samba-update-in-place,samba-assign-memory,"
    "samba.section(convert-samba-to-linalg,samba-tile-sections,rdu-verify-mapping),"
    "convert-linalg-to-rdu,"
    "rdu.section(rdu-split-programs,rdu-place,rdu-route,rdu-verify-section))"
)
random = np.random.default_rng(9)
TYPES = {"float32": "f32", "int32": "i32", "int8": "i8", "bool": "i1"}
arguments, results, lines = [], [], []


def tensor(array):
    shape = "".join(f"{d}x" for d in array.shape)
    return f"tensor<{shape}{TYPES[str(array.dtype)]}>"


def argument(array):
    arguments.append(array)
    return f"%arg{len(arguments) - 1}"


def floats(*shape):
    return random.standard_normal(shape).astype("f4")


def generic(maps, iterators, inputs, inits, body, expected):
    """inputs, inits: pairs of a value and its array."""
    k = len(lines)
    affine = ", ".join(f"affine_map<{m}>" for m in maps)
    kinds = ", ".join('"parallel"' if i == "p" else '"reduction"' for i in iterators)
    elements = [TYPES[str(a.dtype)] for _, a in inputs + inits]
    names = [f"%i{n}" for n in range(len(inputs))] + [f"%o{n}" for n in range(len(inits))]
    block = ", ".join(f"{n}: {t}" for n, t in zip(names, elements))
    types = [tensor(a) for _, a in inits]
    lines.append(
        f"  %r{k}:{len(inits)} = linalg.generic {{indexing_maps = [{affine}], "
        f"iterator_types = [{kinds}]}}\n"
        f"      ins({', '.join(v for v, _ in inputs)} : {', '.join(tensor(a) for _, a in inputs)})"
        f" outs({', '.join(v for v, _ in inits)} : {', '.join(types)}) {{\n"
        f"  ^bb0({block}):\n{body}\n  }} -> ({', '.join(types)})"
    )
    for n, (array, (_, init)) in enumerate(zip(expected, inits)):
        results.append((f"%r{k}#{n}", array.astype(init.dtype)))


def empty(array):
    lines.append(f"  %e{len(lines)} = tensor.empty() : {tensor(array)}")
    return f"%e{len(lines) - 1}", array


def given(array):
    return argument(array), array


# Twelve operands: a stage reads at most eight.
many = [floats(4, 6) for _ in range(12)]
body = "    %s0 = arith.mulf %i0, %i1 : f32\n"
total = many[0].astype("f8") * many[1]
for n in range(2, 12):
    body += f"    %s{n - 1} = arith.addf %s{n - 2}, %i{n} : f32\n"
    total = total + many[n]
same = "(a, b) -> (a, b)"
generic(
    [same] * 13,
    "pp",
    [given(m) for m in many],
    [empty(many[0])],
    body + "    linalg.yield %s10 : f32",
    [total],
)

# A transposed result, a diagonal, a map with factors and one that turns.
x, square = floats(3, 7), floats(5, 5)
generic(
    ["(a, b) -> (a, b)", "(a, b) -> (b, a)"],
    "pp",
    [given(x)],
    [empty(x.T.copy())],
    "    linalg.yield %i0 : f32",
    [x.T],
)
generic(
    ["(a) -> (a, a)", "(a) -> (a)"],
    "p",
    [given(square)],
    [empty(square[0])],
    "    linalg.yield %i0 : f32",
    [np.diag(square)],
)
generic(
    ["(a, b) -> (a, 6 - b)", "(a, b) -> (a, b)"],
    "pp",
    [given(x)],
    [empty(x)],
    "    linalg.yield %i0 : f32",
    [x[:, ::-1]],
)

# Reductions: an initial value in memory, terms that are left out, NaN that loses, two results.
rows, start = floats(4, 9), floats(4)
line, row = "(a, b) -> (a, b)", "(a, b) -> (a)"
generic(
    [line, row],
    "pr",
    [given(rows)],
    [given(start)],
    "    %s = math.absf %i0 : f32\n    %t = arith.addf %o0, %s : f32\n" "    linalg.yield %t : f32",
    [start + abs(rows).sum(1)],
)
zero = "%zero"
generic(
    [line, row],
    "pr",
    [given(rows)],
    [given(np.zeros(4, "f4"))],
    f"    %c = arith.cmpf ogt, %i0, {zero} : f32\n    %t = arith.addf %o0, %i0 : f32\n"
    "    %u = arith.select %c, %t, %o0 : f32\n    linalg.yield %u : f32",
    [np.where(rows > 0, rows, 0).sum(1)],
)
holes = rows.copy()
holes[:, ::2] = np.nan
generic(
    [line, row],
    "pr",
    [given(holes)],
    [given(np.full(4, -np.inf, "f4"))],
    "    %t = arith.maxnumf %i0, %o0 : f32\n    linalg.yield %t : f32",
    [np.nanmax(holes, 1)],
)
generic(
    [line, row, row],
    "pr",
    [given(rows)],
    [given(start), given(start)],
    "    %s = arith.addf %o0, %i0 : f32\n    %q = arith.mulf %i0, %i0 : f32\n"
    "    %u = arith.addf %o1, %q : f32\n    linalg.yield %s, %u : f32, f32",
    [start + rows.sum(1), start + (rows * rows).sum(1)],
)
small = random.integers(-128, 128, (4, 9)).astype("i1")
generic(
    [line, row],
    "pr",
    [given(small)],
    [given(np.zeros(4, "i1"))],
    "    %t = arith.maxui %i0, %o0 : i8\n    linalg.yield %t : i8",
    [small.view("u1").max(1).view("i1")],
)
generic(
    [line, row],
    "pr",
    [given(small)],
    [given(np.zeros(4, "i1"))],
    "    %t = arith.addi %i0, %o0 : i8\n    linalg.yield %t : i8",
    [small.sum(1, dtype="i1")],
)

# A product of a computed factor, the reduced loop between the others.
a, b = floats(8, 12), floats(12, 6)
generic(
    ["(i, k, j) -> (i, k)", "(i, k, j) -> (k, j)", "(i, k, j) -> (i, j)"],
    "prp",
    [given(a), given(b)],
    [given(np.zeros((8, 6), "f4"))],
    f"    %f = arith.maximumf %i0, {zero} : f32\n    %p = arith.mulf %f, %i1 : f32\n"
    "    %t = arith.addf %o0, %p : f32\n    linalg.yield %t : f32",
    [np.maximum(a, 0).astype("f8") @ b],
)

# A gather; results of which one is part of the other.
table, places = floats(10, 4), random.integers(0, 10, 6).astype("i4")
at = argument(table)
generic(
    ["(a, b) -> (a)", "(a, b) -> (a, b)"],
    "pp",
    [given(places)],
    [empty(np.zeros((6, 4), "f4"))],
    "    %p = arith.index_cast %i0 : i32 to index\n    %q = linalg.index 1 : index\n"
    f"    %v = tensor.extract {at}[%p, %q] : {tensor(table)}\n    linalg.yield %v : f32",
    [table[places]],
)
generic(
    [same, same, same],
    "pp",
    [given(x)],
    [empty(x), empty(x)],
    "    %s = math.exp %i0 : f32\n    %t = arith.addf %s, %i0 : f32\n"
    "    linalg.yield %s, %t : f32, f32",
    [np.exp(x), np.exp(x) + x],
)

# A part of a tensor is written, with steps.
whole, part = floats(7, 8), floats(3, 4)
k = len(lines)
lines.append(
    f"  %w{k} = tensor.insert_slice {argument(part)} into {argument(whole)}"
    f"[1, 1] [3, 4] [2, 2] : {tensor(part)} into {tensor(whole)}"
)
written = whole.copy()
written[1:7:2, 1:9:2] = part
results.append((f"%w{k}", written))

names = ", ".join(f"%arg{n}: {tensor(a)}" for n, a in enumerate(arguments))
types = ", ".join(tensor(a) for _, a in results)
with open("structures.mlir", "w") as file:
    file.write(f"func.func @main({names}) -> ({types}) {{\n  %zero = arith.constant 0.0 : f32\n")
    file.write("\n".join(lines))
    file.write(f"\n  return {', '.join(v for v, _ in results)} : {types}\n}}\n")
for n, array in enumerate(arguments):
    np.save(f"arg{n}.npy", array)
for n, (_, array) in enumerate(results):
    np.save(f"out{n}.npy", array)
subprocess.run(
    ["samba-opt", "structures.mlir", "--pass-pipeline=" + PIPELINE, "-o", "units.mlir"], check=True
)
subprocess.run(["samba-translate", "--rdu-to-pef", "units.mlir", "-o", "m.pef"], check=True)
subprocess.run(
    ["samba-run", "m.pef", "--values-only"]
    + [f"--input=arg{n}=arg{n}.npy" for n in range(len(arguments))]
    + [f"--expect=out{n}=out{n}.npy" for n in range(len(results))],
    check=True,
    stdout=subprocess.DEVNULL,
)
print(f"{len(results)} results are right")
