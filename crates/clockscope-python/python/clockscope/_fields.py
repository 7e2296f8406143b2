"""Objects of documents, immutable, with the keys of the JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn, cast


class Fields:
    """An object of a document: its keys are attributes, and its lists are tuples.

    `fields["key"]` gives what `fields.key` does, for keys that are no identifier. `fields.unknown`
    has the reasons of figures that are None. It is empty where there are none, and
    `fields["unknown"]` then raises KeyError. Nothing can be changed.
    """

    __slots__ = ("_data",)
    _data: dict[str, Any]

    def __init__(self, data: dict[str, Any]) -> None:
        object.__setattr__(self, "_data", data)

    def __getattr__(self, name: str) -> Any:
        # Asked for before it is set: by copy and pickle.
        if name == "_data":
            raise AttributeError(name)
        if name == "unknown" and name not in self._data:
            # Nothing is unknown.
            return Fields({})
        try:
            return _wrapped(self._data[name])
        except KeyError:
            message = f"{type(self).__name__} has no key {name!r}"
            raise AttributeError(message, name=name, obj=self) from None

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot set {name!r}: a record is immutable; to_dict() gives a copy")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete {name!r}: a record is immutable; to_dict() gives a copy")

    def __getitem__(self, key: str) -> Any:
        return _wrapped(self._data[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __contains__(self, key: object) -> bool:
        return key in self._data

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if isinstance(other, Fields) else NotImplemented

    def __hash__(self) -> int:
        return hash(json.dumps(self._data, sort_keys=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._data,)

    def __repr__(self) -> str:
        return f"Fields({_summary(self._data)})"

    def to_dict(self) -> dict[str, Any]:
        """Returns a copy as dictionaries and lists, which may be changed."""
        copy: dict[str, Any] = json.loads(json.dumps(self._data))
        return copy

    def to_json(self) -> str:
        """Returns it as JSON."""
        return json.dumps(self._data, indent=2)


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Fields(cast("dict[str, Any]", value))
    if isinstance(value, list):
        return tuple(map(_wrapped, cast("Iterable[Any]", value)))
    return value


def _summary(data: dict[str, Any]) -> str:
    """The keys that hold a single value, up to a line."""
    scalars = [f"{key}={value!r}" for key, value in data.items() if not isinstance(value, (dict, list))]
    parts: list[str] = []
    length = 0
    for part in scalars:
        length += len(part) + 2
        if length > 80:
            break
        parts.append(part)
    return ", ".join(parts) + (", ..." if len(parts) < len(data) else "")
