"""work.py FILE: samba-compile's remarks. The sections of the PEF are counted by their own remarks,
and the work is compared with their number."""
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
sections = len(re.findall(r"remark: section \w+; calls", text))
match = re.search(
    r"work: (\d+) stage graphs built and (\d+) plans made to find the sections; (\d+) graphs and"
    r" (\d+) plans to "
    r"make them; (\d+) sections read from IR",
    text,
)
tried, planned, graphs, plans, read = (int(number) for number in match.groups())
assert sections > 0 and (graphs, plans, read) == (sections, 0, 0), (sections, match.group(0))
assert sections <= planned <= tried, (sections, match.group(0))
