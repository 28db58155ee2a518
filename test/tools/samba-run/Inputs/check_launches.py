"""check_launches.py STATS PEF NS MODE: what the four calls of two_tiles.s cost to launch, by closed
forms. Two tiles, 1.2 GHz, 0.2 us for arguments and 1 us to execute (software: 10 us); a load takes
NS nanoseconds and its bytes come at 200 GB/s. MODE: apart, overlap, or sw."""
import json
import math
import sys

from code_size import load_bytes

with open(sys.argv[1]) as file:
    stats = json.load(file)
sizes = load_bytes(sys.argv[2])
latency_ns, mode = int(sys.argv[3]), sys.argv[4]
left, right = stats["sections"]
assert (left["tiles"], right["tiles"]) == ([0], [1])
assert (left["load_bytes"], right["load_bytes"]) == (2 * sizes[0], sizes[1])

# left, right, right again (which is on the chip), left.
execute = [s["cycles"] // s["calls"] for s in (left, right, right, left)]
loads = [math.ceil((latency_ns + size / 200) * 1.2) for size in sizes]
loaded = [loads[0], loads[1], 0, loads[0]]
hidden = [0] + [min(load, cycles) for load, cycles in zip(loaded[1:], execute)]
if mode != "overlap":
    hidden = [0] * 4
start = math.ceil((10200 if mode == "sw" else 1200) * 1.2)

# Each call rounds up once.
assert abs(stats["launch_cycles"] - (4 * start + sum(loaded) - sum(hidden))) <= 4, stats
assert abs(stats["load_cycles"] - (sum(loaded) - sum(hidden))) <= 4, stats
assert abs(stats["hidden_load_cycles"] - sum(hidden)) <= 4, stats
assert stats["load_bytes"] == sum(sizes) + sizes[0]
assert (sum(hidden) > 0) == (mode == "overlap")
# Behind a short copy the load fits only if it has no fixed time.
if mode == "overlap":
    assert (stats["load_cycles"] > loads[0] + 4) == (latency_ns > 0), stats

for tile, section in zip(stats["tiles"], (left, right)):
    assert tile == {
        "execute_cycles": section["cycles"],
        "program_load_cycles": section["load_cycles"],
        "argument_load_cycles": section["launch_cycles"] - section["load_cycles"],
    }, tile
