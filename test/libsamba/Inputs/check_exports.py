"""Compares what the libraries export with what their public headers mark with SAMBA_EXPORT, or
with MLIR's word for it.

    check_exports.py SOURCE BUILD
"""
import glob
import os
import re
import subprocess
import sys

source, build = sys.argv[1:]
ALL = ["support", "frontend", "passes", "lowering", "runtime", "tools/libsamba"]
COMPILER_LAYERS = [layer for layer in ALL if layer != "runtime"]
# Of the headers of tools/libsamba, those that need no device.
COMPILER = ["context.h", "compile.h", "mlir.h"]
MARK = r"(?:SAMBA_EXPORT|MLIR_CAPI_EXPORTED)\b"


def headers_of(layers, wanted=None):
    found = []
    for layer in layers:
        for root in (source, build):
            found += glob.glob("%s/%s/include/samba/*" % (root, layer))
    return [path for path in found if not wanted or wanted(path)]


def in_compiler(path):
    return "/tools/libsamba/" not in path or os.path.basename(path) in COMPILER


def declared_in(headers):
    declared = set()
    for header in headers:
        text = re.sub(r"/\*.*?\*/", " ", open(header, encoding="utf-8").read(), flags=re.S)
        for match in re.finditer(
            MARK + r"(?!\s+__attribute__)([^;(]*?)\b(samba\w+|mlir\w+)\s*\(", text
        ):
            declared.add(match.group(2))
        for match in re.finditer(r"MLIR_DECLARE_CAPI_DIALECT_REGISTRATION\(\w+, (\w+)\)", text):
            declared.add("mlirGetDialectHandle__%s__" % match.group(1))
        # Whatever is declared is marked.
        bare = re.sub(MARK + "[^;]*;", "", text)
        bare = re.sub(r"static inline[^{]*\{.*?^\}", "", bare, flags=re.S | re.M)
        for match in re.finditer(
            r"^(?!#|typedef| )[\w *]+?\b((?:samba|mlir)\w+)\([^;{]*\);", bare, re.M
        ):
            sys.exit("%s: %s is not marked with SAMBA_EXPORT" % (header, match.group(1)))
    return declared


def compare(name, headers, least):
    declared = declared_in(headers)
    library = "%s/lib/lib%s.so" % (build, name)
    command = ["nm", "-D", "--defined-only", library]
    rows = [line.split() for line in subprocess.check_output(command, text=True).splitlines()]
    exported = {row[2].split("@")[0] for row in rows if row[1] != "A"}
    bad = ["lib%s: %s has no version" % (name, row[2]) for row in rows if "SAMBA_0" not in row[2]]
    bad += ["lib%s lacks %s, which is declared" % (name, n) for n in sorted(declared - exported)]
    bad += ["lib%s has %s, not declared" % (name, n) for n in sorted(exported - declared)]
    assert len(declared) > least, len(declared)
    return bad


problems = compare("samba", headers_of(ALL), 350)
problems += compare("samba-compiler", headers_of(COMPILER_LAYERS, in_compiler), 200)
problems += compare("samba-simulator", headers_of(["support", "runtime"]), 120)
print("\n".join(problems))
sys.exit(1 if problems else 0)
