"""Stamps: their times, batches, bad input, forks and threads."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import platform
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import clockscope
from clockscope import _native, stamps
from clockscope.stamps import StampError, Stamps

UNBOUNDED = (-(2**63), 2**63 - 1)


def run(program: str) -> str:
    """Runs a program in an interpreter of its own and returns what it prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.strip()


@pytest.fixture(params=[stamps.counter, stamps.os])
def source(request: pytest.FixtureRequest) -> Stamps:
    """Each source of stamps; the counter's where the machine has a counter that is fit."""
    try:
        found: Stamps = request.param()
    except stamps.Refused as refused:
        pytest.skip(f"no stamps of the counter: {refused}")
    return found


def either() -> Stamps:
    """One variable for both clocks, as mypy checks it."""
    try:
        source = stamps.counter()
    except stamps.Refused:
        source = stamps.os()
    return source


def test_both_clocks_have_one_class() -> None:
    source, other = either(), stamps.os()
    assert source.clock in {"counter", "os"} and other.clock == "os"
    for found in (source, other):
        assert type(found) is Stamps
        assert Stamps(found.clock).clock == Stamps(clock=found.clock).clock == found.clock
        assert repr(found) == f"clockscope.stamps.Stamps({found.clock!r})"
    with pytest.raises(AttributeError):
        source.clock = "os"  # type: ignore[misc]
    with pytest.raises(ValueError, match="expected 'counter' or 'os'"):
        Stamps("monotonic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected 'counter' or 'os'"):
        Stamps(clock="monotonic")  # type: ignore[arg-type]
    wrongs: tuple[Any, ...] = (("os", "os"), (1,), (None,))
    for wrong in wrongs:
        with pytest.raises(TypeError):
            Stamps(*wrong)


@pytest.fixture
def counter() -> Stamps:
    try:
        return stamps.counter()
    except stamps.Refused as refused:
        pytest.skip(f"no stamps of the counter: {refused}")


def test_a_header_has_what_its_stamps_become(source: Stamps) -> None:
    """By the arithmetic that docs/reference/stamps-file.md states."""
    taken = [source.now() for _ in range(100)]
    lines = [line.split(" ") for line in source.header(taken[0]).splitlines()]
    assert lines[0] == ["clockscope", "stamps", "1"] and lines[-1] == ["end"]
    clock = next(words[1] for words in lines if words[0] == "clock")
    assert clock == source.clock
    pieces = [[int(word) for word in words[1:6]] for words in lines if words[0] == "piece"]
    for stamp in taken:
        start, counts, value, mantissa, shift = next(piece for piece in reversed(pieces) if piece[0] <= stamp)
        assert stamp - start <= counts
        ns = value + ((stamp - start) * mantissa >> shift) if clock == "counter" else stamp
        assert ns == source.instant_ns(stamp)


def test_a_stamp_is_a_moment_of_monotonic_ns(source: Stamps) -> None:
    for take in (source.now, source.now_unordered):
        for _ in range(2_000):
            before, stamp, after = time.monotonic_ns(), take(), time.monotonic_ns()
            ns, bound = source.instant_with_bound_ns(stamp)
            slack = 100_000 + bound
            assert before - slack <= ns <= after + slack
            # A moment that was returned stays. Its bound may change.
            assert source.instant_ns(stamp) == ns and source.error_bound_ns(stamp) >= 0


def test_time_of_day_at_a_stamp_is_the_systems(source: Stamps) -> None:
    # Unless the clock is set meanwhile, which lasts for one comparison.
    def is_inside() -> bool:
        before, stamp, after = time.time_ns(), source.now(), time.time_ns()
        slack = 100_000 + source.error_bound_ns(stamp)
        return before - slack <= source.wall_ns(stamp) <= after + slack

    assert sum(is_inside() for _ in range(1000)) > 990


def test_the_true_time_is_bounded_or_not(source: Stamps) -> None:
    stamp = source.now()
    stamps.renew()
    earliest, latest = source.bounded_ns(stamp)
    has_bound = source.bounded_state(stamp) in {"synchronized", "while_not_slewing", "leap_second"}
    assert ((earliest, latest) != UNBOUNDED) == has_bound
    if has_bound:
        assert earliest <= latest
        assert earliest < source.wall_ns(stamp) + 10**9 and latest > source.wall_ns(stamp) - 10**9


def test_threads_take_stamps_in_order(source: Stamps) -> None:
    taken: list[int] = []
    lock = threading.Lock()

    def hammer() -> None:
        for turn in range(5_000):
            with lock:
                taken.append(source.now())
            if turn % 500 == 0:
                source.instant_ns(taken[-1])

    threads = [threading.Thread(target=hammer) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 20_000 and taken == sorted(taken)
    ns = source.instants_ns(taken)
    assert ns == sorted(ns)


def test_batches_are_the_single_conversions(source: Stamps) -> None:
    taken = []
    for _ in range(50):
        taken.append(source.now())
        stamps.renew()
        time.sleep(0.0002)
    instants = [source.instant_ns(stamp) for stamp in taken]
    walls = [source.wall_ns(stamp) for stamp in taken]
    boundeds = [source.bounded_ns(stamp) for stamp in taken]
    for ints in (taken, tuple(taken), iter(taken), numpy.array(taken, dtype=object)):
        assert source.instants_ns(ints) == instants
    assert source.walls_ns(taken) == walls and source.boundeds_ns(taken) == boundeds
    assert source.boundeds_ns(taken, errors="none") == boundeds
    signed, unsigned = numpy.array(taken, dtype=numpy.int64), numpy.array(taken, dtype=numpy.uint64)
    for buffer in (array("Q", taken), memoryview(array("q", taken)), signed, unsigned):
        assert source.instants_ns(buffer) == array("q", instants)
        assert source.walls_ns(buffer) == array("q", walls)
        assert list(zip(*source.boundeds_ns(buffer))) == boundeds
        assert source.instants_ns(buffer, errors="none") == instants
    assert source.instants_ns(unsigned[::-2]).tolist() == instants[::-2]
    assert source.instants_ns(list(unsigned)) == instants and source.instant_ns(unsigned[0]) == instants[0]
    ns = numpy.asarray(source.instants_ns(unsigned))
    assert ns.dtype == numpy.int64 and ns.tolist() == instants


def test_batches_may_be_empty_or_huge(source: Stamps) -> None:
    assert source.instants_ns([]) == [] and source.instants_ns(array("Q")) == array("q")
    assert source.boundeds_ns([]) == [] and source.boundeds_ns(array("Q")) == (array("q"), array("q"))
    stamp = source.now()
    huge = numpy.full(2_000_000, stamp, dtype=numpy.uint64)
    ns = numpy.asarray(source.instants_ns(huge))
    assert len(ns) == len(huge) and (ns == source.instant_ns(stamp)).all()


def test_other_threads_run_during_a_batch(counter: Stamps) -> None:
    huge = numpy.full(1_000_000, counter.now(), dtype=numpy.uint64).tobytes()
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
        before, batches = turns[0], 0
        while turns[0] == before and batches < 10_000:
            counter._batch(0, huge, False)
            batches += 1
        assert turns[0] > before
    finally:
        sys.setswitchinterval(interval)
        done.set()
        thread.join()


def test_a_stamp_without_a_time_is_an_error_with_its_reason(counter: Stamps) -> None:
    known = counter.now()
    for wrong, reason, text in ((1, "before_history", "older than the history"), (known + 2**60, "future", "later")):
        for convert in (
            counter.instant_ns,
            counter.error_bound_ns,
            counter.instant_with_bound_ns,
            counter.wall_ns,
            counter.bounded_ns,
            counter.bounded_state,
        ):
            with pytest.raises(StampError, match=text) as failed:
                convert(wrong)
            assert failed.value.reason == reason and failed.value.index is None
        for batch in (counter.instants_ns, counter.walls_ns, counter.boundeds_ns):
            for given in ([known, known, wrong, known], array("Q", [known, known, wrong, known])):
                with pytest.raises(StampError, match=r"\(index 2\)") as failed:
                    batch(given)
                assert failed.value.reason == reason and failed.value.index == 2
                found = batch(given, errors="none")
                assert [value is None for value in found] == [False, False, True, False]
        again = pickle.loads(pickle.dumps(failed.value))
        assert (str(again), again.reason, again.index) == (str(failed.value), reason, 2)
    assert issubclass(StampError, clockscope.ClockscopeError) and issubclass(stamps.Refused, clockscope.ClockscopeError)


def test_times_of_the_os_clock_are_their_own(counter: Stamps) -> None:
    source = stamps.os()
    stamp = source.now()
    assert source.instant_with_bound_ns(stamp) == (stamp, 0)
    # Not a moment that fits into an int64 of NumPy.
    for convert in (source.instant_ns, lambda stamp: source.instants_ns([stamp])):
        with pytest.raises(StampError) as failed:
            convert(2**63)
        assert failed.value.reason == "future"


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (-1, ValueError, "got -1"),
        (2**64, ValueError, f"got {2**64}"),
        (-(2**70), ValueError, "got -11805"),
        pytest.param(10**5000, ValueError, None, id="huge"),
        (1.5, TypeError, "float"),
        (1e300, TypeError, "float"),
        ("1", TypeError, "str"),
        (b"1", TypeError, "bytes"),
        (None, TypeError, "NoneType"),
        (numpy.float64(1), TypeError, "float"),
    ],
)
def test_what_is_no_stamp_is_refused(source: Stamps, wrong: Any, error: type[Exception], text: str | None) -> None:
    singles: list[Callable[[Any], object]] = [source.instant_ns, source.wall_ns, source.bounded_ns]
    batches: list[Callable[[Any], object]] = [source.instants_ns, source.walls_ns, source.boundeds_ns]
    for convert in singles:
        with pytest.raises(error, match=text):
            convert(wrong)
    for batch in batches:
        with pytest.raises(error, match=text):
            batch([source.now(), wrong])


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (1, TypeError),
        (None, TypeError),
        ("text", TypeError),
        (b"12345678", TypeError),
        (bytearray(8), TypeError),
        (numpy.zeros(3), TypeError),
        (numpy.zeros(3, dtype=numpy.int32), TypeError),
        (numpy.zeros(3, dtype=">u8" if sys.byteorder == "little" else "<u8"), TypeError),
        (numpy.zeros(3, dtype="M8[ns]"), TypeError),
        (numpy.zeros(3, dtype="u8,u8"), TypeError),
        (numpy.zeros((2, 2), dtype=numpy.uint64), ValueError),
        (numpy.zeros((), dtype=numpy.uint64), ValueError),
        (numpy.array([5, -7, 3]), ValueError),
    ],
)
def test_what_is_no_batch_is_refused(source: Stamps, wrong: Any, error: type[Exception]) -> None:
    for errors in ("raise", "none"):
        with pytest.raises(error):
            source.instants_ns(wrong, errors=errors)
    with pytest.raises(ValueError, match="'raise' or 'none'"):
        source.instants_ns([], errors="ignore")  # type: ignore[call-overload]


def test_an_iterable_that_fails_passes_its_error_on(source: Stamps) -> None:
    def failing() -> Any:
        yield source.now()
        raise LookupError("planted")

    with pytest.raises(LookupError, match="planted"):
        source.instants_ns(failing())


def test_questions_of_the_extension_are_checked(counter: Stamps) -> None:
    for wrong in ((), (0,), (0, b""), (0, "text", False), (3, b"", False), (-1, b"", False), ("0", b"", False)):
        with pytest.raises((TypeError, ValueError, IndexError, OverflowError)):
            counter._batch(*wrong)
    # The tail is not a word.
    assert counter._batch(0, b"1234567", True) == (b"", b"")
    assert counter._batch(0, b"1234567", False) == (b"", None)


def test_only_an_accepted_source_takes_stamps() -> None:
    """An object that begin() did not make would read a counter that the process may not read."""
    base = _native.Stamps

    class Other:
        __slots__ = ()

    class Mixed(Other, base):  # type: ignore[misc,valid-type]
        __slots__ = ()

    class Renewed(base):  # type: ignore[misc,valid-type]
        def __new__(cls, clock: Any) -> Any:
            return object.__new__(cls)

    class Sized:
        __slots__ = ("added",)

    kinds: tuple[Any, ...] = (Stamps, base, Mixed)
    for kind in kinds:
        with pytest.raises(TypeError):
            object.__new__(kind)
        with pytest.raises(TypeError, match="argument"):
            kind("os", 1)
        with pytest.raises(TypeError, match="argument"):
            kind(source="os")
        wrongs: tuple[Any, ...] = (Other(), Sized())
        for wrong in wrongs:
            with pytest.raises(TypeError):
                wrong.__class__ = kind
            with pytest.raises(TypeError):
                kind.now(wrong)
    with pytest.raises(TypeError):
        Renewed("os")


def test_a_class_that_inherits_begins_the_history() -> None:
    program = """
from clockscope import _native, stamps
class Before: pass
class Both(Before, stamps.Stamps): pass
class Bare(Before, _native.Stamps): pass
for source in (Both("os"), Both(clock="os"), Bare("os")):
    print(source.wall_ns(source.now()) > 0)
"""
    assert run(program) == "True\nTrue\nTrue"


def test_sources_are_copied_and_pickled(source: Stamps) -> None:
    for kept in (source, Stamps(source.clock)):
        for again in (copy.copy(kept), copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))):
            assert type(again) is type(kept) and again.clock == kept.clock
            assert again.instant_ns(source.now()) > 0


def test_objects_are_released(source: Stamps) -> None:
    """Every object that a method makes belongs to the caller alone, also where it fails."""
    base, taken = _native.Stamps, array("Q", [source.now()] * 100)

    def use() -> None:
        Stamps(source.clock)
        source.now(), source.instant_with_bound_ns(taken[0]), source.bounded_ns(taken[0])
        source.boundeds_ns(taken), source.instants_ns(taken, errors="none")
        for wrong in (-1, 2**64 - 1, "text"):
            with pytest.raises((ValueError, TypeError, StampError)):
                source.wall_ns(wrong)  # type: ignore[arg-type]
        with pytest.raises(StampError):
            source.walls_ns([2**64 - 1])

    use()
    gc.collect()
    before = [sys.getrefcount(value) for value in (None, type(source), base, StampError)]
    blocks = sys.getallocatedblocks()
    for _ in range(1500):
        use()
    gc.collect()
    after = [sys.getrefcount(value) for value in (None, type(source), base, StampError)]
    assert all(abs(new - old) < 1000 for old, new in zip(before, after))
    assert sys.getallocatedblocks() - blocks < 1000


def test_a_process_without_a_history_says_so() -> None:
    program = """
from clockscope import stamps
try:
    stamps.renew()
except stamps.StampError as error:
    print(error.reason, "|", error)
"""
    expected = "no_history | this process has no history of stamps: call stamps.counter() or stamps.os() first"
    assert run(program) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_has_no_history_until_it_begins_one(counter: Stamps) -> None:
    program = """
import os
from clockscope import stamps
source = stamps.counter()
stamp = source.now()
child = os.fork()
if child == 0:
    failed = []
    for question in (lambda: source.instant_ns(source.now()), lambda: source.instants_ns([stamp]), stamps.renew):
        try:
            question()
        except stamps.StampError as error:
            failed.append(error.reason)
    again = stamps.counter()
    later = source.instant_ns(again.now())
    try:
        source.instant_ns(stamp)
    except stamps.StampError as error:
        failed.append(error.reason)
    os._exit(0 if failed == ["no_history"] * 3 + ["before_history"] and later > 0 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), source.instant_ns(stamp) > 0)
"""
    assert run(program) == "0 True"


@pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux", reason="needs prctl(PR_SET_TSC) of x86-64"
)
def test_a_counter_that_may_not_be_read_is_refused() -> None:
    program = """
import ctypes
from clockscope import stamps
prctl, pr_set_tsc, pr_tsc_sigsegv = 157, 26, 2
assert ctypes.CDLL(None).syscall(prctl, pr_set_tsc, pr_tsc_sigsegv, 0, 0, 0) == 0
try:
    stamps.counter()
except stamps.Refused as refused:
    print(refused.reason, refused, flush=True)
source = stamps.os()
print(source.wall_ns(source.now()) > 0, flush=True)
# Python reads a clock when it ends.
import os; os._exit(0)
"""
    refused, has_clock = run(program).splitlines()
    assert refused.startswith("not_used the counter is not used (") and has_clock == "True"


def test_every_interpreter_of_a_process_has_the_types() -> None:
    program = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
from clockscope import stamps
source = stamps.os()
one = interpreters.create()
failed = interpreters.run_string(one, "from clockscope import stamps; s = stamps.os(); s.instants_ns([s.now()])")
interpreters.destroy(one)
print(failed, source.instant_ns(source.now()) > 0)
"""
    assert run(program) == "None True"


def test_the_module_is_loaded_when_it_is_used() -> None:
    program = """
import sys, clockscope
print("clockscope.stamps" in sys.modules, clockscope.generation())
print(clockscope.stamps is sys.modules["clockscope.stamps"], clockscope.generation())
"""
    assert run(program) == "False 0\nTrue 0"
    for name in stamps.__all__:
        assert getattr(stamps, name).__doc__
