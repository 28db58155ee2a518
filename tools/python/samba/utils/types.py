"""Types of elements by the names that programs use: SNType, parse_dtype."""
import enum

import torch

from samba.names import unknown


class SNType(enum.Enum):
    """Types of elements. PyTorch has no UINT16 and UINT32: their values are computed as i32 and
    i64."""

    BOOL = "bool"
    INT8 = "int8"
    UINT8 = "uint8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    INT64 = "int64"
    BF16 = "bfloat16"
    BFLOAT16 = "bfloat16"
    FP16 = "float16"
    FLOAT16 = "float16"
    FP32 = "float32"
    FLOAT32 = "float32"

    @staticmethod
    def to_torch_reference_type(sn_type):
        """The dtype in which PyTorch holds values of that type."""
        return torch_dtype(sn_type)


WIDER = {"uint16": torch.int32, "uint32": torch.int64}


def torch_dtype(dtype):
    """The torch dtype of one, of an SNType or of a name. ValueError for an unknown name."""
    if isinstance(dtype, torch.dtype):
        return dtype
    name = dtype.value if isinstance(dtype, SNType) else str(dtype).replace("torch.", "")
    found = WIDER.get(name) or getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        names = sorted({kind.value for kind in SNType})
        raise ValueError(unknown("dtype", name, names))
    return found


def parse_dtype(name):
    """The torch dtype that a text names: 'bfloat16', 'torch.float32'."""
    return torch_dtype(name)
