"""The clocks: their values, threads, forks, signals, and a system without a clock."""

from __future__ import annotations

import math
import os
import platform
import random
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from array import array

import pytest

import clockscope
from clockscope import _clock_info, _native

UNBOUNDED = (-(2**63), 2**63 - 1)
WITHOUT_A_BOUND = {"slewing", "worthless", "unsynchronized", "unavailable"}


def run(program: str) -> str:
    """Runs a program in an interpreter of its own and returns what it prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.strip()


def test_the_time_is_on_the_timeline_of_monotonic_ns() -> None:
    slack = 100_000
    for _ in range(20_000):
        before, now, after = time.monotonic_ns(), clockscope.now_ns(), time.monotonic_ns()
        assert before - slack <= now <= after + slack
        before, now, after = time.monotonic_ns(), clockscope.now_unordered_ns(), time.monotonic_ns()
        assert before - slack <= now <= after + slack


def test_wall_time_is_the_systems() -> None:
    # Unless the clock is set meanwhile, which lasts for one comparison.
    def is_inside() -> bool:
        before, now, after = time.time_ns(), clockscope.wall_ns(), time.time_ns()
        return before - 100_000 <= now <= after + 100_000

    assert sum(is_inside() for _ in range(1000)) > 990


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="no clock that counts suspends")
def test_boot_time_is_the_systems() -> None:
    def system_ns() -> int:
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    slack, last = 100_000, 0
    for _ in range(20_000):
        before, now, after = system_ns(), clockscope.boot_ns(), system_ns()
        assert before - slack <= now <= after + slack
        assert now >= last
        last = now


def test_boot_time_is_a_clock_of_its_own() -> None:
    # CLOCK_BOOTTIME is a day ahead of CLOCK_MONOTONIC, as after a suspend.
    apart = ["unshare", "--time", "--boottime", "86400", "--fork"]
    if shutil.which("unshare") is None or subprocess.run([*apart, "true"], check=False).returncode != 0:
        pytest.skip("unshare --time needs root and Linux 5.6")
    program = """
import clockscope
print(clockscope.boot_ns() - clockscope.now_ns() > 86_399 * 10**9, clockscope.boot_error_bound().largest_ns < 10**9)
"""
    done = subprocess.run([*apart, sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr


def test_wall_and_boot_time_have_an_error() -> None:
    for question in (clockscope.wall_error_bound, clockscope.boot_error_bound):
        bound = question()
        assert isinstance(bound, clockscope.ErrorBound)
        assert 0 <= bound.now_ns <= bound.largest_ns and bound.largest_at_ns <= clockscope.now_ns()
    assert clockscope.boot_counts_suspends() in ({True} if sys.platform == "linux" else {True, False})


def test_the_bound_is_one_or_reaches_everywhere() -> None:
    before, (earliest, latest), after = clockscope.bounded_state(), clockscope.bounded_ns(), clockscope.bounded_state()
    assert earliest <= latest
    if before == after:
        assert ((earliest, latest) == UNBOUNDED) == (before in WITHOUT_A_BOUND)


def test_the_clock_reports_its_quality() -> None:
    bound = clockscope.error_bound()
    assert 0 <= bound.now_ns <= bound.largest_ns
    assert clockscope.source() in {"counter", "os_clock"}
    pieces = clockscope.evidence()
    assert {"permission", "clocksource"} <= {piece.name for piece in pieces}
    for piece in pieces:
        assert piece.finding in {"for", "against", "unknown"}
        assert piece.seen and isinstance(piece.value, (float, str, type(None)))
    clockscope.prepare()
    assert clockscope.recheck() in {True, False}
    assert clockscope.generation() > 0


@pytest.mark.parametrize(
    "name",
    [
        "now_ns",
        "wall_ns",
        "boot_ns",
        "boot_counts_suspends",
        "boot_error_bound",
        "bounded_ns",
        "source",
        "evidence",
        "prepare",
    ],
)
def test_functions_take_no_arguments(name: str) -> None:
    with pytest.raises(TypeError):
        getattr(clockscope, name)(1)
    with pytest.raises(TypeError):
        getattr(clockscope, name)(clock=1)


def test_objects_are_released() -> None:
    """Every object that a function makes belongs to the caller alone."""
    for function in (clockscope.now_ns, clockscope.bounded_ns, clockscope.wall_ns, clockscope.boot_ns):
        assert sys.getrefcount(function()) <= sys.getrefcount(object())
    (earliest, _), fresh = clockscope.bounded_ns(), 2**62 + clockscope.now_ns()
    assert sys.getrefcount(earliest) <= sys.getrefcount(fresh)
    nothing = sys.getrefcount(None)
    for _ in range(10_000):
        clockscope.prepare()
        clockscope.bounded_state()
    assert abs(sys.getrefcount(None) - nothing) < 1000


def test_threads_see_one_order() -> None:
    last, lock, wrong = [0], threading.Lock(), []

    def hammer() -> None:
        for _ in range(20_000):
            with lock:
                now = clockscope.now_ns()
                if now < last[0]:
                    wrong.append((now, last[0]))
                last[0] = now

    threads = [threading.Thread(target=hammer) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_goes_on() -> None:
    program = """
import os, clockscope
clockscope.prepare()
before, generation = clockscope.now_ns(), clockscope.generation()
child = os.fork()
if child == 0:
    after = clockscope.now_ns()
    os._exit(0 if after >= before and clockscope.generation() != generation else 1)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(status, clockscope.now_ns() >= before, clockscope.generation() == generation)
"""
    assert run(program) == "0 True True"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no interval timers")
def test_signal_handlers_read_the_time() -> None:
    seen: list[int] = []
    went_back: list[int] = []

    # A handler may be interrupted by the next signal's, whose reading is then appended before its own.
    def handle(*_: object) -> None:
        known = max(seen, default=0)
        now = clockscope.now_ns()
        if now < known:
            went_back.append(known - now)
        seen.append(now)

    former = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        last = 0
        while len(seen) < 20:
            now = clockscope.now_ns()
            assert now >= last
            last = now
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    assert not went_back


def test_importing_reads_nothing_and_starts_no_thread() -> None:
    program = """
import sys
before = set(sys.modules)
import clockscope, os
print(clockscope.generation(), len(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else 1)
print(*sorted({"subprocess", "json", "typing", "inspect", "threading"} & (set(sys.modules) - before)))
"""
    assert run(program) == "0 1"


def test_importing_calls_nothing_of_the_extension_module() -> None:
    program = """
import sys, types

class Uncallable(types.ModuleType):
    VERSION = "1"

    def __getattr__(self, name):
        def called(*arguments):
            raise AssertionError(name + " was called")
        return called

sys.modules["clockscope._native"] = Uncallable("clockscope._native")
import clockscope
from clockscope import _answers, _clock_info, _command, _questions, _record, _timed
print(clockscope.__version__)
"""
    assert run(program) == "1"


def test_every_name_is_there() -> None:
    assert set(clockscope.__all__) <= set(dir(clockscope))
    for name in clockscope.__all__:
        assert getattr(clockscope, name).__doc__
    with pytest.raises(AttributeError, match="no_such_name"):
        clockscope.no_such_name  # type: ignore[attr-defined]
    assert clockscope.__version__ == _native.VERSION


def test_every_interpreter_of_a_process_has_the_module() -> None:
    program = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import clockscope
before = clockscope.now_ns()
one = interpreters.create()
failed = interpreters.run_string(one, f"import clockscope; assert clockscope.now_ns() >= {before}; clockscope.evidence()")
interpreters.destroy(one)
print(failed, clockscope.now_ns() >= before)
"""
    assert run(program) == "None True"


def deny_every_clock() -> str:
    """A program's beginning: the counter is disabled, and every call that asks for the time refused.

    Python itself must not read a clock after it, as an import and the interpreter's end do.
    """
    prctl, pr_set_tsc, pr_tsc_sigsegv, pr_set_no_new_privs, pr_set_seccomp = 157, 26, 2, 38, 22
    load, jump_if_equal, answer = 0x20, 0x15, 0x06
    gettimeofday, time_call, clock_gettime, clock_getres = 96, 201, 228, 229
    refused, eperm, allow = (gettimeofday, time_call, clock_gettime, clock_getres), 0x00050001, 0x7FFF0000
    words = [(load, 0, 0, 0)]
    words += [(jump_if_equal, len(refused) - turn, 0, number) for turn, number in enumerate(refused)]
    words += [(answer, 0, 0, allow), (answer, 0, 0, eperm)]
    filters = b"".join(struct.pack("HBBI", *word) for word in words)
    return f"""
import ctypes, os, struct
import clockscope
clockscope.error_bound
libc = ctypes.CDLL(None, use_errno=True)
filters = ctypes.create_string_buffer({filters!r}, {len(filters)})
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", {len(words)}, ctypes.addressof(filters)))
assert libc.syscall({prctl}, {pr_set_no_new_privs}, 1, 0, 0, 0) == 0
assert libc.syscall({prctl}, {pr_set_tsc}, {pr_tsc_sigsegv}, 0, 0, 0) == 0
assert libc.syscall({prctl}, {pr_set_seccomp}, 2, ctypes.c_void_p(ctypes.addressof(program)), 0, 0) == 0
"""


@pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux", reason="needs prctl(PR_SET_TSC) and seccomp's numbers"
)
def test_a_system_without_a_clock_is_an_exception() -> None:
    program = (
        deny_every_clock()
        + """
for question in (clockscope.now_ns, clockscope.error_bound, clockscope.wall_error_bound, clockscope.boot_error_bound):
    try:
        answer = question()
    except clockscope.ClockUnavailable as error:
        answer = error
    os.write(1, f"{answer}\\n".encode())
os.write(1, clockscope.source().encode())
os._exit(0)
"""
    )
    assert run(program).splitlines() == ["no clock of the system answers"] * 4 + ["nothing"]


def test_a_tick_is_found_and_what_is_no_readings_is_refused() -> None:
    random.seed(1)
    readings, now = array("Q"), 0
    for _ in range(5000):
        now += 26 * random.randint(1, 9)
        readings.append(now)
    tick, reason = _native.tick(readings.tobytes())
    assert tick is not None and reason is None and math.isclose(tick, 26, rel_tol=1e-4)
    assert _native.tick(b"") == (None, "its value changed fewer than three times: give it more time")
    for wrong in ([1, 2], "text", None, bytearray(8)):
        with pytest.raises(TypeError):
            _native.tick(wrong)  # type: ignore[arg-type]


def test_other_threads_run_while_a_tick_is_sought() -> None:
    readings = array("Q", range(0, 400_000, 100)).tobytes()
    turns, done = [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            turns[0] += 1
            time.sleep(0)

    thread, interval = threading.Thread(target=count), sys.getswitchinterval()
    thread.start()
    try:
        # A thread that does not give way keeps the interpreter.
        sys.setswitchinterval(1000)
        before, searches = turns[0], 0
        while turns[0] == before and searches < 10_000:
            _native.tick(readings)
            searches += 1
        assert turns[0] > before
    finally:
        sys.setswitchinterval(interval)
        done.set()
        thread.join()


@pytest.mark.parametrize(
    "name", ["monotonic", "perf_counter_ns", "time", "process_time", "now_ns", "now_unordered_ns", "wall_ns", "boot_ns"]
)
def test_a_clock_is_measured(name: str) -> None:
    info = clockscope.get_clock_info(name)
    assert info.name == name and info.implementation
    assert info.cost > 0 and info.empty_loop > 0
    assert info.resolution is not None and info.resolution > 0
    assert (info.tick is None) != (info.tick_reason is None)
    if info.monotonic:
        assert info.regressions == 0
    base = name.removesuffix("_ns")
    expected = None if base in {"now", "now_unordered", "wall", "boot"} else time.get_clock_info(base).resolution  # type: ignore[arg-type]
    assert info.nominal_resolution == expected


def test_a_float_is_not_as_fine_as_python_states() -> None:
    info = clockscope.get_clock_info("time")
    assert info.resolution is not None and info.nominal_resolution is not None
    assert info.resolution >= math.ulp(time.time()) > info.nominal_resolution
    assert info.error == math.ulp(time.time()) / 2


def test_the_tick_of_floats_is_not_rounded_again() -> None:
    """A float of the seconds since 1970 is a multiple of 2**-22; in ns it would be one of 256."""
    random.seed(3)
    readings, now = [], 1_795_000_000.0
    for _ in range(5000):
        now += random.randint(1, 9) * math.ulp(now)
        readings.append(now)
    tick, _ = _clock_info._tick(readings, 1e9)
    assert tick is not None and math.isclose(tick, 2**-22 * 1e9, rel_tol=1e-4)


def test_an_unknown_clock_is_refused() -> None:
    with pytest.raises(ValueError, match="did you mean monotonic_ns"):
        clockscope.get_clock_info("monotonic_n")
    with pytest.raises(ValueError, match="expected one of now_ns"):
        clockscope.get_clock_info("zzz")
    with pytest.raises(TypeError):
        clockscope.get_clock_info(1)  # type: ignore[arg-type]


def test_a_clock_that_the_system_lacks_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(time, "thread_time")
    with pytest.raises(clockscope.ClockUnavailable, match="no time.thread_time"):
        clockscope.get_clock_info("thread_time")
