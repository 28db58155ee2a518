"""mathematics.py beside published counts: 4.09 billion multiply-adds of ResNet-50 (torchvision),
202.4 million weights of a Llama-7B layer, 85.1 million of BERT base's layers without biases and
norms, and one case counted by hand."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import mathematics  # noqa: E402

assert round(mathematics.resnet(1, 224).macs / 1e9, 2) == 4.09
layer = mathematics.llama(1, 4096, 32, 32, 11008, 1)
assert round((layer.macs - 2 * 4096) / 1e6, 1) == 202.4
assert mathematics.encoder(12, 768, 3072, 1, 1).macs == 84934656 + 12 * 2 * 768
masked = mathematics.llama(1, 4, 2, 1, 8, 3, causal=True)
assert masked.most_macs - masked.macs == 3 * 3 * 4
assert mathematics.matmul(2, 3, 5).macs == 30
assert abs(mathematics.matmul(4096, 4096, 4096).peak_share(258501) - 1) < 1e-3
