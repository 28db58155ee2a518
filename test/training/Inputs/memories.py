"""Reads a listing: inputs, outputs and losses lie in host memory, everything else does not."""
import re
import sys

text = sys.stdin.read()
memory = dict(re.findall(r'^region "([^"]*)" \{.*?^  memory = (\w+)', text, re.M | re.S))
kinds = {}
for name, body in re.findall(r'^symbol "([^"]*)" \{(.*?)^\}', text, re.M | re.S):
    kind = re.search(r"^  kind = (\w+)", body, re.M)
    region = re.search(r'^  region = "(.*)"', body, re.M).group(1)
    kind = kind.group(1) if kind else "input"
    found = kinds.setdefault(kind, set())
    found.add(memory[region])

print(kinds)
exchanged = {"input", "output", "loss"}
assert {"input", "loss", "weight", "gradient", "optimizer_state"} <= set(kinds), kinds
assert all(where == ({"host"} if kind in exchanged else {"hbm"}) for kind, where in kinds.items())
