"""A line on a terminal that says how far it is."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Final

_PAUSE_S: Final = 0.2


def say(line: str) -> None:
    """Writes a line to standard error. Where that is closed or full, the line is lost."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(line, file=sys.stderr, flush=True)


class Progress:
    """Writes to standard error, if that is a terminal and nobody asked for quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self._is_enabled = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._written_at = 0.0

    def say(self, what: str) -> None:
        """Shows what is done now."""
        self._write(f"{what} ...", always=True)

    def step(self, what: str, done: int, of: int) -> None:
        """Shows that `done` of `of` are done."""
        self._write(f"{done:,} of {of:,} {what}", always=done == of)

    def end(self) -> None:
        """Takes the line away."""
        self._write("", always=True)

    def _write(self, line: str, always: bool) -> None:
        now = time.monotonic()
        if self._is_enabled and (always or now - self._written_at >= _PAUSE_S):
            self._written_at = now
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()
