"""SambaLoader: a data loader whose batches have the names of a model's inputs."""
from samba.names import missing_attribute


class SambaLoader:
    """Iterates over a torch DataLoader; each batch is a list of SambaTensors with these names.

    loader: any iterable with a length whose elements are tensors, or lists or dictionaries of them.
    names: one for each tensor of a batch, or a dictionary key -> name for batches that are
        dictionaries. A batch with another number of tensors: ValueError.
    function_hook: what makes of a batch the tensors that are named, such as those of them that the
        model reads. return_original_batch: each batch is a pair, with the loader's own after it."""

    def __init__(self, loader, names, function_hook=None, return_original_batch=False, **options):
        if options:
            from samba.names import check_keywords

            known = ("loader", "names", "function_hook", "return_original_batch")
            check_keywords("SambaLoader", options, known)
        self.function_hook = function_hook
        self.return_original_batch = return_original_batch
        self.loader = loader
        self.names = dict(names) if isinstance(names, dict) else list(names)

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        for batch in self.loader:
            chosen = batch if self.function_hook is None else self.function_hook(batch)
            named = self.named(chosen)
            yield (named, batch) if self.return_original_batch else named

    def named(self, batch):
        import samba

        if isinstance(batch, dict):
            keys = self.names if isinstance(self.names, dict) else {n: n for n in self.names}
            missing = [key for key in keys if key not in batch]
            if missing:
                raise ValueError(f"a batch has no {missing[0]!r}; it has: {sorted(batch)}")
            return [samba.from_torch_tensor(batch[key], name=keys[key]) for key in keys]
        tensors = list(batch) if isinstance(batch, (list, tuple)) else [batch]
        if len(tensors) != len(self.names):
            text = f"a batch has {len(tensors)} tensors, but {len(self.names)} names were given: "
            raise ValueError(text + ", ".join(self.names))
        return [samba.from_torch_tensor(t, name=n) for t, n in zip(tensors, self.names)]


def __getattr__(name):
    raise missing_attribute(__name__, name, ("SambaLoader",))
