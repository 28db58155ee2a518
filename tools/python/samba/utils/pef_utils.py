"""What a PEF says about itself, and what a program may add to it."""
import os

from samba.names import unknown

SCALARS = (bool, int, float, str)


def scalars(values):
    """The plain values of a dictionary: numbers, texts, and short lists of them as texts. Paths of
    this machine do not go into a PEF."""
    result = {}
    for name, value in sorted(values.items(), key=lambda item: str(item[0])):
        if isinstance(value, dict):
            inner = scalars(value)
            result.update({f"{name}.{key}": inner[key] for key in inner})
        elif isinstance(value, (list, tuple, set)) and all(isinstance(v, SCALARS) for v in value):
            result[str(name)] = ",".join(map(str, value))
        elif isinstance(value, SCALARS) and not is_path(value):
            result[str(name)] = value
    return result


def is_path(value):
    return isinstance(value, str) and (os.sep in value or value.startswith("~"))


def get_pefmeta(args, model=None):
    """What a program wants to keep in the PEF: the plain values of args (Namespace, dictionary or
    None) and the class of the model. A dictionary for `session.compile(pef_metadata=...)`."""
    values = args if isinstance(args, dict) else vars(args) if args is not None else {}
    return get_pefmeta_dict(values, model)


def get_pefmeta_dict(values, model=None):
    """get_pefmeta for a dictionary."""
    result = scalars(values)
    if model is not None:
        result["model"] = type(model).__name__
    return result


def get_pef_info(pef, fields=None):
    """What the PEF at that path says about itself.

    fields: names to look up, or a dictionary name -> value to use when the PEF has none. None:
    there must be one. Without fields: everything. An unknown field: ValueError with the rest."""
    from samba.session import read_pef_info

    info = read_pef_info(pef)
    if fields is None:
        return info
    defaults = fields if isinstance(fields, dict) else {name: None for name in fields}
    result = {}
    for name, default in defaults.items():
        value = info.get(name, default)
        if value is None:
            raise ValueError(f"{pef}: " + unknown("field", name, info))
        result[name] = value
    return result
