"""check_sources.py STATS SOURCE: how the parameters of a shipped machine are known, counted in the
text of its table."""
import json
import re
import sys

stats = json.load(open(sys.argv[1]))
text = open(sys.argv[2] + "/backend/machine/shipped.def").read()
kind_of = dict(re.findall(r"#define (\w+)\s+\\?\s*(SOURCED|DERIVED|ANALOGY)\(\"", text))
kind_of["ASSUMED"] = "ASSUMED"
column = re.search(r"X\(parameter, (.*?)\)", text).group(1).split(", ").index(stats["target"])
rows = [
    re.findall(r"\((?:-?\d+|[A-Z_]+), (\w+)\)", row)
    for row in re.split(r"^X\(", text, flags=re.M)[1:]
]
kinds = [kind_of[row[column]] for row in rows]

names = {"SOURCED": "sourced", "DERIVED": "derived", "ANALOGY": "by_analogy", "ASSUMED": "assumed"}
counted = {kind: kinds.count(kind) for kind in names}
reported = {kind: stats["parameters_" + name] for kind, name in names.items()}
assert counted == reported and sum(counted.values()) > 60, (counted, reported)
