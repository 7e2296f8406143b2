"""What clocks of Python and of this package do, measured in this interpreter."""

from __future__ import annotations

import difflib
import math
import time
from array import array
from collections.abc import Callable
from itertools import repeat
from statistics import median
from typing import NamedTuple

from clockscope import _native
from clockscope._record_errors import ClockUnavailable

# Readings for the steps and the tick, and batches for the cost.
_READINGS = 20_000
_BATCHES, _CALLS = 25, 400
# A clock that steps fewer times in those readings is read for so long.
_FEWEST_STEPS, _PATIENCE_NS = 4, 50_000_000
_WORD = 2**64 - 1

_OURS = ("now_ns", "now_unordered_ns", "wall_ns", "boot_ns")
_PYTHONS = ("monotonic", "perf_counter", "process_time", "thread_time", "time")

_Clock = Callable[[], float]


class ClockInfo(NamedTuple):
    """What time.get_clock_info() states of a clock, and what was measured; times in seconds."""

    name: str
    """The name that was asked for."""
    implementation: str
    """What the clock is built on."""
    monotonic: bool
    """Whether it promises never to go back. `regressions` has what was seen."""
    adjustable: bool
    """Whether the system or an administrator may change its rate or set it."""
    nominal_resolution: float | None
    """What time.get_clock_info() states; None for this package's clocks, which state nothing."""
    resolution: float | None
    """The smallest positive difference of two readings; None if it did not step."""
    tick: float | None
    """The distance between the points of the lattice on which all readings lie; None where none was found."""
    tick_reason: str | None
    """Why there is no tick; None where there is one."""
    cost: float
    """The time per call: the median of 25 batches, the loop around the calls included."""
    empty_loop: float
    """The time per turn of that loop without a call."""
    error: float | None
    """The largest distance of a reading from the clock that it follows; None where unknown."""
    regressions: int
    """How many readings were smaller than the one before, of 20,000."""


def get_clock_info(name: str) -> ClockInfo:
    """Measures a clock in this interpreter, which takes some 50 ms.

    name: a clock of time.get_clock_info() ("monotonic", "perf_counter", "process_time",
    "thread_time", "time"), the same with "_ns", or "now_ns", "now_unordered_ns", "wall_ns" or
    "boot_ns". The names of Python are the functions of the module time: "time" returns a float, and its
    figures show what that rounds.

    Raises ValueError for another name, and ClockUnavailable where the system lacks the clock.
    """
    if not isinstance(name, str):
        raise TypeError(f"name: expected a string, got {type(name).__name__}")
    clock = _function(name)
    if name in _OURS:
        _settle(clock)
    readings = _read(clock)
    cost, description = _cost(clock), _description(name)
    steps = [after - before for before, after in zip(readings, readings[1:])]
    in_ns = name.endswith("_ns")
    least = min((step for step in steps if step > 0), default=None)
    tick_ns, tick_reason = _tick(readings, 1 if in_ns else 1e9)
    return ClockInfo(
        name=name,
        implementation=description[0],
        monotonic=description[1],
        adjustable=description[2],
        nominal_resolution=description[3],
        resolution=None if least is None else least / 1e9 if in_ns else least,
        tick=None if tick_ns is None else tick_ns / 1e9,
        tick_reason=tick_reason,
        cost=cost,
        empty_loop=_empty_loop(),
        error=_error(name, description[0], readings[-1]),
        regressions=sum(step < 0 for step in steps),
    )


def _function(name: str) -> _Clock:
    """The function of a clock."""
    if name in _OURS:
        found: _Clock = getattr(_native, name)
        return found
    if name.removesuffix("_ns") not in _PYTHONS:
        raise ValueError(f"unknown clock: {name}{_nearest(name)}")
    if not hasattr(time, name):
        raise ClockUnavailable(f"this system has no time.{name}")
    found = getattr(time, name)
    return found


def _nearest(name: str) -> str:
    known = [*_OURS, *_PYTHONS, *(f"{python}_ns" for python in _PYTHONS)]
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else f": expected one of {', '.join(known)}"


def _description(name: str) -> tuple[str, bool, bool, float | None]:
    """Implementation, monotonic, adjustable and resolution, as Python reports them."""
    if name in _OURS:
        return f"clockscope ({_native.source()})", name in ("now_ns", "boot_ns"), True, None
    info = time.get_clock_info(name.removesuffix("_ns"))  # type: ignore[arg-type]
    return info.implementation, info.monotonic, info.adjustable, info.resolution


def _settle(clock: _Clock) -> None:
    """Reads until the counter is served: this package's clocks begin with the system's."""
    start = _native.now_ns()
    while _native.source() != "counter" and _native.now_ns() - start < _PATIENCE_NS:
        for _ in repeat(None, _CALLS):
            clock()


def _read(clock: _Clock) -> list[float]:
    """Successive readings: more of a clock that hardly steps."""
    readings = [clock() for _ in repeat(None, _READINGS)]
    start = _native.now_ns()
    while len(set(readings)) <= _FEWEST_STEPS and _native.now_ns() - start < _PATIENCE_NS:
        readings += [clock() for _ in repeat(None, _READINGS)]
    return readings


def _tick(readings: list[float], ns: float) -> tuple[float | None, str | None]:
    """The tick in ns of readings in units of `ns` nanoseconds, and why there is none."""
    # The difference of two floats is exact where the float in ns would be rounded.
    words = array("Q", (round((reading - readings[0]) * ns) & _WORD for reading in readings))
    return _native.tick(words.tobytes())


def _cost(clock: _Clock) -> float:
    now_ns = _native.now_ns
    costs: list[float] = []
    for _ in repeat(None, _BATCHES):
        start = now_ns()
        for _ in repeat(None, _CALLS):
            clock()
        costs.append((now_ns() - start) / _CALLS)
    return median(costs) / 1e9


def _empty_loop() -> float:
    now_ns = _native.now_ns
    costs: list[float] = []
    for _ in repeat(None, _BATCHES):
        start = now_ns()
        for _ in repeat(None, _CALLS):
            pass
        costs.append((now_ns() - start) / _CALLS)
    return median(costs) / 1e9


def _error(name: str, implementation: str, reading: float) -> float | None:
    """The largest distance from the clock that is followed, in seconds."""
    if name == "wall_ns":
        return _native.wall_error_bound()[1] / 1e9
    if name == "boot_ns":
        return _native.boot_error_bound()[1] / 1e9
    if name in _OURS:
        return _native.error_bound()[1] / 1e9
    # Python hands over what the system returned, as ns or rounded to a float.
    if not implementation.startswith("clock_gettime("):
        return None
    return 0.0 if name.endswith("_ns") else math.ulp(reading) / 2
