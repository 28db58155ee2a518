"""Usage: explain.py EXPLANATION.json FIELDS.md REMARKS: one table of fields, three places."""
import json
import re
import sys

sections = json.load(open(sys.argv[1], encoding="utf-8"))["sections"]
fields = re.findall(r"^\| `(\w+)` \|", open(sys.argv[2], encoding="utf-8").read(), re.M)
remarks = [line for line in open(sys.argv[3], encoding="utf-8") if "remark: section " in line]
assert len(sections) == len(remarks) >= 2, (len(sections), remarks)

for section, remark in zip(sections, remarks):
    assert [name for name in fields if name in section] == list(section), section
    said = []
    for name, value in section.items():
        value = ", ".join(value) if isinstance(value, list) else value
        said.append(f"{name.replace('_', ' ')} {value}")
    assert remark == f"remark: {'; '.join(said)}\n", (remark, said)

    assert 0 < section["bottleneck_share"] <= 100
    bytes_moved = section["read_bytes"] + section["written_bytes"]
    assert abs(section["flops_per_byte"] - section["flops"] / bytes_moved) <= 0.06, section
    if section["end"] == "cycles":
        assert section["cycles_together"] > section["cycles_apart"], section
    assert ("next" in section) == (section["end"] != "graph"), section
    assert ("why" in section) == (section["end"] == "room"), section
