"""A line that says what is going on while something takes long.

It appears after a second, where people look: when stderr is a terminal, and in notebooks. The
variable SAMBA_PROGRESS decides otherwise: 0 never, 1 always (then each part is a line of its own).
"""
import os
import sys
import threading
import time

AFTER = 1.0  # seconds
EACH = 0.5


def wanted():
    """Whether to say anything."""
    choice = os.environ.get("SAMBA_PROGRESS")
    if choice is not None:
        return choice != "0"
    return sys.stderr is not None and sys.stderr.isatty()


class Progress:
    """with Progress("compile net") as progress: progress.part("tracing"); ..."""

    def __init__(self, what):
        self.what, self.now = what, ""
        self.wanted = wanted()
        self.width = 0

    def part(self, name):
        """What is done from here on."""
        self.now = name
        if self.wanted and self.lines:
            print(f"{self.what}: {name}", file=sys.stderr, flush=True)

    def step(self, name, done, total):
        """The same, of what the compiler does: `done` of `total` parts are done."""
        if done < total:
            self.part(f"{name} ({done + 1} of {total})")

    @property
    def lines(self):
        """Whether parts are lines of their own: nothing can be written over."""
        return os.environ.get("SAMBA_PROGRESS") == "1"

    def __enter__(self):
        if self.wanted:
            self.start, self.end = time.monotonic(), threading.Event()
            self.thread = threading.Thread(target=self.watch, daemon=True)
            self.thread.start()
        return self

    def __exit__(self, *error):
        if self.wanted:
            self.end.set()
            self.thread.join()
            self.show("")
            if self.lines:
                seconds = time.monotonic() - self.start
                print(f"{self.what}: {seconds:.1f} s", file=sys.stderr, flush=True)

    def watch(self):
        wait = AFTER
        while not self.end.wait(wait):
            wait = EACH
            part = f", {self.now}" if self.now else ""
            self.show(f"{self.what}{part}: {time.monotonic() - self.start:.0f} s")

    def show(self, text):
        """Writes over what was shown before."""
        if self.lines or (not text and not self.width):
            return
        print("\r" + text.ljust(self.width), end="", file=sys.stderr, flush=True)
        if not text:
            print("\r", end="", file=sys.stderr, flush=True)
        self.width = len(text)
