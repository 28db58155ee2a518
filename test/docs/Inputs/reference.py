"""reference.py NAMES SOURCE REFERENCE: the reference has every operator, attribute and pass.

NAMES has the operators' names, one a line. Operators and passes must be described: their heading is
followed by a line of text.
"""
import os
import re
import sys

names, source, reference = sys.argv[1:4]
pages = {
    page: open(os.path.join(reference, page), encoding="utf-8").read()
    for page in sorted(os.listdir(reference))
}
text = "\n".join(pages.values())

with open(names, encoding="utf-8") as file:
    wanted = ["### `samba.%s`" % name for name in file.read().split()]
for folder in ("passes", "lowering"):
    with open(os.path.join(source, folder, "Passes.td"), encoding="utf-8") as file:
        wanted += [
            "### `-%s`" % flag
            for flag in re.findall(r'^def \w+ : \w+<"([^"]+)"', file.read(), re.M)
        ]

missing = [
    heading
    for heading in wanted
    if not re.search("^" + re.escape(heading) + r"[^\n]*\n+_?\w", text, re.M)
]
for heading in missing:
    print("the reference does not describe %s" % heading)
print("%d pages, %d headings wanted, %d missing" % (len(pages), len(wanted), len(missing)))
sys.exit(1 if missing or len(wanted) < 100 else 0)
