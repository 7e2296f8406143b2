"""The instrument's questions. The command answers them, in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from clockscope import _arguments as words
from clockscope._arguments import Clocks
from clockscope._errors import MeasurementFailed
from clockscope._record import Record
from clockscope._record_errors import ClockUnavailable, Undetermined
from clockscope._run import run


def measure(
    clocks: Clocks = (),
    *,
    duration: float = 2.5,
    via: str = "libc",
    cpu: int | None = None,
    extended: bool = False,
    repeat: int | None = None,
    fail_on: Clocks = (),
) -> Record:
    """Measures what a read costs, the tick, and what goes wrong between reads.

    clocks: names, as `clockscope list` shows them; all clocks by default.
    duration: seconds for all clocks together.
    via: "libc", "vdso", "syscall" or "all", for clocks that can be read in several ways.
    cpu: the CPU to measure on; the current one by default.
    extended: looks across CPUs and over time as well, for 2.5 s more.
    repeat: runs as often, each in its own process and for the whole duration. By default 16 runs
    share a duration of 1.6 s or more: the record has where another run's median lies, which
    compare() needs.
    fail_on: raises FindingError if a clock shows any of these: "regression", "jump", "warp",
    "stall", "stuck", "fail", "unavailable", "unknown".

    Raises ClockUnavailable if none of the named clocks can be read.
    """
    arguments = words.options(
        duration=words.seconds("duration", duration),
        via=via,
        cpu=words.cpu(cpu),
        repeat=words.whole("repeat", repeat, least=1),
        fail_on=words.names("fail_on", fail_on),
    )
    return about_clocks("measure", clocks, arguments + ["--extended"] * bool(extended))


def steps(
    clocks: Clocks = (),
    *,
    duration: float | None = None,
    reads: int | None = None,
    via: str = "libc",
    cpu: int | None = None,
    fail_on: Clocks = (),
) -> Record:
    """Reads clocks in a loop and gives all differences, the tick, and what went wrong and when.

    duration: seconds for all clocks together, 2 by default; or reads: the number for each clock.
    The other arguments, and ClockUnavailable: as for measure().
    """
    if duration is not None and reads is not None:
        raise ValueError("duration and reads: expected one of both")
    arguments = words.options(
        duration=words.seconds("duration", duration),
        reads=words.whole("reads", reads, least=2),
        via=via,
        cpu=words.cpu(cpu),
        fail_on=words.names("fail_on", fail_on),
    )
    return about_clocks("steps", clocks, arguments)


def check(
    clocks: Clocks = (),
    *,
    duration: float = 5.0,
    cpu: int | None = None,
    for_use: str | None = None,
    fail_on: Clocks = (),
    policy: str | os.PathLike[str] | None = None,
) -> Record:
    """Gives a verdict on each clock, trusted, undecided, limited or unfit, and its evidence.

    clocks: "counter" is the processor's; the counter and all POSIX clocks by default.
    duration: seconds for everything.
    for_use: "interval", "time_of_day" or "all": the use to judge the clocks for.
    fail_on: raises FindingError for any of "limited", "unfit", "regression", "jump",
    "unavailable", "unknown", and Undetermined where that could not be tested.
    policy: a file of demands (TOML); unmet ones raise FindingError.
    """
    arguments = words.options(
        duration=words.seconds("duration", duration),
        cpu=words.cpu(cpu),
        fail_on=words.names("fail_on", fail_on),
        policy=None if policy is None else os.fspath(policy),
        **{"for": for_use},
    )
    return run(["check", *FORMAT, *arguments, "--", *words.names_of("clocks", clocks)])


def order(
    clocks: Clocks = (),
    *,
    duration: float = 2.0,
    cpus: Iterable[int] | None = None,
    serial: bool = False,
    handoff: str = "both",
    stores: bool = False,
    via: str = "libc",
    fail_on: Clocks = (),
) -> Record:
    """Hands readings from CPU to CPU and counts those that go back.

    duration: seconds for all clocks and pairs; on many CPUs, and on busy ones, it takes more.
    cpus: the CPUs that take part; all that this process may run on by default.
    serial: one pair at a time. handoff: "mailbox", "lock" or "both".
    stores: tests the order of a thread's own stores and its readings as well, for a quarter of the
    time; the record's `stores` has the rounds, without and with a fence before the reading.
    fail_on: "regression", "unknown". Raises ClockUnavailable as measure() does.
    """
    arguments = words.options(
        duration=words.seconds("duration", duration),
        cpus=words.cpus(cpus),
        handoff=handoff,
        via=via,
        fail_on=words.names("fail_on", fail_on),
    )
    return about_clocks("order", clocks, arguments + ["--serial"] * bool(serial) + ["--stores"] * bool(stores))


def offsets(
    *, duration: float = 1.0, cpus: Iterable[int] | None = None, serial: bool = False, fail_on: Clocks = ()
) -> Record:
    """Measures how far the CPUs' counters are apart, with bounds. Arguments as for order()."""
    arguments = words.options(duration=words.seconds("duration", duration), cpus=words.cpus(cpus), fail_on=words.names("fail_on", fail_on))
    return run(["order", "--offsets", *FORMAT, *arguments, *["--serial"] * bool(serial)])


def rate(
    clocks: Clocks = (),
    *,
    duration: float | None = None,
    until_ppm: float | None = None,
    reference: str | None = None,
    via: str = "libc",
    cpu: int | None = None,
    fail_on: Clocks = (),
) -> Record:
    """Compares how fast clocks run, with bounds, and how steadily.

    duration: seconds, 2 by default; with until_ppm the most, 60 by default.
    until_ppm: stops as soon as every bound is this small; raises Undetermined if time was short.
    reference: the clock that the others are compared with; monotonic_raw:vdso by default.
    The other arguments, and ClockUnavailable: as for measure().
    """
    arguments = words.options(
        duration=words.seconds("duration", duration),
        until=words.ppm("until_ppm", until_ppm),
        reference=reference,
        via=via,
        cpu=words.cpu(cpu),
        fail_on=words.names("fail_on", fail_on),
    )
    return about_clocks("rate", clocks, arguments)


def gaps(*, threshold: float = 1e-6, duration: float = 2.0, cpus: Iterable[int] | None = None) -> Record:
    """Measures what time threads lose, and to what.

    threshold: the shortest time between two reads that counts as a gap, in seconds.
    cpus: all at once; the current one by default.
    """
    arguments = words.options(
        threshold=words.seconds("threshold", threshold), duration=words.seconds("duration", duration), cpus=words.cpus(cpus)
    )
    return run(["gaps", *FORMAT, *arguments])


def sleep(*, duration: float = 6.0, cpu: int | None = None, fail_on: Clocks = ()) -> Record:
    """Measures how long the system's sleeping calls take, beside what was asked for.

    duration: seconds, roughly; each call sleeps three times at least, and runs into
        which that does not fit (2.4 s on Linux) leave out the longest sleeps.
    """
    arguments = words.options(duration=words.seconds("duration", duration), cpu=words.cpu(cpu), fail_on=words.names("fail_on", fail_on))
    return run(["sleep", *FORMAT, *arguments])


def shootout(a: str | None = None, b: str | None = None, *, duration: float = 3.0, cpu: int | None = None) -> Record:
    """Compares two clocks by resolution, accuracy, cost and reliability.

    a: the processor's counter by default. b: monotonic. Raises Undetermined if one of them cannot
    be read.
    """
    if a is None and b is not None:
        raise ValueError("b: expected a as well")
    named = [words.text("a", "counter" if a is None else a), *([] if b is None else [words.text("b", b)])]
    arguments = words.options(duration=words.seconds("duration", duration), cpu=words.cpu(cpu))
    return run(["compare", *FORMAT, *arguments, *(f"--clock={name}" for name in named)])


def advise(
    interval: float | None = None,
    *,
    error: float = 0.01,
    clock: Clocks = (),
    after: str = "spin",
    record: Record | None = None,
    duration: float | None = None,
    cpu: int | None = None,
) -> Record:
    """Advises which clock to use for an interval in Python, and how often to repeat.

    It reads the clocks of Python in a process of the same interpreter: two calls in a row, and calls
    around work of known length. So costs and errors are those of Python's calls, and every clock
    is named by the expression that reads it: "time.perf_counter_ns()", "clockscope.now_ns()".

    interval: what is to be measured, in seconds; a table of 1 ns to 1 s by default.
    error: the relative error that is accepted.
    clock: advises on these alone: "perf_counter_ns", "monotonic_ns", "now_ns".
    after: the work that is measured, which the calls follow: "spin", "touch-32k", "touch-256k",
    "touch-4m" or "sleep".
    record: an answer of measure() or steps() to compute from, instead of measuring for `duration`
    seconds (2.5 by default) on `cpu`. Its clocks are those of C, C++ and Rust, and `language` is
    None.

    In the record, `language` is "python", and each of `rows` has the `clock`, its `reading_error` as
    a share of the interval, and the `repetitions`.
    """
    arguments = words.options(
        interval=words.seconds("interval", interval),
        error=words.number("error", error),
        after=after,
        duration=words.seconds("duration", duration),
        cpu=words.cpu(cpu),
    )
    arguments += [f"--clock={name}" for name in words.names_of("clock", clock)]
    if record is None:
        return run(["advise", *FORMAT, *arguments, "--lang=python", f"--program={_python()}"], variables=_package())
    if not isinstance(record, Record):
        raise TypeError(f"record: expected a Record, got {type(record).__name__}")
    if duration is not None or cpu is not None or clock:
        raise ValueError("record: expected neither duration, cpu nor clock with it, since nothing is measured")
    return run(["advise", *FORMAT, *arguments, "--from", "-"], record.to_json())


def _python() -> str:
    """The program of this interpreter."""
    if not sys.executable:
        raise MeasurementFailed("advise: sys.executable names no program of Python: set it to that of this version")
    return sys.executable


def _package() -> dict[str, str]:
    """The variable that names the folder of this package to the process that reads the clocks."""
    return {"CLOCKSCOPE_PROBE_PACKAGE": os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}


# A document, and nothing beside it.
FORMAT = ("--format", "json", "--quiet")


def about_clocks(question: str, clocks: Clocks, arguments: Sequence[str]) -> Record:
    """Asks about clocks, one of which has to be readable if they are named."""
    named = words.names_of("clocks", clocks)
    try:
        record = run([question, *FORMAT, *arguments, "--", *named])
    except Undetermined as undetermined:
        if undetermined.record is not None:
            _expect_readable(question, named, undetermined.record)
        raise
    _expect_readable(question, named, record)
    return record


def _expect_readable(question: str, named: Sequence[str], record: Record) -> None:
    """Raises an exception if clocks were named and none of them could be read."""
    found = record.sequences if question == "order" else record.clocks
    if named and found and not any(clock.available for clock in found):
        reasons = "; ".join(f"{clock.name}: {clock.reason.text}" for clock in found)
        raise ClockUnavailable(reasons, record) from None
