"""small_sections.py BIN TMP [SEED COUNT [SEEDS]]: both engines of time on small sections: one path
from a load through PCUs and PMUs to a store. Some are fixed, and equal in both engines; COUNT more
are drawn for each of SEEDS seeds from SEED on. Prints those that differ, and fails when the fast
engine is further from the cycle engine than the bars below."""
import json
import os
import random
import re
import subprocess
import sys

BAR_AVERAGE, BAR_WORST, BAR_EQUAL = 0.0002, 0.005, 0.99
EXTENTS = [1, 2, 3, 5, 7, 8, 16, 20, 31, 48, 64, 100]
MOST_ELEMENTS = 2048


def dense(shape):
    """Strides of a row-major array."""
    return [int(prod(shape[i + 1 :])) for i in range(len(shape))]


def prod(values):
    result = 1
    for value in values:
        result *= value
    return result


def chain(*levels):
    return "[" + " | ".join(", ".join(str(v) for v in level) for level in levels) + "]"


class Path:
    """The listing of a section: a load of tokens whose rows lie `gap` elements apart, units that
    are added one by one, and a store, of all tokens or of the first `kept`."""

    def __init__(self, machine, dtype, tokens, shape, gap=0, kept=None):
        self.machine, self.dtype, self.tokens, self.shape = machine, dtype, tokens, list(shape)
        strides = [s * (shape[-1] + gap) // shape[-1] for s in dense(shape)[:-1]] + [1]
        self.step = sum((n - 1) * s for n, s in zip(shape, strides)) + 1
        self.symbols, self.kept = [("x0", tokens * self.step, "input")], kept
        self.units, self.streams, self.end = [], [], None
        self.source = chain([tokens], shape), chain([self.step], strides)
        self.load("x0")

    def load(self, symbol):
        trips, strides = self.source
        self.units.append(
            f"  load {symbol}.load symbol={symbol}\n"
            f"    output dtype={self.dtype} trips={trips} strides={strides}"
        )
        self.end = self.end or f"{symbol}.load.out0"
        return f"{symbol}.load.out0"

    def join(self, source, unit, port=0):
        self.streams.append(f"  stream s{len(self.streams)} vector {source} -> {unit}.in{port}")

    def follow(self, text):
        name = f"u{len(self.units)}"
        self.units.append(text.replace("NAME", name))
        self.join(self.end, name)
        self.end = f"{name}.out0"
        return name

    def strides(self):
        return chain([0], dense(self.shape))

    def pcu(self, operations, second=False):
        """So many additions; `second`: of a second load like the first one."""
        wide = "i32" if self.dtype == "i32" else "f32"
        lines = [f"  compute NAME trips={chain([self.tokens], self.shape)}"]
        lines += [f"    input dtype={self.dtype} strides={self.strides()}"] * (1 + second)
        value = 0
        for value in range(1 + second, 1 + second + operations):
            lines.append(f"    %{value} = add {wide} %{value - 1}, %0")
        if self.dtype == "bf16" and operations:
            value += 1
            lines.append(f"    %{value} = to_bf16 f32 %{value - 1}")
        lines.append(f"    output dtype={self.dtype} value=%{value} strides={self.strides()}")
        name = self.follow("\n".join(lines))
        if second:
            self.symbols.insert(1, ("x1", self.symbols[0][1], "input"))
            self.join(self.load("x1"), name, 1)

    def fold(self):
        """The sums of rows."""
        name = "\n".join(
            [
                f"  compute NAME trips={chain([self.tokens], self.shape)}"
                f" reduce=[{len(self.shape)}]",
                f"    input dtype={self.dtype} strides={self.strides()}",
                "    %1 = reduce_add f32 %0",
                f"    output dtype={self.dtype} strides={chain([0], dense(self.shape[:-1]) + [0])}",
            ]
        )
        self.shape.pop()
        self.follow(name)

    def pmu(self, slots, turned=False, again=1, banking=""):
        """A buffer that is read as it was written or turned, each slot `again` times."""
        elements = prod(self.shape)
        written = chain([self.tokens], [], self.shape), chain([0], [], dense(self.shape))
        order = list(range(len(self.shape)))[:: -1 if turned else 1]
        strides = [dense(self.shape)[i] for i in order]
        self.shape = [self.shape[i] for i in order]
        outer = ([again], [0]) if again > 1 else ([], [])
        read = chain([self.tokens], outer[0], self.shape), chain([0], outer[1], strides)
        self.tokens *= again
        self.follow(
            f"  buffer NAME slot_count={slots} slot_elements={elements} {banking}\n"
            f"    input dtype={self.dtype} trips={written[0]} strides={written[1]}\n"
            f"    output dtype={self.dtype} trips={read[0]} strides={read[1]}"
        )

    def text(self):
        size = prod(self.shape)
        step = chain([size], dense(self.shape))
        store = (
            f"  store last symbol=y\n    input dtype={self.dtype}"
            f" trips={chain([self.tokens], self.shape)} strides={step}"
        )
        if self.kept is not None:
            store += f"\n      guard constant=0 limit={self.kept}"
            store += f" strides={chain([1], [0] * len(self.shape))}"
        self.join(self.end, "last")
        symbols = self.symbols + [("y", self.tokens * size, "output")]
        return "\n".join(
            [f'machine "{self.machine}"']
            + [
                f'symbol "{name}" {{ kind = {kind} dims = [{elements}] dtype={self.dtype} }}'
                for name, elements, kind in symbols
            ]
            + ["image section s {"]
            + [
                f"  symbol {name} dtype={self.dtype} elements={elements}"
                + (" written=yes" if kind == "output" else "")
                for name, elements, kind in symbols
            ]
            + self.units
            + [store]
            + self.streams
            + ["}\n"]
        )


def path(*arguments, **keywords):
    """A path, made by a list of calls: (unit, arguments, keywords)."""
    *first, units = arguments
    made = Path(*first, **keywords)
    for unit, *values in units:
        options = values.pop() if values and isinstance(values[-1], dict) else {}
        getattr(made, unit)(*values, **options)
    return made.text()


SKEWED = {"banking": "banking=diagonal row_words=16 skew=1"}

# Tokens longer than what a generator asks for at a time, units slower than their links, tokens that
# end within a vector or a burst, rows with gaps between them, vectors of which some meet in banks,
# sums of rows.
FIXED = {
    "a long token, copied": path("sn40l", "f32", 1, [65536], []),
    "a token of 256 bursts, copied": path("sn40l", "f32", 1, [4096], []),
    "plasticine, a copy": path("plasticine", "f32", 1, [1024], []),
    "two loads, added": path("sn40l", "f32", 2, [2048], [("pcu", 1, {"second": True})]),
    "a PCU of half the pace": path("sn40l", "bf16", 1, [2048], [("pcu", 2)]),
    "a PCU with rows of two": path("sn40l", "f32", 1, [20, 48, 2], [("pcu", 0)]),
    "vectors that end in the midst of gaps": path("tiny", "f32", 1, [3, 20], [], gap=5),
    "rows with gaps": path("tiny", "bf16", 1, [31, 5, 3], [], gap=16),
    "100 elements": path("tiny", "f32", 1, [100], [("pmu", 3)]),
    "tokens of 80 elements": path("sn40l", "f32", 4, [80], [("pmu", 2)]),
    "tokens of 100 elements": path("sn40l", "f32", 3, [100], [("pcu", 1)]),
    "tokens of 96 elements": path("sn40l", "f32", 8, [96], [("pmu", 2)]),
    "tokens that are not stored": path("sn40l", "bf16", 32, [16, 128], [("pmu", 2)], kept=16),
    "plasticine, tokens of 100": path("plasticine", "f32", 8, [100], []),
    "vectors that begin in the burst before": path("tiny", "f32", 1, [48, 31], [], gap=64),
    "a last step that uses up two vectors": path("sn40l", "f32", 2, [5, 7], [("pcu", 1)], gap=64),
    "the same before a buffer": path(
        "plasticine", "i32", 8, [7, 7], [("pcu", 0), ("pmu", 3, SKEWED)], gap=5
    ),
    "a last step that makes two vectors": path("sn40l", "f32", 8, [5, 31], [("pcu", 0)]),
    "two PCUs with rows of 31": path("sn40l", "f32", 3, [20, 31], [("pcu", 3), ("pcu", 1)]),
    "plasticine, rows of 5": path("plasticine", "i32", 1, [20, 1, 5], [("pcu", 5)], gap=16),
    "columns of bf16": path(
        "tiny",
        "bf16",
        1,
        [31, 7],
        [("pmu", 3, {"again": 2} | SKEWED), ("pmu", 1, {"turned": True}), ("pcu", 5)],
        gap=64,
    ),
    "columns of f32, three times": path(
        "plasticine", "i32", 1, [100, 5], [("pmu", 2, {"turned": True, "again": 3}), ("pcu", 5)]
    ),
    "long reads and short writes at one array": path(
        "tiny", "f32", 8, [8, 64], [("pmu", 3, {"turned": True})]
    ),
    "sums of rows": path("sn40l", "f32", 2, [48, 20], [("fold",)], gap=16),
    "sums between PCUs": path(
        "sn40l", "f32", 2, [5, 2, 31], [("pcu", 3), ("fold",), ("pcu", 0)], gap=5
    ),
    "sums before buffers": path(
        "sn40l",
        "f32",
        2,
        [5, 7],
        [("fold",), ("pmu", 2, {"turned": True}), ("pmu", 3)],
        gap=64,
    ),
    "a token's last burst, then the next one's first": path(
        "tiny", "bf16", 8, [64, 16], [("pmu", 2)], gap=16
    ),
    "the same with whole rows": path("tiny", "f32", 8, [20, 8], [("pmu", 2)]),
    "sums, three times": path(
        "tiny", "f32", 1, [7, 100], [("pcu", 0), ("fold",), ("pmu", 2, {"again": 3})], gap=16
    ),
    "PMUs faster than memory": path(
        "sn40l", "f32", 1, [4096], [("pmu", 1, {"again": 16}), ("pmu", 1)]
    ),
    "slots of one vector, three in two arrays": path(
        "sn40l", "f32", 8, [5], [("pmu", 3, {"turned": True, "again": 3})]
    ),
    "slots of 38 vectors, three in two arrays": path(
        "tiny",
        "f32",
        3,
        [3, 2, 100],
        [("pmu", 2, {"turned": True, "again": 3}), ("pmu", 3, {"turned": True}), ("pcu", 0)],
        gap=64,
    ),
    "columns of bf16, three slots": path(
        "tiny", "bf16", 8, [5, 48], [("pmu", 3, {"turned": True} | SKEWED)]
    ),
    "a slow read that a write keeps": path(
        "plasticine",
        "i32",
        8,
        [8, 31, 7],
        [("pmu", 2, {"turned": True} | SKEWED), ("pmu", 1, {"turned": True})],
        gap=5,
    ),
    "a slow PCU that a write keeps": path(
        "plasticine", "i32", 3, [16, 16, 7], [("pcu", 0), ("pcu", 0), ("pmu", 1)], gap=5
    ),
    "a read that a slow PCU keeps": path(
        "tiny", "f32", 2, [2, 100, 8], [("pmu", 1, {"again": 2}), ("pcu", 3)]
    ),
    "a read that a store keeps": path(
        "tiny", "f32", 2, [31, 48], [("pmu", 1, {"again": 3})], gap=16
    ),
    "a load that a write keeps": path(
        "tiny", "f32", 8, [100, 20], [("pmu", 1, {"again": 3} | SKEWED)], gap=64
    ),
    "a first vector of two steps": path("tiny", "bf16", 1, [48], [("pcu", 1), ("pcu", 1)]),
    "sums of one step each": path(
        "plasticine", "f32", 8, [1, 8], [("pmu", 3, {"again": 3}), ("fold",), ("pcu", 3)]
    ),
}


def draw(choose):
    """A path of up to three units, and what it is called."""
    machine = choose.choice(["sn40l", "tiny", "plasticine"])
    dtype = choose.choice(["f32", "i32"] if machine == "plasticine" else ["f32", "f32", "bf16"])
    shape = [MOST_ELEMENTS + 1]
    while not 4 <= prod(shape) <= MOST_ELEMENTS:
        shape = choose.choices(EXTENTS, k=choose.choice([1, 2, 3]))
    gap = choose.choice([0, 0, 5, 16, 64]) if len(shape) > 1 else 0
    tokens = choose.choice([1, 1, 2, 3, 8])
    made = Path(machine, dtype, tokens, shape, gap)
    name = [machine, dtype, f"{tokens} x {shape}", f"gap {gap}"]
    for _ in range(choose.choice([0, 1, 1, 2, 3])):
        kind = choose.choice(["pmu", "pmu", "pcu", "pcu", "fold"])
        if kind == "pcu":
            operations = choose.choice([0, 1, 3, 5])
            made.pcu(operations)
            name.append(f"pcu {operations}")
        elif kind == "pmu":
            slots, turned = choose.choice([1, 2, 3]), choose.choice([False, False, True])
            again = choose.choice([1, 1, 2, 3])
            row = choose.choice([16, 32])
            banking = choose.choice(["", f"banking=diagonal row_words={row} skew=1"])
            made.pmu(slots, turned, again, banking)
            name.append(f"pmu {slots}{' turned' * turned} x {again} {banking}".strip())
        elif dtype == "f32" and len(made.shape) > 1:
            made.fold()
            name.append("fold")
    return ", ".join(name), made.text()


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)


def cycles(tools, pef, fidelity):
    done = run(
        f"{tools}/samba-run", pef, "--timing-only", "--launch=none", "--stats", f"{pef}.json",
        f"--fidelity={fidelity}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with open(f"{pef}.json", encoding="utf-8") as file:
        return json.load(file)["cycles"]


def compare(tools, folder, text):
    """Cycles of both engines, or None where the section is not legal: does not fit, for one."""
    with open(f"{folder}/section.s", "w", encoding="utf-8") as file:
        file.write(text)
    pef = f"{folder}/section.pef"
    done = run(f"{tools}/samba-objdump", "--assemble", f"{folder}/section.s", "-o", pef)
    if done.returncode:
        assert re.match("error: ", done.stderr), done.stderr
        return None
    return cycles(tools, pef, "fast"), cycles(tools, pef, "cycle")


def main():
    tools, folder = sys.argv[1:3]
    seed, count, seeds = ([int(a) for a in sys.argv[3:]] + [1, 40, 5][len(sys.argv) - 3 :])[:3]
    os.makedirs(folder, exist_ok=True)
    unequal = []
    for name, text in FIXED.items():
        both = compare(tools, folder, text)
        assert both, name
        if both[0] != both[1]:
            unequal.append(f"{name}: fast {both[0]}, cycle {both[1]}")

    errors, refused = [], 0
    for number in range(seed, seed + seeds):
        choose, end = random.Random(number), len(errors) + count
        while len(errors) < end:
            name, text = draw(choose)
            both = compare(tools, folder, text)
            if not both:
                refused += 1
                assert refused <= seeds * count, name
                continue
            errors.append(both[0] / both[1] - 1)
            if errors[-1]:
                difference = f"fast {both[0]}, cycle {both[1]}, {100 * errors[-1]:+.2f}%"
                print(f"seed {number}, {name}: {difference}")

    average = sum(abs(e) for e in errors) / len(errors)
    worst = max(errors, key=abs)
    equal = errors.count(0)
    print(
        f"{len(FIXED)} fixed, {len(errors)} drawn ({refused} refused), {equal} of them equal,"
        f" {100 * average:.3f}% on average, {100 * worst:+.2f}% at worst"
    )
    print("\n".join(unequal))
    assert not unequal and average <= BAR_AVERAGE and abs(worst) <= BAR_WORST
    assert equal >= BAR_EQUAL * len(errors)
    print("the engines agree")


main()
