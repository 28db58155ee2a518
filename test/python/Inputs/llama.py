"""A Llama in plain PyTorch, of the size that its arguments say."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.v, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)

    def split(self, x):
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    @staticmethod
    def turn(x, cosine, sine):
        half = x.shape[-1] // 2
        return x * cosine + torch.cat([-x[..., half:], x[..., :half]], -1) * sine

    def forward(self, x, cosine, sine, mask):
        q = self.turn(self.split(self.q(x)), cosine, sine)
        k = self.turn(self.split(self.k(x)), cosine, sine)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + mask
        values = torch.softmax(scores, -1) @ self.split(self.v(x))
        return self.o(values.transpose(1, 2).reshape(x.shape))


class Block(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.attention = Attention(width, heads)
        self.before, self.between = Norm(width), Norm(width)
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(
            width, inner, bias=False
        )
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x, cosine, sine, mask):
        x = x + self.attention(self.before(x), cosine, sine, mask)
        y = self.between(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, vocabulary, width, heads, inner, layers, length):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads, inner) for _ in range(layers))
        self.norm, self.head = Norm(width), nn.Linear(width, vocabulary, bias=False)
        rates = 1 / 10000 ** (torch.arange(0, width // heads, 2).float() / (width // heads))
        angles = torch.outer(torch.arange(length).float(), rates).repeat(1, 2)
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())
        self.register_buffer("mask", torch.full((length, length), -1e4).triu(1))

    def forward(self, ids):
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, self.cosine, self.sine, self.mask)
        return self.head(self.norm(x))
