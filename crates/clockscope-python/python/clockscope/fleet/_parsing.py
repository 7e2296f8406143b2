"""The SQL by which DuckDB makes columns of lines, and says what is wrong with a line.

Nothing of a record becomes SQL: a statement is made of the names of `_columns` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from clockscope.fleet._columns import CHECK, CLOCK, END, EVIDENCE, NULLABLE, Column, objects

SCHEMA: Final = "clockscope.check"
VERSION: Final = 1

_HISTOGRAM: Final = r"\[(\s*\[\s*-?[0-9]{1,4}\s*,\s*[1-9][0-9]{0,6}\s*\]\s*,?)*\s*\]"
"""Pairs of a bin and a count, as JSON writes them."""


def text(value: str) -> str:
    """A text as SQL has it."""
    return "'" + value.replace("'", "''") + "'"


def _texts(values: Sequence[str]) -> str:
    return ", ".join(text(value) for value in values)


def _path_list(names: Sequence[str]) -> str:
    return "[" + _texts(["$." + name for name in names]) + "]"


class _Values:
    """Expressions of columns over the values of a JSON object, each as JSON writes it."""

    def __init__(self, columns: Sequence[Column], raw: Callable[[str], str]) -> None:
        self._columns = columns
        self._raw = raw

    def _first(self, column: Column, part: str) -> str:
        """An expression of the first path that the object has."""
        raws = [self._raw(path) for path in column.paths]
        branches = [f"WHEN {raw} <> 'null' THEN {part.format(raw=raw)}" for raw in raws]
        return f"CASE {' '.join(branches)} END"

    def selected(self) -> str:
        """All values, by their columns' names."""
        return ",\n        ".join(
            f"{self._first(column, column.type.value)} AS {column.name}" for column in self._columns
        )

    def wrong(self, json_type: Callable[[str], str]) -> str:
        """The fault of the first value that has one; NULL if none has. It names columns' values."""
        columns = {path for column in self._columns for path in column.paths}
        branches: list[str] = []
        for path in objects(self._columns):
            if path not in columns:
                types = "'OBJECT', 'NULL'" if path in NULLABLE else "'OBJECT'"
                branches.append(f"WHEN coalesce({json_type(path)}, 'NULL') NOT IN ({types}) THEN '{path} is not an object'")
        for column in self._columns:
            faults = [
                f"NOT coalesce({self._first(column, 'coalesce(' + column.type.is_one + ', false)')}, true)",
                f"{self._first(column, 'true')} AND {column.name} IS NULL",
            ]
            if column.type.longest:
                faults.append(f"length({column.name}) > {column.type.longest} OR contains({column.name}, chr(0))")
                if column.required:
                    faults.append(f"trim({column.name}, ' \t\n\r') = ''")
            if column.words:
                faults.append(f"{column.name} NOT IN ({_texts(column.words)})")
            if column.required:
                faults.append(f"{column.name} IS NULL")
            expected = "one of " + ", ".join(column.words) if column.words else f"a {column.type.word}"
            what = text(f"{column.paths[-1]} is not {expected}")
            branches.append(f"WHEN coalesce({' OR '.join(f'({fault})' for fault in faults)}, false) THEN {what}")
        return "CASE " + "\n            ".join(branches) + " END"


def _doubled(columns: Sequence[Column]) -> str:
    """True if a key stands twice in a line, or in an object that columns are taken from."""
    alone = "[" + _texts(["$", *("$." + name for name in objects(columns))]) + "]"
    every = [_TWICE.format(keys=f"json_keys(line, {alone})"), _TWICE.format(keys="json_keys(line, '$.evidence[*]')")]
    return " OR ".join(f"coalesce({one}, false)" for one in every)


_BEYOND_JSON: Final = r"(?i),\s*[\]}}]|nan|inf"
"""Outside of texts, what DuckDB takes and JSON has not: a comma before an end, NaN and Infinity."""
_TEXT: Final = r'"([^"\\]|\\.)*"'

_TWICE: Final = "list_bool_or(list_transform({keys}, lambda names: len(names) <> len(list_distinct(names))))"


HEADS: Final = f"""
CREATE OR REPLACE TEMP TABLE heads AS
WITH read AS (
    SELECT file, pos, line, CASE
        WHEN NOT json_valid(line) THEN false
        WHEN regexp_matches(line, '{_BEYOND_JSON}')
            THEN NOT regexp_matches(regexp_replace(line, '{_TEXT}', '0', 'g'), '{_BEYOND_JSON}')
        ELSE true
    END AS is_json FROM {{lines}}
), extracted AS (
    SELECT file, pos, line, is_json,
        CASE WHEN is_json THEN CAST(json_extract(line, ['$.type', '$.schema', '$.schema_version']) AS VARCHAR[]) END
            AS raws
    FROM read
), found AS (
    SELECT file, pos, line, is_json,
        [json_extract_string(raws[1], '$'), json_extract_string(raws[2], '$'), raws[3]] AS texts
    FROM extracted
)
SELECT file, pos, line, texts[1] AS type,
    CASE
        WHEN NOT is_json THEN 'not_json'
        WHEN texts[2] IS DISTINCT FROM {text(SCHEMA)} THEN 'foreign'
        WHEN texts[3] IS DISTINCT FROM '{VERSION}' THEN 'schema_version'
        WHEN coalesce(texts[1], '') NOT IN ('environment', 'verdict', 'end') THEN 'unknown_type'
    END AS reason,
    CASE
        WHEN NOT is_json THEN 'a line that is not one JSON value'
        WHEN texts[2] IS DISTINCT FROM {text(SCHEMA)} THEN coalesce('schema ' || left(texts[2], 100), 'no schema')
        WHEN texts[3] IS DISTINCT FROM '{VERSION}'
            THEN coalesce('schema_version ' || left(texts[3], 20), 'no schema_version') || '; this reads {VERSION}'
        ELSE coalesce('type ' || left(texts[1], 100), 'no type')
    END AS detail
FROM found
"""
"""Of each of these lines its type, and the reason why it is not one of a check."""


def _parsed(kind: str, columns: Sequence[Column], more: str = "") -> str:
    paths = [path for column in columns for path in column.paths]
    within = objects(columns)
    values = _Values(columns, lambda path: f"raws[{paths.index(path) + 1}]")
    wrong = values.wrong(lambda path: f"json_types[{within.index(path) + 1}]")
    return f"""
WITH found AS (
    SELECT file, pos, line, CAST(json_extract(line, {_path_list(paths)}) AS VARCHAR[]) AS raws,
        json_type(line, CAST({_path_list(within)} AS VARCHAR[])) AS json_types
    FROM heads WHERE reason IS NULL AND type = '{kind}'
)
SELECT file, pos, hash(line) AS line_hash,{more}
        {values.selected()},
        CASE WHEN {_doubled(columns)} THEN 'a key stands twice' ELSE {wrong} END AS wrong
FROM found
"""


def _evidence() -> str:
    keys = sorted({path.partition(".")[0] for column in EVIDENCE for path in column.paths} | {"histogram"})
    structure = "[{" + ", ".join(f'"{key}": "JSON"' for key in keys) + "}]"

    def raw(path: str) -> str:
        key, _, within = path.partition(".")
        return f"CAST(json_extract(raw_{key}, '$.{within}') AS VARCHAR)" if within else f"raw_{key}"

    values = _Values(EVIDENCE, raw)
    within = [f"starts_with(raw_{key}, '{{') AND {_TWICE.format(keys=f'[json_keys(raw_{key})]')}" for key in objects(EVIDENCE)]
    doubled = " OR ".join(f"coalesce({one}, false)" for one in within)
    raws = ", ".join(f"CAST(item.{key} AS VARCHAR) AS raw_{key}" for key in keys)
    return f"""
WITH lists AS (
    SELECT file, pos AS line_pos, json_transform(json_extract(line, '$.evidence'), {text(structure)}) AS evidence
    FROM heads WHERE reason IS NULL AND type = 'verdict'
), items AS (
    SELECT file, line_pos, unnest(evidence) AS item, generate_subscripts(evidence, 1) AS pos FROM lists
), found AS (
    SELECT file, line_pos, pos, {raws} FROM items
)
SELECT file, line_pos, pos,
        {values.selected()},
        CASE WHEN raw_check = '"cost"' THEN TRY_CAST(raw_histogram AS BIGINT[][]) END AS histogram,
        CASE WHEN {doubled} THEN 'a key stands twice'
            WHEN raw_check = '"cost"' AND NOT coalesce(regexp_full_match(raw_histogram, {text(_HISTOGRAM)}), false)
            THEN 'histogram is not a list of pairs of a bin and a count' ELSE {values.wrong(lambda path: f"json_type(raw_{path})")} END AS wrong
FROM found
"""


PARSED: Final = {
    "environments": _parsed("environment", CHECK),
    "verdicts": _parsed(
        "verdict", CLOCK, " coalesce(json_type(line, '$.evidence'), 'NULL') <> 'ARRAY' AS lacks_evidence,"
    ),
    "items": _evidence(),
    "ends": _parsed("end", END),
}
"""The statements that make the columns of each kind of line, and of each piece of evidence."""

