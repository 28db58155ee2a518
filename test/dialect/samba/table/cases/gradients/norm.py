"""Gradients of normalizations."""
import torch
import torch.nn.functional as F

from gradient_writer import gradients

torch.manual_seed(33)


def r(*shape):
    return torch.randn(shape)


x = r(3, 4, 5)
for shape in [(5,), (4, 5), (3, 4, 5)]:
    w, b = r(*shape), r(*shape)
    norm = lambda x, w=None, b=None: F.layer_norm(x, shape, w, b, 1e-3)
    gradients("layer_norm", norm, [x], normalized_shape=list(shape), eps=1e-3)
    gradients("layer_norm", norm, [x, w], normalized_shape=list(shape), eps=1e-3)
    gradients("layer_norm", norm, [x, w, b], normalized_shape=list(shape), eps=1e-3)

    def native(x, w=None, b=None):
        y = F.layer_norm(x, shape, w, b, 1e-3)
        dims = list(range(-len(shape), 0))
        mean = x.mean(dims, keepdim=True)
        variance = x.var(dims, unbiased=False, keepdim=True)
        return y, mean, (variance + 1e-3).rsqrt()

    for flowing in [None, [0], [1], [0, 2]]:
        gradients(
            "native_layer_norm",
            native,
            [x, w, b],
            flowing=flowing,
            normalized_shape=list(shape),
            eps=1e-3,
        )
    gradients("native_layer_norm", native, [x], normalized_shape=list(shape), eps=1e-3)

    def rms(x, w=None):
        y = x * (x.square().mean(list(range(-len(shape), 0)), keepdim=True) + 1e-2).rsqrt()
        return y if w is None else y * w

    gradients("rms_norm", rms, [x], normalized_shape=list(shape), eps=1e-2)
    gradients("rms_norm", rms, [x, w], normalized_shape=list(shape), eps=1e-2)
half = x.bfloat16()
gradients("layer_norm", lambda x: F.layer_norm(x, (5,)), [half], normalized_shape=[5])
gradients(
    "native_layer_norm",
    lambda x: (F.layer_norm(x, (5,)), None, None),
    [half],
    normalized_shape=[5],
)

for x in [r(2, 6, 3), r(3, 6), r(2, 6, 2, 3)]:
    w, b = r(6), r(6)
    for groups in [1, 2, 6] if x.dim() > 2 else [1, 2, 3]:
        norm = lambda x, w=None, b=None: F.group_norm(x, groups, w, b, 1e-3)
        gradients("group_norm", norm, [x, w, b], num_groups=groups, eps=1e-3)
    gradients("group_norm", norm, [x, w], num_groups=groups, eps=1e-3)
    gradients("group_norm", norm, [x], num_groups=groups, eps=1e-3)

for x in [r(4, 3), r(3, 3, 5), r(2, 3, 4, 2)]:
    w, b, mean, variance = r(3), r(3), r(3), torch.rand(3) + 0.1
    channel = [1, -1] + [1] * (x.dim() - 2)

    def inference(x, w, b, mean, variance):
        mean, variance, w, b = (t.view(channel) for t in (mean, variance, w, b))
        return (x - mean) / (variance + 1e-3).sqrt() * w + b

    gradients("batch_norm", inference, [x, w, b, mean, variance], eps=1e-3)

    def training(x, w, b, mean, variance):
        dims = [0, *range(2, x.dim())]
        m, v = x.mean(dims), x.var(dims, unbiased=False)
        y = inference(x, w, b, m, v)
        return y, mean * 0.9 + m.detach() * 0.1, variance * 0.9 + v.detach() * 0.1, m, v

    for flowing in [[0], [0, 3, 4], [3], [4]]:
        gradients(
            "batch_norm_training",
            training,
            [x, w, b, mean, variance],
            flowing=flowing,
            constant=[3, 4],
            eps=1e-3,
        )

x = r(2, 3, 4)
for dims in [[0, 2], [1], [-1, 0, 1]]:

    def mean_variance(x):
        centered = x - x.mean(dims, keepdim=True)
        return centered / (x.var(dims, unbiased=False, keepdim=True).sqrt() + 1e-2)

    gradients("mean_variance_norm", mean_variance, [x], dim=dims, eps=1e-2)
for p, dim in [(2.0, 1), (1.0, -1), (3.0, 0), (1.5, 2), (0.5, 1)]:
    gradients("normalize", lambda x: F.normalize(x, p, dim), [x], p=p, dim=dim)
    gradients("normalize", lambda x: F.normalize(x, p, dim, 2.5), [x], p=p, dim=dim, eps=2.5)
gradients(
    "normalize", lambda x: F.normalize(x, 2.0, 1), [torch.tensor([[3.0, 0, 4]])], p=2.0, dim=1
)


def response(x, size, alpha, beta, k, before):
    padded = F.pad(
        x.square().reshape(x.shape[0], x.shape[1], -1), (0, 0, before, size - 1 - before)
    )
    window = sum(padded[:, i : i + x.shape[1]] for i in range(size)).reshape(x.shape)
    return x / (k + alpha / size * window) ** beta


for size, before in [(1, 0), (3, 1), (4, 2), (5, 0), (9, 4)]:
    for x in [r(2, 4, 3)] if size != 3 else [r(2, 4, 3), r(3, 5), r(1, 4, 2, 3)]:
        gradients(
            "local_response_norm",
            lambda x: response(x, size, 0.5, 0.75, 2.0, before),
            [x],
            size=size,
            alpha=0.5,
            beta=0.75,
            k=2.0,
            before=before,
        )
