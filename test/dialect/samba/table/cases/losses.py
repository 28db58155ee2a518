"""Losses."""
import torch
import torch.nn.functional as F

from writer import case

torch.manual_seed(11)
x, y = torch.randn(3, 4), torch.randn(3, 4)
for reduction in ["mean", "sum", "none"]:
    case("mse_loss", [x, y], F.mse_loss(x, y, reduction=reduction), reduction=reduction)
