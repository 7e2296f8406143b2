"""Functions whose calls are timed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from clockscope._native import now_ns

F = TypeVar("F", bound=Callable[..., Any])


def timed(function: F, add: Callable[[int], None]) -> F:
    """Returns the function with the time of its outermost calls handed to `add`, in ns."""
    if not callable(function):
        raise TypeError(f"cannot time {type(function).__name__!r}: expected a function")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError("cannot time a generator function: time the loop over it by a `with` block")
    # Of this thread, or of this task: what runs beside it counts by itself.
    is_inside: ContextVar[bool] = ContextVar("is_inside", default=False)

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            if is_inside.get():
                return await function(*args, **kwargs)
            token, start = is_inside.set(True), now_ns()
            try:
                return await function(*args, **kwargs)
            finally:
                add(now_ns() - start)
                is_inside.reset(token)

        return cast("F", awaited)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if is_inside.get():
            return function(*args, **kwargs)
        token, start = is_inside.set(True), now_ns()
        try:
            return function(*args, **kwargs)
        finally:
            add(now_ns() - start)
            is_inside.reset(token)

    return cast("F", called)
