"""Other libraries doing the same kernels on this host, one thread, on the same shapes: PyTorch
(oneDNN), else NumPy (its BLAS)."""
import os
import time


def prepare_environment():
    """Before the libraries are loaded: one thread, and OpenBLAS told about AVX-512, which old
    versions do not recognize on newer processors (they then run at a fifth of the speed)."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            wide = "avx512bw" in file.read()
    except OSError:
        wide = False
    if wide:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")


def _has_fast_blas():
    """Whether the library just loaded brought a BLAS that is more than the reference
    implementation."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return True
    return any(name in text for name in ("openblas", "libmkl", "blis", "libatlas"))


def find(results):
    """(name, module) of the best library there is, or (None, None)."""
    try:
        import torch

        torch.set_num_threads(1)
        torch.set_grad_enabled(False)
        torch.matmul(torch.ones(2, 2), torch.ones(2, 2))
        if not _has_fast_blas():
            results.skip(
                "PyTorch multiplies f32 by the reference BLAS here, which is no peer (Debian:"
                " libopenblas0-pthread)"
            )
            torch.reference_blas = True
        return "torch", torch
    except ImportError:
        results.skip("PyTorch is not installed: only matmul has a peer (Debian: python3-torch)")
    try:
        import numpy

        return "numpy", numpy
    except ImportError:
        results.skip("NumPy is not installed: kernels have no peer")
    return None, None


def timer(library, module, kernel, model, bf16):
    """A function that runs the kernel once and returns its CPU seconds; None when this library has
    no such kernel."""
    from onnx import numpy_helper
    import numpy

    make = kernel.torch if library == "torch" else kernel.numpy
    if make is None or (bf16 and library != "torch"):
        return None
    if kernel.blas and not bf16 and getattr(module, "reference_blas", False):
        return None
    random = numpy.random.RandomState(2)
    arrays = [
        random.randn(*[dim.dim_value for dim in value.type.tensor_type.shape.dim]).astype(
            numpy.float32
        )
        for value in model.graph.input
    ]
    weights = [numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
    if library == "torch":
        kind = module.bfloat16 if bf16 else module.float32
        arrays = [module.from_numpy(array).to(kind) for array in arrays]
        weights = [module.from_numpy(array.copy()).to(kind) for array in weights]
    call = make(module, arrays, weights)
    for _ in range(3):
        call()  # the first calls choose and compile kernels

    def once():
        before = time.process_time()
        call()
        return time.process_time() - before

    return once
