# The text suite: every .mlir and .test file of this folder is a script of RUN lines (lit's own
# shell).  Substitutions: samba tools by name; FileCheck, not, split-file; %mlir-opt (the stock one)
# and %plugin; %python; %expect-error COMMAND: the command must end with exit code 1 and an "error:"
# on stderr; %expect-mismatch: with exit code 2; %check-exit COMMAND: "error:" on stderr exactly
# when the exit code is not 0 (the exit code is passed on); %source: the repository; %build: the
# build folder; %tools: the folder of the programs; %inputs: SAMBA_INPUTS. Features: mlir, plugin,
# samba_inputs (outside models are there), asan, full (SAMBA_CHECK=full or long), long
# (SAMBA_CHECK=long), torch (the Python package is built, and PyTorch is there), torchvision,
# sklearn, samba-compile, samba-run ... %samba-python is Python with the package.
import os
import subprocess

import lit.formats

config.name = "samba"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "inputs", "CMakeLists.txt", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.samba_build, "test")

config.environment["PATH"] = os.pathsep.join(
    [config.samba_tools, config.llvm_tools, os.environ.get("PATH", "")]
)
for name in (
    "SAMBA_INPUTS",
    "SAMBA_CHECK",
    "SAMBA_UPDATE_DOCS",
    "HOME",
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "LSAN_OPTIONS",
):
    if name in os.environ:
        config.environment[name] = os.environ[name]

inputs = os.environ.get("SAMBA_INPUTS") or os.path.join(
    config.samba_source, "..", "shared", "inputs"
)
if os.path.isdir(inputs):
    config.available_features.add("samba_inputs")
    inputs = os.path.realpath(inputs)
    config.environment["SAMBA_INPUTS"] = inputs
if config.samba_mlir:
    config.available_features.add("mlir")
else:  # what these folders test is not in this build
    config.excludes += [
        "dialect",
        "frontend",
        "passes",
        "lowering",
        "models",
        "training",
        "validation",
        "conformance",
        "docs",
        "libsamba",
    ]
if os.path.exists(config.samba_plugin):
    config.available_features.add("plugin")
if "address" in config.samba_sanitize:
    config.available_features.add("asan")
if os.environ.get("SAMBA_CHECK") in ("full", "long"):
    config.available_features.add("full")
if os.environ.get("SAMBA_CHECK") == "long":
    config.available_features.add("long")
if os.path.isdir(config.samba_tools):
    config.available_features.update(
        t
        for t in os.listdir(config.samba_tools)
        if t.startswith("samba-") or t in ("digits-demo", "train_lenet")
    )

# The Python package is tested where it was built and PyTorch is there.
if os.path.isdir(os.path.join(config.samba_build, "python", "samba")):
    found = "import importlib.util, sys; sys.exit(not importlib.util.find_spec(%r))"
    for module in ("torch", "torchvision", "sklearn"):
        if not subprocess.call([config.python, "-c", found % module]):
            config.available_features.add(module)

# Where the C code is sanitized, its runtime has to come first into the interpreter, whose own
# memory is never all given back.
python_environment = 'PYTHONPATH="%s" PYTHONDONTWRITEBYTECODE=1' % os.path.join(
    config.samba_build, "python"
)
if "asan" in config.available_features:
    library = f"libclang_rt.asan-{os.uname().machine}.so"
    command = ["clang-22", f"-print-file-name={library}"]
    runtime = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    python_environment += ' LD_PRELOAD="%s" ASAN_OPTIONS=%s:leak_check_at_exit=0' % (
        runtime,
        os.environ.get("ASAN_OPTIONS", "allocator_may_return_null=1"),
    )

check = '"%s" "%s"' % (
    config.python,
    os.path.join(config.test_source_root, "tools", "samba-check-exit"),
)
config.substitutions += [
    ("%expect-error", check + " --fail --"),
    ("%expect-mismatch", check + " --mismatch --"),
    ("%check-exit", check + " --"),
    (
        "%samba-python",
        'env %s "%s"' % (python_environment, config.python),
    ),
    ("%python", '"%s"' % config.python),
    ("%mlir-opt", os.path.join(config.llvm_tools, "mlir-opt")),
    ("%plugin", config.samba_plugin),
    ("%break-pass", os.path.join(os.path.dirname(config.samba_plugin), "samba_break_pass.so")),
    ("%llvm-include", os.path.join(config.llvm_tools, "..", "include")),
    ("%source", config.samba_source),
    ("%build", config.samba_build),
    ("%tools", config.samba_tools),
    ("%build", config.samba_build),
    ("%inputs", inputs),
]
