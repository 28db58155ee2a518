"""same_version.py CMAKELISTS OUTPUT: a tool's --version says the version of the project."""
import re
import sys

project = re.search(r"^project\(Samba VERSION ([0-9.]+)", open(sys.argv[1]).read(), re.M).group(1)
said = open(sys.argv[2]).read().split(",")[0].split()[1]
assert said == project, (said, project)
