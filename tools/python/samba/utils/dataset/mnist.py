"""MNIST from IDX files: the images of handwritten digits that first programs learn.

torchvision reads the files; nothing is fetched when they lie in FOLDER/MNIST/raw."""

MEAN, DEVIATION = 0.1307, 0.3081
PIXELS = 28 * 28


def setting(args, names, default):
    """A value of a Namespace or dictionary under the first of the names that is there."""
    values = args if isinstance(args, dict) else vars(args) if args is not None else {}
    for name in names:
        if values.get(name) is not None:
            return values[name]
    return default


class Flatten:
    """An image as a row, filled up with zeros to `features` numbers."""

    def __init__(self, features):
        if features < PIXELS:
            raise ValueError(f"num_features is {features}, but an image has {PIXELS} pixels")
        self.features = features

    def __call__(self, image):
        import torch

        return torch.nn.functional.pad(image.reshape(-1), (0, self.features - PIXELS))

    def __repr__(self):
        return f"Flatten({self.features})"


def torchvision_modules():
    try:
        import torchvision
        from torchvision import transforms
    except ImportError:
        text = "samba.utils.dataset.mnist needs torchvision (Debian: python3-torchvision)"
        raise ImportError(text) from None
    return torchvision, transforms


def dataset_transform(args=None):
    """What is done to an image: to a float tensor, normalized, and as a row of num_features numbers
    when args (Namespace or dictionary) has that number; else it stays 1 x 28 x 28."""
    _, transforms = torchvision_modules()
    steps = [transforms.ToTensor(), transforms.Normalize((MEAN,), (DEVIATION,))]
    features = setting(args, ("num_features",), None)
    if features is not None:
        steps.append(Flatten(int(features)))
    return transforms.Compose(steps)


def prepare_dataloader(args):
    """(loader of training batches, loader of test batches) for args.data_folder or args.data_dir
    and args.batch_size. The last batch is left out when it is smaller: a PEF has one batch size."""
    torchvision, _ = torchvision_modules()
    import torch

    folder = setting(args, ("data_folder", "data_dir", "data_path"), "mnist_data")
    batch = int(setting(args, ("batch_size",), 1))
    workers = int(setting(args, ("num_workers",), 0))
    loaders = []
    for train in (True, False):
        try:
            dataset = torchvision.datasets.MNIST(
                root=folder, train=train, transform=dataset_transform(args), download=False
            )
        except RuntimeError:
            text = f"no MNIST in {folder}: expected IDX files such as "
            text += f"{folder}/MNIST/raw/train-images-idx3-ubyte"
            raise FileNotFoundError(text) from None
        loaders.append(
            torch.utils.data.DataLoader(
                dataset, batch_size=batch, shuffle=train, drop_last=True, num_workers=workers
            )
        )
    return tuple(loaders)


def __getattr__(name):
    from samba.names import missing_attribute

    raise missing_attribute(__name__, name, ("dataset_transform", "prepare_dataloader", "Flatten"))
