"""assert_close: is what the device computed what PyTorch computed?"""
import torch


def as_numbers(value):
    """The values as a host tensor of doubles."""
    import samba

    tensor = samba.to_torch(value)
    if not isinstance(tensor, torch.Tensor):
        tensor = torch.as_tensor(tensor)
    return tensor.detach().to(torch.float64)


def relative_difference(a, b):
    """The root mean square of a - b divided by that of b; by 1 when b is zero."""
    if b.numel() == 0:
        return 0.0
    scale = b.square().mean().sqrt().item()
    return (a - b).square().mean().sqrt().item() / (scale or 1.0)


def worst_element(a, b):
    """The index with the largest difference and both values there."""
    flat = (a - b).abs().reshape(-1).argmax().item()
    index = []
    for size in reversed(b.shape):
        index.append(flat % size)
        flat //= size
    index = tuple(reversed(index))
    return index, a[index].item(), b[index].item()


def assert_close(a, b, name="tensor", threshold=1e-3, rtol=0.0, visualize=False):
    """AssertionError unless the relative difference of a and b is at most threshold, or rtol.

    The relative difference is the root mean square of a - b divided by that of b. The text names
    the tensor, the difference, and the element that is furthest off. Shapes may differ when the
    numbers of elements agree. visualize: prints the difference also when it is small. Returns it.
    """
    a, b = as_numbers(a), as_numbers(b)
    if a.shape != b.shape and a.numel() != b.numel():
        raise AssertionError(f"{name}: shape {tuple(a.shape)} against {tuple(b.shape)}")
    a = a.reshape(b.shape)
    finite = b.isfinite()
    odd = int((a.isfinite() != finite).sum())
    if odd:
        raise AssertionError(f"{name}: {odd} values are finite in one of the tensors only")
    difference, threshold = relative_difference(a[finite], b[finite]), max(threshold, rtol)
    if visualize:
        print(f"{name}: relative difference {difference:.3g}")
    if difference > threshold:
        index, got, expected = worst_element(a.nan_to_num(), b.nan_to_num())
        raise AssertionError(
            f"{name}: the relative difference is {difference:.3g}, above {threshold:g}; "
            f"furthest off at {index}: {got:.6g} against {expected:.6g}"
        )
    return difference
