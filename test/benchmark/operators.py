"""The operators of a PEF of o0, each a section of its own: what one of them has to move and to
compute, and what it took."""
import re
import subprocess

from mathematics import Work

SYMBOL = re.compile(
    r'^symbol "(?P<name>[^"]*)" \{$.*?^  bytes = (?P<bytes>\d+)$.*?^\}$', re.M | re.S
)
CALL = re.compile(r'^call \{.*?section = "(?P<section>[^"]*)"(?P<rest>.*?)^\}$', re.M | re.S)
BOUND = re.compile(r'\bsymbol = "([^"]*)"')


def bound_bytes(objdump, pef):
    """Section name -> bytes of the tensors that a call of it reads and writes, each once."""
    listing = subprocess.run([objdump, pef], capture_output=True, text=True, check=True).stdout
    sizes = {match["name"]: int(match["bytes"]) for match in SYMBOL.finditer(listing)}
    return {
        match["section"]: sum(sizes[name] for name in set(BOUND.findall(match["rest"])))
        for match in CALL.finditer(listing)
    }


def operators(objdump, pef, stats):
    """(layer, cycles, launch cycles, least cycles) of a call of each section. Where an operator
    reads a part of a tensor, what was read bounds what it needs."""
    sizes = bound_bytes(objdump, pef)
    for section in stats["sections"]:
        calls = section["calls"]
        moved = (section["dram_read_bytes"] + section["dram_write_bytes"]) / calls
        work = Work(section["multiply_adds"] / calls, min(moved, sizes[section["name"]]))
        layer = (section["layers"] or [section["name"]])[0]
        yield (layer, section["cycles"] / calls, section["launch_cycles"] / calls, work.roofline())
