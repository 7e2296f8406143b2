"""A stopwatch with the surface of .NET's."""

from __future__ import annotations

from _thread import allocate_lock

from clockscope._native import now_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, TypeVar

    _F = TypeVar("_F", bound=Callable[..., Any])


class Stopwatch:
    """Measures elapsed time over one or several intervals, by now_ns().

    As a context manager it runs inside of the block. As a decorator it adds the time of every
    call, or of every awaited call of a coroutine function; recursive calls count once, and calls
    on several threads add up.

        with Stopwatch() as watch:
            work()
        print(watch.elapsed_ns)

    Never negative. `start` and `stop` belong to one thread at a time.
    """

    __slots__ = ("_counted_ns", "_lock", "_started")

    def __init__(self) -> None:
        self._counted_ns = 0
        self._started: int | None = None
        self._lock = allocate_lock()

    @classmethod
    def start_new(cls) -> Stopwatch:
        """Returns a stopwatch that runs."""
        watch = cls()
        watch.start()
        return watch

    def start(self) -> None:
        """Starts it, or lets it go on. Does nothing to one that runs."""
        if self._started is None:
            self._started = now_ns()

    def stop(self) -> None:
        """Stops it. Does nothing to one that stands."""
        if self._started is not None:
            self._add(now_ns() - self._started)
            self._started = None

    def reset(self) -> None:
        """Stops it and sets it to zero."""
        self._started = None
        self._counted_ns = 0

    def restart(self) -> None:
        """Sets it to zero and starts it."""
        self._counted_ns = 0
        self._started = now_ns()

    @property
    def is_running(self) -> bool:
        """Whether it runs."""
        return self._started is not None

    @property
    def elapsed_ns(self) -> int:
        """The time that it has run in all, in ns."""
        running = 0 if self._started is None else max(0, now_ns() - self._started)
        return self._counted_ns + running

    @property
    def elapsed(self) -> float:
        """The time that it has run in all, in seconds."""
        return self.elapsed_ns / 1e9

    def _add(self, ns: int) -> None:
        with self._lock:
            self._counted_ns += max(0, ns)

    def __enter__(self) -> Stopwatch:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __call__(self, function: _F) -> _F:
        """Returns the function, with the time of its calls added to this stopwatch."""
        from clockscope._timed import timed

        return timed(function, self._add)

    def __repr__(self) -> str:
        state = "running" if self.is_running else "stopped"
        return f"<clockscope.Stopwatch {state} at {self.elapsed_ns} ns>"
