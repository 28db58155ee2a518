"""samba.session.report(): the tables of a run, for a terminal and for a notebook."""
import html

UNITS = ("", "K", "M", "G", "T", "P")


def short(number):
    """1234567 as '1.23M'."""
    if number is None:
        return "-"
    value = float(number)
    for unit in UNITS:
        if abs(value) < 1000 or unit == UNITS[-1]:
            break
        value /= 1000
    return f"{value:.3g}{unit}" if unit else f"{number:g}"


def percent(share):
    return f"{100 * share:.2f}%"


class Table:
    """A title, the names of the columns, and rows of texts."""

    def __init__(self, title, columns, rows):
        self.title, self.columns = title, columns
        self.rows = [[str(cell) for cell in row] for row in rows]

    def text(self):
        lines = [self.columns, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        numbers = [is_number_column(self.rows, i) for i in range(len(self.columns))]
        result = [self.title] if self.title else []
        for line in lines:
            cells = [
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(line, widths, numbers)
            ]
            result.append("  ".join(cells).rstrip())
        return "\n".join(result)

    def html(self):
        def row(cells, tag):
            inner = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
            return f"<tr>{inner}</tr>"

        head = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        body = "".join(row(cells, "td") for cells in self.rows)
        return f"<table>{head}<thead>{row(self.columns, 'th')}</thead><tbody>{body}</tbody></table>"


def is_number_column(rows, index):
    return bool(rows) and all(row[index][:1].isdigit() or row[index] == "-" for row in rows)


class Report:
    """What a session has done since its PEF was loaded.

    `tables` are printed by str() and shown by notebooks; `figures` has the numbers:
    calls, cycles, launch_cycles, seconds, dram_read_bytes, dram_write_bytes, flops,
    multiply_adds, pcu_utilization, pmu_utilization, host_to_device_bytes, device_to_host_bytes,
    simulate_seconds, machine, and `sections`, a list of the same for each section.
    Cycles are 0 when the session computes values only (samba.session.timing = True counts)."""

    def __init__(self, figures, tensors, argins):
        self.figures = dict(figures)
        cycles = figures["cycles"] + figures["launch_cycles"]
        self.figures["seconds"] = cycles / figures["clock_hz"] if figures["clock_hz"] else 0.0
        self.tables = [self.summary()]
        if figures["sections"]:
            self.tables.append(self.sections())
        self.tables.append(self.memory(tensors))
        if argins:
            self.tables.append(self.hyperparameters(argins))

    def __getitem__(self, name):
        if name not in self.figures:
            from samba.names import unknown

            raise KeyError(unknown("figure", name, self.figures))
        return self.figures[name]

    def summary(self):
        f = self.figures
        rows = [("machine", f["machine"]), ("calls", f["calls"])]
        if f["cycles"]:
            rows += [
                ("cycles", f["cycles"]),
                ("launch cycles", f["launch_cycles"]),
                ("seconds", f"{f['seconds']:.6f} at {f['clock_hz'] / 1e9:.3g} GHz"),
                ("PCU utilization", percent(f["pcu_utilization"])),
                ("PMU utilization", percent(f["pmu_utilization"])),
                ("DRAM read", f"{short(f['dram_read_bytes'])} bytes"),
                ("DRAM written", f"{short(f['dram_write_bytes'])} bytes"),
                ("operations", f"{short(f['flops'])} flop"),
            ]
        rows += [
            ("host to device", f"{short(f['host_to_device_bytes'])} bytes"),
            ("device to host", f"{short(f['device_to_host_bytes'])} bytes"),
            ("simulated in", f"{f['simulate_seconds']:.3f} s"),
        ]
        return Table("run", ("", ""), rows)

    def sections(self):
        if not self.figures["cycles"]:
            rows = [(s["section"], s["type"], s["calls"], s["name"]) for s in self["sections"]]
            return Table("sections", ("id", "type", "calls", "name"), rows)
        columns = ("id", "type", "calls", "cycles", "PCU", "PMU", "DRAM", "flop", "name")
        rows = [
            (
                s["section"],
                s["type"],
                s["calls"],
                s["cycles"],
                percent(s["pcu_utilization"]),
                percent(s["pmu_utilization"]),
                short(s["dram_read_bytes"] + s["dram_write_bytes"]),
                short(s["flops"]),
                s["name"],
            )
            for s in self["sections"]
        ]
        return Table("sections", columns, rows)

    @staticmethod
    def memory(tensors):
        """Device memory by kind of tensor; tensors of one region count once."""
        regions, counts = {}, {}
        for tensor in tensors:
            kind = tensor["kind"]
            counts[kind] = counts.get(kind, 0) + 1
            key = tensor["region"] or tensor["name"]
            regions[key] = max(regions.get(key, (0, kind))[0], tensor["bytes"]), kind
        sizes = {}
        for size, kind in regions.values():
            sizes[kind] = sizes.get(kind, 0) + size
        rows = [(kind, counts[kind], short(sizes.get(kind, 0))) for kind in counts]
        return Table("tensors", ("kind", "number", "bytes"), rows)

    @staticmethod
    def hyperparameters(argins):
        rows = [(a["name"], a["kind"], a["group"], f"{a['value']:g}") for a in argins]
        return Table("hyperparameters", ("name", "kind", "group", "value"), rows)

    def __str__(self):
        return "\n\n".join(table.text() for table in self.tables)

    __repr__ = __str__

    def _repr_html_(self):
        return "\n".join(table.html() for table in self.tables)
