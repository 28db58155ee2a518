"""Reads a listing in the form that samba-objdump prints (every number spelled out) into plain
objects. It shares no code with the C parser and decides nothing: meaning.py says what a section
computes."""
import re


class Port:
    """A port of a unit. `lists` are its trip counts and strides, `bars` where bars stand in
    them."""

    def __init__(self, fields, lists, bars):
        self.fields, self.lists, self.bars = fields, lists, bars
        self.guards, self.streams = [], []

    def number(self, name, otherwise=0):
        return int(self.fields.get(name, otherwise))


class Unit:
    def __init__(self, kind, name, fields, lists, bars):
        self.kind, self.name, self.fields = kind, name, fields
        self.lists, self.bars = lists, bars
        self.inputs, self.outputs, self.ops = [], [], []

    def number(self, name, otherwise=0):
        return int(self.fields.get(name, otherwise))


class Stream:
    def __init__(self, kind, source, destinations):
        self.kind, self.source, self.destinations = kind, source, destinations
        self.hops = []


class Section:
    def __init__(self, name):
        self.name, self.symbols, self.units, self.streams = name, [], [], []

    def unit(self, name):
        if name.isdigit() and not any(unit.name == name for unit in self.units):
            return int(name)
        return next(i for i, unit in enumerate(self.units) if unit.name == name)


class Program:
    def __init__(self):
        self.machine, self.symbols, self.sections, self.calls = {}, {}, {}, []


_FIELD = re.compile(r'(\w+)=(\[[^\]]*\]|"(?:[^"\\]|\\.)*"|\S+)')


def _fields(text):
    """name=value pairs; lists apart, with the places of their bars."""
    fields, lists, bars = {}, {}, {}
    for name, value in _FIELD.findall(text):
        if value.startswith("["):
            numbers, places = [], []
            for word in value[1:-1].replace("|", " | ").replace(",", " ").split():
                if word == "|":
                    places.append(len(numbers))
                else:
                    numbers.append(word if word.startswith("s") else int(word))
            lists[name], bars[name] = numbers, places
        else:
            fields[name] = value.strip('"')
    return fields, lists, bars


def _section(lines, name):
    section = Section(name)
    unit = port = stream = None
    for line in lines:
        word, _, rest = line.strip().partition(" ")
        fields, lists, bars = _fields(rest)
        if word == "symbol":
            section.symbols.append((_name(rest), fields["dtype"], int(fields["elements"])))
        elif word in ("load", "store", "buffer", "compute"):
            unit = Unit(word, _name(rest), fields, lists, bars)
            section.units.append(unit)
        elif word in ("input", "output"):
            port = Port(fields, lists, bars)
            (unit.inputs if word == "input" else unit.outputs).append(port)
        elif word == "guard":
            limit, constant = int(fields.get("limit", 0)), int(fields.get("constant", 0))
            port.guards.append((constant, limit, lists["strides"]))
        elif word.startswith("%"):
            unit.ops.append(_op(rest))
        elif word == "stream":
            stream = _stream(section, rest)
            section.streams.append(stream)
        elif word == "hop":
            stream.hops.append(rest)
    _connect(section)
    return section


def _name(rest):
    return re.match(r'"((?:[^"\\]|\\.)*)"|(\S+)', rest).group(1) or rest.split()[0]


def _op(text):
    """'= mul f32 %0, %1' -> (mul, f32, [0, 1], what else stands there)."""
    words = text.replace(",", " ").split()
    operands = [int(word[1:]) for word in words[3:] if word.startswith("%")]
    rest = [word for word in words[3:] if not word.startswith("%") and word != "to"]
    return words[1], words[2], operands, rest[0] if rest else None


_ENDPOINT = re.compile(r'(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\.(in|out)(\d+)')


def _stream(section, rest):
    kind = rest.split()[1]
    ends = []
    for quoted, bare, _, port in _ENDPOINT.findall(rest.split(None, 2)[2]):
        ends.append((section.unit(quoted or bare), int(port)))
    return Stream(kind, ends[0], ends[1:])


def _connect(section):
    """Streams of each port, in the order in which they take turns."""
    for index, stream in enumerate(section.streams):
        section.units[stream.source[0]].outputs[stream.source[1]].streams.append(index)
        for unit, port in stream.destinations:
            section.units[unit].inputs[port].streams.append(index)
    for unit in section.units:
        for port in unit.inputs + unit.outputs:
            if "streams" in port.lists:
                port.streams = [int(word[1:]) for word in port.lists["streams"]]


def read(text):
    """The whole listing: machine parameters, symbols, sections by name, calls in order."""
    program, lines, at = Program(), text.split("\n"), 0
    while at < len(lines):
        line = lines[at]
        at += 1
        end = at
        if line.endswith("{") or line.startswith("call {"):
            pass
        head = re.match(
            r'(image section|symbol|call|machine)\b ?(?:"([^"]*)"|([\w.]+))? ?.*\{', line
        )
        if not head:
            continue
        while lines[end] != "}":
            end += 1
        body, name = lines[at:end], head.group(2) or head.group(3)
        at = end + 1
        if head.group(1) == "image section":
            program.sections[name] = _section(body, name)
        elif head.group(1) == "symbol":
            program.symbols[name] = _symbol(body)
        elif head.group(1) == "call":
            program.calls.append(_call(body))
        else:
            values = re.findall(r'name = "(\w+)".*?(?:value = (\d+)|unit)', "\n".join(body))
            program.machine = {key: int(value or 0) for key, value in values}
    return program


def _symbol(body):
    text = "\n".join(body)
    dims = re.search(r"^  dims = \[([\d, ]*)\]", text, re.M)
    region = re.search(r'^  region = "([^"]*)"', text, re.M)
    address = re.search(r"^  address = (\d+)", text, re.M)
    return {
        "kind": re.search(r"^  kind = (\w+)", text, re.M).group(1),
        "dtype": re.search(r"^  device_dtype = (\w+)", text, re.M).group(1),
        "dims": [int(dim) for dim in dims.group(1).split(",")] if dims and dims.group(1) else [],
        "region": region.group(1) if region else "",
        "address": int(address.group(1)) if address else 0,
    }


def _call(body):
    text = "\n".join(body)
    bound = {}
    for binding in re.findall(r"\{kind = symbol,?([^}]*)\}", text):
        formal = re.search(r"formal = (\d+)", binding)
        offset = re.search(r"offset = (\d+)", binding)
        symbol = re.search(r'symbol = "([^"]*)"', binding).group(1)
        bound[int(formal.group(1)) if formal else 0] = (
            symbol,
            int(offset.group(1)) if offset else 0,
        )
    return re.search(r'section = "([^"]*)"', text).group(1), bound
