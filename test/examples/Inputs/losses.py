"""losses.py FILE STEP..: the file has a loss for each of these steps; the same step has the same
loss, and a later one less than the first."""
import re
import sys

found = [
    re.fullmatch(r"step (\d+): loss (\d+\.\d+)", line).groups()
    for line in open(sys.argv[1]).read().splitlines()
]
assert [step for step, _ in found] == sys.argv[2:], found
losses = {}
for step, loss in found:
    assert losses.setdefault(step, loss) == loss, found
first, last = float(found[0][1]), float(found[-1][1])
assert last < 0.9 * first, found
