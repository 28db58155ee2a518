"""check_stats.py STATS MODE [OTHER]: fields and figures of a statistics file of scale.s, compared
with another's."""
import json
import sys

import code_size

stats = json.load(open(sys.argv[1]))
mode = sys.argv[2]
top = (
    "version target cycles launch_cycles load_cycles hidden_load_cycles load_bytes tiles seconds"
    " flops multiply_adds dram_read_bytes dram_write_bytes calls"
    " sections host host_to_device_bytes device_to_host_bytes conversions"
)
assert set(top.split()) <= set(stats), set(top.split()) - set(stats)
section = stats["sections"][0]
fields = (
    "id name type cycles launch_cycles load_cycles hidden_load_cycles load_bytes tiles calls"
    " pcus pmus ags layers flops multiply_adds dram_read_bytes"
    " dram_write_bytes"
)
assert set(fields.split()) <= set(section), set(fields.split()) - set(section)
host = {"load_s", "jit_s", "jit_programs", "simulate_s", "simulate_cpu_s", "anon_bytes"}
host.add("transfer_s")
assert host <= set(stats["host"])
assert stats["target"] == "tiny" and stats["calls"] == 1 and len(stats["sections"]) == 1
assert section["type"] == "FWD" and section["name"] == "scale" and section["layers"] == ["my/layer"]
assert (section["pcus"], section["pmus"], section["ags"]) == (1, 0, 3)
assert section["cycles"] == stats["cycles"] and section["launch_cycles"] == stats["launch_cycles"]
assert stats["host"]["anon_bytes"] > 0
# Time of the JIT compiler is taken off the launches only where it ran in one.
assert min(stats["host"]["simulate_s"], stats["host"]["simulate_cpu_s"]) > 0
# T105: what the program moved: x goes over unless nothing has values, y comes back when it is asked
# for.
transferred = {"full": 256 if len(sys.argv) <= 3 else 0, "values": 256}.get(mode, 0)
assert stats["host_to_device_bytes"] == transferred
assert stats["device_to_host_bytes"] == (256 if mode == "values" else 0)
assert stats["conversions"] == 0 and (stats["host"]["transfer_s"] > 0) == (transferred > 0)
clock = 1.2e9
assert abs(stats["seconds"] - (stats["cycles"] + stats["launch_cycles"]) / clock) < 1e-12
# Two tensors of 256 bytes in, one out; a multiplication and an addition per element.
if mode == "values":
    assert stats["cycles"] == 0 and stats["flops"] == 0
else:
    assert (
        stats["dram_read_bytes"] == 512
        and stats["dram_write_bytes"] == 256
        and stats["flops"] == 128
        and stats["multiply_adds"] == 0
    )
    assert stats["cycles"] > 512 / 64
# Launching: 1 us to load and the image's bits at 200 GB/s, 0.2 us for arguments, 1 us (hardware) or
# 10 us (software).
(load_bytes,) = code_size.load_bytes("a.pef")
load = 1e-6 + load_bytes / 200e9
launch = {"full": load + 1.2e-6, "values": load + 1.2e-6, "sw": load + 10.2e-6, "none": 0}
launch = launch.get(mode, launch["full"])
assert abs(stats["launch_cycles"] - launch * clock) <= 1, (stats["launch_cycles"], launch * clock)
assert section["load_bytes"] == stats["load_bytes"] == (0 if mode == "none" else load_bytes)
assert abs(stats["load_cycles"] - (0 if mode == "none" else load * clock)) <= 2
if len(sys.argv) > 3:
    other = json.load(open(sys.argv[3]))
    same = "flops multiply_adds dram_read_bytes dram_write_bytes"
    assert all(stats[f] == other[f] for f in same.split())
    # The cycle engine agrees on everything but the cycles, which are a few more or less.
    apart = {"launch_cycles", "load_cycles", "load_bytes"}
    if mode == "cycle":
        apart |= {f for f in section if f.endswith("cycles")}
        assert abs(stats["cycles"] - other["cycles"]) < 0.05 * other["cycles"]
    else:
        assert stats["cycles"] == other["cycles"]
    assert all(section[f] == other["sections"][0][f] for f in section if f not in apart)
