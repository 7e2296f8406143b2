"""The exceptions that carry no record, and the base of all."""

from __future__ import annotations


class ClockscopeError(Exception):
    """The base of this package's exceptions. Wrong arguments are a ValueError or a TypeError."""


class CommandNotFound(ClockscopeError):
    """The command `clockscope` is neither beside the package nor on PATH."""


class NoBound(ClockscopeError):
    """Nothing bounds the true time."""

    state: str
    """The state, as bounded_state() returns it."""

    def __init__(self, text: str, state: str = "unavailable") -> None:
        super().__init__(text)
        self.state = state


class MeasurementFailed(ClockscopeError):
    """The measurement itself failed (exit code 4, or the command was killed)."""


def missing_extra(what: str, extra: str, error: ImportError) -> ImportError:
    """An ImportError that names the extra of this package."""
    return ImportError(f"{what} needs {error.name}, of this package's extra {extra}: pip install {error.name}", name=error.name)
