"""Counts the device memory that a PEF needs from its listing, and compares with what it takes.

    count_memory.py LISTING [LARGEST_RATIO]

Needed are the bytes of each region that keeps its bytes, once however many names it has, and the
most bytes of activations that are alive in one call: from the call that writes one first to the
call that reads it last, as the bindings of the calls say. Nothing is taken from what the compiler
says about lifetimes. Two activations that are alive in one call must not share a byte.
"""
import re
import sys


def blocks(text, kind):
    for match in re.finditer(r"^" + kind + r"\b([^\n]*)\{(.*?)^\}", text, re.M | re.S):
        yield match.group(1).strip().strip('"'), match.group(2)


def number(body, field):
    match = re.search(r"^  %s = (\d+)" % field, body, re.M)
    return int(match.group(1)) if match else 0


def main():
    text = open(sys.argv[1]).read()
    ratio = float(sys.argv[2]) if len(sys.argv) > 2 else 1.15
    taken = sum(number(body, "bytes") for _, body in blocks(text, "region"))

    regions, activations = {}, {}
    for name, body in blocks(text, "symbol"):
        size, address = number(body, "bytes"), number(body, "address")
        if "kind = activation" in body:
            activations[name] = [address, size, None, None]
        else:
            region = re.search(r'^  region = "(.*)"', body, re.M).group(1)
            regions[region] = max(regions.get(region, 0), size)

    calls = 0
    for call, (_, body) in enumerate(blocks(text, "call")):
        calls += 1
        for name in re.findall(r'symbol = "([^"]*)"', body):
            if name in activations:
                activation = activations[name]
                activation[2] = call if activation[2] is None else activation[2]
                activation[3] = call

    most = 0
    for call in range(calls):
        alive = sorted(a for a in activations.values() if a[2] <= call <= a[3])
        for one, other in zip(alive, alive[1:]):
            assert one[0] + one[1] <= other[0], ("two share bytes in call", call, one, other)
        most = max(most, sum(a[1] for a in alive))
    needed = sum(regions.values()) + most
    share = taken / needed
    print("needed %d (activations %d), taken %d, ratio %.3f" % (needed, most, taken, share))
    assert needed <= taken <= ratio * needed, "taken %d, needed %d" % (taken, needed)


if __name__ == "__main__":
    main()
