"""JSON lines of checks become Parquet tables, a file for each table and date."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from importlib import resources
from typing import BinaryIO, Final

from clockscope.fleet import _files, _parsing, _tables
from clockscope.fleet._connection import connect, escaped, require
from clockscope.fleet._dataset import TABLES, Dataset
from clockscope.fleet._dates import date_of, day_no_of
from clockscope.fleet._parsing import text
from clockscope.fleet._problems import FleetError
from clockscope.fleet._progress import Progress

_BATCH: Final = 256 << 20
"""Bytes of text that are parsed at once."""
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
        run = self.database.execute
        run("SET VARIABLE now = $now", {"now": datetime.now(timezone.utc).replace(tzinfo=None)})
        self.progress.say("looking for files")
        files = _files.find(folder)
        self._list(files)
        numbers = run("SELECT no FROM files WHERE is_read ORDER BY no").fetchall()
        ((new,),) = run("SELECT count(*) FROM files WHERE is_new").fetchall()
        if new == 0:
            self.database.close()
            return Ingested(files=0, known=len(files), checks=0, days=0, rejects=0)
        self._parse([(number, files[number]) for (number,) in numbers])
        dates = self._join()
        target = text(self.dataset.new_manifest())
        run(f"COPY ({_tables.MANIFEST}) TO {target} {_PARQUET}")
        counts = "SELECT (SELECT count(*) FROM new_checks), (SELECT count(*) FROM new_rejects)"
        ((checks, rejects),) = run(counts).fetchall()
        self.database.close()
        self.dataset.replace()
        return Ingested(new, len(files) - new, checks, len(dates), rejects)

    def _list(self, files: Sequence[_files.RecordFile]) -> None:
        """Makes the tables of the folder's files, and of those that earlier ingests have read."""
        run = self.database.execute
        run("CREATE TABLE ingested (name VARCHAR, sha256 VARCHAR, size BIGINT, tried_until DATE)")
        if os.path.exists(self.dataset.manifest):
            run(f"INSERT INTO ingested BY NAME FROM read_parquet({text(escaped(self.dataset.manifest))})")
        listing = os.path.join(self.dataset.work, "files.csv")
        with open(listing, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(
                f"{number}\t{one.day_no}\t{one.size}\t{one.sha256}\t{one.name}\n" for number, one in enumerate(files)
            )
        columns = {"no": "INTEGER", "day_no": "INTEGER", "size": "BIGINT", "sha256": "VARCHAR", "name": "VARCHAR"}
        run(_tables.FILES.format(listing=_csv(listing, columns)))

    def _parse(self, files: Sequence[tuple[int, _files.RecordFile]]) -> None:
        run = self.database.execute
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

    def _batches(self, files: Sequence[tuple[int, _files.RecordFile]]) -> Iterator[tuple[str, int]]:
        """Lines of some files at a time, as a table, and the number of files done."""
        bad = os.path.join(self.dataset.work, "bad.csv")
        raw = os.path.join(self.dataset.work, "raw.csv")
        with open(bad, "wb") as bad_file:
            pending = _Lines(files, bad_file)
            while True:
                with open(raw, "wb") as raw_file:
                    pending.write(raw_file, _BATCH)
                yield _csv(raw, {"file": "INTEGER", "pos": "BIGINT", "line": "VARCHAR"}), pending.done
                if pending.ended:
                    break
        columns = {"file": "INTEGER", "line": "BIGINT", "reason": "VARCHAR", "detail": "VARCHAR"}
        self.database.execute(f"INSERT INTO bad_parts BY NAME FROM {_csv(bad, columns)}")

    def _join(self) -> list[str]:
        """Writes the new files of all days that change; returns their dates."""
        self.progress.say("joining")
        self.database.execute(_tables.COMPLETE)
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
        dates = {date_of(day) for (day,) in rows}
        # What was refused of a file before no longer counts.
        for day in self.dataset.dates("rejects"):
            part = text(escaped(self.dataset.part("rejects", day)))
            found = self.database.execute(
                f"SELECT count(*) FROM read_parquet({part}) WHERE file IN (FROM replaced)"
            ).fetchone()
            if found is not None and found[0] > 0:
                dates.add(day)
        return sorted(dates)

    def _write_day(self, day: str) -> None:
        """Writes all tables of a date: each host's last check, whichever ingest found it."""
        run = self.database.execute
        number = day_no_of(date.fromisoformat(day))
        for table in TABLES:
            old = self.dataset.part(table, day)
            part = f"read_parquet({text(escaped(old))}, hive_partitioning = false)"
            # A part of an earlier version lacks columns: the empty table has them.
            rows = f" UNION ALL BY NAME FROM {part}" if os.path.exists(old) else ""
            run(f"CREATE OR REPLACE TEMP VIEW old_{table} AS FROM {table}{rows}")
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


class _Lines:
    """Copies lines of files for the parser, a batch at a time."""

    def __init__(self, files: Sequence[tuple[int, _files.RecordFile]], bad: BinaryIO) -> None:
        self._found = self._all(files, bad)
        self.done = 0
        """Files that have been read to their end."""
        self.ended = False

    def _all(self, files: Sequence[tuple[int, _files.RecordFile]], bad: BinaryIO) -> Iterator[bytes]:
        for done, (number, file) in enumerate(files, 1):
            for part in _files.lines(file):
                if isinstance(part, _files.BadPart):
                    bad.write(f"{number}\t{part.line}\t{part.reason}\t{_one_line(part.detail)}\n".encode())
                else:
                    position, line = part
                    yield b"%d\t%d\t%s\n" % (number, position, line)
            self.done = done

    def write(self, raw: BinaryIO, most: int) -> None:
        """Writes lines until `most` bytes are written or none is left."""
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
