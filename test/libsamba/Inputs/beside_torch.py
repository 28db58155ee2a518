"""Compiles a graph with libsamba.so in a process that has PyTorch, and computes with both."""
import ctypes
import sys

path, order = sys.argv[1:3]
if order == "torch-first":
    import torch
samba = ctypes.CDLL(path)
import torch  # noqa: E402,F811

for name in ("sambaTraceCreate", "sambaTraceInput", "sambaRelu", "sambaTraceDestroy"):
    getattr(samba, name).restype = ctypes.c_void_p
samba.sambaStatusGetMessage.restype = ctypes.c_char_p


class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


context = ctypes.c_void_p()
assert not samba.sambaContextCreate(ctypes.byref(context))
samba.sambaContextSetTarget(context, b"tiny")
trace = ctypes.c_void_p(samba.sambaTraceCreate(context, b"forward"))
x = samba.sambaTraceInput(trace, b"x", 0, 2, (ctypes.c_int64 * 2)(4, 8))
y = samba.sambaRelu(ctypes.c_void_p(x))
samba.sambaTraceOutput(trace, b"y", ctypes.c_void_p(y))
pef = Bytes()
status = samba.sambaCompileTraceToMemory(context, trace, None, ctypes.byref(pef))
assert not status, samba.sambaStatusGetMessage(status)
assert pef.size > 1000 and ctypes.string_at(pef.data, 4) == b"\x7fELF"
samba.sambaFree(ctypes.c_void_p(pef.data))
samba.sambaTraceDestroy(trace)
samba.sambaContextDestroy(context)

model = torch.jit.script(torch.nn.Linear(3, 2))  # its compiler, too
assert model(torch.ones(1, 3)).shape == (1, 2)
print("both work")
