"""kill_compile.py MODEL COUNT: kills samba-compile at random times; the PEF is the old one or the
new one, whole, always.

Two precisions give two different PEFs; each run overwrites the other's.
"""
import os
import random
import signal
import subprocess
import sys
import time

model, count = sys.argv[1], int(sys.argv[2])
random.seed(1)
wanted = {}
for precision in ("mp0", "mp4"):
    start = time.time()
    subprocess.run(
        ["samba-compile", model, "-o", "x.pef", "--target=tiny", "--precision=" + precision],
        check=True,
    )
    duration = time.time() - start
    wanted[open("x.pef", "rb").read()] = precision
assert len(wanted) == 2
current = "mp4"
killed = written = 0
for _ in range(count):
    other = "mp0" if current == "mp4" else "mp4"
    process = subprocess.Popen(
        ["samba-compile", model, "-o", "x.pef", "--target=tiny", "--precision=" + other]
    )
    time.sleep(random.uniform(0.2, 1.1) * duration)
    process.send_signal(signal.SIGKILL)
    killed += process.wait() == -signal.SIGKILL
    now = wanted.get(open("x.pef", "rb").read())
    assert now in ("mp0", "mp4"), "a half-written PEF"
    written += now != current
    current = now
left = [f for f in os.listdir(".") if f not in ("x.pef", "x.pef.log", "mlp.mlir")]
print("%d killed, %d written, left over: %s" % (killed, written, left))
assert killed, "nothing was killed"
