"""Waits for moments of true time, also of a kernel that knows its error."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import clockscope

SYNCHRONIZED = Path(__file__).parents[2] / "clockscope-capi" / "tests" / "programs" / "synchronized.c"


def run(program: str, folder: Path) -> list[str]:
    """Runs a program whose kernel seems to know its error, and returns the lines that it prints."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux" or platform.machine() != "x86_64":
        pytest.skip("needs a C compiler, and x86-64 Linux")
    library = folder / "synchronized.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, SYNCHRONIZED], check=True)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LD_PRELOAD": str(library)},
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.splitlines()


def test_a_wait_ends_or_there_is_no_bound() -> None:
    in_2020 = 1_600_000_000 * 10**9
    try:
        earliest, latest = clockscope.commit_wait(in_2020)
    except clockscope.NoBound as error:
        assert error.state in {"slewing", "worthless", "unsynchronized", "unavailable"}
        assert str(error).startswith("no bound of the true time: ")
    else:
        assert in_2020 < earliest <= latest


def test_a_moment_is_a_whole_number() -> None:
    for wrong in (1.5, "1", None):
        with pytest.raises(TypeError):
            clockscope.commit_wait(wrong)  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        clockscope.commit_wait(2**63)
    with pytest.raises(TypeError):
        clockscope.commit_wait()  # type: ignore[call-arg]


def test_a_wait_is_never_early(tmp_path: Path) -> None:
    program = """
import clockscope, time
assert clockscope.bounded_state() in {"synchronized", "while_not_slewing"}
for ahead in (-10**9, 0, 10**6, 123_456_789):
    moment = clockscope.bounded_ns()[1] + ahead
    earliest, latest = clockscope.commit_wait(moment)
    assert moment < earliest <= time.time_ns() and earliest < latest
print("waited")
"""
    assert run(program, tmp_path) == ["waited"]


def test_other_threads_run_during_a_wait(tmp_path: Path) -> None:
    program = """
import clockscope, sys, threading
turns, done = [0], threading.Event()
def count():
    while not done.wait(0.001):
        turns[0] += 1
thread = threading.Thread(target=count)
thread.start()
# Nothing gives way but the wait.
sys.setswitchinterval(1000)
before = turns[0]
clockscope.commit_wait(clockscope.bounded_ns()[1] + 200_000_000)
during = turns[0] - before
done.set()
print(during > 10)
"""
    assert run(program, tmp_path) == ["True"]


def test_an_interruption_ends_a_wait(tmp_path: Path) -> None:
    program = """
import clockscope, signal, time
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.2)
began = time.monotonic()
try:
    clockscope.commit_wait(clockscope.bounded_ns()[1] + 60 * 10**9)
    print("waited")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - began < 10)
"""
    assert run(program, tmp_path) == ["interrupted True"]


def test_a_signal_handler_that_returns_does_not_end_a_wait(tmp_path: Path) -> None:
    program = """
import clockscope, signal
handled = []
signal.signal(signal.SIGALRM, lambda *_: handled.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
moment = clockscope.bounded_ns()[1] + 300_000_000
earliest, _ = clockscope.commit_wait(moment)
signal.setitimer(signal.ITIMER_REAL, 0)
print(earliest > moment, len(handled) > 1)
"""
    assert run(program, tmp_path) == ["True True"]
