"""Calls of samba-compile and samba-run for the scripts of this folder; machine parameters read from
the text of their table."""
import json
import re
import subprocess
import sys


def tool(*command):
    """Runs a tool that must succeed; its standard output."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def compile(model, pef, target, *flags):
    tool("samba-compile", model, "-o", pef, f"--target={target}", *flags)


def statistics(pef, *flags):
    """Statistics of a run that computes no values."""
    tool("samba-run", pef, "--timing-only", "--stats", f"{pef}.json", *flags)
    with open(f"{pef}.json", encoding="utf-8") as file:
        return json.load(file)


def machine(source, name):
    """Parameters of a shipped machine: a dictionary of integers."""
    with open(f"{source}/backend/machine/shipped.def", encoding="utf-8") as file:
        text = file.read()
    column = re.search(r"X\(parameter, (.*?)\)", text).group(1).split(", ").index(name)
    rows = re.findall(r"^X\((\w+),\s*((?:\(-?\d+, \w+\),?\s*)+)\)$", text, re.M)
    return {
        parameter: int(re.findall(r"\((-?\d+), \w+\)", cells)[column]) for parameter, cells in rows
    }
