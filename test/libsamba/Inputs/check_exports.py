"""Compares what libsamba.so exports with what the public headers mark with SAMBA_EXPORT.

    check_exports.py SOURCE BUILD
"""
import glob
import re
import subprocess
import sys

source, build = sys.argv[1:]
headers = glob.glob(source + "/*/include/samba/*.h")
headers += glob.glob(source + "/tools/*/include/samba/*.h")
headers.append(build + "/frontend/include/samba/builders.inc")
declared = set()
for header in headers:
    text = re.sub(r"/\*.*?\*/", " ", open(header, encoding="utf-8").read(), flags=re.S)
    for match in re.finditer(r"SAMBA_EXPORT\b(?!\s+__attribute__)([^;(]*?)\b(samba\w+)\s*\(", text):
        declared.add(match.group(2))
    # Whatever is declared is marked.
    bare = re.sub(r"SAMBA_EXPORT\b[^;]*;", "", text)
    bare = re.sub(r"static inline[^{]*\{.*?^\}", "", bare, flags=re.S | re.M)
    for match in re.finditer(r"^(?!#|typedef| )[\w *]+?\b(samba\w+)\([^;{]*\);", bare, re.M):
        sys.exit("%s: %s is not marked with SAMBA_EXPORT" % (header, match.group(1)))

lines = subprocess.check_output(
    ["nm", "-D", "--defined-only", build + "/lib/libsamba.so"], text=True
).splitlines()
exported = {line.split()[2].split("@")[0] for line in lines if line.split()[1] != "A"}
assert len(declared) > 200, declared
missing, unknown = sorted(declared - exported), sorted(exported - declared)
for name in missing:
    print("declared, but not in the library: " + name)
for name in unknown:
    print("in the library, but not declared: " + name)
sys.exit(1 if missing or unknown else 0)
