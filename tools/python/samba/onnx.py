"""ONNX models in the place of torch modules: a ModelProto, or the path of a file."""
import contextlib
import os
import tempfile


def is_onnx(model):
    return isinstance(model, (str, os.PathLike)) or hasattr(model, "SerializeToString")


def name_of(model):
    """The name of the file, or of the model's graph."""
    if hasattr(model, "SerializeToString"):
        return model.graph.name or "model"
    return os.path.splitext(os.path.basename(model))[0]


@contextlib.contextmanager
def as_file(model):
    """The path of the model; of a ModelProto, as long as the context lasts."""
    if not hasattr(model, "SerializeToString"):
        if not os.path.exists(model):
            raise FileNotFoundError(f"there is no model at '{model}'")
        yield os.fspath(model)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(model.SerializeToString())
        yield path
