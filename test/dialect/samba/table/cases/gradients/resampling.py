"""Gradients of resampling, of Fourier transforms and of dropout."""
import torch
import torch.nn.functional as F
from torchvision.ops import roi_align

from gradient_writer import gradients

torch.manual_seed(40)


def r(*shape):
    return torch.randn(shape)


x = r(1, 2, 5, 4)
for mode, name in [("bilinear", "linear"), ("bicubic", "cubic")]:
    for size in [(9, 4), (3, 2)]:
        for align in [False, True]:
            gradients(
                "interpolate",
                lambda x: F.interpolate(x, size, mode=mode, align_corners=align),
                [x],
                output_size=[1, 2, *size],
                mode=name,
                coordinate_mode="align_corners" if align else "pytorch_half_pixel",
            )
    gradients(
        "interpolate",
        lambda x: F.interpolate(x, (2, 3), mode=mode, antialias=True),
        [x],
        output_size=[1, 2, 2, 3],
        mode=name,
        antialias=True,
        exclude_outside=True,
        cubic_coeff_a=-0.5,
    )
for size in [(10, 8), (7, 3), (15, 4)]:
    gradients(
        "interpolate",
        lambda x: F.interpolate(x, size, mode="nearest"),
        [x],
        output_size=[1, 2, *size],
        mode="nearest",
        coordinate_mode="asymmetric",
        nearest_mode="floor",
    )

x, grid = r(2, 2, 4, 5), torch.rand(2, 3, 2, 2) * 2.6 - 1.3
for mode in ["bilinear", "nearest", "bicubic"]:
    for padding in ["zeros", "border", "reflection"]:
        for align in [False, True]:
            gradients(
                "grid_sample",
                lambda x, grid: F.grid_sample(x, grid, mode, padding, align),
                [x, grid],
                any_for=[1] if mode == "nearest" else [],  # torch says 0
                mode=mode,
                padding_mode=padding,
                align_corners=align,
            )
x, grid = r(1, 2, 3, 4, 2), torch.rand(1, 2, 2, 1, 3) * 2.4 - 1.2
gradients("grid_sample", lambda x, g: F.grid_sample(x, g, align_corners=False), [x, grid])

for size, columns in [((2, 1, 3, 4), 3), ((2, 1, 2, 3, 4), 4), ((2, 1, 1, 2), 3)]:
    for align in [False, True]:
        gradients(
            "affine_grid",
            lambda theta: F.affine_grid(theta, size, align_corners=align),
            [r(2, columns - 1, columns)],
            output_size=list(size),
            align_corners=align,
        )

x = r(2, 3, 8, 9)
rois = torch.tensor([[0.5, 1, 7, 6], [-3, -2, 4, 12], [2, 2, 4.2, 5.1]])
batch = torch.tensor([1, 0, 1])
for aligned in [False, True]:
    for ratio in [2, 3]:
        gradients(  # torch has no gradient for the regions
            "roi_align",
            lambda x, rois, batch: roi_align(
                x, torch.cat([batch[:, None].to(rois), rois], 1), (3, 2), 0.75, ratio, aligned
            ),
            [x, rois, batch],
            any_for=[1],
            constant=[1],
            output_size=[3, 2],
            sampling_ratio=ratio,
            spatial_scale=0.75,
            aligned=aligned,
        )


def parts(z):
    return torch.view_as_real(z.resolve_conj())


real, pairs = r(2, 6, 3, 1), r(2, 6, 3, 2)
z = torch.view_as_complex
gradients("dft", lambda x: parts(torch.fft.fft(x[..., 0], dim=1)), [real], dim=1)
gradients("dft", lambda x: parts(torch.fft.fft(z(x), dim=2)), [pairs], dim=2)
gradients("dft", lambda x: parts(torch.fft.ifft(z(x), dim=0)), [pairs], dim=0, inverse=True)
gradients("dft", lambda x: parts(torch.fft.rfft(x[..., 0], dim=1)), [real], dim=-3, onesided=True)
gradients("dft", lambda x: parts(torch.fft.fft(z(x), n=8, dim=1)), [pairs], dim=1, length=8)
gradients("dft", lambda x: parts(torch.fft.fft(z(x), n=4, dim=1)), [pairs], dim=1, length=4)


def stft(x, window, length, hop, onesided):
    signal = x[..., 0] if x.shape[-1] == 1 else z(x)
    frames = signal.unfold(1, length, hop)
    if window is not None:
        frames = frames * window
    return parts(torch.fft.rfft(frames) if onesided else torch.fft.fft(frames))


window = torch.hann_window(8) + 0.1
gradients(
    "stft",
    lambda x, w: stft(x, w, 8, 3, True),
    [r(2, 20, 1), window],
    hop=3,
    onesided=True,
)
gradients("stft", lambda x: stft(x, None, 6, 5, False), [r(2, 20, 1)], hop=5, length=6)
gradients("stft", lambda x, w: stft(x, w, 8, 4, False), [r(2, 20, 2), window], hop=4)


# The evaluator of the tests draws numbers of its own: between none and all of the elements, the
# gradient is held to differences and to the decomposition alone.
for p in [0.0, 0.5, 1.0]:
    gradients(
        "dropout",
        lambda x, p, seed: (x * (1 - p), None),
        [r(4, 5), torch.tensor(p), torch.tensor(7)],
        kink=p == 1,
        any_for=[0] if p == 0.5 else [],
        constant=[1],
    )
