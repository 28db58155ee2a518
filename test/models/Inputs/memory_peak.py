"""memory_peak.py MODEL...: how much device memory the activations of a PEF take, against the
largest set of them that is alive at one call.

Reads the listing alone: address, bytes, first and last call of every activation. Also: no two that
are alive together overlap."""
import os
import re
import subprocess
import sys
import tempfile

LIMIT = 1.3


def field(body, key):
    found = re.search(rf"^  {key} = (\d+)$", body, re.M)
    return int(found.group(1)) if found else 0  # the listing leaves zeros out


def activations(listing):
    found = []
    for body in re.findall(r'^symbol "[^"]*" \{\n(.*?)^\}', listing, re.M | re.S):
        if re.search(r"^  kind = activation$", body, re.M):
            found.append(
                [field(body, key) for key in ("address", "bytes", "first_call", "last_call")]
            )
    return found


def measure(model):
    with tempfile.TemporaryDirectory() as folder:
        pef = os.path.join(folder, "model.pef")
        subprocess.run(["samba-compile", model, "-o", pef], check=True)
        found = activations(
            subprocess.run(
                ["samba-objdump", pef], check=True, stdout=subprocess.PIPE, text=True
            ).stdout
        )
    if not found:
        return 0, 0
    for i, (address, size, first, last) in enumerate(found):
        for other, other_size, other_first, other_last in found[:i]:
            if (
                first <= other_last
                and other_first <= last
                and address < other + other_size
                and other < address + size
            ):
                sys.exit(
                    f"{model}: activations at {address} and {other} are alive together and overlap"
                )
    taken = max(address + size for address, size, _, _ in found) - min(
        address for address, _, _, _ in found
    )
    calls = range(max(last for _, _, _, last in found) + 1)
    alive = max(
        sum(size for _, size, first, last in found if first <= call <= last) for call in calls
    )
    return taken, alive


several = 0
for model in sys.argv[1:]:
    taken, alive = measure(model)
    several += taken > 0
    print(f"{model}: {taken} bytes for activations, {alive} alive at once")
    if taken > LIMIT * alive:
        sys.exit(f"{model}: {taken} bytes are more than {LIMIT} times {alive}")
if several < 2:
    sys.exit("no model has activations between sections")
