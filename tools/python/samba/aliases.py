"""Import aliases: `sambaflow`, `sambaflow.samba`, `sambaflow.X` are answered by this package.

Only the runner (`python3 -m samba SCRIPT`) installs them: the package itself claims no foreign
name. An alias is the same module object, not a copy, so there is one session."""
import importlib
import importlib.abc
import importlib.machinery
import sys
import types

import samba
from samba import refused

FOREIGN = "sambaflow"


def real_name(name):
    """The module of this package that a foreign name stands for."""
    parts = name.split(".")[1:]
    if parts[:1] == ["samba"]:
        parts = parts[1:]
    return ".".join(["samba"] + parts)


class AliasFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds foreign names, and says what exists when a module of this package does not."""

    def find_spec(self, name, path=None, target=None):
        if name == FOREIGN or name.startswith(FOREIGN + "."):
            is_package = name == FOREIGN
            return importlib.machinery.ModuleSpec(name, self, is_package=is_package)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        if name == FOREIGN:
            module.__path__ = []
            module.samba = samba
            module.__version__ = samba.__version__
            module.__getattr__ = lambda attribute: getattr(samba, attribute)
            return
        if real_name(name) in refused.MODULES:
            sys.modules[name] = refused.make_module(real_name(name), name)
            return
        try:
            sys.modules[name] = importlib.import_module(real_name(name))
        except ModuleNotFoundError as error:
            if error.name != real_name(name):
                raise
            raise ModuleNotFoundError(missing_module(name), name=name) from None


def missing_module(name):
    """The text of the error for a module that does not exist, with those that do."""
    parent = real_name(name).rpartition(".")[0]
    names = submodules(parent)
    from samba.names import unknown

    return f"No module named '{name}': " + unknown("module", name.rpartition(".")[2], names)


def submodules(package):
    """Names of the modules of a package of ours."""
    import pkgutil

    try:
        module = importlib.import_module(package)
    except ImportError:
        module = samba
    return [m.name for m in pkgutil.iter_modules(getattr(module, "__path__", []))]


def install():
    """Makes the aliases; a real package of that name, if there is one, is hidden."""
    if any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, AliasFinder())
    # samba.lazy_param is a function; the module of that name is samba.lazy.
    sys.modules[f"{FOREIGN}.samba.lazy_param"] = importlib.import_module("samba.lazy")
    # What is loaded already keeps its identity: importing an alias later must not put a module in
    # the place of `samba.session`.
    for name, module in list(sys.modules.items()):
        if name == "samba" or name.startswith("samba."):
            if isinstance(module, types.ModuleType):
                rest = name[len("samba") :]
                sys.modules[f"{FOREIGN}.samba{rest}"] = module
