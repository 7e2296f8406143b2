from clockscope import stamps as stamps
from clockscope._answers import ErrorBound as ErrorBound
from clockscope._answers import Evidence as Evidence
from clockscope._answers import boot_error_bound as boot_error_bound
from clockscope._answers import error_bound as error_bound
from clockscope._answers import evidence as evidence
from clockscope._answers import wall_error_bound as wall_error_bound
from clockscope._clock_info import ClockInfo as ClockInfo
from clockscope._clock_info import get_clock_info as get_clock_info
from clockscope._errors import ClockscopeError as ClockscopeError
from clockscope._errors import CommandNotFound as CommandNotFound
from clockscope._errors import MeasurementFailed as MeasurementFailed
from clockscope._errors import NoBound as NoBound
from clockscope._fields import Fields as Fields
from clockscope._machine import bounds as bounds
from clockscope._machine import clocksource as clocksource
from clockscope._machine import compare as compare
from clockscope._machine import info as info
from clockscope._machine import list_clocks as list_clocks
from clockscope._machine import list_runtimes as list_runtimes
from clockscope._machine import replay as replay
from clockscope._machine import runtimes as runtimes
from clockscope._native import boot_counts_suspends as boot_counts_suspends
from clockscope._native import boot_ns as boot_ns
from clockscope._native import bounded_ns as bounded_ns
from clockscope._native import bounded_state as bounded_state
from clockscope._native import commit_wait as commit_wait
from clockscope._native import generation as generation
from clockscope._native import now_ns as now_ns
from clockscope._native import now_unordered_ns as now_unordered_ns
from clockscope._native import prepare as prepare
from clockscope._native import recheck as recheck
from clockscope._native import source as source
from clockscope._native import wall_ns as wall_ns
from clockscope._questions import advise as advise
from clockscope._questions import check as check
from clockscope._questions import gaps as gaps
from clockscope._questions import measure as measure
from clockscope._questions import offsets as offsets
from clockscope._questions import order as order
from clockscope._questions import rate as rate
from clockscope._questions import shootout as shootout
from clockscope._questions import sleep as sleep
from clockscope._questions import steps as steps
from clockscope._readings import Readings as Readings
from clockscope._readings import readings as readings
from clockscope._record import Record as Record
from clockscope._record import read_record as read_record
from clockscope._record_errors import ClockUnavailable as ClockUnavailable
from clockscope._record_errors import FindingError as FindingError
from clockscope._record_errors import Interrupted as Interrupted
from clockscope._record_errors import Undetermined as Undetermined
from clockscope._stopwatch import Stopwatch as Stopwatch
from clockscope._table import Table as Table

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

__version__: str
