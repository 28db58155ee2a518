"""Random generators for materializers: what a tensor's own function draws its values from."""
import torch

from samba import _samba

DTYPES = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16"}


class MultithreadedRNG:
    """Random numbers by several threads. A number depends on the seed, on how many tensors were
    drawn before and on its place, and not on the number of threads."""

    def __init__(self, seed, threads=8):
        self.seed, self.threads, self.count = int(seed), int(threads), 0

    def normal(self, mean, std, size, dtype=torch.float32):
        """A new tensor with normal numbers."""
        return self.draw("normal", mean, std, size, dtype)

    def uniform(self, low, high, size, dtype=torch.float32):
        """A new tensor with numbers from low up to high."""
        return self.draw("uniform", low, high, size, dtype)

    def draw(self, kind, first, second, size, dtype):
        if dtype not in DTYPES:
            known = ", ".join(str(d) for d in DTYPES)
            raise ValueError(f"{kind}: dtype is {dtype}, but must be one of {known}")
        self.count += 1
        result = torch.empty(tuple(size), dtype=dtype)
        _samba.fill_random(
            result.data_ptr(),
            DTYPES[dtype],
            tuple(result.shape),
            f"draw {self.count}",
            kind,
            float(first),
            float(second),
            self.seed % 2**64,
            self.threads,
            False,
            "nearest_even",
        )
        return result


class RNGProvider:
    """Gives a generator at each call, always from the same start: values that are made twice are
    the same."""

    def __init__(self, seed):
        self.seed = int(seed)

    def __call__(self):
        return MultithreadedRNG(self.seed)


class RNGProviderFactory:
    """Builds providers with seeds of their own, which follow from torch's generator."""

    def build_provider(self):
        """A new RNGProvider."""
        return RNGProvider(torch.randint(0, 2**62, (1,)).item())
