"""Operators that move no data, and those that copy it."""
import torch
import torch.nn.functional as F

from writer import case

torch.manual_seed(13)
x, i = torch.randn(2, 3, 4), torch.arange(-12, 12).reshape(2, 3, 4)
for name in ["contiguous", "contiguous_backward", "detach"]:
    case(name, [x], x)
    case(name, [i > 0], i > 0)
case("expand", [x[:1]], x[:1].expand(5, 3, 4), shape=[5, 3, 4])
case("expand", [i[0, :, :1]], i[0, :, :1].expand(2, 3, 4), shape=[2, 3, 4])
case("permute", [x], x.permute(2, 0, 1), dims=[2, 0, 1])
case("reshape", [x], x.reshape(4, 6), shape=[4, 6])
case("reshape", [x[0, 0, :1]], x[0, 0, 0], shape=[])
case("slice", [x], x[1:, :, 1:4:2], starts=[1, 0, 1], ends=[2, 3, 4], steps=[1, 1, 2])
case("slice", [i], i.flip(1)[:, ::2], starts=[0, 2, 0], ends=[2, -1, 4], steps=[1, -2, 1])
case("pad", [x], F.pad(x, (1, 2, 0, 1), value=0.5), low=[0, 0, 1], high=[0, 1, 2], value=0.5)
