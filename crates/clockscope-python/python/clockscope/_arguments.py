"""Arguments of questions as words of the command line, checked before anything runs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

Clocks = str | Iterable[str]


def options(**values: str | None) -> list[str]:
    """Options with a value. Each is one word, so that no value is taken for an option."""
    return [f"--{name.replace('_', '-')}={text(name, value)}" for name, value in values.items() if value is not None]


def text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a string, got {type(value).__name__}")
    return value


def names_of(name: str, given: Clocks) -> list[str]:
    """Names, of which one alone may be given as a string."""
    if isinstance(given, str):
        return [text(name, given)]
    if not isinstance(given, Iterable):
        raise TypeError(f"{name}: expected strings, got {type(given).__name__}")
    return [text(name, one) for one in given]


def names(name: str, given: Clocks) -> str | None:
    """Names as one word; None without any."""
    return ",".join(names_of(name, given)) or None


def number(name: str, value: Any) -> str:
    """A finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found) or found <= 0:
        raise ValueError(f"{name}: expected a finite number above 0, got {found}")
    return repr(found)


def seconds(name: str, value: Any) -> str | None:
    return None if value is None else f"{number(name, value)}s"


def ppm(name: str, value: Any) -> str | None:
    return None if value is None else f"{number(name, value)}ppm"


def whole(name: str, value: Any, least: int) -> str | None:
    """A whole number that is not too small; None for None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: expected an int, got {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name}: expected {least} or more, got {value}")
    return str(value)


def cpu(number: int | None) -> str | None:
    return whole("cpu", number, least=0)


def cpus(numbers: Iterable[int] | None) -> str | None:
    """CPUs as a list on the command line; None for the default."""
    if numbers is None:
        return None
    if isinstance(numbers, (str, bytes)) or not isinstance(numbers, Iterable):
        raise TypeError(f"cpus: expected ints, got {type(numbers).__name__}")
    words = [str(cpu(number)) for number in numbers]
    if not words:
        raise ValueError("cpus: expected one CPU at least")
    return ",".join(words)
