"""Gradients of convolutions and transposed convolutions."""
import torch
import torch.nn.functional as F

from gradient_writer import gradients

torch.manual_seed(36)


def r(*shape):
    return torch.randn(shape)


sizes = {1: (2, 4, 11), 2: (2, 4, 7, 6), 3: (1, 4, 4, 5, 3)}
forms = [  # kernel, stride, padding, dilation, groups, output padding
    (3, 1, 0, 1, 1, 0),
    (3, 1, 1, 1, 2, 0),
    (3, 2, 1, 1, 1, 1),
    (2, 2, 0, 1, 4, 0),
    (2, 3, 1, 2, 2, 2),
    (1, 2, 0, 1, 1, 0),
]
for n in [1, 2, 3]:
    conv = getattr(F, f"conv{n}d")
    transposed = getattr(F, f"conv_transpose{n}d")
    x = r(*sizes[n])
    for k, s, p, d, groups, extra in forms:
        shared = {"stride": [s] * n, "padding": [p] * 2 * n, "dilation": [d] * n, "groups": groups}
        b = r(8)
        w = r(8, 4 // groups, *[k] * n)
        function = lambda x, w, b=None: conv(x, w, b, s, p, d, groups)
        gradients(f"conv{n}d", function, [x, w, b], **shared)
        gradients(f"conv{n}d", function, [x, w], **shared)
        w = r(4, 8 // groups, *[k] * n)
        function = lambda x, w, b=None: transposed(x, w, b, s, p, extra, groups, d)
        gradients(f"conv_transpose{n}d", function, [x, w, b], **shared, output_padding=[extra] * n)
        gradients(f"conv_transpose{n}d", function, [x, w], **shared, output_padding=[extra] * n)
# The weight's gradient is a function of the input and of what flows in, and has gradients too.
for n in [1, 2, 3]:
    conv = getattr(F, f"conv{n}d")
    of_weight = getattr(torch.nn.grad, f"conv{n}d_weight")
    x = r(*sizes[n])
    for k, s, p, d, groups, _ in forms[:3] + forms[4:5]:
        shape = (8, 4 // groups, *[k] * n)
        g = torch.randn_like(conv(x, torch.zeros(shape), None, s, p, d, groups))
        gradients(
            f"conv{n}d_weight_gradient",
            lambda x, g: of_weight(x, shape, g, s, p, d, groups),
            [x, g],
            kernel_size=[k] * n,
            stride=[s] * n,
            padding=[p] * 2 * n,
            dilation=[d] * n,
            groups=groups,
        )
# Kernels, strides and padding of their own per dimension and side.
x, w = r(2, 3, 6, 9), r(5, 3, 2, 4)
gradients(
    "conv2d",
    lambda x, w: F.conv2d(F.pad(x, (3, 0, 0, 2)), w, None, (2, 3), 0, (3, 1)),
    [x, w],
    stride=[2, 3],
    padding=[0, 3, 2, 0],
    dilation=[3, 1],
)
gradients(
    "conv_transpose2d",
    lambda x, w: F.conv_transpose2d(x, w, None, (2, 3), 0, 0, 1, (3, 1))[:, :, :-2, 3:],
    [r(2, 5, 3, 4), w],
    stride=[2, 3],
    padding=[0, 3, 2, 0],
    dilation=[3, 1],
)
gradients("conv2d", lambda x, w: F.conv2d(x, w), [x.bfloat16(), w.bfloat16()])
gradients(
    "conv2d",
    lambda x, w, b: F.conv2d(x, w, b),
    [x.bfloat16(), w.bfloat16(), r(5)],
    flow_dtype=torch.float32,
    out_dtype="f32",
)

# Images with channels last: through the permutations.
for k, s, p, groups in [(1, 1, 0, 1), (3, 2, 1, 1), (3, 1, 1, 2)]:
    gradients(
        "conv2d_channels_last",
        lambda x, w, b: F.conv2d(x.permute(0, 3, 1, 2), w, b, s, p, 1, groups).permute(0, 2, 3, 1),
        [r(2, 7, 6, 4), r(6, 4 // groups, k, k), r(6)],
        stride=[s, s],
        padding=[p] * 4,
        groups=groups,
    )
