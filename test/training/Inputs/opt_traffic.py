"""Reads a listing: the updates of all parameters are one section apart from scalars, whose traffic
is at most 1.1 times what the tensors need.

    opt_traffic.py PARAMETERS [BYTES-PER-PARAMETER]
"""
import re
import sys

parameters = int(sys.argv[1])
each = int(sys.argv[2]) if len(sys.argv) > 2 else 28
moved = []
for body in re.findall(r"^section \"[^\n]*\{(.*?)^\}", sys.stdin.read(), re.M | re.S):
    if re.search(r"^  type = OPT", body, re.M):
        kinds = ("read", "write")
        fields = [re.search(r"^  estimated_%s_bytes = (\d+)" % k, body, re.M) for k in kinds]
        moved.append(sum(int(field.group(1)) for field in fields if field))

print(moved)
assert len([bytes for bytes in moved if bytes > 4096]) == 1
assert each * parameters <= sum(moved) <= 1.1 * each * parameters
