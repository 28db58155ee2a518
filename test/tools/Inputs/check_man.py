"""The man page of a tool tells every option that its --help tells, and no word of it is a command
of the page's language by accident.

    check_man.py PAGE... (tools are found on the PATH)
"""
import os
import re
import shutil
import subprocess
import sys

OURS = re.compile(r"^      (--(?:samba|rdu)-[\w-]+|--convert-samba-[\w-]+)")
for page in sys.argv[1:]:
    tool = os.path.splitext(os.path.basename(page))[0]
    text = open(page, encoding="utf-8").read()
    plain = text.replace("\\-", "-").replace("\\e", "\\")
    help = subprocess.check_output([tool, "--help"], text=True).splitlines()
    wanted = [re.match(r"  ([\w-]+)", line).group(1) for line in help if re.match("  -", line)]
    if help[0].startswith("OVERVIEW"):
        wanted = [match.group(1) for match in map(OURS.match, help) if match]
        assert tool != "samba-opt" or len(wanted) > 15, wanted
    else:
        assert len(wanted) > 5, (tool, wanted)
    for name in wanted:
        assert re.search(r"^\.B %s\b" % re.escape(name), plain, re.M), (tool, name)
    for part in ("NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"):
        assert ("\n.SH %s\n" % part) in text, (tool, part)
    for line in text.splitlines():
        assert not line.startswith(".") or re.match(r"\.(TH|SH|TP|B|PP|RS|RE|br|nh)\b", line), line
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-Tascii", page], capture_output=True, text=True
        )
        assert not done.returncode and not done.stderr, (tool, done.stderr)
    print(tool + ": %d options" % len(wanted))
