"""Stamps: a bare count of the processor's counter now, its exact time later.

    from clockscope import stamps
    source = stamps.counter()
    stamp = source.now_unordered()
    work()
    print(source.instant_ns(stamp), "within", source.error_bound_ns(stamp), "ns")

A stamp is an int. It becomes a time by a history of comparisons of the counter with
CLOCK_MONOTONIC, which the process keeps. counter() begins the history, renew() goes on with it, and
so does the conversion of a stamp that is later than the last renewal.

A stamp of another machine or boot becomes a wrong time if the history covers that count.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex, overload

from clockscope import _native
from clockscope._errors import ClockscopeError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    class _NumpyArray(Protocol):
        """An array of NumPy, whose types name it a buffer from Python 3.12 on."""

        @property
        def __array_interface__(self) -> dict[str, Any]: ...

    _Buffer = ReadableBuffer | _NumpyArray

__all__ = ["Refused", "StampError", "Stamps", "counter", "os", "renew"]

_MOST = 2**64 - 1
# Formats of words of 64 bits in native order, without the sign of the order.
_UNSIGNED, _SIGNED = ("Q", "L", "N"), ("q", "l", "n")
_ORDERS = ("@", "=", "<" if sys.byteorder == "little" else ">")
# Where the byte with a word's sign is.
_SIGN = 7 if sys.byteorder == "little" else 0
_INSTANTS, _WALLS, _BOUNDEDS = range(3)


class Refused(ClockscopeError):
    """No stamps are taken of the counter. os() takes those of the system's clock."""

    reason: str
    """The reason in a word: no_counter, not_invariant, not_used (evidence() says more) or not_compared."""

    def __init__(self, text: str, reason: str = "other") -> None:
        super().__init__(text)
        self.reason = reason


class StampError(ClockscopeError):
    """A stamp has no time."""

    reason: str
    """The reason in a word: no_history, before_history, future, gap, counter_went_back, no_wall_time,
    given_up, not_compared or busy."""
    index: int | None
    """The stamp's index in a batch; None of a single one."""

    def __init__(self, text: str, reason: str = "other", index: int | None = None) -> None:
        super().__init__(text)
        self.reason = reason
        self.index = index

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.index is None else f"{text} (index {self.index})"


class _Batches:
    """Conversions of many stamps."""

    __slots__ = ()

    def _batch(self, question: int, words: bytes, is_partial: bool, /) -> tuple[bytes, bytes | None]:
        """Converts native words; the class of the extension module does so."""
        raise NotImplementedError

    @overload
    def instants_ns(self, stamps: _Buffer, *, errors: Literal["raise"] = "raise") -> array[int]: ...
    @overload
    def instants_ns(self, stamps: Iterable[SupportsIndex], *, errors: Literal["raise"] = "raise") -> list[int]: ...
    @overload
    def instants_ns(
        self, stamps: _Buffer | Iterable[SupportsIndex], *, errors: Literal["none"]
    ) -> list[int | None]: ...
    def instants_ns(self, stamps: Any, *, errors: str = "raise") -> Any:
        """Converts many stamps, each as instant_ns() does.

        stamps: ints, or a buffer of 64-bit integers, such as an array of NumPy or array("Q").
        errors: "raise" raises StampError for the first stamp that has no time; "none" gives None
        for each.

        Returns a list; of a buffer, array("q"), unless errors is "none".
        """
        return self._converted(_INSTANTS, stamps, errors)

    @overload
    def walls_ns(self, stamps: _Buffer, *, errors: Literal["raise"] = "raise") -> array[int]: ...
    @overload
    def walls_ns(self, stamps: Iterable[SupportsIndex], *, errors: Literal["raise"] = "raise") -> list[int]: ...
    @overload
    def walls_ns(
        self, stamps: _Buffer | Iterable[SupportsIndex], *, errors: Literal["none"]
    ) -> list[int | None]: ...
    def walls_ns(self, stamps: Any, *, errors: str = "raise") -> Any:
        """Converts many stamps, each as wall_ns() does; all else as instants_ns()."""
        return self._converted(_WALLS, stamps, errors)

    @overload
    def boundeds_ns(
        self, stamps: _Buffer, *, errors: Literal["raise"] = "raise"
    ) -> tuple[array[int], array[int]]: ...
    @overload
    def boundeds_ns(
        self, stamps: Iterable[SupportsIndex], *, errors: Literal["raise"] = "raise"
    ) -> list[tuple[int, int]]: ...
    @overload
    def boundeds_ns(
        self, stamps: _Buffer | Iterable[SupportsIndex], *, errors: Literal["none"]
    ) -> list[tuple[int, int] | None]: ...
    def boundeds_ns(self, stamps: Any, *, errors: str = "raise") -> Any:
        """Converts many stamps, each as bounded_ns() does; all else as instants_ns().

        Of a buffer it returns two arrays: of the earliest moments, and of the latest.
        """
        return self._converted(_BOUNDEDS, stamps, errors)

    def _converted(self, question: int, stamps: Any, errors: str) -> Any:
        if errors not in ("raise", "none"):
            raise ValueError(f"errors: expected 'raise' or 'none', got {errors!r}")
        words, is_buffer = _words(stamps)
        values, flags = self._batch(question, words, errors == "none")
        numbers = array("q", values)
        if question == _BOUNDEDS:
            if is_buffer and flags is None:
                return numbers[::2], numbers[1::2]
            found: list[Any] = list(zip(numbers[::2], numbers[1::2]))
        elif is_buffer and flags is None:
            return numbers
        else:
            found = numbers.tolist()
        if flags is not None:
            for index in compress(range(len(flags)), flags.translate(_NEGATED)):
                found[index] = None
        return found


_NEGATED = bytes([1, 0]) + bytes(254)


class Stamps(_native.Stamps, _Batches):
    """A source of stamps. counter() returns that of the processor's counter, and os() that of the
    system's clock."""

    __slots__ = ()

    @property
    def clock(self) -> Literal["counter", "os"]:
        """The clock of the stamps: "counter", or "os", whose stamps are in ns."""
        return self._clock()

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy, also in another process, begins the history there.
        return type(self), (self.clock,)

    def __repr__(self) -> str:
        return f"clockscope.stamps.Stamps({self.clock!r})"


def counter() -> Stamps:
    """Begins the history, or goes on with it, and returns the source of stamps of the counter.

    Raises Refused where the counter is not fit for stamps. Costs more than 2 ms at first, while
    other threads run. Call it before the process confines itself, and again in a forked child.

    If the process is forbidden to read the counter later, the next stamp ends the process.
    """
    return Stamps("counter")


def os() -> Stamps:
    """Begins the history of the system's clock, and returns the source of its stamps.

    A stamp is a time of CLOCK_MONOTONIC. wall_ns() and bounded_ns() need the history.
    """
    return Stamps("os")


def renew() -> None:
    """Compares the clocks now, for each history that has begun.

    Shorter periods make narrower bounds; once a second is usual. Costs some microseconds. Raises
    StampError if no history has begun, or one was not renewed; what it covers can be converted all
    the same.
    """
    _native.renew_stamps()


def _words(stamps: Any) -> tuple[bytes, bool]:
    """Stamps as native words of 64 bits, and whether they came as a buffer."""
    try:
        view = memoryview(stamps)
    except (TypeError, ValueError):
        # Not a buffer, or one of objects or times.
        return _words_of_ints(stamps), False
    with view:
        if view.format == "O":
            return _words_of_ints(stamps), False
        if view.ndim != 1:
            raise ValueError(f"stamps: expected one dimension, got {view.ndim}")
        code = view.format[1:] if view.format.startswith(_ORDERS) else view.format
        if view.itemsize != 8 or code not in _UNSIGNED + _SIGNED:
            raise TypeError(f"stamps: expected 64-bit integers in native order, got the format {view.format!r}")
        words = view.tobytes()
    if code in _SIGNED and not words[_SIGN::8].isascii():
        least = min(array("q", words))
        raise ValueError(f"stamps: expected 0 to 2**64 - 1, got {least}")
    return words, True


def _words_of_ints(stamps: Any) -> bytes:
    if not isinstance(stamps, Iterable):
        raise TypeError(f"stamps: expected ints or a buffer, got {type(stamps).__name__}")
    ints = list(stamps)
    try:
        return array("Q", ints).tobytes()
    except OverflowError:
        wrong = next(stamp for stamp in ints if not 0 <= stamp.__index__() <= _MOST)
        raise ValueError(f"stamps: expected 0 to 2**64 - 1, got {wrong}") from None
