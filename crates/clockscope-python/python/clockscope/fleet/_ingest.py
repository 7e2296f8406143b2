"""JSON lines of checks become Parquet tables, a file for each table and date."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from importlib import resources
from typing import BinaryIO, Final

from clockscope.fleet import _files, _parsing, _tables
from clockscope.fleet._connection import connect, escaped, require
from clockscope.fleet._dataset import TABLES, Dataset
from clockscope.fleet._parsing import text
from clockscope.fleet._problems import FleetError
from clockscope.fleet._progress import Progress

_BATCH: Final = 256 << 20
"""Bytes of text that are parsed at once."""
_EPOCH: Final = date(1970, 1, 1)
_PARQUET: Final = "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 1000000)"


@dataclass(frozen=True)
class Ingested:
    """The counts of an ingest."""

    files: int
    """Files that are new, or are not what they were."""
    known: int
    """Files that an earlier ingest has read, with the same content."""
    checks: int
    """Checks of them, one a host and day."""
    days: int
    rejects: int
    """Rows of the table of that name."""


def ingest(folder: str, out: str, progress: Progress) -> Ingested:
    """Reads the files of a folder that are new, and replaces the days that they belong to.

    Interrupted before its new files take their places, it changes nothing; after that, the next
    ingest completes it.
    """
    require()
    try:
        out.encode()
    except UnicodeEncodeError:
        raise FleetError(f"cannot write to {out!r}: its name is not UTF-8") from None
    if "://" in out or "\\" in out or "?" in out:
        raise FleetError(f"cannot write to {out}: expected a folder without a backslash, ? or :// in its path")
    if not os.path.isdir(folder):
        raise FleetError(f"cannot ingest {folder}: it is not a folder")
    if os.path.exists(out) and not os.path.isdir(out):
        raise FleetError(f"cannot write to {out}: it is not a folder")
    if os.path.realpath(out).startswith(os.path.realpath(folder) + os.sep) or os.path.realpath(out) == os.path.realpath(
        folder
    ):
        raise FleetError(f"cannot write to {out}: it is inside {folder}, whose files are read")
    dataset = Dataset(out)
    with dataset.writing():
        return _Ingest(dataset, progress).run(folder)


class _Ingest:
    def __init__(self, dataset: Dataset, progress: Progress) -> None:
        self.dataset = dataset
        self.progress = progress
        self.database = connect(os.path.join(dataset.work, "database"))
        self.database.execute(resources.files("clockscope.fleet").joinpath("schema.sql").read_text(encoding="utf-8"))
        self.database.execute(f"SET temp_directory = {text(os.path.join(dataset.work, 'spill'))}")

    def run(self, folder: str) -> Ingested:
        self.progress.say("looking for files")
        files = _files.find(folder)
        new = self._unknown(files)
        if not new:
            self.database.close()
            return Ingested(files=0, known=len(files), checks=0, days=0, rejects=0)
        self._parse(new)
        dates = self._join()
        self._write_manifest(files)
        counts = "SELECT (SELECT count(*) FROM new_checks), (SELECT count(*) FROM new_rejects)"
        ((checks, rejects),) = self.database.execute(counts).fetchall()
        self.database.close()
        self.dataset.replace()
        return Ingested(len(new), len(files) - len(new), checks, len(dates), rejects)

    def _unknown(self, files: Sequence[_files.RecordFile]) -> list[_files.RecordFile]:
        """Those that no earlier ingest has read, or not with this content."""
        if not os.path.exists(self.dataset.manifest):
            return list(files)
        rows = self.database.execute(f"SELECT name, sha256 FROM read_parquet({text(escaped(self.dataset.manifest))})").fetchall()
        known = dict(rows)
        return [file for file in files if known.get(file.name) != file.sha256]

    def _parse(self, files: Sequence[_files.RecordFile]) -> None:
        run = self.database.execute
        run("CREATE TABLE files (no INTEGER, name VARCHAR, day_no INTEGER)")
        run("CREATE TABLE bad_parts (file INTEGER, reason VARCHAR, detail VARCHAR, line BIGINT)")
        run("CREATE TABLE heads_refused (file INTEGER, pos BIGINT, reason VARCHAR, detail VARCHAR)")
        first = True
        for lines, done in self._batches(files):
            run(_parsing.HEADS.format(lines=lines))
            run("INSERT INTO heads_refused SELECT file, pos, reason, detail FROM heads WHERE reason IS NOT NULL")
            for table, statement in _parsing.PARSED.items():
                run(f"CREATE TABLE {table} AS {statement}" if first else f"INSERT INTO {table} {statement}")
            first = False
            run("DROP TABLE heads")
            self.progress.step("files", done, len(files))

    def _batches(self, files: Sequence[_files.RecordFile]) -> Iterator[tuple[str, int]]:
        """Lines of some files at a time, as a table, and the number of files done."""
        names = os.path.join(self.dataset.work, "files.csv")
        bad = os.path.join(self.dataset.work, "bad.csv")
        raw = os.path.join(self.dataset.work, "raw.csv")
        with open(names, "wb") as names_file, open(bad, "wb") as bad_file:
            pending = _Lines(files, names_file, bad_file)
            while True:
                with open(raw, "wb") as raw_file:
                    pending.write(raw_file, _BATCH)
                yield _csv(raw, {"file": "INTEGER", "pos": "BIGINT", "line": "VARCHAR"}), pending.done
                if pending.ended:
                    break
        self._load("files", names, {"no": "INTEGER", "day_no": "INTEGER", "name": "VARCHAR"})
        self._load("bad_parts", bad, {"file": "INTEGER", "line": "BIGINT", "reason": "VARCHAR", "detail": "VARCHAR"})

    def _load(self, table: str, path: str, columns: dict[str, str]) -> None:
        self.database.execute(f"INSERT INTO {table} BY NAME SELECT * FROM {_csv(path, columns)}")

    def _join(self) -> list[str]:
        """Writes the new files of all days that change; returns their dates."""
        self.progress.say("joining")
        self.database.execute(_tables.COMPLETE)
        self.database.execute("SET VARIABLE now = $now", {"now": datetime.now(timezone.utc).replace(tzinfo=None)})
        self.database.execute(_tables.JUDGED)
        self.database.execute(_tables.NEW.format(version=_parsing.VERSION))
        dates = self._changed_dates()
        for number, day in enumerate(dates):
            self._write_day(day)
            self.progress.step("days", number + 1, len(dates))
        return dates

    def _changed_dates(self) -> list[str]:
        rows = self.database.execute(
            "SELECT day_no FROM new_checks UNION SELECT day_no FROM new_rejects ORDER BY 1"
        ).fetchall()
        dates = {_date(day) for (day,) in rows}
        # What was refused of a file before no longer counts.
        for day in self.dataset.dates("rejects"):
            part = text(escaped(self.dataset.part("rejects", day)))
            found = self.database.execute(
                f"SELECT count(*) FROM read_parquet({part}) WHERE file IN (SELECT name FROM files)"
            ).fetchone()
            if found is not None and found[0] > 0:
                dates.add(day)
        return sorted(dates)

    def _write_day(self, day: str) -> None:
        """Writes all tables of a date: each host's last check, whichever ingest found it."""
        run = self.database.execute
        number = (date.fromisoformat(day) - _EPOCH).days
        for table in TABLES:
            old = self.dataset.part(table, day)
            source = f"read_parquet({text(escaped(old))}, hive_partitioning = false)" if os.path.exists(old) else table
            run(f"CREATE OR REPLACE TEMP VIEW old_{table} AS FROM {source}")
        run(_tables.WINNERS.format(day_no=number))
        for table in TABLES:
            columns = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in self._schema(table))
            from_old = _tables.OLD_REJECTS if table == "rejects" else _tables.WINNING_ROWS.format(is_new="false")
            from_new = "true" if table == "rejects" else _tables.WINNING_ROWS.format(is_new="true")
            rows = (
                f"SELECT {columns} FROM new_{table} WHERE day_no = {number} AND {from_new} "
                f"UNION ALL SELECT {columns} FROM old_{table} WHERE {from_old}"
            )
            target = text(self.dataset.new_part(table, day))
            run(f"COPY (FROM ({rows}) ORDER BY {_tables.ORDER[table]}) TO {target} {_PARQUET}")

    def _schema(self, table: str) -> list[tuple[str, str]]:
        """The columns of a table with their types."""
        rows = self.database.execute(f"DESCRIBE {table}").fetchall()
        return [(row[0], row[1]) for row in rows]

    def _write_manifest(self, files: Sequence[_files.RecordFile]) -> None:
        """Writes which files have been read, with their checksums."""
        listing = os.path.join(self.dataset.work, "manifest.csv")
        with open(listing, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{one.sha256}\t{one.size}\t{one.name}\n" for one in files)
        self.database.execute("CREATE TABLE manifest (name VARCHAR, sha256 VARCHAR, size BIGINT)")
        self._load("manifest", listing, {"sha256": "VARCHAR", "size": "BIGINT", "name": "VARCHAR"})
        target = text(self.dataset.new_manifest())
        # A file that could not be read to its end is to be tried again.
        tried_again = (
            "SELECT name FROM files JOIN bad_parts ON bad_parts.file = files.no "
            "WHERE starts_with(detail, 'cannot be read')"
        )
        self.database.execute(f"COPY (FROM manifest WHERE name NOT IN ({tried_again}) ORDER BY name) TO {target} {_PARQUET}")


class _Lines:
    """Copies lines of files for the parser, a batch at a time."""

    def __init__(self, files: Sequence[_files.RecordFile], names: BinaryIO, bad: BinaryIO) -> None:
        self._found = self._all(files, names, bad)
        self.done = 0
        """Files that have been read to their end."""
        self.ended = False

    def _all(self, files: Sequence[_files.RecordFile], names: BinaryIO, bad: BinaryIO) -> Iterator[bytes]:
        for number, file in enumerate(files):
            names.write(f"{number}\t{file.day_no}\t{file.name}\n".encode())
            for part in _files.lines(file):
                if isinstance(part, _files.BadPart):
                    bad.write(f"{number}\t{part.line}\t{part.reason}\t{_one_line(part.detail)}\n".encode())
                else:
                    position, line = part
                    yield b"%d\t%d\t%s\n" % (number, position, line)
            self.done = number + 1

    def write(self, raw: BinaryIO, most: int) -> None:
        """Writes lines until there are so many bytes, or no more."""
        written = 0
        for line in self._found:
            raw.write(line)
            written += len(line)
            if written >= most:
                return
        self.ended = True


def _csv(path: str, columns: dict[str, str]) -> str:
    """A file of lines, whose columns a tab separates, as a table."""
    types = "{" + ", ".join(f"{text(name)}: {text(kind)}" for name, kind in columns.items()) + "}"
    return (
        f"read_csv({text(escaped(path))}, columns = {types}, delim = '\\t', quote = '', escape = '', header = false, "
        "auto_detect = false, max_line_size = 2097152, new_line = '\\n')"
    )


def _one_line(value: str) -> str:
    """A text without what separates columns and lines."""
    return re.sub(r"[\x00-\x1f]", "?", value)


def _date(day_no: int) -> str:
    return (_EPOCH + timedelta(days=day_no)).isoformat()
