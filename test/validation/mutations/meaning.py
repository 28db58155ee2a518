"""What a program of sections computes for every input, not for one: an interpreter of the
execution model (docs/execution-model.md) in Python that shares nothing with the C engines.

Inputs and weights are random elements of the field of integers modulo 2^31 - 1. Sums, products and
multiply-accumulates are those of the field; every other operation is a random function of its
operands (a hash), with the few laws that hold for any operand: 0 x = 0, x + 0 = x,
max(-inf, x) = x, select of two equal values. Two programs whose outputs agree here compute the same
polynomials in the same hashed terms, except with a probability of about one in 2^31 (Schwartz,
Zippel). So a changed program whose meaning is the same is equivalent, whatever values it is run
with. Rounding is not part of it: sums in another order are the same sum.

Tokens pass through unbounded queues. So this says nothing about time or deadlocks, but it does say
when a PMU word is read that nobody wrote in that round, when two ports write one word of a slot,
and when two stores write one element."""
import math
import re
import struct

import numpy as np

P = np.uint64(2**31 - 1)
NEGATIVE_INFINITY, POSITIVE_INFINITY = np.uint64(2**31 + 1), np.uint64(2**31 + 2)
INTEGERS = ("i1", "i8", "ui8", "i16", "i32", "i64")


class Fault(Exception):
    """The program does what no program may do."""


class Unknown(Exception):
    """This interpreter cannot say what the program computes."""


# ---- The field ----
# A value is an array of uint64: elements of the field, or one of the infinities. Exact integers
# (indices, counters, conditions over them) are arrays of int64.


def _mix(x):
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _hashed(what, *operands):
    seed = np.uint64(int.from_bytes(what.encode()[:8].ljust(8, b"\0"), "little"))
    result = _mix(np.full((), seed, np.uint64) + np.uint64(len(what)))
    with np.errstate(over="ignore"):
        for operand in operands:
            result = _mix(result * np.uint64(0x9E3779B97F4A7C15) + operand + np.uint64(1))
    return result % (P - np.uint64(2)) + np.uint64(2)  # neither 0 nor 1


def _field(value):
    if value.dtype == np.uint64:
        return value
    return (value % np.int64(P)).astype(np.uint64)


def _special(*values):
    return any(value.size and value.max() >= P for value in values)


def _add(a, b):
    total = (a + b) % P
    if not _special(a, b):
        return total
    for infinity in (NEGATIVE_INFINITY, POSITIVE_INFINITY):
        total = np.where((a == infinity) | (b == infinity), infinity, total)
    return total


def _negate(a):
    result = (P - a % P) % P
    if _special(a):
        result = np.where(a == NEGATIVE_INFINITY, POSITIVE_INFINITY, result)
        result = np.where(a == POSITIVE_INFINITY, NEGATIVE_INFINITY, result)
    return result


def _multiply(a, b):
    if _special(a, b):
        return np.where((a >= P) | (b >= P), _hashed("inf*", a, b), (a % P) * (b % P) % P)
    return a * b % P


def _extreme(kind, a, b):
    least, most = np.minimum(a, b), np.maximum(a, b)
    result = np.where(a == b, a, _hashed(kind, least, most))
    nothing = NEGATIVE_INFINITY if kind == "max" else POSITIVE_INFINITY
    result = np.where(a == nothing, b, result)
    return np.where(b == nothing, a, result)


def constant(dtype, text):
    """The value of a constant of a listing."""
    if dtype in INTEGERS:
        return np.array(int(text, 0), np.int64)
    if text.lower().lstrip("+-") == "inf":
        return np.array(NEGATIVE_INFINITY if text.startswith("-") else POSITIVE_INFINITY)
    if text[:2] == "0x":
        number = struct.unpack("<f", struct.pack("<I", int(text, 16) & 0xFFFFFFFF))[0]
    else:
        number = float(text)
    if math.isnan(number):
        return _hashed("nan")
    if math.isinf(number):
        return np.array(NEGATIVE_INFINITY if number < 0 else POSITIVE_INFINITY)
    if number == int(number) and abs(number) < 2**24:
        return np.array(int(number) % int(P), np.uint64)
    return _hashed("f32", np.array(struct.unpack("<I", struct.pack("<f", number))[0], np.uint64))


_EXACT = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _wrapped(value, dtype):
    bits = {"i1": 1, "i8": 8, "ui8": 8, "i16": 16, "i32": 32}.get(dtype)
    if bits is None:
        return value
    if dtype in ("i1", "ui8"):
        return value & ((1 << bits) - 1)
    return ((value + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1))


def apply(name, dtype, operands, extra):
    """One lane operation that is no reduction."""
    if name == "move":
        return operands[0]
    if name == "select" and operands[0].dtype == np.int64:
        chosen, other = operands[1], operands[2]
        if chosen.dtype != other.dtype:
            chosen, other = _field(chosen), _field(other)
        return np.where(operands[0] != 0, chosen, other)
    if all(operand.dtype == np.int64 for operand in operands):
        if name in _EXACT:
            return _wrapped(_EXACT[name](*operands).astype(np.int64), dtype)
        if name in ("int_resize", "wrap"):
            if dtype == "i1" or extra == "i1":
                return (operands[0] != 0).astype(np.int64)
            return _wrapped(operands[0], extra or dtype)
        if name in ("neg", "abs"):
            return -operands[0] if name == "neg" else abs(operands[0])
    values = [_field(operand) for operand in operands]
    if name == "int_to_float":
        return values[0]
    if name == "add":
        return _add(*values)
    if name == "sub":
        return _add(values[0], _negate(values[1]))
    if name == "neg":
        return _negate(values[0])
    if name == "mul":
        return _multiply(*values)
    if name == "fma":
        return _add(_multiply(values[0], values[1]), values[2])
    if name in ("max", "min"):
        return _extreme(name, *values)
    if name == "select":
        return np.where(values[1] == values[2], values[1], _hashed("select", *values))
    if name == "exp":
        one = np.where(values[0] == 0, np.uint64(1), _hashed("exp", values[0]))
        return np.where(values[0] == NEGATIVE_INFINITY, np.uint64(0), one)
    if name in ("to_bf16", "to_f16"):  # small whole numbers stay what they are
        return np.where(values[0] < 2, values[0], _hashed(name, values[0]))
    if name in ("div", "tanh", "erf", "sin", "expm1", "log1p", "atan", "sqrt", "abs"):
        return np.where(values[0] == 0, np.uint64(0), _hashed(name, *values))
    return _hashed(f"{name}{extra or ''}", *values)


def _folded(name, value, axes, so_far):
    """A reduction over some axes of an array, joined with what came before."""
    kept = [axis for axis in range(value.ndim) if axis not in axes]
    moved = value.transpose(list(axes) + kept)
    moved = moved.reshape((-1,) + moved.shape[len(axes) :])
    shape = [1 if axis in axes else size for axis, size in enumerate(value.shape)]
    if name in ("reduce_add", "mac") and not _special(moved):
        result = (moved.sum(axis=0) % P).reshape(shape)
        return result if so_far is None else _add(result, so_far)
    result = None if so_far is None else so_far.reshape(moved.shape[1:])
    step = {
        "reduce_add": _add,
        "mac": _add,
        "reduce_mul": _multiply,
        "reduce_max": lambda a, b: _extreme("max", a, b),
        "reduce_min": lambda a, b: _extreme("min", a, b),
    }.get(name, lambda a, b: np.where(a == b, a, _hashed(name, a, b)))
    for each in moved:
        result = each if result is None else step(result, each)
    return result.reshape(shape)


# ---- Patterns ----


def product(numbers):
    return math.prod(numbers)


def _grid(base, trips, strides):
    """base + sum(strides x counters) over all counters, as an array of their shape."""
    result = np.array(base, np.int64).reshape((1,) * len(trips))
    for axis, (trip, stride) in enumerate(zip(trips, strides)):
        if stride and trip > 1:
            shape = [1] * len(trips)
            shape[axis] = trip
            result = result + (np.arange(trip, dtype=np.int64) * stride).reshape(shape)
    return result


class Pattern:
    """Addresses and guards of a memory port, token by token."""

    def __init__(self, port):
        self.trips, self.strides = port.lists["trips"], port.lists["strides"]
        self.slot_level = port.bars["trips"][0] if len(port.bars["trips"]) == 2 else 0
        self.token_level = port.bars["trips"][-1]
        level = self.token_level
        self.outer, self.inner = self.trips[:level], self.trips[level:]
        self.firings = product(self.outer)
        self.tokens_per_slot = product(self.trips[self.slot_level : level])
        self.elements = product(self.inner)
        self.base = port.number("base")
        self.flat = np.broadcast_to(_grid(0, self.inner, self.strides[level:]), self.inner)
        self.guards = [
            (constant, limit, strides, _grid(0, self.inner, strides[level:]))
            for constant, limit, strides in port.guards
        ]
        self.port = port

    def origin(self, firing, strides):
        at, total = firing, 0
        for trip, stride in zip(reversed(self.outer), reversed(strides[: self.token_level])):
            total += stride * (at % trip)
            at //= trip
        return total

    def token(self, firing, index=None):
        """Addresses of a token's elements, and which are enabled (None: all)."""
        addresses = self.flat + (self.base + self.origin(firing, self.strides))
        if index is not None:
            spans = self.port.number("index_counters")
            shape = self.inner[:spans] + [1] * (len(self.inner) - spans)
            limit = self.port.number("index_limit")
            if ((index < 0) | (index >= limit)).any():
                raise Fault("address out of range: index")
            addresses = addresses + index.reshape(shape) * self.port.number("index_stride")
        enabled = None
        for constant, limit, strides, inner in self.guards:
            value = inner + (constant + self.origin(firing, strides))
            holds = (value >= 0) & (value < limit)
            enabled = holds if enabled is None else enabled & holds
        if enabled is not None:
            enabled = np.broadcast_to(enabled, self.inner).ravel()
            if enabled.all():
                enabled = None
        return addresses.ravel(), enabled


# ---- Units ----


class Queues:
    """Tokens on their way: a list per stream and destination."""

    def __init__(self, section):
        self.waiting = {}
        for s, stream in enumerate(section.streams):
            for end in stream.destinations:
                self.waiting[s, end] = []
        self.dealt, self.taken = {}, {}

    def put(self, port, section, token):
        if not port.streams:
            return
        count = self.dealt.get(id(port), 0)
        self.dealt[id(port)] = count + 1
        block = port.number("block", 1)
        s = port.streams[count // block % len(port.streams)]
        for end in section.streams[s].destinations:
            self.waiting[s, end].append(token)

    def peek(self, port, end):
        count = self.taken.get(id(port), 0)
        s = port.streams[count // port.number("block", 1) % len(port.streams)]
        queue = self.waiting[s, end]
        return queue if queue else None

    def take(self, port, end):
        token = self.peek(port, end).pop(0)
        self.taken[id(port)] = self.taken.get(id(port), 0) + 1
        return token


class Machine:
    """One call of a section over memory."""

    def __init__(self, section, memory):
        self.section, self.memory = section, memory
        self.queues = Queues(section)
        self.stored = {}

    def run(self):
        actors = [self.actor(u, unit) for u, unit in enumerate(self.section.units)]
        live = [actor for group in actors for actor in group]
        while live:
            still, moved = [], False
            for actor in live:
                try:
                    moved |= next(actor)
                    still.append(actor)
                except StopIteration:
                    moved = True
            live = still
            if not moved:
                raise Fault("deadlock")

    def actor(self, u, unit):
        if unit.kind == "load":
            return [self.load(u, unit)]
        if unit.kind == "store":
            return [self.store(u, unit)]
        if unit.kind == "compute":
            return [self.compute(u, unit)]
        slots = {"written": {}, "done": [0] * len(unit.inputs), "read": [0] * len(unit.outputs)}
        return [self.write(u, unit, i, slots) for i in range(len(unit.inputs))] + [
            self.read(u, unit, i, slots) for i in range(len(unit.outputs))
        ]

    def tokens(self, u, ports):
        """Waits until each of some inputs has a token; then yields them."""
        unit, got = self.section.units[u], {}
        for i in ports:
            while not self.queues.peek(unit.inputs[i], (u, i)):
                yield None
            got[i] = self.queues.take(unit.inputs[i], (u, i))
        yield got

    def load(self, u, unit):
        port, pattern = unit.outputs[0], Pattern(unit.outputs[0])
        values, written = self.memory[int(unit.fields["formal"])]
        indexed = port.fields.get("has_index") == "yes"
        fill = constant(port.fields["dtype"], port.fields.get("fill", "0"))
        for firing in range(pattern.firings):
            for got in self.tokens(u, range(len(unit.inputs))):
                if got is None:
                    yield False
            index = got[0] if indexed else None
            if indexed and index.dtype != np.int64:
                raise Unknown("an index that is no exact integer")
            addresses, enabled = pattern.token(firing, index)
            used = addresses if enabled is None else addresses[enabled]
            if used.size and (used.min() < 0 or used.max() >= values.size):
                raise Fault("address out of range")
            if not written[used].all():
                raise Fault("read of never-written memory")
            formal = int(unit.fields["formal"])
            if any(
                self.same(formal, other) and (mask[used]).any()
                for other, mask in self.stored.items()
            ):
                raise Unknown("a load of what this call stored")
            if enabled is None:
                token = values[addresses]
            else:
                fill = fill if fill.dtype == values.dtype else _field(fill)
                token = np.full(addresses.shape, fill)
                token[enabled] = values[used]
            self.queues.put(port, self.section, token)
            yield True

    def same(self, a, b):
        return self.memory[a][0] is self.memory[b][0]

    def store(self, u, unit):
        pattern, formal = Pattern(unit.inputs[0]), int(unit.fields["formal"])
        values, written = self.memory[formal]
        mine = np.zeros(values.size, bool)
        for firing in range(pattern.firings):
            for got in self.tokens(u, range(len(unit.inputs))):
                if got is None:
                    yield False
            index = got[1] if unit.inputs[0].fields.get("has_index") == "yes" else None
            if index is not None and index.dtype != np.int64:
                raise Unknown("an index that is no exact integer")
            addresses, enabled = pattern.token(firing, index)
            token = got[0]
            if enabled is not None:
                addresses, token = addresses[enabled], token[enabled]
            if addresses.size and (addresses.min() < 0 or addresses.max() >= values.size):
                raise Fault("address out of range")
            for other, mask in self.stored.items():
                if self.same(formal, other):
                    others = mask[addresses] & ~mine[addresses]
                    if others.any():
                        raise Fault("two stores write one element")
            mine[addresses] = True
            self.stored.setdefault(formal, np.zeros(values.size, bool))[addresses] = True
            if token.dtype != values.dtype:
                token = _field(token) if values.dtype == np.uint64 else token
                if token.dtype != values.dtype:
                    raise Unknown("an exact integer symbol that takes a hashed value")
            values[addresses], written[addresses] = token, True
            for port in unit.outputs:
                self.queues.put(port, self.section, np.zeros(0, np.uint64))
            yield True

    def write(self, u, unit, i, slots):
        pattern, size = Pattern(unit.inputs[i]), unit.number("slot_elements")
        carried = unit.fields.get("loop_carried") == "yes"
        for firing in range(pattern.firings):
            for got in self.tokens(u, [i]):
                if got is None:
                    yield False
            round_, token = firing // pattern.tokens_per_slot, got[i]
            addresses, enabled = pattern.token(firing)
            if enabled is not None:
                addresses, token = addresses[enabled], token[enabled]
            if addresses.size and (addresses.min() < 0 or addresses.max() >= size):
                raise Fault("address outside the slot")
            if round_ not in slots["written"]:
                slots["written"][round_] = [
                    np.zeros(size, token.dtype),
                    np.full(size, -1, np.int16),
                ]
                if carried:
                    values, owner = slots["written"][round_]
                    before = slots["written"].get(round_ - unit.number("slot_count"))
                    initial = constant(
                        unit.inputs[0].fields["dtype"], unit.fields.get("initial", "0")
                    )
                    values[:] = before[0] if before else initial.astype(token.dtype)
                    owner[:] = -2
            values, owner = slots["written"][round_]
            if ((owner[addresses] >= 0) & (owner[addresses] != i)).any():
                raise Fault("two ports write one word of a slot")
            if values.dtype != token.dtype:
                values, token = _field(values), _field(token)
                slots["written"][round_][0] = values
            values[addresses], owner[addresses] = token, i
            if (firing + 1) % pattern.tokens_per_slot == 0:
                slots["done"][i] = round_ + 1
            yield True

    def read(self, u, unit, i, slots):
        port, pattern = unit.outputs[i], Pattern(unit.outputs[i])
        size, count = unit.number("slot_elements"), unit.number("slot_count")
        carried = unit.fields.get("loop_carried") == "yes"
        dtype = port.fields["dtype"]
        fill = constant(dtype, port.fields.get("fill", "0"))
        initial = constant(dtype, unit.fields.get("initial", "0"))
        for firing in range(pattern.firings):
            round_ = firing // pattern.tokens_per_slot
            source = round_ - count if carried else round_
            while source >= 0 and min(slots["done"]) <= source:
                yield False
            addresses, enabled = pattern.token(firing)
            used = addresses if enabled is None else addresses[enabled]
            if used.size and (used.min() < 0 or used.max() >= size):
                raise Fault("address outside the slot")
            if source < 0:
                found = np.broadcast_to(initial, used.shape)
            elif not used.size:
                found = np.zeros(0, np.uint64)
            else:
                values, owner = slots["written"].get(source, (None, None))
                if values is None or (owner[used] == -1).any():
                    raise Fault("read of a word of a PMU that nobody wrote in this round")
                found = values[used]
            if enabled is None:
                token = found
            else:
                if fill.dtype != found.dtype and found.size:
                    fill, found = _field(fill), _field(found)
                token = np.full(addresses.shape, fill)
                token[enabled] = found
            self.queues.put(port, self.section, token)
            if (firing + 1) % pattern.tokens_per_slot == 0:
                slots["read"][i] = round_ + 1
                for old in [r for r in slots["written"] if r < min(slots["read"]) - 2 * count]:
                    del slots["written"][old]
            yield True

    def compute(self, u, unit):
        return Program(self, u, unit).actor()


class Program:
    """The program of a PCU."""

    def __init__(self, machine, u, unit):
        self.machine, self.u, self.unit = machine, u, unit
        self.trips = unit.lists["trips"]
        self.level = unit.bars["trips"][0]
        self.inner = self.trips[self.level :]
        self.reduced = sorted(unit.lists.get("reduce", []))
        self.axes = [c - self.level for c in self.reduced if c >= self.level]
        self.outer_reduced = [c for c in self.reduced if c < self.level]
        inputs = unit.inputs
        self.indices = [
            _grid(port.number("offset"), self.inner, port.lists["strides"][self.level :])
            for port in inputs
        ]
        self.late = self.find_late()

    def find_late(self):
        """Which values depend on a reduction."""
        late = [False] * len(self.unit.inputs)
        for name, _, operands, _ in self.unit.ops:
            late.append(
                name.startswith("reduce_")
                or name in ("mac", "mac_on")
                or any(late[operand] for operand in operands)
            )
        return late

    def counters(self, firing):
        values = []
        for trip in reversed(self.trips[: self.level]):
            values.append(firing % trip)
            firing //= trip
        return values[::-1]

    def steps(self, firing, level):
        """Whether a counter before `level` steps when this firing begins."""
        return firing % product(self.trips[level : self.level]) == 0

    def actor(self):
        machine, unit, sums = self.machine, self.unit, {}
        tokens = [None] * len(unit.inputs)
        for firing in range(product(self.trips[: self.level])):
            new = [
                i
                for i, port in enumerate(unit.inputs)
                if self.steps(firing, port.number("level", self.level))
            ]
            for got in machine.tokens(self.u, new):
                if got is None:
                    yield False
            for i, token in got.items():
                tokens[i] = token
            counters = self.counters(firing)
            if all(counters[c] == 0 for c in self.outer_reduced):
                sums = {}
            ready = all(counters[c] == self.trips[c] - 1 for c in self.outer_reduced)
            values = self.evaluate(tokens, counters, sums, ready)
            for port in unit.outputs:
                done = self.steps(firing + 1, port.number("level", self.level))
                value = int(port.fields["value"][1:])
                if done and (ready or not self.late[value]):
                    self.machine.queues.put(port, machine.section, self.token(port, values[value]))
            yield True

    def evaluate(self, tokens, counters, sums, ready):
        values = []
        for token, index in zip(tokens, self.indices):
            if index.size and (index.min() < 0 or index.max() >= token.size):
                raise Fault("element outside the token")
            values.append(token[index])
        for number, (name, dtype, operands, extra) in enumerate(self.unit.ops):
            given = [values[operand] for operand in operands]
            if name == "const":
                values.append(constant(dtype, extra).reshape((1,) * len(self.inner)))
            elif name == "counter":
                values.append(self.counter(int(extra), counters))
            elif name == "argin":
                raise Unknown("an argument of the call")
            elif name.startswith("reduce_") or name in ("mac", "mac_on"):
                values.append(self.reduce(name, given, sums, number))
            elif self.late[len(values)] and not ready:
                values.append(None)
            else:
                values.append(apply(name, dtype, given, extra))
        return values

    def counter(self, which, counters):
        shape = [1] * len(self.inner)
        if which < self.level:
            return np.array(counters[which], np.int64).reshape(shape)
        shape[which - self.level] = self.inner[which - self.level]
        return np.arange(self.inner[which - self.level], dtype=np.int64).reshape(shape)

    def reduce(self, name, given, sums, number):
        if name == "reduce_and" or name == "reduce_or" or name.startswith("reduce"):
            value = _field(given[0])
        else:
            value = _multiply(_field(given[0]), _field(given[1]))
        shape = list(value.shape)
        for axis in self.axes:
            shape[axis] = self.inner[axis]
        value = np.broadcast_to(value, shape)
        before = sums.get(number)
        if before is None and name == "mac_on":
            before = np.broadcast_to(
                _field(given[2]), [1 if a in self.axes else s for a, s in enumerate(shape)]
            )
        plain = "mac" if name == "mac_on" else name
        sums[number] = _folded(plain, value, self.axes, before)
        return sums[number]

    def token(self, port, value):
        strides = port.lists["strides"][self.level :]
        index = _grid(port.number("offset"), self.inner, strides)
        shape = [1 if axis in self.axes else size for axis, size in enumerate(self.inner)]
        index = index if index.shape == tuple(shape) else np.broadcast_to(index, shape)
        token = np.zeros(port.number("token_elements"), value.dtype)
        token[index] = np.broadcast_to(value, shape)
        return token


# ---- Programs ----


def run(program, seed=1, integers=None):
    """Output symbols of a program by name, as arrays over the field. integers: name -> exact
    integers of inputs that pick addresses; other integers are hashed like any value."""
    memory, integers = {}, integers or {}
    for number, (name, symbol) in enumerate(sorted(program.symbols.items())):
        size = product(symbol["dims"])
        if name in integers:
            memory[name] = [integers[name].astype(np.int64).ravel(), np.ones(size, bool)]
            continue
        places = np.arange(size, dtype=np.uint64)
        given = symbol["kind"] in ("input", "weight", "constant", "buffer", "optimizer_state")
        named = _hashed("memory", places, np.uint64(seed), np.uint64(number))
        memory[name] = [
            named if given else np.zeros(size, np.uint64),
            np.full(size, given),
        ]
    for name, bound in program.calls:
        section = program.sections[name]
        formals = []
        for formal in range(len(section.symbols)):
            symbol, offset = bound[formal]
            values, written = memory[symbol]
            formals.append((values[offset:], written[offset:]) if offset else memory[symbol])
        for unit in section.units:
            if "symbol" in unit.fields:
                unit.fields["formal"] = formal_of(section, unit.fields["symbol"])
        Machine(section, formals).run()
    return {
        name: memory[name][0]
        for name, symbol in program.symbols.items()
        if symbol["kind"] not in ("activation", "gradient")
    }


def formal_of(section, name):
    for index, (symbol, _, _) in enumerate(section.symbols):
        if symbol == name:
            return index
    return int(name)


def same(first, second):
    """Whether two results of run agree."""
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name]) for name in first
    )


def streams_of_switches(section):
    """The streams as the switch entries of the listing carry them, recovered hop by hop: sets of
    (source place, destination places). An independent look at routes."""
    found = []
    pattern = re.compile(
        r"\((\d+), (\d+)\) (\w+)(?: (\d+))? lane (\d+) flow (\d+) -> "
        r"(\w+)(?: (\d+))? lane (\d+) flow (\d+)"
    )
    opposite = {"north": "south", "south": "north", "east": "west", "west": "east"}
    step = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
    for stream in section.streams:
        hops = [pattern.match(hop).groups() for hop in stream.hops]
        reached, ends = set(), []
        for k, (x, y, port, ag, lane, flow, out, out_ag, out_lane, out_flow) in enumerate(hops):
            place = (int(x), int(y), port, ag, lane, flow)
            if k and place not in reached:
                first = (hops[0][0], hops[0][1], hops[0][2], hops[0][3], hops[0][4], hops[0][5])
                if place != (int(first[0]), int(first[1])) + first[2:]:
                    return None
            if out in step:
                dx, dy = step[out]
                reached.add((int(x) + dx, int(y) + dy, opposite[out], None, out_lane, out_flow))
            else:
                ends.append((int(x), int(y), out, out_ag, out_lane, out_flow))
        found.append((stream.kind, hops[0][:6] if hops else None, tuple(sorted(map(str, ends)))))
    return found
