"""The package and its C library: which shared libraries an import loads, and what that takes."""
import glob
import os
import subprocess
import sys
import unittest

import samba


def loaded():
    """The files that are mapped into this process, each once."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return {line.split(maxsplit=5)[5].strip() for line in maps if line.count("/")}


class LibraryTest(unittest.TestCase):
    def test_one_copy_is_loaded(self):
        for name in ("libsamba.so", "libMLIR.so", "libLLVM.so"):
            found = [path for path in loaded() if os.path.basename(path).startswith(name)]
            self.assertEqual(len(found), 1, found)

    def test_the_extension_links_libsamba_alone(self):
        folder = os.path.dirname(samba.__file__)
        (module,) = glob.glob(os.path.join(folder, "_samba.*.so"))
        found = subprocess.run(["readelf", "-d", module], capture_output=True, text=True).stdout
        needed = [line.split("[")[1][:-1] for line in found.splitlines() if "(NEEDED)" in line]
        ours = [name for name in needed if not name.startswith(("libc.", "libasan", "ld-"))]
        self.assertEqual(ours, ["libsamba.so.0"])
        self.assertTrue(os.path.exists(os.path.join(folder, "libsamba.so.0")))
        self.assertIn("[$ORIGIN]", found)

    def test_importing_is_quick(self):
        code = (
            "import time, torch; t = time.process_time(); import samba; "
            "print(time.process_time() - t)"
        )
        seconds = []
        for _ in range(3):
            run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
            seconds.append(float(run.stdout))
        self.assertLessEqual(min(seconds), 0.3)


if __name__ == "__main__":
    unittest.main()
