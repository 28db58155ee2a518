"""Compiles each public header alone, as C11 and as C++17, strictly.

    check_headers.py LLVM_INCLUDE FOLDER...     (headers are FOLDER/samba/*)
"""
import glob
import os
import re
import shutil
import subprocess
import sys

llvm, folders = sys.argv[1], sys.argv[2:]
headers = sorted(header for folder in folders for header in glob.glob(folder + "/samba/*"))
flags = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic"]
flags += ["-I" + folder for folder in folders]
own = {"samba/" + os.path.basename(header) for header in headers}
standard = {"signal.h", "stdbool.h", "stddef.h", "stdint.h", "string.h"}

bad = []
for header in headers:
    name = "samba/" + os.path.basename(header)
    text = open(header, encoding="utf-8").read()
    # What is for compilers on MLIR takes MLIR's headers, and no other header knows of it.
    mlir = name == "samba/mlir.h" or name.endswith("passes.h.inc")
    for included in re.findall(r'#\s*include\s*["<]([^">]+)', text):
        if included.startswith("mlir-c/") and mlir:
            continue
        if included not in own | standard or (not mlir and included == "samba/mlir.h"):
            bad.append("%s includes %s" % (header, included))
    if not name.endswith(".h"):
        continue
    for compiler, language, version in (
        ("clang-22", "c", "c11"),
        ("clang++-22", "c++", "c++17"),
        ("gcc", "c", "c11"),
        ("g++", "c++", "c++17"),
    ):
        if compiler in ("gcc", "g++") and not shutil.which(compiler):
            continue
        for line in ('#include "%s"\n' % name, '#include "%s"\n#include "%s"\n' % (name, name)):
            command = [compiler, "-x", language, "-std=" + version] + flags + ["-"]
            if mlir:
                command[1:1] = ["-isystem", llvm]
            run = subprocess.run(command, input=line, capture_output=True, text=True)
            if run.returncode:
                bad.append("%s as %s:\n%s" % (name, version, run.stderr))
assert len(headers) >= 5, headers
print("\n".join(bad) or "%d headers stand alone" % len(headers))
sys.exit(1 if bad else 0)
