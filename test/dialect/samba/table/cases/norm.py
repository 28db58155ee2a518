"""Normalizations and their statistics."""
import torch
import torch.nn.functional as F

from writer import case

torch.manual_seed(23)


def r(*shape):
    return torch.randn(*shape)


x, g, b, mean, var = r(2, 3, 4, 2), r(3), r(3), r(3), torch.rand(3) + 0.1


def training(x, momentum, eps):
    dims = [0, *range(2, x.dim())]
    m, v = x.double().mean(dims), x.double().var(dims, unbiased=False)
    shape = [1, -1] + [1] * (x.dim() - 2)
    y = (x - m.view(shape)) / (v.view(shape) + eps).sqrt() * g.view(shape) + b.view(shape)
    return y, mean * momentum + m * (1 - momentum), var * momentum + v * (1 - momentum), m, v


case("batch_norm_training", [x, g, b, mean, var], [t.float() for t in training(x, 0.9, 1e-5)])
case(
    "batch_norm_training",
    [far := x + 2, g, b, mean, var],
    [t.float() for t in training(far, 0.25, 1e-2)],
    momentum=0.25,
    eps=1e-2,
)
case(
    "batch_norm_training",
    [r2 := r(5, 3), g, b, mean, var],
    [t.float() for t in training(r2, 0.5, 1e-5)],
    momentum=0.5,
)
y, m, v, bm, bv = training(x, 0.9, 1e-5)
count = x.numel() / x.shape[1]
unbiased = var * 0.9 + bv * (count / (count - 1)) * (1 - 0.9)
case(
    "batch_norm_training",
    [x, g, b, mean, var],
    [t.float() for t in (y, m, unbiased, bm, bv)],
    unbiased=True,
)
half = x.bfloat16()
y, *statistics = training(half.float(), 0.9, 1e-5)
case(
    "batch_norm_training", [half, g, b, mean, var], [y.bfloat16()] + [t.float() for t in statistics]
)

w, c = r(4, 2), r(4, 2)
y, m, d = torch.native_layer_norm(x, (4, 2), w, c, 1e-3)
case("native_layer_norm", [x, w, c], [y, m, d], normalized_shape=[4, 2], eps=1e-3)
y, m, d = torch.native_layer_norm(x, (3, 4, 2), None, None, 1e-5)
case("native_layer_norm", [x], [y, m, d], normalized_shape=[3, 4, 2])
y, m, d = torch.native_layer_norm(half.double(), (2,), None, None, 1e-5)
case(
    "native_layer_norm",
    [half],
    [y.bfloat16(), m.float(), d.float()],
    normalized_shape=[2],
    dtype="f32",
)
case("native_layer_norm", [half], [y.bfloat16(), m.bfloat16(), d.bfloat16()], normalized_shape=[2])


def mean_variance(x, dims):
    x = x.double()
    return (x - x.mean(dims, keepdim=True)) / (
        x.var(dims, unbiased=False, keepdim=True).sqrt() + 1e-9
    )


case("mean_variance_norm", [x], mean_variance(x, (0, 2, 3)).float(), dim=[0, 2, 3])
case("mean_variance_norm", [x], mean_variance(x, (1, 3)).float(), dim=[1, -1])
case("mean_variance_norm", [x], mean_variance(x, (0, 1, 2, 3)).float())
case("mean_variance_norm", [torch.tensor([5.0, 5.0])], torch.zeros(2), dim=[0])

for p in [1.0, 2.0, 3.0]:
    case("normalize", [x], F.normalize(x.double(), p, 1).float(), p=p, dim=1)
case("normalize", [half], F.normalize(half.double(), 2, 3).bfloat16(), dim=-1)
case(
    "normalize",
    [torch.tensor([[0.0, -0.0], [3, 4]])],
    torch.tensor([[0.0, -0.0], [0.6, 0.8]]),
    dim=1,
)
case("normalize", [torch.tensor([0.0, 3, 4])], torch.tensor([0.0, 0.3, 0.4]), dim=0, eps=10.0)

v = r(2, 7, 3)
for size in [1, 3, 4, 5, 9]:
    case(
        "local_response_norm",
        [v],
        F.local_response_norm(v, size, 0.5, 0.75, 2.0),
        size=size,
        alpha=0.5,
        k=2.0,
    )
squares = F.pad((v.double() ** 2).unsqueeze(1), (0, 0, 1, 2))
window = squares.unfold(2, 4, 1).sum(-1).squeeze(1)
case(
    "local_response_norm",
    [v],
    (v / (1 + 0.1 / 4 * window) ** 0.6).float(),
    size=4,
    alpha=0.1,
    beta=0.6,
    before=1,
)
case(
    "local_response_norm",
    [v.bfloat16()],
    F.local_response_norm(v.bfloat16().double(), 5).bfloat16(),
    size=5,
)
