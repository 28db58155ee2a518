"""samba.Tensor: tensors whose values the device computes when somebody asks for them.

Operations build an expression; realize() traces it, compiles it to a PEF and runs it on a session
of its own. Operators and methods are those of torch.Tensor and infer shapes and types as torch does
on its meta device, so a wrong shape is refused where it is written."""
import collections
import itertools
import weakref

import torch

from samba.names import unknown

DEVICE = "RDU"  # the name of the device when none is given


class Buffer:
    """Values on the host; expressions read them, an assignment writes over them."""

    def __init__(self, values):
        self.values = values
        self.readers = weakref.WeakSet()
        self.owner = None  # weak reference to the tensor that wants the gradient

    def write(self, values):
        """New values in the same memory. Expressions that read the old ones, and have not been
        computed yet, keep those."""
        if self.readers:
            old = Buffer(self.values.clone())
            for reader in list(self.readers):
                if reader.buffer is None:
                    reader.exchange(self, old)
            self.readers.clear()
        self.values.copy_(values)


class Expression:
    """A call of a torch function whose arguments are buffers, expressions and plain values."""

    def __init__(self, function, args, kwargs):
        self.function, self.args, self.kwargs = function, args, kwargs
        self.buffer = None  # the result, once computed
        self.target = None  # the buffer that an assignment writes to
        self.freed = False  # a backward pass went through and dropped the graph
        self.scheduled = False
        for node in self.operands():
            if isinstance(node, Buffer):
                node.readers.add(self)

    def operands(self):
        """Buffers and expressions among the arguments."""
        return [n for n in leaves((self.args, self.kwargs)) if isinstance(n, (Buffer, Expression))]

    def exchange(self, old, new):
        self.args = mapped(self.args, lambda leaf: new if leaf is old else leaf)
        self.kwargs = mapped(self.kwargs, lambda leaf: new if leaf is old else leaf)
        new.readers.add(self)


def leaves(value):
    """All leaves of nested lists, tuples and dictionaries."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


def mapped(value, function):
    """The same nesting with function applied to each leaf."""
    if isinstance(value, dict):
        return {name: mapped(inner, function) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(inner, function) for inner in value)
    return function(value)


def settled(node):
    """A computed expression stands for its buffer."""
    return node.buffer if isinstance(node, Expression) and node.buffer is not None else node


def in_order(roots):
    """The expressions below the roots that are not computed, operands before users."""
    order, seen = [], set()
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        node, done = stack.pop()
        node = settled(node)
        if not isinstance(node, Expression) or (id(node) in seen and not done):
            continue
        if done:
            order.append(node)
            continue
        seen.add(id(node))
        stack.append((node, True))
        stack.extend((operand, False) for operand in reversed(node.operands()))
    return order


def call_on(node, values, resolve=lambda leaf: leaf):
    """Calls the function of an expression with the values of its operands."""

    def value_of(leaf):
        leaf = resolve(leaf)
        return values[id(leaf)] if isinstance(leaf, (Buffer, Expression)) else leaf

    return node.function(*mapped(node.args, value_of), **mapped(node.kwargs, value_of))


def replay(order, values):
    """Calls the functions of the expressions; values: results by id, of buffers before the call."""

    for node in order:
        values[id(node)] = call_on(node, values, settled)
    return values


def below(root):
    """All expressions below a node, computed or not, operands before users."""
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif isinstance(node, Expression) and id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((operand, False) for operand in reversed(node.operands()))
    return order


def backward_pass(tensor, gradient, retain_graph):
    """PyTorch's own backward pass over the expressions below the tensor, on the host."""
    order = below(tensor._node)
    if any(node.freed for node in order):
        raise RuntimeError(
            "backward: an earlier backward pass dropped the graph; give it retain_graph=True"
        )
    buffers = {id(n): n for node in order for n in node.operands() if isinstance(n, Buffer)}
    if isinstance(tensor._node, Buffer):
        buffers[id(tensor._node)] = tensor._node
    wanted, values = [], {}
    for key, buffer in buffers.items():
        values[key] = buffer.values.detach()
        owner = buffer.owner and buffer.owner()
        if owner is not None and owner.requires_grad:
            values[key] = values[key].clone().requires_grad_()
            wanted.append((owner, values[key]))
    if not wanted:
        raise RuntimeError("backward: no tensor that this one comes from requires a gradient")
    with torch.enable_grad():
        for node in order:
            values[id(node)] = call_on(node, values)
        result = values[id(tensor._node)]
        start = torch.ones_like(result) if gradient is None else as_torch(gradient, result)
        result.backward(start)
    for owner, leaf in wanted:
        if leaf.grad is not None:
            new = Tensor(leaf.grad, device=owner._device)
            owner.grad = new if owner.grad is None else owner.grad + new
    if not retain_graph:
        for node in order:
            node.freed = True


def as_torch(gradient, like):
    """A gradient that a user gives, as a torch tensor of the right type."""
    values = gradient._values() if isinstance(gradient, Tensor) else torch.as_tensor(gradient)
    return values.detach().to(like.dtype)


class Program(torch.nn.Module):
    """Expressions as a module: its inputs are the buffers that they read."""

    def __init__(self, roots):
        super().__init__()
        self.roots, self.order = roots, in_order(roots)
        operands = itertools.chain(*[node.operands() for node in self.order])
        buffers = {id(b): b for b in map(settled, operands) if isinstance(b, Buffer)}
        self.buffers_read = list(buffers.values())

    def forward(self, *inputs):
        values = {id(b): value for b, value in zip(self.buffers_read, inputs)}
        replay(self.order, values)
        return tuple(values[id(root)] for root in self.roots)

    def key(self):
        """What makes two programs the same compiled program."""
        places = {id(b): f"in{i}" for i, b in enumerate(self.buffers_read)}
        places.update({id(node): f"e{i}" for i, node in enumerate(self.order)})

        def text(leaf):
            return places.get(id(settled(leaf))) or repr(leaf)

        types = [(tuple(b.values.shape), b.values.dtype) for b in self.buffers_read]
        calls = [
            (node.function, repr(mapped((node.args, node.kwargs), text))) for node in self.order
        ]
        return (tuple(types), tuple(calls), tuple(places[id(root)] for root in self.roots))


class Compiled:
    """A program on a session of its own."""

    def __init__(self, program):
        import tempfile

        import samba

        inputs = self.inputs(program)
        self.session = samba.SambaSession()
        with tempfile.TemporaryDirectory(prefix="samba-tensor-") as folder:
            path = self.session.compile(
                program,
                inputs,
                name="tensor",
                output_folder=folder,
                pef_name="tensor",
                inference=True,
            )
            self.outputs = self.session.load_and_trace(program, inputs, pef=path)

    @staticmethod
    def inputs(program):
        import samba

        return tuple(
            samba.from_torch_tensor(buffer.values, name=f"in{i}")
            for i, buffer in enumerate(program.buffers_read)
        )

    def run(self, program):
        """The values of the roots, as new host tensors."""
        import samba

        results = self.session.run(self.inputs(program), self.outputs, train=False)
        return [samba.to_torch(result).clone() for result in results]


MOST_COMPILED = 32
_compiled = collections.OrderedDict()


def compiled(program):
    """The program, compiled now or before: the last ones are kept."""
    key = program.key()
    if key not in _compiled:
        _compiled[key] = Compiled(program)
        while len(_compiled) > MOST_COMPILED:
            _compiled.popitem(last=False)
    _compiled.move_to_end(key)
    return _compiled[key]


class Schedule:
    """What schedule() gives: the compiled program of some tensors, ready to run.

    calls: the section ids that run, in order. len() is their number."""

    def __init__(self, roots):
        self.roots = roots
        self.program = Program(roots) if in_order(roots) else None
        self.compiled = compiled(self.program) if self.program else None
        self.calls = self.compiled.session.get_calls() if self.program else []

    def __len__(self):
        return len(self.calls)

    def __iter__(self):
        return iter(self.calls)

    def run(self):
        """Computes the tensors that were scheduled."""
        if self.program is None:
            return
        for root, values in zip(self.program.roots, self.compiled.run(self.program)):
            root.buffer = Buffer(values)

    def __repr__(self):
        return f"Schedule({len(self.calls)} calls, {len(self.roots)} tensors)"


def split_sizes(total, count):
    """How many of total elements each of count devices gets when nobody says."""
    size = (total + count - 1) // count
    return tuple(max(0, min(size, total - size * index)) for index in range(count))


def shard_views(shape, count, axis=None, splits=None):
    """[(shape, strides, offset)] of the parts of a tensor on count devices.

    axis None: each device has everything. splits: sizes along the axis; they must add up to it.
    Strides are those of the part alone, in elements; 0 for a dimension of size 1."""
    if axis is None:
        return [(tuple(shape), contiguous_strides(shape), 0)] * count
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"axis is {axis}, but the tensor has {len(shape)} dimensions")
    axis %= len(shape)
    sizes = split_sizes(shape[axis], count) if splits is None else tuple(splits)
    if len(sizes) != count:
        raise ValueError(f"splits {sizes} are {len(sizes)}, but there are {count} devices")
    if any(size < 0 for size in sizes) or sum(sizes) != shape[axis]:
        text = f"splits {sizes} add up to {sum(sizes)}, but dimension {axis} of {tuple(shape)} has "
        raise ValueError(text + str(shape[axis]))
    parts = [(*shape[:axis], size, *shape[axis + 1 :]) for size in sizes]
    return [(part, contiguous_strides(part), 0) for part in parts]


def contiguous_strides(shape):
    """Row-major strides in elements; 0 where the size is 1."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(0 if size == 1 else step)
        step *= size
    return tuple(reversed(strides))


def refuse_different(what, one, other, verb):
    if one != other:
        raise ValueError(f"{verb}: {what} differs: {one} is not {other}")


class Tensor:
    """A tensor whose values are computed when they are asked for.

    data: a number, a (nested) list, a NumPy array, a torch tensor, bytes or another Tensor; given
        numbers become int32 or float32 unless dtype says otherwise.
    dtype: a torch.dtype. device: a name, default 'RDU'. requires_grad: None leaves it open."""

    __slots__ = ("_node", "_device", "_axis", "_splits", "_meta")
    __slots__ += ("requires_grad", "grad", "__weakref__")
    __array_priority__ = 1000

    def __init__(self, data, dtype=None, device=None, requires_grad=None):
        if isinstance(data, Tensor):
            data = data._values().clone()
        values = torch.as_tensor(data)
        if not isinstance(data, torch.Tensor) and not hasattr(data, "__array__"):
            default = {torch.int64: torch.int32, torch.float64: torch.float32}
            values = values.to(default.get(values.dtype, values.dtype))
        values = values if dtype is None else values.to(dtype)
        self._set(Buffer(values), values.to("meta"), device or DEVICE, requires_grad)

    def _set(self, node, meta, device, requires_grad, axis=None, splits=None):
        self._node, self._meta, self._device = node, meta, device
        self._axis, self._splits = axis, splits
        if requires_grad and not meta.is_floating_point():
            raise RuntimeError(f"a tensor of type {meta.dtype} has no gradient")
        self.requires_grad, self.grad = requires_grad, None
        self._own()

    def _own(self):
        """Gradients of the buffer go to this tensor."""
        if self.requires_grad and isinstance(self._node, Buffer):
            self._node.owner = weakref.ref(self)

    @classmethod
    def _result(cls, function, args, kwargs):
        """The tensor that a torch function gives for these arguments."""

        def to_meta(leaf):
            return leaf._meta if isinstance(leaf, Tensor) else leaf

        def to_node(leaf):
            return leaf._node if isinstance(leaf, Tensor) else leaf

        tensors = [leaf for leaf in leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        devices = {tensor._device for tensor in tensors}
        if len(devices) > 1:
            raise ValueError(f"tensors on different devices: {sorted(map(str, devices))}")
        with torch.no_grad():
            meta = function(*mapped(args, to_meta), **mapped(kwargs, to_meta))
        if not isinstance(meta, torch.Tensor):
            name = getattr(function, "__name__", function)
            raise NotImplementedError(f"{name} gives no single tensor; call it on tensor.numpy()")
        self = cls.__new__(cls)
        needs = any(tensor.requires_grad for tensor in tensors) and meta.is_floating_point()
        if getattr(function, "__name__", "") == "detach":
            needs = False
        node = Expression(function, mapped(args, to_node), mapped(kwargs, to_node))
        self._set(node, meta, tensors[0]._device, needs or None)
        return self

    # What it is.

    @property
    def shape(self):
        """Sizes as a tuple."""
        return tuple(self._meta.shape)

    @property
    def dtype(self):
        """A torch.dtype."""
        return self._meta.dtype

    @property
    def device(self):
        """A name, or a tuple of names when the tensor is sharded."""
        return self._device

    @property
    def ndim(self):
        """The number of dimensions."""
        return self._meta.dim()

    def dim(self):
        """The number of dimensions."""
        return self.ndim

    def numel(self):
        """The number of elements."""
        return self._meta.numel()

    def element_size(self):
        """Bytes of one element."""
        return self._meta.element_size()

    def nbytes(self):
        """Bytes of all elements."""
        return self.numel() * self.element_size()

    def is_floating_point(self):
        """True for float16, bfloat16, float32 and float64."""
        return self._meta.is_floating_point()

    def size(self, dim=None):
        """All sizes, or that of one dimension; IndexError when there is no such dimension."""
        return self.shape if dim is None else self._meta.size(dim)

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("len() of a tensor without dimensions")
        return self.shape[0]

    # Its values.

    def _values(self):
        return settled(self.realize()._node).values

    def numpy(self):
        """The values as a NumPy array of the same type; bfloat16 becomes float32."""
        values = self._values()
        return (values.float() if values.dtype == torch.bfloat16 else values).numpy().copy()

    def __array__(self, dtype=None):
        values = self.numpy()
        return values if dtype is None else values.astype(dtype)

    def torch(self):
        """The values as a torch tensor."""
        return self._values().clone()

    def tolist(self):
        """The values as nested lists, or as a number."""
        return self._values().tolist()

    def item(self):
        """The value of a tensor of one element; ValueError when it has another number."""
        if self.numel() != 1:
            raise ValueError(f"item() needs one element, but shape {self.shape} has {self.numel()}")
        return self._values().item()

    def data(self):
        """The values as a memoryview; TypeError for bfloat16, which Python has no format for."""
        if self.dtype == torch.bfloat16:
            raise TypeError("data(): bfloat16 has no format in Python; use numpy()")
        return memoryview(self._values().contiguous().numpy())

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __bool__(self):
        raise TypeError("a Tensor is neither true nor false; use item() for its value")

    # When it is computed.

    def schedule_with_vars(self, *others):
        """(Schedule of this tensor and the others, values of variables: always {}).

        RuntimeError when one of them was scheduled before."""
        roots = [t._node for t in (self, *others)]
        for node in roots:
            if isinstance(node, Expression) and node.scheduled:
                raise RuntimeError("the tensor is already scheduled; a tensor is scheduled once")
        waiting = [n for n in roots if isinstance(settled(n), Expression)]
        schedule = Schedule(waiting)
        for node in waiting:
            node.scheduled = True
        return schedule, {}

    def schedule(self, *others):
        """The Schedule of this tensor and the others: compiled, not yet run."""
        return self.schedule_with_vars(*others)[0]

    def realize(self, *others, do_update_stats=True):
        """Computes this tensor and the others on the device; returns this one.

        A tensor that has its values is left alone. do_update_stats=False: the session's report
        does not count the run."""
        tensors = (self, *others)
        roots = {id(n): n for n in (settled(t._node) for t in tensors)}
        waiting = [n for n in roots.values() if isinstance(n, Expression)]
        if waiting:
            Schedule(waiting).run()
        for tensor in tensors:
            tensor._finish()
        return self

    def _finish(self):
        """After the values have come: an assignment writes them into the memory of its target."""
        node, target = self._node, getattr(self._node, "target", None)
        if target is not None and node.buffer is not target:
            target.write(node.buffer.values)
            node.buffer = target
        if not self.requires_grad:
            self._node = settled(node)  # no gradient flows: the expression has done its work

    @property
    def is_realized(self):
        """Whether the values are there."""
        return isinstance(settled(self._node), Buffer)

    def contiguous(self):
        """The same values in row-major order."""
        return Tensor._result(torch.Tensor.contiguous, (self,), {})

    def contiguous_backward(self):
        """The same tensor; its gradient is made contiguous."""
        from samba.functional import contiguous_backward

        return Tensor._result(contiguous_backward, (self,), {})

    # New values for the same tensor.

    def replace(self, x):
        """Takes the data of x, which must have the same shape; type and device may differ.

        ValueError: another shape. RuntimeError: x requires a gradient, or this tensor was computed
        from one that does."""
        refuse_different("shape", self.shape, x.shape, "replace")
        if x.requires_grad:
            raise RuntimeError("replace: the new data require a gradient; detach() them")
        if isinstance(self._node, Expression) and self.requires_grad:
            raise RuntimeError(
                "replace: this tensor was computed from one that requires a gradient"
            )
        self._node, self._meta, self._device = x._node, x._meta, x._device
        return self

    def assign(self, x):
        """Writes x over this tensor: into the same memory when it has its values already.

        Something that is no Tensor becomes one of this type. ValueError: shape, type, device or
        axis of sharding differ; RuntimeError: x requires a gradient."""
        if not isinstance(x, Tensor):
            x = Tensor(torch.as_tensor(x).to(self.dtype), device=self._device)
        if x is self or x._node is self._node:
            return self
        refuse_different("shape", self.shape, x.shape, "assign")
        refuse_different("device", self._device, x._device, "assign")
        refuse_different("type", self.dtype, x.dtype, "assign")
        refuse_different("axis", self._axis, x._axis, "assign")
        if x.requires_grad:
            raise RuntimeError("assign: the new values require a gradient; detach() them")
        target = settled(self._node)
        if not isinstance(target, Buffer):
            return self.replace(x)
        node = Expression(torch.clone, (x._node,), {})
        node.target = target
        self._node = node
        return self

    def detach(self):
        """The same values; no gradient flows through."""
        result = Tensor._result(torch.Tensor.detach, (self,), {})
        result.requires_grad = False
        return result

    # Devices.

    def to(self, device):
        """This tensor when it is there already, else a copy: on another device, or sharded over a
        tuple of them. A torch.dtype converts."""
        if isinstance(device, torch.dtype):
            return self.cast(device)
        if device is None or device == self._device:
            return self
        if isinstance(device, (tuple, list)):
            return self.shard(tuple(device))
        result = self._same(device, None, None)
        if self.grad is not None:
            result.grad = self.grad.to(device)
        return result

    def to_(self, device):
        """to() in place."""
        moved = self.to(device)
        self._device, self._axis, self._splits = moved._device, moved._axis, moved._splits
        if self.grad is not None:
            self.grad = self.grad.to(device)
        return self

    def _same(self, device, axis, splits):
        result = Tensor.__new__(Tensor)
        result._set(self._node, self._meta, device, self.requires_grad, axis, splits)
        return result

    def shard(self, devices, axis=None, splits=None):
        """The tensor spread over devices: whole on each (axis None), or cut along an axis.

        splits: sizes along the axis; default: equal parts, the last ones smaller.
        RuntimeError: it is sharded already. ValueError: no devices, or splits that do not add up.
        """
        if isinstance(self._device, tuple):
            raise RuntimeError(f"the tensor is already sharded over {self._device}")
        devices = tuple(devices)
        if not devices:
            raise ValueError("shard: there are no devices")
        views = shard_views(self.shape, len(devices), axis, splits)
        if axis is not None:
            axis %= self.ndim
            splits = tuple(shape[axis] for shape, _, _ in views)
        return self._same(devices, axis, splits)

    def shard_(self, devices, axis=None, splits=None):
        """shard() in place."""
        sharded = self.shard(devices, axis, splits)
        self._device, self._axis, self._splits = sharded._device, sharded._axis, sharded._splits
        return self

    @property
    def shards(self):
        """The parts as tensors, one for each device."""
        if not isinstance(self._device, tuple):
            return [self]
        if self._axis is None:
            return [self._same(device, None, None) for device in self._device]
        starts = [0, *itertools.accumulate(self._splits)]
        whole, result = self._same(self._device[0], None, None), []
        for device, start, size in zip(self._device, starts, self._splits):
            part = Tensor._result(torch.narrow, (whole, self._axis, start, size), {})
            result.append(part._same(device, None, None))
        return result

    # Gradients.

    def requires_grad_(self, requires_grad=True):
        """Marks the tensor for gradients and returns it."""
        if requires_grad and not self.is_floating_point():
            raise RuntimeError(f"a tensor of type {self.dtype} has no gradient")
        self.requires_grad = requires_grad
        self._own()
        return self

    def backward(self, gradient=None, retain_graph=False):
        """Adds the gradients of this tensor to `grad` of the tensors that require one.

        gradient: where it starts; may be left out for a tensor of one element. ValueError: it is
        missing, or has another shape. RuntimeError: nothing requires a gradient, or an earlier
        backward pass dropped the graph (retain_graph=True keeps it)."""
        if gradient is None and self.numel() != 1:
            text = f"backward of shape {self.shape} needs a gradient; only that of one element "
            raise ValueError(text + "starts with 1")
        if gradient is not None:
            refuse_different("shape", tuple(gradient.shape), self.shape, "backward: gradient")
        if not self.requires_grad:
            raise RuntimeError("backward: no tensor that this one comes from requires a gradient")
        backward_pass(self, gradient, retain_graph)
        return self

    # Everything else is torch's.

    def cast(self, dtype):
        """The values as another torch.dtype; this tensor when it has it."""
        return self if dtype == self.dtype else Tensor._result(torch.Tensor.to, (self, dtype), {})

    def __getitem__(self, index):
        return Tensor._result(torch.Tensor.__getitem__, (self, index), {})

    @property
    def T(self):
        """The transposed matrix."""
        return Tensor._result(torch.Tensor.t, (self,), {})

    def __getattr__(self, name):
        function = None if name.startswith("_") else getattr(torch.Tensor, name, None)
        if not callable(function) or name.endswith("_"):
            names = [n for n in (*dir(Tensor), *dir(torch.Tensor)) if not n.startswith("_")]
            raise AttributeError("samba.Tensor: " + unknown("member", name, set(names)))

        def method(*args, **kwargs):
            return Tensor._result(function, (self, *args), kwargs)

        method.__name__ = name
        method.__doc__ = function.__doc__
        return method

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    def __hash__(self):
        return id(self)

    def __repr__(self):
        state = "computed" if self.is_realized else "waiting"
        gradient = ", requires_grad" if self.requires_grad else ""
        return f"<samba.Tensor {self.shape} {self.dtype} on {self._device}, {state}{gradient}>"


def binary(name, reflected=False):
    function = getattr(torch, name)

    def operator(self, other):
        if not isinstance(other, (Tensor, int, float, bool)):
            return NotImplemented
        first, second = (other, self) if reflected else (self, other)
        if reflected and not isinstance(other, Tensor):
            first = Tensor(other, dtype=scalar_type(self, other), device=self._device)
        return Tensor._result(function, (first, second), {})

    return operator


def scalar_type(tensor, number):
    """The type that a number takes beside a tensor."""
    return torch.result_type(tensor._meta, number)


OPERATORS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "matmul": "matmul",
}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
for _name, _function in OPERATORS.items():
    setattr(Tensor, f"__{_name}__", binary(_function))
    setattr(Tensor, f"__r{_name}__", binary(_function, reflected=True))
for _name in COMPARISONS:
    setattr(Tensor, f"__{_name}__", binary(_name))
Tensor.__neg__ = lambda self: Tensor._result(torch.neg, (self,), {})
Tensor.__abs__ = lambda self: Tensor._result(torch.abs, (self,), {})
