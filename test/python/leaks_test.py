"""Looks for memory that nobody holds after many runs.

    leaks_test.py           runs a model and lazy tensors, then asks LeakSanitizer, which says on
                            stderr what it found (of Python and PyTorch, too)
    leaks_test.py REPORT    refuses a report that has a function of Samba's in it
"""
import ctypes
import gc
import os
import sys
import tempfile


def run(count):
    import torch

    import samba

    model = samba.from_torch_model_(torch.nn.Linear(16, 16))
    x, feed = samba.randn(4, 16, name="x"), torch.randn(4, 16)
    optimizer = samba.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(10):
            path = samba.session.compile(model, (x,), optimizer, name="n", output_folder=folder)
        outputs = samba.utils.trace_graph(model, (x,), optimizer, pef=path)
        for index in range(count):
            inputs = [samba.from_torch_tensor(feed, name="x")]
            samba.session.run(inputs, outputs, hyperparam_dict={"lr": 0.01})
            if index % 50 == 0:
                lazily(samba.Tensor, feed)
        samba.SambaSession().reset(path)
    samba.session.reset()


def lazily(Tensor, feed):
    """Values, gradients and a refusal of lazy tensors."""
    x = Tensor(feed, requires_grad=True)
    loss = (x.relu() * 2).sum()
    loss.schedule()
    loss.backward()
    x.grad.assign(x.grad + 1).tolist()
    x.detach().shard(("A", "B"), axis=0)
    try:
        x.detach().replace(Tensor([1.0]))
    except ValueError:
        return
    raise AssertionError("a wrong shape was taken")


def check(report):
    """The leaks of a report with a frame in Samba's files."""
    with open(report, encoding="utf-8") as file:
        text = file.read()
    assert "LeakSanitizer" in text, "LeakSanitizer did not look"
    leaks = [part for part in text.split("\n\n") if "leak of" in part]
    ours = [part for part in leaks if "samba" in part]
    assert leaks, "the interpreter leaves a little behind, so that an empty report is none"
    sys.exit("\n\n".join(ours) or 0)


if len(sys.argv) > 1:
    check(sys.argv[1])
run(10000 if os.environ.get("SAMBA_CHECK") in ("full", "long") else 500)
gc.collect()
print("runs are done", flush=True)
ctypes.CDLL(None).__lsan_do_recoverable_leak_check()
