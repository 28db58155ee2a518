"""check_fault.py STATS TEXT: the run ended with a fault that says TEXT, in its first call; what the
units did until then is counted."""
import json
import sys

stats = json.load(open(sys.argv[1]))
assert sys.argv[2] in stats["fault"], stats["fault"]
assert stats["calls"] == 0 and stats["cycles"] > 0, (stats["calls"], stats["cycles"])
assert stats["sections"][0]["wait_input_cycles"] >= 0
