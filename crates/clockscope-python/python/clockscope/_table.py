"""Tables of records: columns of one type each, for Arrow and pandas."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from clockscope import _native
from clockscope._errors import missing_extra

if TYPE_CHECKING:
    import pandas

# The table of a document that has several, where it is not the first one.
_MAIN = {"clockscope.compare": "clocks", "clockscope.order": "sequences"}
# Its keys differ from row to row.
_REASONS = "unknown"

_Kind = tuple[str, str | None]

# What a column holds: Arrow's format, and pandas' type; its own one for texts.
_NULLS: _Kind = ("n", "object")
_BOOLS: _Kind = ("b", "boolean")
_INTS: _Kind = ("l", "Int64")
_UNSIGNED: _Kind = ("L", "UInt64")
_FLOATS: _Kind = ("g", "float64")
_TEXTS: _Kind = ("u", None)

_Row = dict[str, Any]


class Table:
    """A table of a record. Cannot be changed.

    A column is an attribute of the rows, with dots for nested ones: `cost_ns.median`. Lists and
    the reasons in `unknown`, `cost_ns.unknown` ... are JSON texts. What is unknown is null.

    Everything that reads Arrow's PyCapsule interface takes it: `pyarrow.table(table)`,
    `polars.DataFrame(table)`, `duckdb.sql("FROM table")`.
    """

    __slots__ = ("_columns", "_length", "_name")

    def __init__(self, name: str, rows: Sequence[_Row]) -> None:
        self._name = name
        self._length = len(rows)
        flat = [_flat(row) for row in rows]
        names = list(dict.fromkeys(key for row in flat for key in row))
        self._columns = {key: _uniform([row.get(key) for row in flat]) for key in names}

    @property
    def name(self) -> str:
        """The key of the record that holds the rows; empty where the record is one row itself."""
        return self._name

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, column: str) -> tuple[Any, ...]:
        """Returns the values of a column."""
        return tuple(self._columns[column][1])

    def __repr__(self) -> str:
        return f"<clockscope.Table {self.name!r} of {len(self)} rows and {len(self._columns)} columns>"

    def to_pandas(self) -> pandas.DataFrame:
        """Returns it as a DataFrame. Raises ImportError without pandas (`clockscope[pandas]`)."""
        try:
            import pandas
        except ImportError as error:
            raise missing_extra("to_pandas()", "pandas", error) from None
        columns = {name: pandas.Series(values, dtype=kind[1]) for name, (kind, values) in self._columns.items()}
        return pandas.DataFrame(columns, index=range(len(self)))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns a capsule of Arrow's C stream interface. Its own types are the only ones."""
        columns = tuple((name, kind[0], *_buffers(kind, values)) for name, (kind, values) in self._columns.items())
        return _native.arrow_stream((len(self), columns))


def tables(document: _Row) -> list[str]:
    """The keys of a document that hold tables."""
    return [key for key, value in document.items() if _is_table(value)]


def table(document: _Row, name: str | None) -> Table:
    """A table of a document: the main one without a name."""
    known = tables(document)
    if name is None:
        name = _main(document, known)
        if name is None:
            return Table("", [document])
    elif name not in known:
        expected = f"expected {', '.join(known)}" if known else "the record has none"
        raise ValueError(f"unknown table {name!r}: {expected}")
    return Table(name, document[name])


def _main(document: _Row, known: list[str]) -> str | None:
    wanted = _MAIN.get(document["schema"])
    if wanted in known:
        return wanted
    # The first that has rows: others are lists of what went wrong.
    return next((name for name in known if document[name]), known[0] if known else None)


def _is_table(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in cast("Iterable[Any]", value))


def _flat(row: _Row, before: str = "") -> _Row:
    """A row without objects in it."""
    flat: _Row = {}
    for key, value in row.items():
        if isinstance(value, dict) and key != _REASONS:
            flat |= _flat(cast("_Row", value), f"{before}{key}.")
        elif isinstance(value, (dict, list)):
            flat[before + key] = None if value == {} else json.dumps(value)
        else:
            flat[before + key] = value
    return flat


def _uniform(values: list[Any]) -> tuple[_Kind, list[Any]]:
    """The type that holds all these values, and the values in it."""
    kinds: set[type[Any]] = {type(value) for value in values if value is not None}
    if not kinds:
        return _NULLS, values
    if kinds == {bool}:
        return _BOOLS, values
    if kinds == {str}:
        return _TEXTS, values
    if kinds == {int}:
        numbers = [value for value in values if value is not None]
        if -(2**63) <= min(numbers) and max(numbers) < 2**63:
            return _INTS, values
        if min(numbers) >= 0 and max(numbers) < 2**64:
            return _UNSIGNED, values
    if kinds <= {int, float}:
        return _FLOATS, _each(float, values)
    return _TEXTS, _each(lambda value: value if isinstance(value, str) else json.dumps(value), values)


def _each(convert: Callable[[Any], Any], values: list[Any]) -> list[Any]:
    return [None if value is None else convert(value) for value in values]


def _buffers(kind: _Kind, values: list[Any]) -> tuple[int, tuple[bytes | None, ...]]:
    """How many values are null, and the buffers of a column as Arrow lays them out."""
    if kind == _NULLS:
        return len(values), ()
    nulls = sum(value is None for value in values)
    valid = _bits(value is not None for value in values) if nulls else None
    if kind == _BOOLS:
        return nulls, (valid, _bits(value is True for value in values))
    if kind == _TEXTS:
        texts = [("" if value is None else value).encode(errors="replace") for value in values]
        ends = array("i", [0])
        for text in texts:
            ends.append(ends[-1] + len(text))
        return nulls, (valid, ends.tobytes(), b"".join(texts))
    code = {_INTS: "q", _UNSIGNED: "Q", _FLOATS: "d"}[kind]
    return nulls, (valid, array(code, (0 if value is None else value for value in values)).tobytes())


def _bits(flags: Iterable[bool]) -> bytes:
    """A bit for each, the first one lowest."""
    bits, length = 0, 0
    for index, flag in enumerate(flags):
        bits |= flag << index
        length = index + 1
    return bits.to_bytes((length + 7) // 8, "little")
