"""Rows as a table, CSV, or JSON lines."""

from __future__ import annotations

import csv
import io
import json
import math
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from clockscope.fleet._engines import Answer, Cell
from clockscope.fleet._problems import FleetError

FORMATS: Final = ("table", "csv", "json")
_WIDEST: Final = 64
"""Characters of a table's cell: a host that has no label has as many."""


def render(answer: Answer, format: str) -> str:
    """The rows in one of the formats."""
    if format == "csv":
        return _csv(answer)
    if format == "json":
        if len(set(answer.columns)) < len(answer.columns):
            raise FleetError("two columns have one name, which an object of JSON cannot have: name them by AS")
        objects = [dict(zip(answer.columns, map(json_cell, row), strict=True)) for row in answer.rows]
        return "".join(json.dumps(one, default=str, allow_nan=False) + "\n" for one in objects)
    return _table(answer)


def json_cell(cell: Cell) -> Cell:
    """A value as JSON has it, which has no number that is infinite or none."""
    value = _scalar(cell)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _scalar(cell: Cell) -> Cell:
    if isinstance(cell, Decimal):
        return float(cell)
    if isinstance(cell, (date, datetime)):
        return cell.isoformat()
    return cell


def _csv(answer: Answer) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(answer.columns)
    writer.writerows([["" if cell is None else _scalar(cell) for cell in row] for row in answer.rows])
    return text.getvalue()


def _table(answer: Answer) -> str:
    rows = [[_cell_text(name) for name in answer.columns], *([_cell_text(cell) for cell in row] for row in answer.rows)]
    is_number = [
        any(isinstance(row[index], (int, float, Decimal)) for row in answer.rows) for index in range(len(answer.columns))
    ]
    widths = [max(len(row[index]) for row in rows) for index in range(len(answer.columns))]

    def line(cells: list[str]) -> str:
        padded = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(cells, widths, is_number, strict=True)
        ]
        return "  ".join(padded).rstrip() + "\n"

    return "".join(line(row) for row in rows)


def _cell_text(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, (float, Decimal)):
        return f"{cell:.6g}"
    # What a record says is not to move the cursor.
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in str(_scalar(cell)))
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
