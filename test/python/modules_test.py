"""Module classes of torch.nn, traced, compiled for inference and for training, and run for one
step, against PyTorch: outputs, gradients of inputs and parameters, new parameters, buffers.
G001 G009."""
import os
import sys
import unittest

import torch
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from device import check_inference, check_model  # noqa: E402


def numbers(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


flat, row, image, volume = (
    numbers(4, 6),
    numbers(2, 4, 9),
    numbers(2, 4, 8, 8),
    numbers(1, 2, 4, 4, 4),
)
sequence = numbers(5, 2, 6)
signs = torch.where(numbers(4, 6) > 0, 1, -1)
ids = torch.tensor([[0, 3, 2], [4, 1, 0]])

CASES = {
    "Linear": (lambda: nn.Linear(6, 5), flat),
    "LinearNoBias": (lambda: nn.Linear(6, 5, bias=False), sequence),
    "Bilinear": (lambda: nn.Bilinear(6, 6, 3), flat, flat + 1),
    "Identity": (lambda: nn.Sequential(nn.Identity(), nn.Linear(6, 2)), flat),
    "Conv1d": (lambda: nn.Conv1d(4, 3, 3, padding=1), row),
    "Conv2d": (lambda: nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), image),
    "Conv2dReflect": (lambda: nn.Conv2d(4, 3, 3, padding=1, padding_mode="reflect"), image),
    "Conv3d": (lambda: nn.Conv3d(2, 3, 2), volume),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(4, 3, 3, stride=2), row),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(4, 3, 2, stride=2), image),
    "MaxPool1d": (lambda: nn.MaxPool1d(2), row),
    "MaxPool2d": (lambda: nn.MaxPool2d(2), image),
    "MaxPool3d": (lambda: nn.MaxPool3d(2), volume),
    "AvgPool1d": (lambda: nn.AvgPool1d(3), row),
    "AvgPool2d": (lambda: nn.AvgPool2d(2), image),
    "AvgPool3d": (lambda: nn.AvgPool3d(2), volume),
    "LPPool2d": (lambda: nn.LPPool2d(2, 2), image.abs() + 0.1),
    "AdaptiveAvgPool1d": (lambda: nn.AdaptiveAvgPool1d(3), row),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((4, 3)), image),
    "AdaptiveMaxPool2d": (lambda: nn.AdaptiveMaxPool2d(2), image),
    "ZeroPad2d": (lambda: nn.ZeroPad2d(1), image),
    "ConstantPad1d": (lambda: nn.ConstantPad1d((1, 2), 0.5), row),
    "ReflectionPad2d": (lambda: nn.ReflectionPad2d(2), image),
    "ReplicationPad2d": (lambda: nn.ReplicationPad2d((1, 2, 0, 1)), image),
    "ReLU": (nn.ReLU, flat),
    "ReLUInPlace": (lambda: nn.Sequential(nn.Linear(6, 4), nn.ReLU(inplace=True)), flat),
    "ReLU6": (nn.ReLU6, flat),
    "ELU": (nn.ELU, flat),
    "CELU": (nn.CELU, flat),
    "SELU": (nn.SELU, flat),
    "GELU": (nn.GELU, flat),
    "SiLU": (nn.SiLU, flat),
    "Mish": (nn.Mish, flat),
    "Hardtanh": (nn.Hardtanh, flat),
    "Hardswish": (nn.Hardswish, flat),
    "Hardsigmoid": (nn.Hardsigmoid, flat),
    "LeakyReLU": (lambda: nn.LeakyReLU(0.1), flat),
    "PReLU": (lambda: nn.PReLU(4), image),
    "Sigmoid": (nn.Sigmoid, flat),
    "Tanh": (nn.Tanh, flat),
    "Softplus": (nn.Softplus, flat),
    "Softsign": (nn.Softsign, flat),
    "Tanhshrink": (nn.Tanhshrink, flat),
    "Softshrink": (nn.Softshrink, flat),
    "Hardshrink": (nn.Hardshrink, flat),
    "Threshold": (lambda: nn.Threshold(0.1, 0.0), flat),
    "GLU": (nn.GLU, flat),
    "LogSigmoid": (nn.LogSigmoid, flat),
    "Softmax": (lambda: nn.Sequential(nn.Softmax(-1), nn.Linear(6, 3)), flat),
    "LogSoftmax": (lambda: nn.Sequential(nn.LogSoftmax(-1), nn.Linear(6, 3)), flat),
    "Softmin": (lambda: nn.Sequential(nn.Softmin(-1), nn.Linear(6, 3)), flat),
    "Softmax2d": (lambda: nn.Sequential(nn.Softmax2d(), nn.Conv2d(4, 2, 1)), image),
    "LayerNorm": (lambda: nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 3)), flat),
    "GroupNorm": (lambda: nn.Sequential(nn.GroupNorm(2, 4), nn.Conv2d(4, 2, 1)), image),
    "BatchNorm1d": (lambda: nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 3)), flat),
    "BatchNorm2d": (lambda: nn.Sequential(nn.BatchNorm2d(4), nn.Conv2d(4, 2, 3)), image),
    "InstanceNorm2d": (
        lambda: nn.Sequential(nn.InstanceNorm2d(4, affine=True), nn.Conv2d(4, 2, 3)),
        image,
    ),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(2), image),
    "Embedding": (lambda: nn.Embedding(5, 4), ids),
    "EmbeddingPadding": (lambda: nn.Embedding(5, 4, padding_idx=0), ids),
    "LSTM": (lambda: nn.LSTM(6, 4), sequence),
    "LSTMTwoLayers": (lambda: nn.LSTM(6, 4, 2, bidirectional=True, batch_first=True), sequence),
    "GRU": (lambda: nn.GRU(6, 4), sequence),
    "RNN": (lambda: nn.RNN(6, 4), sequence),
    "RNNReLU": (lambda: nn.RNN(6, 4, nonlinearity="relu", bias=False), sequence),
    "LSTMCell": (lambda: nn.LSTMCell(6, 4), flat),
    "GRUCell": (lambda: nn.GRUCell(6, 4), flat),
    "RNNCell": (lambda: nn.RNNCell(6, 4), flat),
    "MultiheadAttention": (lambda: Self(nn.MultiheadAttention(6, 2, batch_first=True)), sequence),
    "MultiheadAttentionCross": (
        lambda: nn.MultiheadAttention(6, 3),
        sequence,
        sequence + 1,
        sequence - 1,
    ),
    "TransformerEncoderLayer": (lambda: nn.TransformerEncoderLayer(6, 2, 8, 0.0), sequence),
    "TransformerDecoderLayer": (
        lambda: nn.TransformerDecoderLayer(6, 2, 8, 0.0),
        sequence,
        sequence * 0.5,
    ),
    "TransformerEncoder": (
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(6, 2, 8, 0.0, "gelu", batch_first=True, norm_first=True), 2
        ),
        sequence,
    ),
    "Flatten": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(256, 3)), image),
    "Unflatten": (lambda: nn.Unflatten(1, (2, 3)), flat),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), image),
    "PixelUnshuffle": (lambda: nn.PixelUnshuffle(2), image),
    "Upsample": (lambda: nn.Upsample(scale_factor=2), image),
    "Unfold": (lambda: nn.Unfold(2), image),
    "Fold": (lambda: nn.Fold((5, 5), 2), numbers(1, 8, 16)),
    "CosineSimilarity": (nn.CosineSimilarity, flat, flat + 1),
    "PairwiseDistance": (nn.PairwiseDistance, flat, flat * 2),
    "CrossEntropyLoss": (nn.CrossEntropyLoss, flat, torch.tensor([0, 5, 2, 1])),
    "NLLLoss": (nn.NLLLoss, flat, torch.tensor([0, 5, 2, 1])),
    "MSELoss": (nn.MSELoss, flat, flat * 2),
    "L1Loss": (nn.L1Loss, flat, flat * 2),
    "SmoothL1Loss": (nn.SmoothL1Loss, flat, flat * 3),
    "HuberLoss": (nn.HuberLoss, flat, flat * 3),
    "BCEWithLogitsLoss": (nn.BCEWithLogitsLoss, flat, (flat * 2 - 1).sigmoid()),
    "KLDivLoss": (lambda: nn.KLDivLoss(reduction="batchmean"), flat, flat.softmax(-1)),
    "TripletMarginLoss": (nn.TripletMarginLoss, flat, flat * 2, flat - 1),
    "BCELoss": (lambda: Squashed(nn.BCELoss()), flat, (flat * 2 - 1).sigmoid()),
    "PoissonNLLLoss": (nn.PoissonNLLLoss, flat, (flat * 2).exp()),
    "GaussianNLLLoss": (nn.GaussianNLLLoss, flat, flat * 2, flat.exp()),
    "SoftMarginLoss": (lambda: Signed(nn.SoftMarginLoss()), flat, signs),
    "MarginRankingLoss": (lambda: Signed(nn.MarginRankingLoss(0.3)), flat, flat * 2, signs),
    "HingeEmbeddingLoss": (lambda: Signed(nn.HingeEmbeddingLoss()), flat, signs),
    "CosineEmbeddingLoss": (
        lambda: Signed(nn.CosineEmbeddingLoss(0.1)),
        flat,
        numbers(6, 4).t(),
        signs[:, 0],
    ),
    "CrossEntropySmooth": (
        lambda: nn.CrossEntropyLoss(label_smoothing=0.1),
        flat,
        torch.tensor([0, 5, 2, 1]),
    ),
    "Dropout": (lambda: nn.Sequential(nn.Linear(6, 3), nn.Dropout(0.0)), flat),
    "ChannelDropout": (lambda: nn.Sequential(nn.Conv2d(4, 2, 1), nn.Dropout2d(0.0)), image),
    "WeightTying": (lambda: Tied(), ids),
}


class Squashed(nn.Module):
    """A loss of probabilities."""

    def __init__(self, loss):
        super().__init__()
        self.loss = loss

    def forward(self, x, target):
        return self.loss(torch.sigmoid(x), target)


class Signed(nn.Module):
    """A loss whose last input says 1 or -1."""

    def __init__(self, loss):
        super().__init__()
        self.loss = loss

    def forward(self, *inputs):
        return self.loss(*inputs[:-1], inputs[-1].float())


class Self(nn.Module):
    """Attention of a sequence to itself."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x, x, x)


class Tied(nn.Module):
    """One parameter at two places."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.embed(x).tanh())


class ModulesTest(unittest.TestCase):
    pass


def method(name, make, inputs):
    def test(self):
        torch.manual_seed(3)
        model = make()
        check_inference(model, inputs)
        check_model(model, inputs)

    test.__doc__ = name
    return test


for _name, (_make, *_inputs) in CASES.items():
    setattr(ModulesTest, f"test_{_name}", method(_name, _make, _inputs))

if __name__ == "__main__":
    unittest.main()
