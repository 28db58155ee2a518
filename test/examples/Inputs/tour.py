"""tour.py README: the commands of the section "A tour in ten lines", one per line."""
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
section = re.search(r"^## A tour in ten lines\n(.*?)^## ", text, re.M | re.S).group(1)
commands = re.search(r"^```sh\n(.*?)\n```$", section, re.M | re.S).group(1).splitlines()
assert len(commands) == 10, "the tour has %d lines" % len(commands)
print("\n".join(commands))
