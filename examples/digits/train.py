#!/usr/bin/python3
"""Trains the digits network and exports what the example ships.

It needs Debian's python3-torch and python3-sklearn. The 1,797 images of handwritten digits (8x8
pixels, real scans) come with scikit-learn. It writes six files beside itself: digits.onnx (the
trained network; its batch is the whole test set), images.npy, labels.npy and outputs.npy. The last
one has PyTorch's logits for the test images. The simulated RDU is compared with them. scans.npy and
scan_labels.npy have all digits, from which examples/train_lenet.c learns.

    python3 examples/digits/train.py
"""
import pathlib

import numpy
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

FOLDER = pathlib.Path(__file__).resolve().parent


class Digits(torch.nn.Module):
    """Two convolutions, a pool, two fully connected layers: 19,454 parameters."""

    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = torch.nn.Linear(32 * 4 * 4, 28)
        self.fc2 = torch.nn.Linear(28, 10)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.nn.functional.max_pool2d(torch.relu(self.conv2(x)), 2)
        x = torch.relu(self.fc1(torch.flatten(x, 1)))
        return self.fc2(x)


def save_scans(digits):
    """All scans as they are, 0 to 16, in a fixed random order."""
    order = numpy.random.RandomState(7).permutation(len(digits.target))
    numpy.save(FOLDER / "scans.npy", digits.images[order].astype(numpy.uint8))
    numpy.save(FOLDER / "scan_labels.npy", digits.target[order].astype(numpy.uint8))


def main():
    torch.manual_seed(1797)
    torch.set_num_threads(1)
    digits = load_digits()
    save_scans(digits)
    images = (digits.images / 16.0).astype(numpy.float32)[:, None]
    labels = digits.target.astype(numpy.int64)
    train_x, test_x, train_y, test_y = train_test_split(
        images, labels, test_size=0.25, random_state=7, stratify=labels
    )
    model = Digits()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)
    x, y = torch.from_numpy(train_x), torch.from_numpy(train_y)
    for _ in range(30):
        order = torch.randperm(len(x))
        for start in range(0, len(x), 64):
            batch = order[start : start + 64]
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        outputs = model(torch.from_numpy(test_x)).numpy()
    print(
        f"parameters {sum(p.numel() for p in model.parameters())}, test images {len(test_x)}, "
        f"accuracy {(outputs.argmax(1) == test_y).mean():.4f}"
    )
    numpy.save(FOLDER / "images.npy", test_x)
    numpy.save(FOLDER / "labels.npy", test_y)
    numpy.save(FOLDER / "outputs.npy", outputs)
    torch.onnx.export(
        model,
        torch.from_numpy(test_x),
        str(FOLDER / "digits.onnx"),
        opset_version=14,
        input_names=["images"],
        output_names=["logits"],
    )


if __name__ == "__main__":
    main()
