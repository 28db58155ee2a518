"""Thirty networks in plain PyTorch, as people write them, small: name -> (model, inputs)."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(12, 20), nn.ReLU(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 5)
        )

    def forward(self, x):
        return self.layers(x)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(24, 10), nn.ELU(), nn.Linear(10, 3))
        self.up = nn.Sequential(nn.Linear(3, 10), nn.ELU(), nn.Linear(10, 24), nn.Sigmoid())

    def forward(self, x):
        code = self.down(x)
        return self.up(code), code


class Vae(nn.Module):
    """With the noise as an input; returns the divergence too."""

    def __init__(self):
        super().__init__()
        self.body, self.mean = nn.Linear(16, 12), nn.Linear(12, 4)
        self.log_variance, self.up = nn.Linear(12, 4), nn.Linear(4, 16)

    def forward(self, x, noise):
        hidden = torch.relu(self.body(x))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        code = mean + torch.exp(0.5 * log_variance) * noise
        divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp(), dim=1)
        return torch.sigmoid(self.up(code)), divergence.mean()


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(144, 60), nn.Linear(60, 42), nn.Linear(42, 10)

    def forward(self, x):
        x = F.avg_pool2d(torch.tanh(self.conv1(x)), 2)
        x = F.max_pool2d(torch.tanh(self.conv2(x)), 2)
        x = x.view(x.size(0), -1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()

        def block(inputs, outputs):
            return nn.Sequential(
                nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(True)
            )

        self.first, self.middle, self.last = block(2, 4), block(4, 8), block(8, 4)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.head = nn.Conv2d(4, 1, 1)

    def forward(self, x):
        first = self.first(x)
        middle = self.up(self.middle(F.max_pool2d(first, 2)))
        return self.head(self.last(torch.cat([first, middle], dim=1)))


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(Residual(3, 6, 1), Residual(6, 8, 2))
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        return self.fc(F.adaptive_avg_pool2d(self.layers(x), 1).flatten(1))


class DenseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(3 + 4 * i, 4, 3, padding=1) for i in range(3))
        self.norms = nn.ModuleList(nn.BatchNorm2d(3 + 4 * i) for i in range(3))
        self.head = nn.Linear(15, 4)

    def forward(self, x):
        features = [x]
        for norm, conv in zip(self.norms, self.convs):
            features.append(conv(F.relu(norm(torch.cat(features, 1)))))
        return self.head(torch.cat(features, 1).mean(dim=[2, 3]))


class MobileBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.expand = nn.Conv2d(4, 12, 1, bias=False)
        self.depthwise = nn.Conv2d(12, 12, 3, padding=1, groups=12, bias=False)
        self.project = nn.Conv2d(12, 4, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(12), nn.BatchNorm2d(12), nn.BatchNorm2d(4)])

    def forward(self, x):
        y = F.relu6(self.norms[0](self.expand(x)))
        y = F.relu6(self.norms[1](self.depthwise(y)))
        return x + self.norms[2](self.project(y))


class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(4, 3, 1)
        self.three = nn.Sequential(nn.Conv2d(4, 2, 1), nn.Conv2d(2, 3, 3, padding=1))
        self.five = nn.Sequential(nn.Conv2d(4, 2, 1), nn.Conv2d(2, 3, 5, padding=2))
        self.pooled = nn.Conv2d(4, 3, 1)

    def forward(self, x):
        pooled = self.pooled(F.max_pool2d(x, 3, stride=1, padding=1))
        return torch.cat((self.one(x), self.three(x), self.five(x), pooled), dim=1).relu_()


class SqueezeExcite(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.down, self.up = nn.Linear(8, 2), nn.Linear(2, 8)

    def forward(self, x):
        x = self.conv(x)
        gate = torch.sigmoid(self.up(F.relu(self.down(x.mean((2, 3))))))
        return x * gate[:, :, None, None]


class ConvNext(nn.Module):
    def __init__(self):
        super().__init__()
        self.depthwise = nn.Conv2d(6, 6, 7, padding=3, groups=6)
        self.norm = nn.LayerNorm(6)
        self.up, self.down = nn.Linear(6, 24), nn.Linear(24, 6)
        self.scale = nn.Parameter(0.1 * torch.ones(6))

    def forward(self, x):
        y = self.depthwise(x).permute(0, 2, 3, 1)
        y = self.scale * self.down(F.gelu(self.up(self.norm(y))))
        return x + y.permute(0, 3, 1, 2)


class Attention(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (
            t.reshape(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for t in (q, k, v)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        if self.causal:
            mask = torch.ones(length, length, dtype=torch.bool).tril()
            scores = scores.masked_fill(~mask, float("-inf"))
        x = (scores.softmax(dim=-1) @ v).transpose(1, 2).contiguous().view(batch, length, width)
        return self.out(x)


class Block(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, causal)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    """With a tied head."""

    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(19, 16), nn.Embedding(8, 16)
        self.blocks = nn.ModuleList(Block(16, 2, True) for _ in range(2))
        self.norm = nn.LayerNorm(16)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.size(1)))
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.wte.weight)


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(23, 16, padding_idx=0), nn.Embedding(9, 16)
        self.norm = nn.LayerNorm(16, eps=1e-12)
        layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.pooler = nn.Linear(16, 16)
        self.register_buffer("positions", torch.arange(9)[None])

    def forward(self, ids, mask):
        x = self.words(ids) + self.places(self.positions[:, : ids.shape[1]])
        x = self.encoder(self.norm(x).transpose(0, 1), src_key_padding_mask=mask)
        return torch.tanh(self.pooler(x[0]))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class Llama(nn.Module):
    """One layer: rotary positions, grouped heads, gated feed-forward."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(17, 16)
        self.norm1, self.norm2, self.norm3 = RmsNorm(16), RmsNorm(16), RmsNorm(16)
        self.q, self.k = nn.Linear(16, 16, bias=False), nn.Linear(16, 8, bias=False)
        self.v, self.o = nn.Linear(16, 8, bias=False), nn.Linear(16, 16, bias=False)
        self.gate, self.up = nn.Linear(16, 40, bias=False), nn.Linear(16, 40, bias=False)
        self.down, self.head = nn.Linear(40, 16, bias=False), nn.Linear(16, 17, bias=False)
        angles = torch.outer(torch.arange(6.0), 10000 ** (-torch.arange(0, 4, 2) / 4))
        angles = torch.cat([angles, angles], dim=-1)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def rotate(self, x):
        low, high = x[..., :2], x[..., 2:]
        return x * self.cos + torch.cat((-high, low), dim=-1) * self.sin

    def forward(self, ids):
        x = self.embed(ids)
        batch, length, _ = x.shape
        y = self.norm1(x)
        q = self.q(y).view(batch, length, 4, 4).transpose(1, 2)
        k = self.k(y).view(batch, length, 2, 4).transpose(1, 2)
        v = self.v(y).view(batch, length, 2, 4).transpose(1, 2)
        q, k = self.rotate(q), self.rotate(k)
        k, v = k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1)
        scores = torch.matmul(q, k.transpose(2, 3)) / 2
        mask = torch.full((length, length), torch.finfo(scores.dtype).min).triu(1)
        probabilities = F.softmax(scores + mask, dim=-1, dtype=torch.float32).to(q.dtype)
        y = torch.matmul(probabilities, v).transpose(1, 2).reshape(batch, length, -1)
        x = x + self.o(y)
        y = self.norm2(x)
        x = x + self.down(F.silu(self.gate(y)) * self.up(y))
        return self.head(self.norm3(x))


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, stride=4)
        self.token = nn.Parameter(torch.zeros(1, 1, 16))
        self.places = nn.Parameter(0.02 * torch.randn(1, 10, 16))
        self.block, self.head = Block(16, 2, False), nn.Linear(16, 5)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        return self.head(self.block(x)[:, 0])


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(12), nn.LayerNorm(12)
        self.tokens = nn.Sequential(nn.Linear(9, 18), nn.GELU(), nn.Linear(18, 9))
        self.channels = nn.Sequential(nn.Linear(12, 24), nn.GELU(), nn.Linear(24, 12))

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).permute(0, 2, 1)).permute(0, 2, 1)
        return x + self.channels(self.norm2(x))


class LstmClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.lstm, self.head = nn.LSTM(8, 6, batch_first=True), nn.Linear(6, 3)

    def forward(self, ids):
        _, (hidden, _) = self.lstm(self.embed(ids))
        return F.log_softmax(self.head(hidden[-1]), dim=1)


class GruTagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(5, 6, batch_first=True, bidirectional=True)
        self.head = nn.Linear(12, 4)

    def forward(self, x):
        return self.head(self.gru(x)[0])


class Temporal(nn.Module):
    """Dilated causal convolutions with gates, as in WaveNet."""

    def __init__(self):
        super().__init__()
        self.filters = nn.ModuleList(nn.Conv1d(6, 6, 2, dilation=2**i) for i in range(3))
        self.gates = nn.ModuleList(nn.Conv1d(6, 6, 2, dilation=2**i) for i in range(3))

    def forward(self, x):
        skip = 0
        for i, (f, g) in enumerate(zip(self.filters, self.gates)):
            padded = F.pad(x, (2**i, 0))
            y = torch.tanh(f(padded)) * torch.sigmoid(g(padded))
            skip, x = skip + y, x + y
        return F.relu(skip)


class Seq2Seq(nn.Module):
    """A decoder that looks at the encoder's states."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(4, 6, batch_first=True)
        self.decoder = nn.GRU(4, 6, batch_first=True)
        self.score, self.head = nn.Linear(6, 6, bias=False), nn.Linear(12, 4)

    def forward(self, source, target):
        states, last = self.encoder(source)
        out, _ = self.decoder(target, last)
        weights = torch.softmax(torch.bmm(self.score(out), states.transpose(1, 2)), dim=2)
        return self.head(torch.cat([out, torch.bmm(weights, states)], dim=-1))


class Dlrm(nn.Module):
    """Embeddings and their products, for clicks."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(10 + i, 8) for i in range(3))
        self.bottom, self.top = nn.Linear(5, 8), nn.Linear(14, 1)

    def forward(self, dense, ids):
        x = F.relu(self.bottom(dense))
        vectors = torch.stack([x] + [t(ids[:, i]) for i, t in enumerate(self.tables)], dim=1)
        products = torch.einsum("bid,bjd->bij", vectors, vectors)
        pairs = [products[:, i, j] for i in range(4) for j in range(i)]
        return torch.sigmoid(self.top(torch.cat([x, torch.stack(pairs, 1)], 1))).squeeze(1)


class NeuralCf(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Embedding(9, 6), nn.Embedding(14, 6)
        self.deep = nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 4), nn.ReLU())
        self.head = nn.Linear(10, 1)

    def forward(self, user, item):
        u, v = self.user(user), self.item(item)
        return self.head(torch.cat([u * v, self.deep(torch.cat([u, v], -1))], -1)).view(-1)


class GraphNet(nn.Module):
    """Graph convolutions with a dense adjacency."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(5, 8), nn.Linear(8, 3)

    def forward(self, x, adjacency):
        adjacency = adjacency + torch.eye(adjacency.shape[-1])
        scale = adjacency.sum(-1, keepdim=True).clamp(min=1).rsqrt()
        adjacency = scale * adjacency * scale.t()
        x = F.relu(torch.mm(adjacency, self.first(x)))
        return F.log_softmax(adjacency.mm(self.second(x)), dim=-1)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(9, 8), nn.ReLU(), nn.Linear(8, 4))

    def forward(self, a, b):
        a, b = F.normalize(self.body(a), dim=1), F.normalize(self.body(b), dim=1)
        return (a - b).pow(2).sum(1), F.cosine_similarity(a, b)


class Dueling(nn.Module):
    """A Q network of two streams."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(2, 4, 4, 2), nn.ReLU(), nn.Flatten())
        self.value, self.advantage = nn.Linear(36, 1), nn.Linear(36, 3)

    def forward(self, x):
        x = self.body(x)
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(dim=1, keepdim=True)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.ConvTranspose2d(6, 8, 3, 1, 0, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(True),
            nn.ConvTranspose2d(8, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.layers(z[..., None, None])


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 4, 2, 1), nn.Conv2d(4, 6, 3)
        self.norm = nn.InstanceNorm2d(4, affine=True)

    def forward(self, x):
        x = F.leaky_relu(self.norm(self.conv1(x)), 0.2, inplace=True)
        return self.conv2(x).amax(dim=(2, 3)).sum(-1)


class Nerf(nn.Module):
    """Positions as waves, then layers with a skip."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(21, 16), nn.Linear(37, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        waves = [x]
        for i in range(3):
            waves += [torch.sin(2.0**i * x), torch.cos(2.0**i * x)]
        waves = torch.cat(waves, dim=-1)
        y = F.relu(self.first(waves))
        y = self.head(F.relu(self.second(torch.cat((y, waves), -1))))
        return torch.sigmoid(y[..., :3]), F.softplus(y[..., 3])


class Experts(nn.Module):
    """A mixture of experts that are all computed."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(6, 3)
        self.up = nn.Parameter(0.3 * torch.randn(3, 6, 10))
        self.down = nn.Parameter(0.3 * torch.randn(3, 10, 6))

    def forward(self, x):
        shares = F.softmax(self.gate(x), dim=-1)
        hidden = F.gelu(torch.einsum("bd,edh->beh", x, self.up))
        return torch.einsum("be,beh,ehd->bd", shares, hidden, self.down)


class Spatial(nn.Module):
    """A network for sets, with a maximum over points."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Conv1d(3, 8, 1), nn.Conv1d(8, 12, 1)
        self.norm, self.head = nn.BatchNorm1d(8), nn.Linear(12, 4)

    def forward(self, points):
        x = self.two(F.relu(self.norm(self.one(points.transpose(2, 1)))))
        return self.head(torch.max(x, 2)[0])


def networks():
    generator = torch.Generator().manual_seed(7)

    def draw(*shape):
        return torch.randn(*shape, generator=generator)

    def index(bound, *shape):
        return torch.randint(bound, shape, generator=generator)

    padding = torch.zeros(2, 9, dtype=torch.bool)
    padding[0, 6:] = True
    edges = (torch.rand(7, 7, generator=generator) < 0.4).float()
    return {
        "mlp": (Mlp, (draw(4, 12),)),
        "autoencoder": (Autoencoder, (draw(4, 24),)),
        "vae": (Vae, (draw(4, 16), draw(4, 4))),
        "lenet": (LeNet, (draw(2, 1, 20, 20),)),
        "unet": (UNet, (draw(2, 2, 12, 8),)),
        "resnet": (ResNet, (draw(2, 3, 10, 10),)),
        "densenet": (DenseNet, (draw(2, 3, 7, 7),)),
        "mobile_block": (MobileBlock, (draw(2, 4, 9, 9),)),
        "inception": (Inception, (draw(2, 4, 8, 8),)),
        "squeeze_excite": (SqueezeExcite, (draw(2, 3, 6, 6),)),
        "convnext": (ConvNext, (draw(2, 6, 8, 8),)),
        "gpt": (Gpt, (index(19, 2, 8),)),
        "bert": (Bert, (index(23, 2, 9), padding)),
        "llama": (Llama, (index(17, 2, 6),)),
        "vit": (Vit, (draw(2, 3, 12, 12),)),
        "mixer": (Mixer, (draw(2, 9, 12),)),
        "lstm_classifier": (LstmClassifier, (index(11, 3, 5),)),
        "gru_tagger": (GruTagger, (draw(2, 4, 5),)),
        "temporal": (Temporal, (draw(2, 6, 11),)),
        "seq2seq": (Seq2Seq, (draw(2, 4, 4), draw(2, 3, 4))),
        "dlrm": (Dlrm, (draw(4, 5), index(10, 4, 3))),
        "neural_cf": (NeuralCf, (index(9, 5), index(14, 5))),
        "graph_net": (GraphNet, (draw(7, 5), edges)),
        "siamese": (Siamese, (draw(3, 9), draw(3, 9))),
        "dueling": (Dueling, (draw(2, 2, 8, 8),)),
        "generator": (Generator, (draw(3, 6),)),
        "discriminator": (Discriminator, (draw(2, 1, 12, 12),)),
        "nerf": (Nerf, (draw(5, 3),)),
        "experts": (Experts, (draw(4, 6),)),
        "points": (Spatial, (draw(2, 10, 3),)),
    }
