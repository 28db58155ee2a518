"""check_sources.py STATS SOURCE: sourced and assumed parameters of a shipped machine, counted in
the text of its table."""
import json
import re
import sys

stats = json.load(open(sys.argv[1]))
text = open(sys.argv[2] + "/backend/machine/shipped.def").read()
column = re.search(r"X\(parameter, (.*?)\)", text).group(1).split(", ").index(stats["target"])
rows = [
    re.findall(r"\(-?\d+, (\w+)\)", line) for line in text.splitlines() if line.startswith("X(")
]
sourced = sum(row[column] != "NULL" for row in rows)
assert (stats["parameters_sourced"], stats["parameters_assumed"]) == (
    sourced,
    len(rows) - sourced,
), (sourced, len(rows))
