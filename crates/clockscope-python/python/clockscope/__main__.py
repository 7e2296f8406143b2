"""Runs the command: `python -m clockscope` is `clockscope`."""

from __future__ import annotations

import sys

from clockscope import CommandNotFound
from clockscope._command import replace_this_process


def _main() -> int:
    try:
        return replace_this_process(sys.argv[1:])
    except CommandNotFound as error:
        print(f"error: {error}", file=sys.stderr)
        return 4


if __name__ == "__main__":
    sys.exit(_main())
