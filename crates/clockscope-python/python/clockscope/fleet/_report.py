"""All answers as one document, which the command `clockscope` renders as a page."""

from __future__ import annotations

import json
import os
from typing import Final

from clockscope import _command
from clockscope.fleet import _queries
from clockscope.fleet._dates import date_of
from clockscope.fleet._engines import Answer, Engine
from clockscope.fleet._output import json_cell
from clockscope.fleet._problems import FleetError
from clockscope.fleet._progress import Progress

FORMATS: Final = {".html": "html", ".md": "markdown", ".json": "json"}
"""Formats by the ends of file names."""
_MOST_ROWS: Final = 500
"""Rows of an answer in a report: a page of more is slow."""
_TREND: Final = "daily_"
"""The queries whose names begin with it are drawn, with all their rows: few a day."""
_COUNTS: Final = """
SELECT MAX(as_of.day_no), COUNT(DISTINCT host),
    COUNT(DISTINCT CASE WHEN checks.day_no >= as_of.day_no - 2 THEN host END), COUNT(host)
FROM as_of LEFT JOIN checks ON checks.day_no <= as_of.day_no
"""


def format_of(path: str) -> str:
    """The format that a file's name asks for."""
    ending = os.path.splitext(path)[1]
    if ending not in FORMATS:
        raise FleetError(f"cannot write {path}: expected a name such as fleet{' or fleet'.join(FORMATS)}")
    return FORMATS[ending]


def write(engine: Engine, path: str, progress: Progress) -> None:
    """Asks all queries, and has the command write the file, as a whole or not at all."""
    queries = _queries.every()
    answers: list[dict[str, object]] = []
    for number, query in enumerate(queries):
        answers.append(_answer(query, engine.query(query.sql)))
        progress.step("queries", number + 1, len(queries))
    progress.say("rendering")
    document = json.dumps(_document(engine, answers), allow_nan=False)
    _command.output(["report", "-", "--format", format_of(path), f"--output={path}"], document)


def _document(engine: Engine, answers: list[dict[str, object]]) -> dict[str, object]:
    """The document `clockscope.fleet`. Its head is of the machine that makes it."""
    head = json.loads(_command.output(["info", "--format", "json"]))
    ((day_no, hosts, recent_hosts, checks),) = engine.query(_COUNTS).rows
    return {
        "schema": "clockscope.fleet",
        "schema_version": head["schema_version"],
        "recorded_at": head["recorded_at"],
        "environment": head["environment"],
        "as_of": date_of(day_no) if isinstance(day_no, int) else None,
        "hosts": hosts,
        "recent_hosts": recent_hosts,
        "checks": checks,
        "answers": answers,
    }


def _answer(query: _queries.Query, found: Answer) -> dict[str, object]:
    most = None if query.name.startswith(_TREND) else _MOST_ROWS
    hosts = len({row[found.columns.index("host")] for row in found.rows}) if "host" in found.columns else None
    return {
        "query": query.name,
        "question": query.question,
        "columns": found.columns,
        "rows": [[json_cell(cell) for cell in row] for row in found.rows[:most]],
        "row_count": len(found.rows),
        "hosts": hosts,
    }
