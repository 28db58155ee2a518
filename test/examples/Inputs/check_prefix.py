"""Looks at an installation: what must be there is there, and no file knows where it was built.

    check_prefix.py PREFIX SOURCE BUILD
"""
import os
import re
import subprocess
import sys

prefix, source, build = sys.argv[1:]
TOOLS = "compile lsp-server objdump opt run translate".split()
wanted = ["bin/samba-" + tool for tool in TOOLS]
wanted += ["share/man/man1/samba-%s.1" % tool for tool in TOOLS]
wanted += ["lib/libsamba%s.so" % part for part in ("", "-compiler", "-simulator")]
wanted += ["lib/libsamba.a", "lib/libsamba-simulator.a", "lib/samba_plugin.so"]
wanted += ["lib/cmake/Samba/SambaConfig.cmake", "lib/cmake/Samba/SambaConfigVersion.cmake"]
wanted += ["lib/pkgconfig/samba%s.pc" % p for p in ("", "-compiler", "-simulator", "-mlir")]
wanted += ["include/samba/samba.h", "include/samba/mlir.h", "include/samba/builders.inc"]
wanted += ["share/doc/samba/docs/index.md", "share/doc/samba/LICENSE"]
wanted += ["share/doc/samba/reference/samba-dialect.md"]
wanted += ["share/doc/samba/examples/outside/CMakeLists.txt"]
problems = [name + " is not there" for name in wanted if not os.path.exists(prefix + "/" + name)]

# Every public header of the source is installed, and under include/ nothing else.
headers = {"builders.inc", "passes.h.inc", "lowering_passes.h.inc"}
for folder, _, names in os.walk(source):
    if folder.endswith("/include/samba") and not folder.startswith(build):
        headers.update(names)
installed = set(os.listdir(prefix + "/include/samba"))
if headers != installed or os.listdir(prefix + "/include") != ["samba"]:
    problems.append("headers: %s differ" % sorted(headers ^ installed))

for folder, _, names in os.walk(prefix):
    for name in names:
        path = os.path.join(folder, name)
        data = b"" if os.path.islink(path) else open(path, "rb").read()
        for place in (source, build, prefix):
            if place.encode() in data:
                problems.append("%s names %s" % (os.path.relpath(path, prefix), place))

# The libraries use the shared MLIR and have none of their own.
for name in ("libsamba.so", "libsamba-compiler.so", "samba_plugin.so"):
    symbols = subprocess.check_output(["nm", "--defined-only", prefix + "/lib/" + name], text=True)
    if "_ZN4mlir11MLIRContextC" in symbols or "_ZN4llvm11LLVMContextC" in symbols:
        problems.append("%s has an MLIR of its own" % name)
# The simulator needs no MLIR, and opens LLVM by its name only when it computes values. It reads
# PEFs without libelf, which writes them: linkers that name only what is needed leave that out.
simulator = prefix + "/lib/libsamba-simulator.so"
dynamic = subprocess.check_output(["readelf", "-d", simulator], text=True)
needed = sorted(re.findall(r"NEEDED.*\[(.*?)\.so", dynamic))
if set(needed) - {"libelf"} != {"libc", "libcjson", "libm"}:
    problems.append("libsamba-simulator.so needs other libraries: %s" % needed)
if b"libLLVM" not in open(simulator, "rb").read():
    problems.append("libsamba-simulator.so does not name the LLVM that it opens")

print("\n".join(problems) or "%d files" % sum(len(names) for _, _, names in os.walk(prefix)))
sys.exit(1 if problems else 0)
