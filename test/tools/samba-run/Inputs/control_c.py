"""control_c.py PEF INPUT: sends an interrupt to long runs, of values and of cycles. They end soon,
with exit code 130 and their figures."""
import json
import signal
import subprocess
import sys
import time

pef, x = sys.argv[1:]
texts = {"--values-only": "values were not computed to the end", "--timing-only": "was at cycle"}
for mode in ["--values-only", "--timing-only"]:
    process = subprocess.Popen(
        ["samba-run", pef, mode, "--no-memo", "--steps", "1000000000", "--stats", "stopped.json"]
        + (["--input", "x=" + x] if mode == "--values-only" else []),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (mode, process.returncode, err)
    stats = json.load(open("stopped.json"))
    assert "interrupted" in stats["fault"] and texts[mode] in err, (stats["fault"], err)
    assert stats["calls"] > 10, stats["calls"]
    assert ("tiny: " in out) == (mode == "--timing-only"), out
