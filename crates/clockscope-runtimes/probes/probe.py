"""A probe of clockscope: how Python's stopwatches read. The protocol is probes/README.md of clockscope-runtimes.

    python3 probe.py MILLISECONDS       (Python 3.7 or later, PyPy)
"""

import json
import os
import sys
import time
from collections import Counter
from time import perf_counter_ns

CLOCKS = ["perf_counter_ns", "monotonic_ns", "time_ns", "process_time_ns"]
KINDS = {"perf_counter_ns": "monotonic", "monotonic_ns": "monotonic", "time_ns": "wall", "process_time_ns": "cpu_time"}
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
MAX_INTERVALS, BRACKETS, READ_PAIRS = 1000, 64, 1000
BYTES = {"touch_32k": 32 << 10, "touch_256k": 256 << 10, "touch_4m": 4 << 20}
PACKAGE = "clockscope.now_ns"


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


def bracket(clock, stamps):
    """The narrowest of several pairs of readings around a stamp: the sum of the readings, and the stamp."""
    found = []
    for _ in range(BRACKETS):
        before = clock()
        stamp = stamps.now()
        after = clock()
        found.append((after - before, before + after, stamp))
    return min(found)[1:]


def ns_per_count(start, end):
    """By how much the clock advances while the stamps advance by one."""
    return (end[0] - start[0]) / 2 / (end[1] - start[1])


class AroundWork:
    """Intervals that clocks measure around works, in several parts: a short disturbance of the machine meets one of them.

    The length of a work is known by stamps directly around it. What a clock shows more, less what the stamps' own reads
    take, is the error. The clock's advance between the beginning and the end converts counts.
    """

    def __init__(self, clocks, stamps, works, parts):
        self.clocks, self.stamps, self.works, self.parts = clocks, stamps, works, parts
        self.pairs = [[[] for _ in clocks] for _ in works]
        self.starts = [bracket(clock, stamps) for clock in clocks]
        time.sleep(0.01)
        self.first_rate = ns_per_count(self.starts[0], bracket(clocks[0], stamps))

    def measure_part(self):
        """Measures around each work. The clocks take turns, so that a busy machine disturbs all of them alike."""
        for (work, ns, seconds), found in zip(self.works, self.pairs):
            do, amount = self.call(work, ns)
            end = perf_counter_ns() + seconds / self.parts * 1e9
            for _ in range(MAX_INTERVALS // self.parts):
                for pairs, clock in zip(found, self.clocks):
                    before = clock()
                    length = do(amount)
                    after = clock()
                    pairs.append((after - before, length))
                if perf_counter_ns() >= end:
                    break

    def call(self, work, ns):
        """The call that does the work, and its argument."""
        if work == "spin":
            return self.stamps._spin, int(ns / self.first_rate)
        if work == "sleep":
            return self.stamps._sleep, int(ns)
        # Takes the memory, which is not to be part of an interval.
        self.stamps._touch(BYTES[work])
        return self.stamps._touch, BYTES[work]

    def errors(self, index):
        """The errors of a clock after each work, as a line has them."""
        rate = ns_per_count(self.starts[index], bracket(self.clocks[index], self.stamps))
        read_cost = sorted(self.stamps._spin(0) for _ in range(READ_PAIRS))[READ_PAIRS // 2]
        lines = []
        for (work, ns, _), found in zip(self.works, self.pairs):
            lengths = sorted(length for _, length in found[index])
            errors_ns = [round(abs(interval - (length + read_cost) * rate)) for interval, length in found[index]]
            work_ns = round(ns or lengths[len(lengths) // 2] * rate)
            lines.append({"work": work, "work_ns": work_ns, "errors_ns": errors_ns})
        return lines


def asked_works():
    """The works that the environment names, each with its length in ns and its time in seconds."""
    named = os.environ.get("CLOCKSCOPE_PROBE_WORKS", "")
    parts = [one.split(":") for one in named.split(",") if one]
    return [(work, float(ns), float(seconds)) for work, ns, seconds in parts]


def package():
    """The package clockscope and a source of stamps, if it is installed; or the reason why not.

    The program that asks may name the folder of its own package, which is then the last that is looked at.
    """
    sys.path += [folder for folder in [os.environ.get("CLOCKSCOPE_PROBE_PACKAGE")] if folder]
    try:
        import clockscope
        from clockscope import stamps
    except ImportError as error:
        return None, None, "the package clockscope cannot be imported: " + str(error)
    if not hasattr(stamps.Stamps, "_spin"):
        return None, None, "the package clockscope is older than this program: install the same version"
    try:
        return clockscope, stamps.counter(), None
    except stamps.Refused:
        return clockscope, stamps.os(), None


def facts(name):
    """Python's statement on a clock of the module time."""
    info = time.get_clock_info(name[: -len("_ns")])
    return {
        # "clock_gettime(CLOCK_MONOTONIC)" on most systems.
        "built_on": info.implementation.replace("clock_gettime(", "").rstrip("()"),
        "moved_by": moved_by(info.implementation),
        "nominal_hz": round(1 / info.resolution),
        "kind": KINDS[name],
        "is_usual": name == "perf_counter_ns",
    }


def measure(milliseconds, api, clock, facts):
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
        "api": api,
        "documented_coarse": False,
        "units_per_second": 1_000_000_000,
        "batch_reads": READS,
        "batches": batches,
        "batch_ns": batch_ns,
        "differences": sorted(differences.items()),
        "steps": steps,
        "version": VERSION,
        **facts,
    }


def show(line):
    """Prints a line of the protocol."""
    print(json.dumps({"clockscope_probe": 1, **line}, separators=(",", ":")), flush=True)


def main():
    argument = sys.argv[1] if len(sys.argv) == 2 else ""
    milliseconds = int(argument) if argument.isdecimal() else 0
    if not 0 < milliseconds <= 60_000:
        print("usage: probe.py MILLISECONDS (1 to 60000)", file=sys.stderr)
        sys.exit(2)
    works = asked_works()
    module, stamps, missing = package() if works else (None, None, None)
    clocks = [("time." + name, getattr(time, name), facts(name)) for name in CLOCKS]
    if module is not None:
        stated = {"built_on": "clockscope", "moved_by": "clocksource", "nominal_hz": 1_000_000_000, "kind": "monotonic"}
        clocks.append((PACKAGE, module.now_ns, stated))
    of_intervals = [api for api, _, stated in clocks if stated["kind"] == "monotonic"]
    around = None
    if stamps is not None:
        around = AroundWork([clock for api, clock, _ in clocks if api in of_intervals], stamps, works, len(clocks))
    lines = []
    for api, clock, stated in clocks:
        if around is not None:
            around.measure_part()
        lines.append(measure(milliseconds, api, clock, stated))
        if around is None:
            show(lines.pop())
    for line in lines:
        if line["api"] in of_intervals:
            line["around_work"] = around.errors(of_intervals.index(line["api"]))
        show(line)
    if missing is not None:
        show({"api": PACKAGE, "unavailable": missing})


if __name__ == "__main__":
    main()
