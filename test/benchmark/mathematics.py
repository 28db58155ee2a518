"""What networks of samba-gen compute and must move, from their sizes alone: multiply-adds of the
contractions, and the bytes that must cross the chip's edge in bf16, which are weights, inputs and
results, each once. Norms, softmax and activations count nothing, and so does padding."""
from dataclasses import dataclass

PEAK = 638e12  # flop/s of sn40l in bf16
HBM = 1.8e12  # bytes/s
CLOCK = 1.2e9
BF16 = 2


@dataclass
class Work:
    macs: int  # multiply-adds of contractions
    size: int  # bytes over the chip's edge
    most_macs: int = 0  # those of masked places too; 0: there are none

    def __sub__(self, other):
        most = self.most_macs - other.most_macs
        return Work(self.macs - other.macs, self.size - other.size, most)

    def roofline(self):
        """The least cycles."""
        return CLOCK * max(2 * self.macs / PEAK, self.size / HBM)

    def peak_share(self, cycles):
        return 2 * self.macs / (cycles / CLOCK) / PEAK

    def bandwidth_share(self, cycles):
        return self.size / (cycles / CLOCK) / HBM


def matmul(m, n, k):
    return Work(m * n * k, BF16 * (m * k + k * n + m * n))


def _attention(batch, tokens, seen, width, causal=False):
    """Scores, and sums of values; with a mask half of them count."""
    both = 2 * batch * tokens * seen * width
    return (both // 2 if causal else both), both


def llama(layers, width, heads, kv_heads, ffn, tokens, cache=0, causal=False, batch=1):
    """Hidden states come in and go out; a cache is read, and what is new is written."""
    keys = width // heads * kv_heads
    weights = width * (2 * width + 2 * keys + 3 * ffn)
    attention, whole = _attention(batch, tokens, cache + tokens, width, causal)
    macs = batch * tokens * weights
    moved = weights + 2 * keys * batch * cache
    ends = 2 * batch * tokens * width
    return Work(
        layers * (macs + attention), BF16 * (layers * moved + ends), layers * (macs + whole)
    )


def encoder(layers, width, ffn, batch, tokens, causal=False):
    """BERT's layers, and GPT-2's."""
    weights = width * (4 * width + 2 * ffn)
    attention, whole = _attention(batch, tokens, tokens, width, causal)
    macs = batch * tokens * weights
    return Work(
        layers * (macs + attention),
        BF16 * (layers * weights + 2 * batch * tokens * width),
        layers * (macs + whole),
    )


def gpt2_training(layers, width, ffn, vocabulary, batch, tokens):
    """Forward, and two products of the same size for each of its products on the way back. AdamW
    reads and writes a weight and two states of f32, and reads a gradient."""
    layer = encoder(layers, width, ffn, batch, tokens, causal=True)
    head = batch * tokens * width * vocabulary
    weights = layers * width * (4 * width + 2 * ffn) + vocabulary * width
    return Work(3 * (layer.macs + head), 24 * weights, 3 * (layer.most_macs + head))


def resnet(batch, size, width=64, blocks=(3, 4, 6, 3), classes=1000):
    macs = weights = 0
    edge = -(-size // 2)

    def conv(inputs, outputs, window, pixels):
        nonlocal macs, weights
        weights += inputs * outputs * window * window
        macs += batch * pixels * pixels * inputs * outputs * window * window

    conv(3, width, 7, edge)
    edge, channels = -(-edge // 2), width
    for stage, count in enumerate(blocks):
        inner = width << stage
        for block in range(count):
            conv(channels, inner, 1, edge)
            edge = -(-edge // 2) if stage and not block else edge
            conv(inner, inner, 3, edge)
            conv(inner, 4 * inner, 1, edge)
            if not block:
                conv(channels, 4 * inner, 1, edge)
            channels = 4 * inner
    conv(channels, classes, 1, 1)
    return Work(macs, BF16 * (weights + batch * (3 * size * size + classes)))
