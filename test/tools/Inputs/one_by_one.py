"""one_by_one.py MODEL TARGET COMMAND...: runs each pass of samba-to-rdu alone, each in a process of
its own that reads the text that the one before wrote, and prints the last text. COMMAND is
samba-opt, or mlir-opt with its plugin options."""
import re
import subprocess
import sys

model, target, command = sys.argv[1], sys.argv[2], sys.argv[3:]
listed = subprocess.run(
    command
    + [
        "--pass-pipeline=builtin.module(samba-to-rdu{target=%s})" % target,
        "--dump-pass-pipeline",
        model,
    ],
    capture_output=True,
    text=True,
    check=True,
).stderr
body = re.search(r"builtin\.module\((.*)\)\s*$", listed, re.S).group(1)
steps, depth, start = [], 0, 0
for i, c in enumerate(body):
    depth += (c in "({") - (c in ")}")
    if c == "," and depth == 0:
        steps.append(body[start:i])
        start = i + 1
steps.append(body[start:])
text = open(model).read()
for step in steps:
    step = " ".join(step.split())
    done = subprocess.run(
        command + ["--pass-pipeline=builtin.module(%s)" % step, "-"],
        input=text,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit("%s: %s" % (step, done.stderr))
    text = done.stdout
print(text, end="")
sys.stderr.write("%d passes\n" % len(steps))
