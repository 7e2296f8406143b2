"""Timestamps by the processor's counter, and what this machine's clocks do.

    from clockscope import now_ns
    start = now_ns()
    work()
    print(now_ns() - start, "ns")

Clocks: now_ns, now_unordered_ns, wall_ns, boot_ns, bounded_ns, commit_wait, Stopwatch; what they
are worth: error_bound, wall_error_bound, boot_error_bound, boot_counts_suspends, source, evidence,
get_clock_info. Bare counts that become times later: the module stamps. Questions about the
machine's clocks, which the command `clockscope` answers in a process of its own: measure, steps,
check, order, offsets, rate, gaps, sleep, shootout, advise, runtimes, compare, clocksource,
bounds, list_clocks, list_runtimes, info, replay; readings, for every reading.

Importing the package reads no clock and starts no thread.
"""

from clockscope._errors import ClockscopeError, CommandNotFound, MeasurementFailed, NoBound
from clockscope._native import (
    VERSION,
    boot_counts_suspends,
    boot_ns,
    bounded_ns,
    bounded_state,
    commit_wait,
    generation,
    now_ns,
    now_unordered_ns,
    prepare,
    recheck,
    source,
    wall_ns,
)
from clockscope._record_errors import ClockUnavailable, FindingError, Interrupted, Undetermined
from clockscope._stopwatch import Stopwatch

__version__ = VERSION
del VERSION

# Imported when they are first used: they bring modules that take longer than this package. The stub
# names them for type checkers.
# pyright: reportUnsupportedDunderAll=false
_LAZY = {
    "ClockInfo": "_clock_info",
    "ErrorBound": "_answers",
    "Evidence": "_answers",
    "Fields": "_fields",
    "Readings": "_readings",
    "Record": "_record",
    "Table": "_table",
    "advise": "_questions",
    "boot_error_bound": "_answers",
    "bounds": "_machine",
    "check": "_questions",
    "clocksource": "_machine",
    "compare": "_machine",
    "error_bound": "_answers",
    "evidence": "_answers",
    "gaps": "_questions",
    "get_clock_info": "_clock_info",
    "info": "_machine",
    "list_clocks": "_machine",
    "list_runtimes": "_machine",
    "measure": "_questions",
    "offsets": "_questions",
    "order": "_questions",
    "rate": "_questions",
    "read_record": "_record",
    "readings": "_readings",
    "replay": "_machine",
    "runtimes": "_machine",
    "shootout": "_questions",
    "sleep": "_questions",
    "stamps": "stamps",
    "steps": "_questions",
    "wall_error_bound": "_answers",
}

__all__ = [
    "ClockInfo",
    "ClockUnavailable",
    "ClockscopeError",
    "CommandNotFound",
    "ErrorBound",
    "Evidence",
    "Fields",
    "FindingError",
    "Interrupted",
    "MeasurementFailed",
    "NoBound",
    "Readings",
    "Record",
    "Stopwatch",
    "Table",
    "Undetermined",
    "advise",
    "boot_counts_suspends",
    "boot_error_bound",
    "boot_ns",
    "bounded_ns",
    "bounded_state",
    "bounds",
    "check",
    "clocksource",
    "commit_wait",
    "compare",
    "error_bound",
    "evidence",
    "gaps",
    "generation",
    "get_clock_info",
    "info",
    "list_clocks",
    "list_runtimes",
    "measure",
    "now_ns",
    "now_unordered_ns",
    "offsets",
    "order",
    "prepare",
    "rate",
    "read_record",
    "readings",
    "recheck",
    "replay",
    "runtimes",
    "shootout",
    "sleep",
    "source",
    "stamps",
    "steps",
    "wall_error_bound",
    "wall_ns",
]


def __getattr__(name: str) -> object:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = import_module(f"{__name__}.{module}")
    # The module stamps is such a name itself.
    value = found if module == name else getattr(found, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
