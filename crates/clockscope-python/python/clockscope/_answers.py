"""What the library reports about its clock, with names."""

from __future__ import annotations

from typing import Literal, NamedTuple

from clockscope import _native


class ErrorBound(NamedTuple):
    """Distance of a clock of this package from the one that it follows, in ns."""

    now_ns: int
    """By a comparison that was made for this answer."""
    largest_ns: int
    """The largest that may have been since the generation began; of wall_ns() and boot_ns(), since
    the last set or suspend as well. A figure of the past."""
    largest_at_ns: int
    """The time of that, by now_ns(), to some milliseconds."""


class Evidence(NamedTuple):
    """One finding about the processor's counter, and what it means for using it."""

    name: str
    """What was asked."""
    finding: Literal["for", "against", "unknown"]
    """What the answer means."""
    seen: str
    """The answer in a sentence; where it is unknown, why."""
    value: float | str | None
    """The answer as a figure or a word, if it has one."""
    unit: str
    """The figure's unit; empty for words and counts."""
    source: str
    """Who says so: a register, a file, a test."""
    advice: str
    """What can be done about it; empty where nothing need be."""


def error_bound() -> ErrorBound:
    """Returns how far now_ns() is from time.monotonic_ns(), by a fresh comparison, and at most.

    Costs about 1 us. Raises ClockUnavailable where no clock of the system answers.
    """
    return ErrorBound(*_native.error_bound())


def wall_error_bound() -> ErrorBound:
    """Returns how far wall_ns() is from time.time_ns(), by a fresh comparison, and at most.

    A clock that is set is an error until it is noticed, for 2.2 ms of use at most, which no bound
    includes. bounded_ns() bounds the distance from the true time.

    Costs about 1 us. Raises ClockUnavailable where no clock of the system answers.
    """
    return ErrorBound(*_native.wall_error_bound())


def boot_error_bound() -> ErrorBound:
    """Returns how far boot_ns() is from CLOCK_BOOTTIME, by a fresh comparison, and at most.

    A suspend is an error until it is noticed, for 2.2 ms of use at most, which no bound includes.

    Costs about 1 us. Raises ClockUnavailable where no clock of the system answers.
    """
    return ErrorBound(*_native.boot_error_bound())


def evidence() -> tuple[Evidence, ...]:
    """Returns the evidence about the processor's counter, and why it is used or not.

    The kernel is not asked: its answers are those of prepare(), of the second reading or of the
    last recheck(). After these, a confined process may call it.
    """
    return tuple(Evidence(*piece) for piece in _native.evidence())
