"""Compiles each public header alone, as C11 and as C++17, strictly.

    check_headers.py SOURCE BUILD
"""
import glob
import re
import shutil
import subprocess
import sys

source, build = sys.argv[1:3]
headers = sorted(glob.glob(source + "/*/include/samba/*.h"))
headers += sorted(glob.glob(source + "/tools/*/include/samba/*.h"))
folders = sorted({header[: header.rindex("/samba/")] for header in headers})
folders.append(build + "/frontend/include")
flags = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic"]
flags += ["-I" + folder for folder in folders]
own = {header[header.rindex("/samba/") + 1 :] for header in headers} | {"samba/builders.inc"}
standard = {"stdbool.h", "stddef.h", "stdint.h", "string.h"}

bad = []
for header in headers:
    name = header[header.rindex("/samba/") + 1 :]
    text = open(header, encoding="utf-8").read()
    for included in re.findall(r'#\s*include\s*["<]([^">]+)', text):
        if included not in own | standard:
            bad.append("%s includes %s" % (header, included))
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
            run = subprocess.run(command, input=line, capture_output=True, text=True)
            if run.returncode:
                bad.append("%s as %s:\n%s" % (name, version, run.stderr))
assert len(headers) >= 8, headers
print("\n".join(bad) or "%d headers stand alone" % len(headers))
sys.exit(1 if bad else 0)
