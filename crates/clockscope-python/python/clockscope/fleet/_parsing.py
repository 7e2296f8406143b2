"""The SQL by which DuckDB makes columns of lines, and says what is wrong with a line.

Nothing of a record becomes SQL: a statement is made of the names of `_columns` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from clockscope.fleet._columns import CHECK, CLOCK, END, EVIDENCE, OBJECTS, Column

SCHEMA: Final = "clockscope.check"
VERSION: Final = 1

_MOST_BATCHES: Final = 1_000_000
_FARTHEST_BIN: Final = 4000


def text(value: str) -> str:
    """A text as SQL has it."""
    return "'" + value.replace("'", "''") + "'"


def _texts(values: Sequence[str]) -> str:
    return ", ".join(text(value) for value in values)


def _path_list(names: Sequence[str]) -> str:
    return "[" + _texts(["$." + name for name in names]) + "]"


class _Values:
    """Expressions of columns over the lists `types` and `texts` of a JSON object's values."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._places: dict[str, int] = {}
        for column in columns:
            for path in column.paths:
                self._places[path] = len(self._places) + 1
        self.columns = columns
        self.paths = _path_list(list(self._places))

    def _by_path(self, column: Column, part: str) -> str:
        """An expression of the first path that the object has: `part` with its place."""
        branches = [
            f"WHEN coalesce(types[{place}], 'NULL') <> 'NULL' THEN {part.format(place=place)}"
            for place in (self._places[path] for path in column.paths)
        ]
        return f"CASE {' '.join(branches)} END"

    def value(self, column: Column) -> str:
        return self._by_path(column, f"TRY_CAST(texts[{{place}}] AS {column.type.sql})")

    def selected(self) -> str:
        """All values, by their columns' names."""
        return ",\n        ".join(f"{self.value(column)} AS {column.name}" for column in self.columns)

    def wrong(self) -> str:
        """What is wrong with the first value that is; NULL if none is."""
        branches: list[str] = []
        for column in self.columns:
            value = self.value(column)
            faults = [
                self._by_path(column, f"types[{{place}}] NOT IN ({_texts(column.type.json)})"),
                self._by_path(column, f"TRY_CAST(texts[{{place}}] AS {column.type.sql}) IS NULL"),
            ]
            if column.type.sql == "DOUBLE":
                faults.append(f"NOT isfinite({value})")
            if column.type.longest:
                faults.append(f"length({value}) > {column.type.longest}")
            if column.words:
                faults.append(f"{value} NOT IN ({_texts(column.words)})")
            if column.required:
                faults.append(f"{value} IS NULL")
            expected = "one of " + ", ".join(column.words) if column.words else f"a {column.type.word}"
            what = text(f"{column.paths[-1]} is not {expected}")
            branches.append(f"WHEN coalesce({' OR '.join(f'({fault})' for fault in faults)}, false) THEN {what}")
        return "CASE " + "\n            ".join(branches) + " END"


def _doubled(json: str, objects: Sequence[str]) -> str:
    """True if a key stands twice in the object, or in one of these within it."""
    keys = "[" + _texts(["$", *("$." + name for name in objects)]) + "]"
    return (
        f"list_bool_or(list_transform(json_keys({json}, {keys}), "
        "lambda names: len(names) <> len(list_distinct(names))))"
    )


HEADS: Final = f"""
CREATE OR REPLACE TABLE heads AS
WITH read AS (
    SELECT file, pos, line, json_valid(line) AS is_json FROM raw
), found AS (
    SELECT file, pos, line, is_json,
        CASE WHEN is_json THEN json_extract_string(line, ['$.type', '$.schema', '$.schema_version', '$.check_id']) END
            AS texts
    FROM read
)
SELECT file, pos, line, texts[1] AS type, left(texts[4], 300) AS check_id,
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
"""Of each line its type and its check, and why it is not one of a check."""


def _parsed(kind: str, columns: Sequence[Column], more: str = "") -> str:
    values = _Values(columns)
    return f"""
WITH found AS (
    SELECT file, pos, line, json_type(line, {values.paths}) AS types, json_extract_string(line, {values.paths}) AS texts,
        {_doubled("line", OBJECTS[kind])} AS doubled
    FROM heads WHERE reason IS NULL AND type = '{kind}'
)
SELECT file, pos, hash(line) AS line_hash,{more}
        {values.selected()},
        CASE WHEN doubled THEN 'a key stands twice' ELSE {values.wrong()} END AS wrong
FROM found
"""


def _evidence() -> str:
    values = _Values(EVIDENCE)
    return f"""
WITH items AS (
    SELECT file, pos AS line_pos, unnest(json_extract(line, '$.evidence[*]')) AS item,
        generate_subscripts(json_extract(line, '$.evidence[*]'), 1) AS pos
    FROM heads WHERE reason IS NULL AND type = 'verdict'
), found AS (
    SELECT file, line_pos, pos, item, json_type(item, {values.paths}) AS types,
        json_extract_string(item, {values.paths}) AS texts, {_doubled("item", OBJECTS["evidence"])} AS doubled,
        CASE WHEN json_extract_string(item, '$.check') = 'cost' THEN json_extract(item, '$.histogram') END AS bins
    FROM items
), valued AS (
    SELECT file, line_pos, pos,
        {values.selected()},
        TRY_CAST(bins AS BIGINT[][]) AS histogram, bins IS NOT NULL AS has_bins,
        CASE WHEN doubled THEN 'a key stands twice' ELSE {values.wrong()} END AS wrong
    FROM found
)
SELECT * REPLACE (
    CASE WHEN wrong IS NULL AND has_bins AND (histogram IS NULL OR list_bool_or(list_transform(histogram, lambda pair:
            len(pair) <> 2 OR pair[1] IS NULL OR pair[2] IS NULL
            OR abs(pair[1]) > {_FARTHEST_BIN} OR pair[2] NOT BETWEEN 1 AND {_MOST_BATCHES})))
        THEN 'histogram is not a list of pairs of a bin and a count' ELSE wrong END AS wrong)
FROM valued
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

