"""Fourier transforms and rotary embedding: PyTorch."""
import torch

from writer import case

torch.manual_seed(31)


def parts(z):
    return torch.view_as_real(z.resolve_conj()).float().contiguous()


real, complex_ = torch.randn(2, 6, 3, 1), torch.randn(2, 6, 3, 2)
z = torch.view_as_complex(complex_.double())
case("dft", [real], parts(torch.fft.fft(real[..., 0].double(), dim=1)), dim=1)
case("dft", [complex_], parts(torch.fft.fft(z, dim=2)), dim=2)
case("dft", [complex_], parts(torch.fft.ifft(z, dim=0)), dim=0, inverse=True)
case("dft", [real], parts(torch.fft.rfft(real[..., 0].double(), dim=1)), dim=-3, onesided=True)
case("dft", [complex_], parts(torch.fft.fft(z, n=8, dim=1)), dim=1, length=8)
case("dft", [complex_], parts(torch.fft.fft(z, n=4, dim=1)), dim=1, length=4)
case(
    "dft",
    [real],
    parts(torch.fft.ifft(real[..., 0].double(), n=7, dim=1)),
    dim=1,
    length=7,
    inverse=True,
)

signal, window = torch.randn(2, 20), torch.hann_window(8) + 0.1
frames = torch.stft(
    signal.double(),
    8,
    hop_length=3,
    win_length=8,
    window=window.double(),
    center=False,
    return_complex=True,
)
case("stft", [signal[..., None], window], parts(frames.permute(0, 2, 1)), hop=3, onesided=True)
frames = torch.stft(
    signal.double(),
    6,
    hop_length=5,
    window=torch.ones(6).double(),
    center=False,
    return_complex=True,
    onesided=False,
)
case("stft", [signal[..., None]], parts(frames.permute(0, 2, 1)), hop=5, length=6)
both = torch.randn(2, 20, 2)
frames = torch.stft(
    torch.view_as_complex(both.double()),
    8,
    hop_length=4,
    window=window.double(),
    center=False,
    return_complex=True,
    onesided=False,
)
case("stft", [both, window], parts(frames.permute(0, 2, 1)), hop=4)

x, angle = torch.randn(2, 3, 4, 6), torch.randn(4, 6)
cosine, sine = torch.cos(angle), torch.sin(angle)
half = torch.cat([-x[..., 3:], x[..., :3]], -1)
pairs = torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)
case("rotary_embedding", [x, cosine, sine], x * cosine + half * sine)
case("rotary_embedding", [x, cosine[:1], sine[:1]], x * cosine[:1] + half * sine[:1])
case("rotary_embedding", [x, cosine[:, :1], sine[:, :1]], x * cosine[:, :1] + half * sine[:, :1])
case("rotary_embedding", [x, cosine, sine], x * cosine + pairs * sine, interleaved=True)
