"""What exists: errors for a misspelt name or keyword list the names that would have been right."""
import difflib
import opcode
import sys

IMPORT_FROM = opcode.opmap["IMPORT_FROM"]


def nearest(name, names, count=1):
    """The names most like this one, best first; none when no name is similar."""
    return difflib.get_close_matches(name, list(names), n=count, cutoff=0.6)


def unknown(kind, name, names):
    """One sentence that says what there is instead: 'unknown KIND NAME; did you mean X? ...'."""
    names = sorted(names)
    similar = nearest(name, names)
    hint = f"; did you mean '{similar[0]}'?" if similar else ";"
    return f"unknown {kind} '{name}'{hint} there is: {', '.join(names) or 'none'}"


def public_names(namespace):
    """Names of a module that a user is meant to see."""
    return sorted(n for n in namespace if not n.startswith("_"))


def missing_attribute(module, name, names):
    """The error for a name that a module does not have: ImportError inside `from MODULE import
    NAME` (an AttributeError would lose its text there), AttributeError everywhere else."""
    text = f"module '{module}' has no name '{name}': " + unknown("name", name, public_names(names))
    frame = sys._getframe(2)
    if frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == IMPORT_FROM:
        return ImportError(text, name=module)
    return AttributeError(text)


def check_keywords(function, given, known):
    """TypeError for a keyword that the function does not know; lists those that it knows."""
    for keyword in given:
        if keyword not in known:
            raise TypeError(f"{function}: " + unknown("keyword", keyword, known))


def refuse(what, why, instead):
    """Raises the error of something that the interface has and this machine does not."""
    raise NotImplementedError(f"{what} is not supported: {why}; {instead}")
