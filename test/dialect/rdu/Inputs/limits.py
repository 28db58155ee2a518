"""Writes an rdu.section that is one step too large: access, chain or program."""
import sys

which = sys.argv[1]
trips = [1] * (64 if which == "access" else 1)
load = "{loops = %s, strides = %s, tile = [4]}" % (trips, [0] * len(trips) + [1])
loops = [1] * (64 if which == "chain" else 1)
program = ["%v0 = arith.negf %x : f32"]
if which == "program":
    program += ["%%v%d = arith.negf %%v%d : f32" % (i + 1, i) for i in range(70000)]
print("rdu.section @s(%a: !rdu.symbol<4xf32>) {")
print("  %%t = rdu.load %%a {outputs = [%s]} : (!rdu.symbol<4xf32>) -> !rdu.stream<4xf32>" % load)
print("  rdu.compute %%t {loops = %s, tile = [4]} do {\n  ^bb0(%%x: f32):" % loops)
print("    " + "\n    ".join(program))
print("    rdu.yield\n  } : (!rdu.stream<4xf32>) -> ()\n}")
