#!/usr/bin/env python3
"""Runs the nine published programs on plasticine-20x20: values, cycles and DRAM bytes.

programs.py BUILD_BIN FOLDER [--only NAME,..] [--update]

BUILD_BIN: where samba-opt, samba-translate and samba-run are. FOLDER: for files. The table that is
printed is also in README.md; --update writes it there. Exit code 1 when a bar is missed, a value
differs, or README.md has another table.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent.parent
RANDOM = numpy.random.default_rng(2020)


def integers(low, high, *shape):
    return RANDOM.integers(low, high, shape, dtype=numpy.int32)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(numpy.float32)


def gemm(size):
    a, b = integers(-99, 99, size, size), integers(-99, 99, size, size)
    return {"a": a, "b": b}, {"c": a @ b}


def outer_product():
    v1, v2 = integers(-9999, 9999, 256), integers(-9999, 9999, 256)
    return {"v1": v1, "v2": v2}, {"c": numpy.outer(v1, v2)}


def dot_product():
    a, b = integers(-999, 999, 1024), integers(-999, 999, 1024)
    return {"a": a, "b": b}, {"c": numpy.array([a @ b], numpy.int32)}


def tpch_q6():
    date, quantity = integers(-5000, 15000, 1024), integers(0, 48, 1024)
    discount, price = integers(-2000, 12000, 1024), integers(0, 1000, 1024)
    date[:4], discount[:4], quantity[:4] = [0, 1, 9998, 9999], [0, 9999, 0, 9999], 23
    keep = (0 < date) & (date < 9999) & (0 <= discount) & (discount <= 9999) & (quantity < 24)
    revenue = numpy.where(keep, price * discount, 0).sum(dtype=numpy.int32)
    given = {"date": date, "quantity": quantity, "discount": discount, "price": price}
    return given, {"revenue": numpy.array([revenue], numpy.int32)}


def gda():
    x, mu0, mu1 = floats(256, 128), floats(128), floats(128)
    y = integers(0, 2, 256).astype(numpy.float32)
    sub = x.astype(float) - numpy.where(y[:, None] == 1, mu1, mu0)
    return {"x": x, "y": y, "mu0": mu0, "mu1": mu1}, {"sigma": (sub.T @ sub).astype(numpy.float32)}


def log_reg():
    x, theta = floats(256, 32) / 8, floats(32) / 8
    y = integers(0, 2, 256).astype(numpy.float32)
    now = theta.astype(float)
    for _ in range(2):
        now = now + x.T.astype(float) @ (y - 1 / (1 + numpy.exp(-x @ now)))
    return {"x": x, "y": y, "theta": theta}, {"theta.out": now.astype(numpy.float32)}


def kmeans():
    """Points around 40 places, so that some of the 64 centroids have none."""
    points = integers(0, 1000, 40, 64)[integers(0, 40, 256)] + integers(-40, 40, 256, 64)
    points[:, 63] = 1
    now = points[:64].copy()
    for _ in range(2):
        distance = ((points[:, None, :63] - now[None, :, :63]) ** 2).sum(2)
        chosen = 63 - distance[:, ::-1].argmin(1)  # the last of those that are as near
        sums = numpy.zeros((64, 64), numpy.int32)
        numpy.add.at(sums, chosen, points)
        count = numpy.maximum(sums[:, 63:], 1)
        now[:, :63] = numpy.where(sums[:, 63:] == 0, 0, numpy.fix(sums[:, :63] / count))
    return {"points": points}, {"centroids": now}


# File, title, values, published cycles (one, or a range), cycles of the busiest unit, DRAM bytes
# read and written.
PROGRAMS = [
    ("gemm_128", "GEMM 128^3", lambda: gemm(128), 132071, 131072, 262144, 65536),
    ("gemm_128_j2", "GEMM 128^3, loop_j = 2", lambda: gemm(128), 66481, 65536, 262144, 65536),
    ("gemm_32_j2", "GEMM 32^3, ip 8, loop_j = 2", lambda: gemm(32), 2243, 2048, 16384, 4096),
    ("outer_product", "OuterProduct 256 x 256", outer_product, 4481, 4096, 5120, 262144),
    ("dot_product", "DotProduct 1024", dot_product, (126, 278), 64, 8192, 0),
    ("tpch_q6", "TPC-H Q6 1024", tpch_q6, (212, 401), 64, 16384, 0),
    ("gda", "GDA 128, 256 rows", gda, 270070, 262144, 133120, 65536),
    ("log_reg", "LogReg 32, 256 points", log_reg, 8478, 1024, 67712, 128),
    ("kmeans", "Kmeans 64 x 64, 256 points", kmeans, 141290, 131072, 147456, 16384),
]


def call(name, *command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: {command[0].name} failed\n{done.stdout}{done.stderr}")


def run(name, given, expected, binaries, folder):
    """Compiles a program and runs it: values on the fast engine, cycles on both; their figures."""
    machine = HERE / "plasticine-20x20.mlir"
    passes = (
        f"builtin.module(rdu-set-machine{{target={machine}}},samba-assign-memory,"
        "rdu.section(rdu-place,rdu-route,rdu-verify-section))"
    )
    placed, pef, stats = (folder / f"{name}.{kind}" for kind in ("placed.mlir", "pef", "json"))
    opt, translate, samba_run = (binaries / f"samba-{tool}" for tool in ("opt", "translate", "run"))
    call(name, opt, HERE / f"{name}.mlir", "-o", placed, f"--pass-pipeline={passes}")
    call(name, translate, "--rdu-to-pef", placed, "-o", pef)

    exact = all(array.dtype == numpy.int32 for array in expected.values())
    values = ["--rtol", "0" if exact else "1e-4", "--atol", "0" if exact else "1e-4"]
    for option, tensors in (("--input", given), ("--expect", expected)):
        for tensor, array in tensors.items():
            path = folder / f"{name}.{tensor}.npy"
            numpy.save(path, array)
            values += [option, f"{tensor}={path}"]
    figures = []
    for more in (values, ["--timing-only", "--fidelity", "cycle"]):
        call(name, samba_run, pef, "--launch", "none", "--stats", stats, *more)
        figures.append(json.loads(stats.read_text()))
    return figures


def judge(published, busy, read, written, figures):
    """What misses its bar."""
    cycles = figures["cycles"]
    if isinstance(published, tuple):
        missed = [] if published[0] <= cycles <= published[1] else ["cycles"]
    else:
        missed = ["cycles"] if abs(cycles - published) > 0.03 * published else []
        missed += ["rest"] if abs(cycles - published) > 0.35 * (published - busy) else []
    if (figures["dram_read_bytes"], figures["dram_write_bytes"]) != (read, written):
        missed.append("bytes")
    return missed


def row(title, published, busy, figures):
    """A line of the table: `rest` is of each engine, with its difference from the published one."""
    latency = isinstance(published, tuple)
    low, high = published if latency else (published, published)
    cells = [title, f"{low} to {high}" if latency else low]
    cells += [engine["cycles"] for engine in figures]
    cells += [busy, f"{low - busy} to {high - busy}" if latency else low - busy]
    for engine in figures:
        rest = engine["cycles"] - busy
        cells.append(rest if latency else f"{rest} ({100 * (rest / (low - busy) - 1):+.1f}%)")
    return cells + [f"{figures[0]['dram_read_bytes']} / {figures[0]['dram_write_bytes']}"]


HEAD = ["program", "published", "fast", "stepped", "busy", "rest published"]
HEAD += ["rest fast", "rest stepped", "bytes read / written"]
BEGIN = "<!-- table: Inputs/programs.py --update writes it -->\n\n"
END = "\n<!-- end of the table -->"


def table(rows):
    lines = [HEAD, ["---"] * len(HEAD)] + rows
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    rows, wrong = [], []
    for name, title, values, published, busy, read, written in PROGRAMS:
        if options.only and name not in options.only.split(","):
            continue
        given, expected = values()
        figures = run(name, given, expected, options.binaries, options.folder)
        rows.append(row(title, published, busy, figures))
        for engine, found in zip(("fast", "stepped"), figures):
            missed = judge(published, busy, read, written, found)
            wrong += [f"{name}, {engine}: {what} missed" for what in missed]
    text = table(rows)
    print(text)
    page = HERE / "README.md"
    if not options.only and page.exists():
        before, rest = page.read_text().split(BEGIN)
        shown, after = rest.split(END)
        if options.update:
            page.write_text(before + BEGIN + text + END + after)
        elif shown != text:
            wrong.append("README.md has another table; --update writes this one")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(rows)} programs: values right, all bars held")


if __name__ == "__main__":
    main()
