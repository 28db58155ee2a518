"""links.py BIN TMP: random networks on random machines, by the cycle engine with its links stepped
(--no-skip) and without. All figures of a run must be the same."""
import json
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import onnx  # noqa: E402
from models import Graph  # noqa: E402

MACHINES, NETWORKS = 6, 4
# Depths below and above the round trip of a credit, of several cycles per hop.
RANGES = {
    "fifo_depth": (2, 20),
    "hop_cycles": (1, 5),
    "credit_cycles": (1, 12),
    "pmu_bank_arrays": (0, 2),
    "ag_bursts": (4, 64),
}


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True)


def machine(choose, tools, path):
    """A file with the shipped machine `tiny`, changed."""
    text = run(f"{tools}/samba-compile", "--print-machine=tiny").stdout
    for name, (low, high) in RANGES.items():
        value = choose.randint(low, high)
        text, count = re.subn(rf"(\b{name} = \{{value = )\d+", rf"\g<1>{value}", text)
        assert count == 1, name
    with open(path, "w") as file:
        file.write(text.replace('#rdu.machine<"tiny"', '#rdu.machine<"changed"'))


def network(choose, seed):
    """Some operators of random sizes, each on a tensor that was there before."""
    graph = Graph(seed)
    rows, columns = choose.randint(1, 96), choose.randint(1, 96)
    tensors = [graph.input(rows, columns)]
    for _ in range(choose.randint(1, 5)):
        x = choose.choice(tensors)
        kind = choose.choice(("Gemm", "Add", "Softmax", "Relu", "Transpose"))
        if kind == "Gemm":
            x = graph.linear(x, columns, columns)
        elif kind == "Add":
            x = graph.op("Add", x, choose.choice(tensors))
        elif kind == "Softmax":
            x = graph.op("Softmax", x, axis=-1)
        elif kind == "Relu":
            x = graph.op("Relu", x)
        else:
            x = graph.op("Transpose", graph.op("Transpose", x, perm=[1, 0]), perm=[1, 0])
        tensors.append(x)
    while len(tensors) > 1:
        tensors = [graph.op("Add", tensors[0], tensors[1])] + tensors[2:]
    return graph.finish(tensors[0])


def figures(tools, pef, stats, *flags):
    command = ["--timing-only", "--launch=none", "--fidelity=cycle", "--stats", stats]
    run(f"{tools}/samba-run", pef, *command, *flags)
    with open(stats) as file:
        figures = json.load(file)
    del figures["host"]  # seconds
    return figures


def main():
    tools, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    choose = random.Random(12)
    sections = 0
    for m in range(MACHINES):
        target = f"{folder}/machine{m}.mlir"
        machine(choose, tools, target)
        for n in range(NETWORKS):
            path, pef = f"{folder}/{m}.{n}.onnx", f"{folder}/{m}.{n}.pef"
            onnx.save(network(choose, MACHINES * m + n), path)
            run(f"{tools}/samba-compile", path, "-o", pef, f"--target={target}")
            plain = figures(tools, pef, f"{folder}/plain.json", "--no-skip")
            quick = figures(tools, pef, f"{folder}/quick.json")
            assert plain == quick, f"{pef}: {plain['cycles']} and {quick['cycles']} cycles"
            sections += len(plain["sections"])
    print(f"{MACHINES} machines, {sections} sections: the same figures")


main()
