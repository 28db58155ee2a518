"""measure_performance: how long a run takes, on this host and on the machine that is simulated."""
import json as json_module
import time

from samba.names import check_keywords

IGNORED = (
    "run_graph_only",
    "compiled_stats_json",
    "use_sambaloader",
    "min_duration",
    "reduce_on_rdu",
    "data_parallel_mode",
    "warmup",
    "profile",
    "world_size",
    "set_output_grads",
    "json_counters",
)


class Performance(tuple):
    """(samples in a second, seconds of a run), of the simulated machine where it counts time, else
    of the host. performance["cycles"] is a figure by its name; `figures` has all of them."""

    def __new__(cls, figures):
        rate = figures["device_samples_per_second"] or figures["samples_per_second"]
        self = super().__new__(cls, (rate, figures["device_seconds"] or figures["seconds"]))
        self.figures = figures
        return self

    def __getitem__(self, key):
        return self.figures[key] if isinstance(key, str) else super().__getitem__(key)


def measure_performance(
    model,
    inputs,
    batch_size=1,
    n_chips=1,
    inference=False,
    n_iterations=10,
    json=None,
    data_parallel=False,
    **ignored,
):
    """Runs the PEF that trace_graph loaded n_iterations times and prints the figures.

    Returns throughput and latency, and the figures by name: seconds (host time of a run, the
    median), samples_per_second (host), cycles, device_seconds and device_samples_per_second (of the
    simulated machine; None when it counts no time). json: file for the same figures.
    Several chips and data parallel: NotImplementedError."""
    import samba

    from samba.names import refuse

    check_keywords("measure_performance", ignored, IGNORED)
    if data_parallel or n_chips != 1:
        refuse("measure_performance on several chips", "there is one device", "give n_chips=1")
    if n_iterations < 1:
        raise ValueError(f"n_iterations is {n_iterations}, but must be at least 1")
    types = ["FWD"] if inference else []
    times, before = [], samba.session.statistics()
    for iteration in range(n_iterations):
        start = time.perf_counter()
        samba.session.run(inputs if iteration == 0 else None, [], section_types=types)
        times.append(time.perf_counter() - start)
    figures = summary(sorted(times), batch_size, before, samba.session.statistics())
    for name, value in figures.items():
        if value is not None:
            print(f"{name}: {value:.6g}")
    if json:
        with open(json, "w", encoding="utf-8") as file:
            json_module.dump(figures, file, indent=2)
            file.write("\n")
    return Performance(figures)


def measure_sections(model, inputs, num_sections=None, n_iterations=10, json=None, **options):
    """measure_performance, and how long each section takes in a run: prints a line for each.

    Returns a list of (section, type, cycles); cycles is None where the machine counts no time.
    num_sections: so many, from the first; None: all. json: file for the figures of the run."""
    import samba

    before = {row["section"]: row["cycles"] for row in samba.session.statistics()["sections"]}
    measure_performance(model, inputs, n_iterations=n_iterations, json=json, **options)
    rows = []
    for row in samba.session.statistics()["sections"][:num_sections]:
        section, cycles = row["section"], row["cycles"] - before.get(row["section"], 0)
        rows.append((section, row["type"], cycles / n_iterations or None))
        print(f"section {section} {row['type']}: {cycles / n_iterations:g} cycles")
    return rows


def summary(times, batch_size, before, after):
    """The figures of some runs from their host times and the device's counters."""
    seconds = times[len(times) // 2]
    cycles = (after["cycles"] - before["cycles"]) / len(times)
    device = (after["seconds"] - before["seconds"]) / len(times)
    return {
        "iterations": len(times),
        "seconds": seconds,
        "samples_per_second": batch_size / seconds,
        "cycles": cycles or None,
        "device_seconds": device or None,
        "device_samples_per_second": batch_size / device if device else None,
    }
