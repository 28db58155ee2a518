"""system.py FOLDER PROGRAM...: a folder that, as PATH, is a system without dpkg that has these.

The programs do nothing and succeed, so every library is found; LLVM and ONNX are the host's."""
import os
import shutil
import sys

folder = sys.argv[1]
os.mkdir(folder)
for name in ("sh", "ls", "env"):
    os.symlink(shutil.which(name), f"{folder}/{name}")
for name in sys.argv[2:]:
    with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexit 0\n")
    os.chmod(f"{folder}/{name}", 0o755)
