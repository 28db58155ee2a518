"""Writes calls of operators with operands and the results of PyTorch or NumPy: what stages_test
reads.

Each family has FAMILY.py, which prints FAMILY.txt; run by hand after adding operators:
/usr/bin/python3 FAMILY.py > FAMILY.txt (python3-torch, python3-numpy). Format, one item per line:
case NAME / attr NAME KIND VALUES.. / in DTYPE DIMS : VALUES.. / out DTYPE DIMS : VALUES.. (one per
result) / end
"""
import torch

names = {
    torch.float32: "f32",
    torch.bfloat16: "bf16",
    torch.float16: "f16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "ui8",
    torch.bool: "i1",
}


def tensor(t):
    values = t.double().flatten().tolist()
    return f"{names[t.dtype]} {' '.join(map(str, t.shape))} : " + " ".join(
        f"{v:.9g}" if t.is_floating_point() else str(int(v)) for v in values
    )


def write_attributes(attributes):
    for key, value in attributes.items():
        if isinstance(value, bool):
            print("attr", key, "b", int(value))
        elif isinstance(value, int):
            print("attr", key, "i", value)
        elif isinstance(value, float):
            print("attr", key, "f", repr(value))
        elif isinstance(value, str):
            print("attr", key, "t" if key.endswith("dtype") else "s", value)
        elif isinstance(value[0] if value else 0, float):
            print("attr", key, "F", *map(repr, value))
        else:
            print("attr", key, "I", *value)


def case(name, operands, result, **attributes):
    print("case", name)
    write_attributes(attributes)
    for operand in operands:
        print("in", tensor(operand))
    for one in result if isinstance(result, (tuple, list)) else [result]:
        print("out", tensor(one))
    print("end")
