"""Checkpoints that go to the device file by file, so that the host holds one file at a time."""
import json
import os

import torch

from samba.model import paths_of
from samba.names import missing_attribute, refuse
from samba.tensor import DTYPES

# An index of files, and the file of a checkpoint that has one.
INDICES = ("pytorch_model.bin.index.json", "model.safetensors.index.json")
SINGLE = ("pytorch_model.bin", "model.safetensors")


def files_of(path):
    """The files of a checkpoint: those of its index, its one file, or the path itself."""
    if os.path.isfile(path):
        return [path]
    for name in INDICES:
        index = os.path.join(path, name)
        if os.path.exists(index):
            with open(index, encoding="utf-8") as file:
                names = json.load(file)["weight_map"].values()
            return [os.path.join(path, name) for name in sorted(set(names))]
    for name in SINGLE:
        if os.path.exists(os.path.join(path, name)):
            return [os.path.join(path, name)]
    raise FileNotFoundError(
        f"there is no checkpoint at '{path}'; it must be a file, or a folder with one of "
        f"{', '.join(INDICES + SINGLE)}"
    )


def read(path):
    """The tensors of a file by name, on the host."""
    if not path.endswith(".safetensors"):
        return torch.load(path, map_location="cpu")
    try:
        from safetensors.torch import load_file
    except ImportError:
        refuse(
            "a checkpoint of safetensors",
            "the package safetensors is not there",
            "install it, or save the checkpoint with torch.save",
        )
    return load_file(path)


def load_sharded_checkpoint(model, path, ignore_dtype_mismatch=False, strict=True):
    """Writes the weights and buffers of a checkpoint to the device; the host keeps none.

    model: the traced model (utils.trace_graph). path: a file of torch.save, or a folder as
    transformers writes it. ignore_dtype_mismatch: casts values of another dtype. strict: every
    weight of the model must be there. Returns the names that were written.

    FileNotFoundError, ValueError: another shape or dtype. KeyError: weights that are missing."""
    import samba

    session = samba.session
    wanted = {id(tensor): (kind, name) for kind, name, tensor in session._names_of(model)}
    places = {
        place: wanted[id(table[key])]
        for tables in ("_parameters", "_buffers")
        for place, table, key in paths_of(model, tables)
        if id(table[key]) in wanted
    }
    written = set()
    for file in files_of(path):
        for key, values in read(file).items():
            if key in places:
                name = places[key][1]
                write(session, name, key, values, ignore_dtype_mismatch)
                written.add(name)
    missing = [name for kind, name in places.values() if kind == "weight" and name not in written]
    if strict and missing:
        raise KeyError(f"the checkpoint '{path}' has no {', '.join(sorted(set(missing)))}")
    return sorted(written)


def write(session, name, key, values, casts):
    wanted = session._symbols[name]
    dtype = DTYPES[wanted["dtype"]]
    if values.dtype != dtype:
        if not casts:
            raise ValueError(
                f"'{key}' is {values.dtype} in the checkpoint, but {dtype} in the PEF; give "
                "ignore_dtype_mismatch=True to cast it"
            )
        values = values.to(dtype)
    session._write(name, values)


def __getattr__(name):
    raise missing_attribute(__name__, name, ("load_sharded_checkpoint",))
