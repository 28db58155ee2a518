"""The way from samba to values that has no planner, PEF and simulator: linalg, stock mlir-opt and
mlir-runner."""
import re
import subprocess
import sys

import numpy

TO_LINALG = [
    "--canonicalize",
    "--cse",
    "--samba-decompose-composites",
    "--canonicalize",
    "--cse",
    "--convert-samba-graphs-to-linalg",
]
TO_LLVM = [
    "--convert-elementwise-to-linalg",
    "--one-shot-bufferize=bufferize-function-boundaries",
    "--convert-linalg-to-loops",
    "--expand-strided-metadata",
    "--lower-affine",
    "--math-expand-ops",
    "--convert-math-to-funcs",
    "--convert-scf-to-cf",
    "--convert-math-to-llvm",
    "--convert-math-to-libm",
    "--arith-expand",
    "--convert-arith-to-llvm",
    "--convert-index-to-llvm",
    "--finalize-memref-to-llvm",
    "--convert-func-to-llvm",
    "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
]
# Element types that the runner's library prints, and how the others become one of them.
PRINTED = {"f32": "F32", "i32": "I32", "i64": "I64"}
EXTENDED = {
    "i1": ("arith.extui", "i32"),
    "i8": ("arith.extsi", "i32"),
    "i16": ("arith.extsi", "i32"),
    "f16": ("arith.extf", "f32"),
    "bf16": ("arith.extf", "f32"),
}
NUMPY = {
    "f32": numpy.float32,
    "i32": numpy.int32,
    "i64": numpy.int64,
    "i1": numpy.bool_,
    "i8": numpy.int8,
    "i16": numpy.int16,
    "f16": numpy.float16,
    "ui8": numpy.uint8,
}


class NoWay(Exception):
    """This way cannot express the case."""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error:" in line] or [
            f"{command[0]} ended with {done.returncode}"
        ]
        raise NoWay(re.sub(r"^.*?error: ", "", lines[0]))
    return done.stdout


def element_of(type_):
    return re.search(r"((?:bf|f|ui|i)\d+)>$", type_).group(1)


def literal(array, element):
    if array.dtype != NUMPY.get(element):
        raise NoWay(f"an input of {element}")
    if element == "i1":
        text = (
            numpy.array2string(array, separator=",", threshold=sys.maxsize)
            .replace("True", "true")
            .replace("False", "false")
        )
        return f"dense<{text}>"
    return f'dense<"0x{numpy.ascontiguousarray(array).tobytes().hex()}">'


def entry(signature, data):
    """A main function that calls the graph with constants and prints its results."""
    name, arguments, results = signature
    lines, prints = ["func.func @main() {"], set()
    for i, (argument, type_) in enumerate(arguments):
        if argument not in data:
            raise NoWay(f"no data for argument {argument}")
        element = element_of(type_)
        lines.append(f"  %a{i} = arith.constant {literal(data[argument], element)} : {type_}")
    values = ", ".join(f"%a{i}" for i in range(len(arguments)))
    types = ", ".join(type_ for _, type_ in arguments)
    lines.append(
        f"  %r{':' + str(len(results)) if len(results) > 1 else ''} = call @{name}({values}) :"
        f" ({types}) -> ({', '.join(results)})"
    )
    for i, type_ in enumerate(results):
        value, element = f"%r#{i}" if len(results) > 1 else "%r", element_of(type_)
        if element in EXTENDED:
            operation, element = EXTENDED[element]
            wider = re.sub(r"(bf|f|ui|i)\d+>$", element + ">", type_)
            lines.append(f"  %w{i} = {operation} {value} : {type_} to {wider}")
            value, type_ = f"%w{i}", wider
        if element not in PRINTED:
            raise NoWay(f"a result of {element}")
        memref = type_.replace("tensor", "memref", 1)
        lines.append(f"  %b{i} = bufferization.to_buffer {value} : {type_} to {memref}")
        lines.append(f"  %u{i} = memref.cast %b{i} : {memref} to memref<*x{element}>")
        lines.append(f"  call @printMemref{PRINTED[element]}(%u{i}) : (memref<*x{element}>) -> ()")
        prints.add(
            f"func.func private @printMemref{PRINTED[element]}(memref<*x{element}>) attributes"
            " {llvm.emit_c_interface}"
        )
    return "\n".join(lines + ["  return", "}"] + sorted(prints)) + "\n"


def signature_of(samba):
    """(name, [(argument's samba.name, type)], [result type]) of the graph."""
    head = next(line for line in samba.splitlines() if line.lstrip().startswith("func.func @"))
    name = re.search(r"@(\w+)", head).group(1)
    inside, _, outside = head.partition(" -> ")
    arguments = re.findall(
        r'%\w+: (tensor<[^>]*>) (?:loc\([^)]*\) )?\{[^%]*?samba\.name = "([^"]*)"', inside
    )
    return (
        name,
        [(argument, type_) for type_, argument in arguments],
        re.findall(r"tensor<[^>]*>", outside),
    )


def printed(text):
    """The arrays that the runner printed, in order."""
    arrays = []
    for block in text.split("Unranked Memref")[1:]:
        sizes = re.search(r"sizes = \[([^\]]*)\]", block).group(1)
        numbers = re.findall(
            r"[-+]?(?:nan|inf|\d[\d.]*(?:e[-+]?\d+)?)", block[block.index("data =") + 6 :]
        )
        arrays.append(
            numpy.array([float(n) if re.search(r"[.en]", n) else int(n) for n in numbers]).reshape(
                [int(n) for n in sizes.split(",") if n.strip()]
            )
        )
    return arrays


def run_module(tools, folder, linalg, signature, arrays):
    """The results of the function in a module of linalg, in order: by stock mlir-opt and
    mlir-runner."""
    whole, low = f"{folder}/linalg.mlir", f"{folder}/llvm.mlir"
    text = linalg.rstrip()
    with open(whole, "w", encoding="utf-8") as file:
        file.write(text[: text.rindex("}")] + entry(signature, arrays) + "}\n")
    run([f"{tools}/mlir-opt", whole, "-o", low] + TO_LLVM)
    libraries = ",".join(
        f"{tools}/../lib/lib{name}.so" for name in ("mlir_runner_utils", "mlir_c_runner_utils")
    )
    command = [f"{tools}/mlir-runner", low, "-e", "main", "-entry-point-result=void"]
    return printed(run(command + [f"-shared-libs={libraries}"]))


def run_by_linalg(tools, folder, samba, arrays):
    """The results of the graph in the file `samba`, in order; `arrays` has every argument."""
    with open(samba, encoding="utf-8") as file:
        signature = signature_of(file.read())
    linalg = run(["samba-opt", samba] + TO_LINALG)
    return run_module(tools, folder, linalg, signature, arrays)
