"""Gradients of pools."""
import torch
import torch.nn.functional as F

from gradient_writer import gradients

torch.manual_seed(35)


def r(*shape):
    return torch.randn(shape)


sizes = {1: (2, 3, 11), 2: (2, 2, 7, 6), 3: (1, 2, 5, 4, 6)}
forms = [  # kernel, stride, padding, dilation, ceil
    (2, 2, 0, 1, False),
    (2, 2, 0, 1, True),
    (3, 2, 1, 1, False),
    (3, 1, 1, 1, False),
    (2, 3, 0, 1, False),
    (2, 2, 1, 1, True),
    (3, 2, 1, 2, True),
]
for n in [1, 2, 3]:
    maximum = getattr(F, f"max_pool{n}d")
    average = getattr(F, f"avg_pool{n}d")
    x = r(*sizes[n])
    for k, s, p, d, c in forms:
        if d > 1 and n == 3:
            continue
        shared = {"kernel_size": [k] * n, "stride": [s] * n, "padding": [p] * 2 * n}
        shared["ceil_mode"] = c
        for suffix in ["", "_with_indices"]:

            def pool(x):
                y, i = maximum(x, k, s, p, d, c, return_indices=True)
                return (y, i) if suffix else y

            gradients(f"max_pool{n}d{suffix}", pool, [x], **shared, dilation=[d] * n)
        if d > 1:
            continue
        for included in [True, False]:
            gradients(
                f"avg_pool{n}d",
                lambda x: average(x, k, s, p, c, included),
                [x],
                **shared,
                count_include_pad=included,
            )
        for norm in [2.0, 1.0, 3.0]:

            def lp(x):
                if c:  # elements beyond the padding count nothing
                    return None
                total = average(x.abs() ** norm, k, s, p, False, True) * k**n
                return total ** (1 / norm)

            if not c:
                gradients(f"lp_pool{n}d", lp, [x], norm_type=norm, **shared)
# Kernels, strides and padding of their own per dimension; ties.
gradients(
    "max_pool2d",
    lambda x: F.max_pool2d(F.pad(x, (0, 1, 2, 0), value=-torch.inf), (3, 2), (2, 1)),
    [r(1, 2, 6, 5)],
    kernel_size=[3, 2],
    stride=[2, 1],
    padding=[2, 0, 0, 1],
)
gradients(
    "avg_pool2d",
    lambda x: F.avg_pool2d(F.pad(x, (0, 1, 2, 0)), (3, 2), (2, 1)),
    [r(1, 2, 6, 5)],
    kernel_size=[3, 2],
    stride=[2, 1],
    padding=[2, 0, 0, 1],
)
ties = torch.tensor([[[[1.0, 1, 0, 2], [1, 1, 2, 2], [0, 0, 0, 0], [0, 3, 3, 0]]]])
for s in [1, 2]:
    gradients(
        "max_pool2d",
        lambda x: F.max_pool2d(x, 2, s),
        [ties],
        kink=True,
        kernel_size=[2, 2],
        stride=[s, s],
    )
gradients(
    "max_pool2d", lambda x: F.max_pool2d(x, 2), [r(1, 1, 4, 4).bfloat16()], kernel_size=[2, 2]
)
gradients(
    "avg_pool2d", lambda x: F.avg_pool2d(x, 2), [r(1, 1, 4, 4).bfloat16()], kernel_size=[2, 2]
)
# A window of zeros: its norm has no slope, and gets none.
gradients(
    "lp_pool2d",
    lambda x: torch.cat([F.avg_pool2d(x[:1] ** 2, 2).mul(4).sqrt(), x[1:, :, :2, :2] * 0]),
    [torch.cat([r(1, 1, 4, 4), torch.zeros(1, 1, 4, 4)])],
    kink=True,
    norm_type=2.0,
    kernel_size=[2, 2],
)


# Images with channels last: through the permutations.
def on_last(pool):
    return lambda x: pool(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


for k, s, p in [(2, 2, 0), (3, 2, 1), (3, 1, 1)]:
    for kind in ("max", "avg"):
        pool = getattr(F, f"{kind}_pool2d")
        gradients(
            f"{kind}_pool2d_channels_last",
            on_last(lambda x: pool(x, k, s, p)),
            [r(1, 6, 5, 2)],
            kernel_size=[k, k],
            stride=[s, s],
            padding=[p] * 4,
        )
