"""A probe of clockscope: how Python's stopwatches read. The protocol is probes/README.md of clockscope-runtimes.

    python3 probe.py MILLISECONDS       (Python 3.7 or later, PyPy)
"""

import json
import sys
import time
from collections import Counter
from time import perf_counter_ns

CLOCKS = ["perf_counter_ns", "monotonic_ns", "time_ns", "process_time_ns"]
# What moves the clocks of systems, by the names under which time.get_clock_info reports them. Before Python 3.13, time_ns reads the
# cheap system time of Windows, and monotonic_ns the tick count.
MOVERS = {
    "QueryPerformanceCounter()": "performance_counter",
    "GetSystemTimePreciseAsFileTime()": "performance_counter",
    "GetSystemTimeAsFileTime()": "timer_tick",
    "GetTickCount64()": "timer_tick",
    "GetProcessTimes()": "scheduler",
    "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)": "scheduler",
    "clock_gettime(CLOCK_PROF)": "scheduler",
    "getrusage(RUSAGE_SELF)": "scheduler",
    "times()": "scheduler",
    "clock()": "scheduler",
}
BY_CLOCKSOURCE = ("clock_gettime(", "gettimeofday(", "mach_absolute_time(", "gethrtime(")
# Of PyPy its own, which is not that of the language.
VERSION = ".".join(map(str, getattr(sys, "pypy_version_info", sys.version_info)[:3]))
READS, MIN_BATCHES, MAX_DURATIONS, MAX_STEPS = 1000, 6, 10_000, 20_000


def moved_by(implementation):
    """What moves a clock of this name; "other" is whatever the name says."""
    return MOVERS.get(implementation) or ("clocksource" if implementation.startswith(BY_CLOCKSOURCE) else "other")


def batch(clock, readings):
    """Fills the list; returns how long that took.

    The clock is a local name here, as after ``from time import perf_counter_ns`` in a loop that matters. The figure holds the
    call, the int object that it makes, the release of the one that it replaces, and a turn of the loop.
    """
    indices = range(len(readings))
    start = perf_counter_ns()
    for i in indices:
        readings[i] = clock()
    return perf_counter_ns() - start


def measure(milliseconds, name):
    clock = getattr(time, name)
    info = time.get_clock_info(name[: -len("_ns")])
    readings = [0] * READS
    batches, batch_ns, steps, differences = 0, [], [], Counter()

    end = perf_counter_ns() + min(milliseconds, 1000) * 250_000
    while True:
        batch(clock, readings)
        if perf_counter_ns() >= end:
            break

    end = perf_counter_ns() + milliseconds * 1_000_000
    last = None
    while batches < MIN_BATCHES or perf_counter_ns() < end:
        took = batch(clock, readings)
        if batches < MAX_DURATIONS:
            batch_ns.append(took)
        batches += 1
        within = [after - before for before, after in zip(readings, readings[1:])]
        differences.update(within)
        if len(steps) < MAX_STEPS:
            to_first = [] if last is None else [readings[0] - last]
            steps += [step for step in to_first + within if step != 0][: MAX_STEPS - len(steps)]
        last = readings[-1]

    return {
        "clockscope_probe": 1,
        "api": "time." + name,
        # "clock_gettime(CLOCK_MONOTONIC)" on most systems.
        "built_on": info.implementation.replace("clock_gettime(", "").rstrip("()"),
        "moved_by": moved_by(info.implementation),
        "documented_coarse": False,
        "units_per_second": 1_000_000_000,
        "nominal_hz": round(1 / info.resolution),
        "batch_reads": READS,
        "batches": batches,
        "batch_ns": batch_ns,
        "differences": sorted(differences.items()),
        "steps": steps,
        "version": VERSION,
    }


def main():
    argument = sys.argv[1] if len(sys.argv) == 2 else ""
    milliseconds = int(argument) if argument.isdecimal() else 0
    if not 0 < milliseconds <= 60_000:
        print("usage: probe.py MILLISECONDS (1 to 60000)", file=sys.stderr)
        sys.exit(2)
    for name in CLOCKS:
        print(json.dumps(measure(milliseconds, name), separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
