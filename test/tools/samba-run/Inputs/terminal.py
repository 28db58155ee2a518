"""terminal.py COMMAND..: runs a command with a terminal as standard error and prints what it
shows there, a line for each time the line is written anew."""
import os
import pty
import subprocess
import sys

ours, theirs = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
shown = b""
while True:
    try:
        part = os.read(ours, 4096)
    except OSError:  # the other end is closed
        break
    if not part:
        break
    shown += part
print(shown.decode().replace("\r\033[K", "\n"))
sys.exit(process.wait())
