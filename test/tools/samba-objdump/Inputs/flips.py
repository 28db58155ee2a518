"""flips.py FILE.pef COUNT SEED ARGUMENTS...: flips one bit of the PEF COUNT times; each result is
shown and run, three of four with their checksums repaired. Every program must end by itself, with
exit code 0 or 1, and an error exactly when that is 1."""
import os
import random
import subprocess
import sys

pef, count, seed, arguments = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
data = open(pef, "rb").read()
# Half of the flips in headers and tables, which end well before the weights at 64 KiB; the rest
# anywhere.
tables = max(i for i in range(min(len(data), 65536)) if data[i]) + 1
generator = random.Random(seed)
results, bad = {0: 0, 1: 0}, []


def run(*command):
    try:
        done = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode not in (0, 1):
        return f"exit code {done.returncode}: {done.stderr[-500:]}"
    if (b"error: " in done.stderr) != (done.returncode == 1) or b"Sanitizer" in done.stderr:
        return f"exit code {done.returncode}, but says {done.stderr[-500:]}"
    return done.returncode


for i in range(count):
    position = generator.randrange(tables if i % 2 else len(data))
    damaged = bytearray(data)
    damaged[position] ^= 1 << generator.randrange(8)
    name = "damaged.pef"
    open(name, "wb").write(damaged)
    outcomes = []
    if i % 4:
        outcomes.append(run("samba-objdump", "--fix-checksums", name, "-o", "repaired.pef"))
        name = "repaired.pef" if outcomes[0] == 0 else name
    outcomes.append(run("samba-objdump", name))
    outcomes.append(run("samba-run", name, *arguments))
    for outcome in outcomes:
        if outcome not in (0, 1):
            bad.append((i, position, outcome))
    results[outcomes[-1] if outcomes[-1] in (0, 1) else 1] += 1
print(f"{count} flips: {results[1]} refused, {results[0]} ran, {len(bad)} crashed or hung")
for line in bad[:5]:
    print(*line)
sys.exit(1 if bad else 0)
