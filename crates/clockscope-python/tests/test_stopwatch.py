"""The stopwatch: its states, as a context manager and as a decorator."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from clockscope import Stopwatch, _stopwatch, _timed, now_ns


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.ns = 1000

    def __call__(self) -> int:
        return self.ns


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(_stopwatch, "now_ns", clock)
    monkeypatch.setattr(_timed, "now_ns", clock)
    return clock


def test_intervals_add_up(clock: Clock) -> None:
    watch = Stopwatch()
    assert (watch.elapsed_ns, watch.is_running) == (0, False)
    watch.start()
    clock.ns += 5
    watch.start()
    assert (watch.elapsed_ns, watch.is_running) == (5, True)
    watch.stop()
    clock.ns += 100
    watch.stop()
    assert (watch.elapsed_ns, watch.is_running) == (5, False)
    watch.start()
    clock.ns += 2
    assert watch.elapsed_ns == 7 and watch.elapsed == 7e-9
    watch.restart()
    clock.ns += 1
    assert watch.elapsed_ns == 1
    assert repr(watch) == "<clockscope.Stopwatch running at 1 ns>"
    watch.reset()
    assert (watch.elapsed_ns, watch.is_running) == (0, False)
    assert Stopwatch.start_new().is_running


def test_it_is_never_negative(clock: Clock) -> None:
    watch = Stopwatch.start_new()
    clock.ns -= 100
    assert watch.elapsed_ns == 0
    watch.stop()
    assert watch.elapsed_ns == 0


def test_a_block_is_timed_also_if_it_fails(clock: Clock) -> None:
    with Stopwatch() as watch:
        clock.ns += 3
    assert (watch.elapsed_ns, watch.is_running) == (3, False)
    with pytest.raises(KeyError), watch:
        clock.ns += 4
        raise KeyError
    assert (watch.elapsed_ns, watch.is_running) == (7, False)


def test_calls_are_timed_and_recursion_counts_once(clock: Clock) -> None:
    watch = Stopwatch()

    @watch
    def work(depth: int) -> int:
        """Works."""
        clock.ns += 10
        return 1 + work(depth - 1) if depth else 0

    assert work(3) == 3
    assert watch.elapsed_ns == 40 and work.__doc__ == "Works."
    with pytest.raises(TypeError):
        work("a call that fails is one, too")  # type: ignore[arg-type]
    assert watch.elapsed_ns == 50
    assert work(0) == 0 and watch.elapsed_ns == 60 and not watch.is_running


def test_awaited_calls_are_timed_side_by_side(clock: Clock) -> None:
    watch = Stopwatch()

    @watch
    async def work() -> None:
        await asyncio.sleep(0)
        clock.ns += 10
        await asyncio.sleep(0)

    async def both() -> None:
        await asyncio.gather(work(), work())

    asyncio.run(both())
    # Each lasted while the other moved the clock.
    assert watch.elapsed_ns == 40


def test_calls_on_several_threads_add_up() -> None:
    watch, barrier = Stopwatch(), threading.Barrier(4)
    single: list[int] = []

    @watch
    def work() -> None:
        barrier.wait()

    def call() -> None:
        start = now_ns()
        work()
        single.append(now_ns() - start)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0 < watch.elapsed_ns <= sum(single)


def test_what_cannot_be_timed_is_refused() -> None:
    def numbers() -> Iterator[int]:
        yield 1

    with pytest.raises(TypeError, match="generator"):
        Stopwatch()(numbers)
    with pytest.raises(TypeError, match="expected a function"):
        Stopwatch()(3)  # type: ignore[type-var]
