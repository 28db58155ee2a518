"""Reads the generated reference of a dialect and writes its examples as one module: a single
operation becomes a function whose arguments are the operands; anything longer stands as it is. The
last line counts them."""
import re
import sys

blocks = re.findall(r"```mlir\n(.*?)```", sys.stdin.read(), re.S)
for number, block in enumerate(blocks):
    match = re.fullmatch(
        r"(%\w+(?:, %\w+)* = )?(samba\.\w+) ((?:%\w+(?:, )?)*)(.*?)(?: : (.*))?",
        block.strip(),
        re.S,
    )
    if not match or block.strip().startswith(("samba.section", "rdu.section")):
        print(re.sub(r"@(\w+)", r"@\g<1>%d" % number, block, count=1))
        continue
    names = re.findall(r"%\w+", match.group(3))
    types = re.split(r", (?=tensor)", match.group(5) or "")
    arguments = ["%s: %s" % pair for pair in zip(names, types)]
    print(
        "func.func @example%d(%s) {\n  %s\n  return\n}"
        % (number, ", ".join(arguments), block.strip())
    )
print("// %d examples" % len(blocks))
