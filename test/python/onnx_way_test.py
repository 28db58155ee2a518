"""A model that is traced and the same model by way of ONNX: one program of the chip, bit for bit.
U011.

What is compared are the records that the chip executes: the code of all units, placements,
calls, their order and what they read and write. Other records differ because they have names
(weights are layer__weight here and layer.weight there), the trace, and weights, which only the file
that comes from ONNX has."""
import copy
import os
import struct
import sys
import tempfile
import unittest
import warnings

import torch

import samba

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from networks import networks  # noqa: E402

EXECUTED = ["code", "placements", "calls", "depends", "bindings", "argins"]
ALIKE = (
    "mlp autoencoder vae lenet inception squeeze_excite dueling discriminator nerf experts".split()
)


def records(path):
    """The sections of a PEF, which is an ELF file, by name."""
    with open(path, "rb") as file:
        data = file.read()
    start = struct.unpack_from("<Q", data, 0x28)[0]
    count, names = struct.unpack_from("<HH", data, 0x3C)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * i) for i in range(count)]
    found = {}
    for name, _, _, _, offset, size, *_ in headers[1:]:
        text = data[headers[names][4] + name :].split(b"\0", 1)[0].decode()
        found[text] = data[offset : offset + size]
    return found


class OnnxWayTest(unittest.TestCase):
    def test_U011_one_program(self):
        for name in ALIKE:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.compare(name, folder)

    def compare(self, name, folder):
        make, inputs = networks()[name]
        torch.manual_seed(1)
        model, path = make().eval(), os.path.join(folder, "model.onnx")
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            outputs = samba.session.flatten_outputs(model(*inputs))
            torch.onnx.export(
                copy.deepcopy(model),
                inputs,
                path,
                input_names=[f"x{i}" for i in range(len(inputs))],
                output_names=[f"out{i}" for i in range(len(outputs))],
                opset_version=16,
            )
        samba.from_torch_model_(model)
        named = [samba.from_torch_tensor(x.clone(), name=f"x{i}") for i, x in enumerate(inputs)]
        samba.session.reset()
        traced = samba.session.compile(model, named, name="traced", output_folder=folder)
        imported = samba.session.compile(path, named, name="imported", output_folder=folder)
        mine, its = records(traced), records(imported)
        for record in EXECUTED:
            self.assertEqual(mine[".samba." + record], its[".samba." + record], record)

        results = []
        for source, pef in ((model, traced), (path, imported)):
            ready = samba.utils.trace_graph(source, named, pef=pef)
            results.append([samba.to_torch(y).clone() for y in samba.session.run(named, ready)])
        for i, (y, z) in enumerate(zip(*results)):
            self.assertTrue(torch.equal(y, z), f"out{i}")


if __name__ == "__main__":
    unittest.main()
