"""Waits for moments of true time, also of a kernel that knows its error."""

from __future__ import annotations

import math
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize("timeout", [None, 0, -0.0, 10, 1e300, math.inf])
def test_a_wait_ends_or_there_is_no_bound(timeout: float | None) -> None:
    in_2020 = 1_600_000_000 * 10**9
    try:
        earliest, latest = clockscope.commit_wait(in_2020, timeout=timeout)
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


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (-1, ValueError, "timeout: expected None or a number of seconds from 0 on, got -1$"),
        (-1e-12, ValueError, "got -1e-12$"),
        (-math.inf, ValueError, "got -inf$"),
        (math.nan, ValueError, "got nan$"),
        (10**400, OverflowError, None),
        ("1", TypeError, None),
        ((), TypeError, None),
    ],
)
def test_a_timeout_is_a_number_of_seconds(wrong: Any, error: type[Exception], text: str | None) -> None:
    with pytest.raises(error, match=text):
        clockscope.commit_wait(0, timeout=wrong)


def test_a_timeout_is_given_by_name() -> None:
    commit_wait: Any = clockscope.commit_wait
    for arguments, named in (((0, 1), {}), ((), {"unix_ns": 0}), ((0,), {"limit": 1}), ((), {"timeout": 1})):
        with pytest.raises(TypeError):
            commit_wait(*arguments, **named)


def test_a_timeout_ends_a_wait(tmp_path: Path) -> None:
    program = """
import clockscope, time
for timeout in (0, 0.001, 0.07, 0.3):
    began = time.monotonic()
    try:
        clockscope.commit_wait(clockscope.bounded_ns()[1] + 10 * 10**9, timeout=timeout)
        print("waited")
    except TimeoutError as error:
        # The error of the clock of the wait is smaller than this.
        print(error, timeout - 0.001 < time.monotonic() - began < timeout + 5)
"""
    limits = ("0", "0.001", "0.07", "0.3")
    assert run(program, tmp_path) == [f"the moment is not certainly past after {limit} s True" for limit in limits]


def test_a_wait_ends_before_its_timeout(tmp_path: Path) -> None:
    program = """
import clockscope, math, time
for timeout in (None, 60, 1e300, math.inf):
    moment, began = clockscope.bounded_ns()[1] + 120_000_000, time.monotonic()
    earliest, latest = clockscope.commit_wait(moment, timeout=timeout)
    print(moment < earliest < latest, time.monotonic() - began < 10)
"""
    assert run(program, tmp_path) == ["True True"] * 4


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


# Also in the last part of a wait, of 0.05 s at most.
@pytest.mark.parametrize("timeout", [None, 50, 0.23])
def test_an_interruption_ends_a_wait(tmp_path: Path, timeout: float | None) -> None:
    program = f"""
import clockscope, signal, time
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.21)
began = time.monotonic()
try:
    clockscope.commit_wait(clockscope.bounded_ns()[1] + 60 * 10**9, timeout={timeout})
    print("waited")
except TimeoutError:
    print("timed out")
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
