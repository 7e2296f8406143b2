"""Documents of clockscope: read, shown, and as tables and charts."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NoReturn, cast

from clockscope import _command, _table
from clockscope._errors import ClockscopeError
from clockscope._fields import Fields
from clockscope._table import Table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

# The version of the documents that this package reads.
SCHEMA_VERSION = 1
# Longest text that is shown of a document that is not one.
_EXCERPT = 40


class Record(Fields):
    """A document of clockscope (docs/reference/records/README.md): what was measured, where, and how.

    `str(record)` is the table of the terminal, by `clockscope report`, and a notebook shows the page
    of `--format html`. `table()` has a table for Arrow and pandas. Records are equal if their
    contents are, and can be pickled. Units are in the names: `_ns`, `_s`, `_hz`, `_ppm`,
    `_percent`. A figure that could not be determined is None, and `unknown` has the reason: its
    `code`, and the same as a `text`.
    """

    __slots__ = ("_text",)
    _text: str

    def __init__(self, text: str) -> None:
        """Reads a document that the command wrote. Raises ValueError for any other text."""
        if not isinstance(text, str):
            raise TypeError(f"text: expected a string, got {type(text).__name__}")
        super().__init__(parsed(text))
        object.__setattr__(self, "_text", text)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._text,)

    def __repr__(self) -> str:
        return f"<clockscope.Record {self.schema!r} of {self.recorded_at}>"

    def __str__(self) -> str:
        try:
            return _command.report(self._text, "table").rstrip("\n")
        except (ClockscopeError, OSError) as error:
            return f"{self!r}\n(no table: {error})"

    def _repr_html_(self) -> str | None:
        """Returns the page with its charts, in a frame that runs no script; None without it."""
        from html import escape

        try:
            page = _command.report(self._text, "html")
        except (ClockscopeError, OSError):
            # The notebook shows the text, which has the reason.
            return None
        return (
            f'<iframe sandbox srcdoc="{escape(page)}" title="{escape(repr(self))}" '
            'style="width: 100%; height: 32em; border: 0; resize: vertical"></iframe>'
        )

    def to_json(self) -> str:
        """Returns the document as the command wrote it."""
        return self._text

    @property
    def tables(self) -> tuple[str, ...]:
        """The keys that hold a table: a list of objects."""
        return tuple(_table.tables(self._data))

    def table(self, name: str | None = None) -> Table:
        """Returns a table of the record for Arrow and pandas.

        name: one of `tables`; the main one by default, or the record itself as one row if it has
        no table. Raises ValueError for another name.
        """
        return _table.table(self._data, name)

    def to_pandas(self, name: str | None = None) -> pandas.DataFrame:
        """Returns a table as a DataFrame; as table(name).to_pandas()."""
        return self.table(name).to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns a capsule of Arrow's C stream interface: the main table."""
        return self.table().__arrow_c_stream__(requested_schema)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the main figure with Matplotlib, and returns its axes.

        ax: axes to draw on; new ones by default. Raises ValueError for a record without a chart,
        and ImportError without Matplotlib (`clockscope[plot]`).
        """
        from clockscope import _plot

        return _plot.plot(self, ax)


def read_record(path: str | os.PathLike[str]) -> Record:
    """Reads a document that `clockscope --format json` wrote.

    Raises OSError where the file cannot be read, and ValueError where it is not such a document,
    or one of another version of the schema.
    """
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return Record(text)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def parsed(text: str) -> dict[str, Any]:
    """Reads a document of this version, or raises ValueError."""
    try:
        found = json.loads(text, parse_constant=_refused)
    except RecursionError:
        raise ValueError("not a record: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not a record: {error}") from None
    data: dict[str, Any] = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    schema = data.get("schema")
    if not isinstance(schema, str) or not schema.startswith("clockscope."):
        excerpt = text[:_EXCERPT] + ("..." if len(text) > _EXCERPT else "")
        raise ValueError(f'not a record: expected a document with the key "schema", got {excerpt!r}')
    version = data.get("schema_version")
    if isinstance(version, bool) or version != SCHEMA_VERSION:
        upgrade = isinstance(version, int) and version > SCHEMA_VERSION
        advice = "; install a newer clockscope" if upgrade else ""
        raise ValueError(f"schema_version {version!r} of {schema}: expected {SCHEMA_VERSION}{advice}")
    return data


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
