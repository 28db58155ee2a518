"""machine_file.py NAME=VALUE...: a machine file of the listing on standard input, some parameters changed."""
import re
import sys

changes = dict(a.split("=") for a in sys.argv[1:])
listing = sys.stdin.read()
name = re.search(r'^machine "(\w+)"', listing, re.M).group(1)
lines = []
for line in re.findall(r"\{name = [^}]*\}", listing[:listing.index("\n}\n", listing.index("machine "))]):
    parameter = re.search(r'name = "(\w+)"', line).group(1)
    value = re.search(r"value = (\d+)", line)  # left out when it is 0
    lines.append("%s = {value = %s, assumed}" % (parameter, changes.pop(parameter, value.group(1) if value else 0)))
assert not changes, changes
print('module attributes {rdu.machine = #rdu.machine<"%s", %s>} {\n}' % (name + "-changed", ", ".join(lines)))
