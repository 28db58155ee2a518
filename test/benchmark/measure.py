"""Measuring and showing: processes with wall time, CPU time and memory; samples of two sides in
alternation; tables."""
import os
import statistics
import subprocess
import sys
import threading
import time


class Failed(Exception):
    """A tool ended with an error; the message says which and how."""


def run(command, memory=False, most_seconds=None):
    """Runs a command; wall and CPU seconds, and with `memory` the largest anonymous memory in MB
    (sampled). One that takes longer than most_seconds is ended, and failed."""
    before = time.perf_counter()
    process = subprocess.Popen(
        [str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    most = [0.0]
    ender = threading.Timer(most_seconds, process.kill) if most_seconds else None
    if ender:
        ender.start()
    watcher = threading.Thread(target=_watch, args=(process.pid, most)) if memory else None
    if watcher:
        watcher.start()
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - before
    process.returncode = os.waitstatus_to_exitcode(status)
    if watcher:
        watcher.join()
    if ender:
        ended = not ender.is_alive()
        ender.cancel()
        if ended and process.returncode:
            raise Failed(f"{os.path.basename(str(command[0]))}: ended after {most_seconds} s")
    if process.returncode:
        lines = error.decode(errors="replace").strip().splitlines() or ["no message"]
        raise Failed(
            f"{os.path.basename(str(command[0]))}: exit code {process.returncode}: {lines[0]}"
        )
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "anon": most[0]}


def _watch(pid, most):
    """Anonymous memory only: weights are mapped, and pages of files are not memory that a run
    needs."""
    while True:
        try:
            with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                now = [int(line.split()[1]) / 1024 for line in file if line.startswith("RssAnon:")]
        except OSError:
            return
        if not now:  # ended, not yet waited for
            return
        most[0] = max(most[0], now[0])
        time.sleep(0.005)


class Results:
    """Rows of one run: group, name, unit and the samples of each side, in the order in which they
    alternated."""

    def __init__(self):
        self.rows, self.skipped = [], []

    def add(self, group, name, unit, sides):
        self.rows.append({"group": group, "name": name, "unit": unit, "sides": sides})

    def skip(self, text):
        """Once per text."""
        if text not in self.skipped:
            self.skipped.append(text)
            print(f"skipped: {text}", file=sys.stderr, flush=True)


def alternate(count, sides):
    """Samples of several sides, one of each in turn: what else the host does hits all of them
    alike. sides: name -> function returning one number; name -> list of numbers."""
    samples = {name: [] for name in sides}
    for _ in range(count):
        for name, once in sides.items():
            samples[name].append(once())
    return samples


def spread(samples):
    return min(samples), statistics.median(samples), max(samples)


def ratios(first, second):
    """first / second of each turn."""
    return [a / b for a, b in zip(first, second) if b]


def _number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _three(values):
    low, middle, high = spread(values)
    return f"{_number(middle)} ({_number(low)}..{_number(high)})"


def _best(row, side):
    return (max if row["unit"].endswith("/s") else min)(row["sides"][side])


def show(rows):
    """A table per group: median (least..greatest) of each side; where there are two, the ratio of
    their turns, and that of the best of each, which other work on the host disturbs least."""
    lines = []
    for group in dict.fromkeys(row["group"] for row in rows):
        chosen = [row for row in rows if row["group"] == group]
        sides = list(dict.fromkeys(side for row in chosen for side in row["sides"]))
        heads = [group, "unit", *sides]
        for side in sides[1:]:
            heads += [f"{sides[0]} / {side}", "of the best"]
        table = [heads]
        for row in chosen:
            have = row["sides"]
            cells = [_three(have[side]) if have.get(side) else "" for side in sides]
            for side in sides[1:]:
                # 0: a process that ended before its memory was looked at.
                both = have.get(side) and have.get(sides[0]) and _best(row, side)
                cells += (
                    [
                        _three(ratios(have[sides[0]], have[side])),
                        _number(_best(row, sides[0]) / _best(row, side)),
                    ]
                    if both
                    else ["", ""]
                )
            table.append([row["name"], row["unit"], *cells])
        lines += [*aligned(table), ""]
    return "\n".join(lines)


def aligned(table):
    """Lines of a table whose first row is its head."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table
    ]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]
