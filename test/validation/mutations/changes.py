"""One-line changes of listings, by kind: what can be changed on a line, and to what; and the class
of a change that nothing shows."""
import random
import re
import sys

from listing import read

LIST = re.compile(r"(\w+)=\[([^\]]*)\]")
NUMBER = re.compile(r"-?\d+")


class Change:
    """`new` None: the line goes."""

    def __init__(self, kind, line, old, new):
        self.kind, self.line, self.old = kind, line, old
        self._new = new

    @property
    def new(self):
        return self._new if self._new is not None else ""


def _word(line):
    return line.strip().split(" ", 1)[0] if line.strip() else ""


class Lines:
    """What each line of the sections is: unit's kind, port's direction and number."""

    def __init__(self, lines):
        self.kinds = [None] * len(lines)
        inside = False
        unit = port = None
        for number, line in enumerate(lines):
            if line.startswith("image section"):
                inside = True
            elif line == "}":
                inside = False
            if not inside:
                continue
            word = _word(line)
            if word in ("load", "store", "buffer", "compute", "stream", "symbol"):
                unit, port = word, None
            elif word in ("input", "output"):
                port = word
            if word.startswith("%"):
                word = "op"
            self.kinds[number] = (word, unit, port)


def _where(test):
    def find(lines):
        kinds = Lines(lines).kinds
        return [n for n, kind in enumerate(kinds) if kind and test(lines[n], *kind)]

    return find


def _numbers(line, name):
    """Places of the numbers of a list."""
    for match in LIST.finditer(line):
        if match.group(1) == name:
            start = match.start(2)
            return [
                (start + found.start(), start + found.end())
                for found in NUMBER.finditer(match.group(2))
            ]
    return []


def _put(line, place, text):
    return line[: place[0]] + str(text) + line[place[1] :]


def _other(draw, value, least=None):
    """Another number near a number."""
    choices = [value + 1, value - 1, 2 * value, value // 2, 0, 1, value + draw.randint(2, 40)]
    choices = [each for each in choices if each != value and (least is None or each >= least)]
    return draw.choice(choices)


def _in_list(name, least=None):
    def change(line, draw):
        places = _numbers(line, name)
        if not places:
            return None
        place = draw.choice(places)
        value = int(line[place[0] : place[1]])
        if draw.random() < 0.2 and len(places) > 1:  # two of them change places
            other = draw.choice(places)
            first, second = sorted((place, other))
            a, b = line[first[0] : first[1]], line[second[0] : second[1]]
            return _put(_put(line, second, a), first, b) if first != second else None
        return _put(line, place, _other(draw, value, least))

    return change


def _in_field(name, least=None, otherwise=None):
    def change(line, draw):
        match = re.search(rf"\b{name}=(-?\d+)\b", line)
        if match:
            return _put(line, match.span(1), _other(draw, int(match.group(1)), least))
        if otherwise is None:
            return None
        return f"{line} {name}={_other(draw, otherwise, least)}"

    return change


def _move_bar(which):
    """The bar of trips and strides goes one counter to the left or right (in trips alone: bars of
    the other lists are not looked at)."""

    def change(line, draw):
        match = re.search(r"trips=\[([^\]]*)\]", line)
        if not match:
            return None
        words = match.group(1).replace(",", " ").replace("|", " | ").split()
        bars = [i for i, word in enumerate(words) if word == "|"]
        if which >= len(bars):
            return None
        at, words = bars[which], words[:]
        to = at + draw.choice((-1, 1))
        if not 0 <= to < len(words) or words[to] == "|":
            return None
        words[at], words[to] = words[to], words[at]
        text = ", ".join(words).replace(", |,", " |").replace("|,", "|").replace(", |", " |")
        return _put(line, match.span(1), text)

    return change


def _one_of(*changes):
    def change(line, draw):
        for each in draw.sample(changes, len(changes)):
            new = each(line, draw)
            if new is not None and new != line:
                return new
        return None

    return change


def _drop(line, draw):
    return ""


HOP = re.compile(
    r"hop \((\d+), (\d+)\) (\w+)(?: (\d+))? lane (\d+) flow (\d+) -> "
    r"(\w+)(?: (\d+))? lane (\d+) flow (\d+)"
)


def _hop(line, draw):
    match = HOP.search(line)
    group = draw.choice([1, 2, 3, 5, 6, 7, 9, 10, 0])
    if group == 0:
        return ""
    text = match.group(group)
    if group in (3, 7):
        return _put(
            line,
            match.span(group),
            draw.choice(["north", "east", "south", "west", "unit"]),
        )
    return _put(line, match.span(group), _other(draw, int(text), 0))


def _destination(line, draw):
    """Another port of another unit of the same name pattern: the number in the name changes."""
    ends = list(re.finditer(r"(\d+)(?=\.(?:in|out)\d+)|(?<=\.in)(\d+)|(?<=\.out)(\d+)", line))
    if not ends:
        return None
    end = draw.choice(ends)
    return _put(line, end.span(), _other(draw, int(end.group()), 0))


def _repeat(line, draw):
    """A counter of a PMU's read that repeats what it reads (stride 0): other trips, or a stride."""
    trips, strides = _numbers(line, "trips"), _numbers(line, "strides")
    repeats = [
        i for i, place in enumerate(strides) if line[place[0] : place[1]] == "0" and i < len(trips)
    ]
    if not repeats:
        return None
    i = draw.choice(repeats)
    if draw.random() < 0.6:
        value = int(line[trips[i][0] : trips[i][1]])
        return _put(line, trips[i], _other(draw, value, 1))
    return _put(line, strides[i], draw.choice([1, -1, 2, draw.randint(3, 64)]))


def _has_repeat(line, word, unit, port):
    if unit != "buffer" or word != "output":
        return False
    strides = re.search(r"strides=\[([^\]]*)\]", line)
    return bool(strides and re.search(r"(?<![\d-])0(?!\d)", strides.group(1)))


def _reduce(line, draw):
    match = re.search(r" reduce=\[([^\]]*)\]", line)
    if not match:
        return f"{line} reduce=[{draw.randint(0, 3)}]"
    numbers = [int(word) for word in match.group(1).replace(",", " ").split()]
    way = draw.choice(["drop", "more", "other", "none"])
    if way == "none":
        return line[: match.start()] + line[match.end() :]
    if way == "drop":
        numbers.remove(draw.choice(numbers))
    elif way == "more":
        numbers = sorted(set(numbers) | {draw.randint(0, 5)})
    else:
        at = draw.randrange(len(numbers))
        numbers[at] = _other(draw, numbers[at], 0)
    return _put(line, match.span(1), ", ".join(map(str, numbers)))


def _flag(name):
    def change(line, draw):
        if f" {name}=yes" in line:
            return line.replace(f" {name}=yes", "")
        return f"{line} {name}=yes"

    return change


def _operands(line, draw):
    """Another operand of a multiply-accumulate or of a reduction, or another such operation."""
    match = re.search(r"= (\w+) (\w+) (%\d+)", line)
    if not match:
        return None
    if draw.random() < 0.4:
        names = ["reduce_add", "reduce_max", "reduce_min", "reduce_mul", "mac", "mac_on"]
        return _put(line, match.span(1), draw.choice(names))
    values = list(re.finditer(r"%(\d+)", line))[1:]
    value = draw.choice(values)
    return _put(line, value.span(1), _other(draw, int(value.group(1)), 0))


def _symbol(line, draw):
    """Another formal: the number in its name changes, if it has one."""
    match = re.search(r"\bsymbol=(\D*)(\d+)", line)
    return match and _put(line, match.span(2), _other(draw, int(match.group(2)), 0))


def _operation(line, draw):
    """Another operation, another operand or another constant."""
    match = re.search(r"= (\w+) \w+(.*)$", line)
    if not match:
        return None
    values = list(re.finditer(r"%(\d+)", match.group(2)))
    if values and draw.random() < 0.5:
        value = draw.choice(values)
        new = _other(draw, int(value.group(1)), 0)
        at = match.start(2)
        return _put(line, (at + value.start(1), at + value.end(1)), new)
    if match.group(1) == "const":
        return line + "1"
    names = ["add", "sub", "mul", "max", "min", "move", "neg", "exp", "div", "select"]
    return _put(line, match.span(1), draw.choice(names))


def _constant(name):
    def change(line, draw):
        match = re.search(rf"\b{name}=(\S+)", line)
        if not match:
            return f"{line} {name}={draw.choice(['1', '-1', '2'])}"
        return _put(line, match.span(1), draw.choice(["0", "1", "-3"]))

    return change


def _dtype(line, draw):
    match = re.search(r"\bdtype=(\w+)", line)
    return match and _put(line, match.span(1), draw.choice(["f32", "bf16", "i32", "i64", "i1"]))


def _value(line, draw):
    match = re.search(r"\bvalue=%(\d+)", line)
    return match and _put(line, match.span(1), _other(draw, int(match.group(1)), 0))


def _is_sum(line, word, unit, port):
    return word == "op" and re.search(r"= (reduce_\w+|mac|mac_on) ", line)


_TABLE = {
    "strides": (
        _where(lambda line, word, unit, port: word in ("input", "output") and "strides=" in line),
        _in_list("strides"),
    ),
    "slots": (
        _where(
            lambda line, word, unit, port: word == "buffer"
            or (unit == "buffer" and word in ("input", "output"))
        ),
        _one_of(_in_field("slot_count", 0), _in_field("slot_elements", 0), _move_bar(0)),
    ),
    "levels": (
        _where(
            lambda line, word, unit, port: (word in ("input", "output") and "=[" in line)
            or word == "compute"
        ),
        _one_of(_in_field("level", 0), _move_bar(0), _move_bar(1)),
    ),
    "tokens": (
        _where(lambda line, word, unit, port: word in ("input", "output")),
        _one_of(_in_field("token_elements", 0), _in_field("block", 0, 1), _in_list("trips", 1)),
    ),
    "hops": (
        _where(lambda line, word, unit, port: word in ("hop", "stream")),
        lambda line, draw: _hop(line, draw) if HOP.search(line) else _destination(line, draw),
    ),
    "guards": (
        _where(lambda line, word, unit, port: word == "guard"),
        _one_of(_in_field("limit"), _in_field("constant", None, 0), _in_list("strides"), _drop),
    ),
    "repeats": (_where(_has_repeat), _repeat),
    "stores": (
        _where(lambda line, word, unit, port: unit == "store" and word in ("input", "guard")),
        _one_of(
            _in_field("base", None, 0),
            _in_list("strides"),
            _in_list("trips", 1),
            _in_field("limit"),
        ),
    ),
    "trips": (
        _where(
            lambda line, word, unit, port: word in ("input", "output", "compute")
            and "trips=" in line
        ),
        _in_list("trips", 1),
    ),
    "accumulators": (
        _where(
            lambda line, word, unit, port: _is_sum(line, word, unit, port)
            or (word == "compute" and "reduce=" in line)
        ),
        lambda line, draw: _operands(line, draw)
        if line.strip().startswith("%")
        else draw.choice(
            [_reduce, _reduce, _flag("systolic"), _flag("lane_reduce"), _in_list("trips", 1)]
        )(line, draw),
    ),
    "others": (
        _where(lambda line, word, unit, port: word not in ("hop", "stream", "}", "", "image")),
        _one_of(
            _symbol,
            _operation,
            _constant("fill"),
            _constant("initial"),
            _dtype,
            _value,
            _in_field("base", None, 0),
            _in_field("offset", None, 0),
            _in_field("index_stride"),
            _in_field("index_limit"),
            _in_field("index_counters", 0),
            _in_field("elements", 0),
            _flag("loop_carried"),
            _flag("in_place"),
            _flag("has_index"),
            _flag("written"),
            _drop,
        ),
    ),
}
KINDS = tuple(_TABLE)

# How much waits where: of no use to who looks at values.
_TABLE["depths"] = (
    _where(lambda line, word, unit, port: word in ("buffer", "input", "output")),
    _one_of(_in_field("slot_count", 1), _in_field("block", 1, 1), _flag("loop_carried")),
)


def places(kind, lines):
    """Lines that a change of a kind can be on."""
    return _TABLE[kind][0](lines)


def draw(kind, lines, line, generator):
    """A change of that kind on a line, or None."""
    new = _TABLE[kind][1](lines[line], generator)
    return None if new is None else Change(kind, line, lines[line], new)


def drawn(kinds, count, seed, chosen):
    """(subject, change), `count` of them: kinds in turn, then a subject with lines of that kind,
    then a line."""
    generator = random.Random(seed)
    having = {
        (subject.name, kind): places(kind, subject.lines) for subject in chosen for kind in kinds
    }
    seen, number = set(), 0
    for attempt in range(100 * count):
        if number == count:
            return
        kind = kinds[number % len(kinds)]
        subjects = [subject for subject in chosen if having[subject.name, kind]]
        if not subjects:
            sys.exit(f"error: no listing has anything of the kind '{kind}'")
        subject = generator.choice(subjects)
        line = generator.choice(having[subject.name, kind])
        change = draw(kind, subject.lines, line, generator)
        key = change and (subject.name, change.line, change.new)
        if change is None or change.new == change.old or key in seen:
            continue
        seen.add(key)
        number += 1
        yield subject, change


# ---- What a change changed ----

ONLY = (
    ("rate", "a planned rate, which says nothing about values"),
    ("slot_count", "more or fewer slots: a network of tokens computes the same with any depth"),
    ("slot_elements", "room of a slot that no pattern reaches"),
    ("layer", "a name"),
    ("in_place", "a slot that is used once is not used in place"),
    ("banking", "banks of a PMU, which say nothing about values"),
    ("written", "a formal that is written anyway"),
    ("lane_reduce", "the order of a sum of one element"),
    ("fill", "a fill that no element gets"),
    ("limit", "a guard that its range does not reach"),
    ("constant", "a guard that its range does not reach"),
)


def classify(before, after):
    """Where two listings of the same meaning differ."""
    first, second = _sections(before), _sections(after)
    if first == second:
        return "the same configuration"
    pairs = [pair for pair in zip(first, second) if pair[0] != pair[1]]
    if len(first) == len(second):
        for name, text in ONLY:
            cut = [tuple(re.sub(rf" {name}=\S+", "", line) for line in pair) for pair in pairs]
            if all(a == b for a, b in cut):
                return text
        if all(a.replace(" systolic=yes", "") == b.replace(" systolic=yes", "") for a, b in pairs):
            return "the same sums by the lanes instead of the array, or the other way around"
        if all(a.strip().startswith("hop") for a, _ in pairs):
            return "another route of the same stream"
        if all(_idle(*pair) for pair in pairs):
            return "numbers of counters that make one step"
    one, other = read(before), read(after)
    if _same_accesses(one, other):
        return "every port touches the same elements in the same order"
    return "what differs reaches no output"


def _sections(text):
    lines, inside = [], False
    for line in text.split("\n"):
        inside = inside or line.startswith("image section")
        if inside:
            lines.append(line)
        if line == "}":
            inside = False
    return lines


def _idle(first, second):
    """The lines differ in strides of counters with one trip only."""
    trips = LIST.search(first)
    if not trips or trips.group(1) != "trips":
        return False
    counts = [int(number) for number in NUMBER.findall(trips.group(2))]
    one, other = _numbers(first, "strides"), _numbers(second, "strides")
    if not one or len(one) != len(other) or len(one) != len(counts):
        return False
    differ = [
        counts[i]
        for i, (a, b) in enumerate(zip(one, other))
        if first[a[0] : a[1]] != second[b[0] : b[1]]
    ]
    blank = [re.sub(r"strides=\[[^\]]*\]", "", line) for line in (first, second)]
    return blank[0] == blank[1] and all(count == 1 for count in differ)


def _same_accesses(one, other):
    """Compares the addresses of all memory ports, token by token."""
    from meaning import Pattern
    import numpy

    for name, section in one.sections.items():
        second = other.sections.get(name)
        if second is None or len(section.units) != len(second.units):
            return False
        for unit, changed in zip(section.units, second.units):
            if unit.kind == "compute":
                if (unit.fields, unit.lists, unit.bars, unit.ops) != (
                    changed.fields,
                    changed.lists,
                    changed.bars,
                    changed.ops,
                ):
                    return False
                continue
            ports = list(zip(unit.inputs + unit.outputs, changed.inputs + changed.outputs))
            for a, b in ports:
                if "trips" not in a.lists:
                    continue
                if (a.lists, a.bars, a.guards, a.fields) == (b.lists, b.bars, b.guards, b.fields):
                    continue
                first, then = Pattern(a), Pattern(b)
                if first.firings != then.firings or first.tokens_per_slot != then.tokens_per_slot:
                    return False
                for firing in range(first.firings):
                    at, on = first.token(firing)
                    to, off = then.token(firing)
                    on = numpy.ones(at.shape, bool) if on is None else on
                    off = numpy.ones(to.shape, bool) if off is None else off
                    if not numpy.array_equal(on, off) or not numpy.array_equal(at[on], to[off]):
                        return False
    return True
