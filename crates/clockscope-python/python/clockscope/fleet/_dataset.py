"""The folder of a fleet's tables: who writes to it, and how a new state takes the place of the old.

An ingest writes all that is new into a folder of its own inside. When that is complete, the list of
its files is put down as a journal; from then on the ingest counts, and what a crash leaves undone of
the renames is done by whoever writes next. Before that, nothing has changed.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from clockscope.fleet._problems import FleetError

TABLES: Final = ("checks", "clocks", "evidence", "costs", "rejects")
_WORK: Final = ".ingest"
_NEW: Final = "new"
JOURNAL: Final = ".journal"
_LOCK: Final = ".lock"
_MANIFEST: Final = ".ingested.parquet"
_FILE: Final = re.compile(
    rf"(?:{'|'.join(TABLES)})/date=[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}/part-0\.parquet|{re.escape(_MANIFEST)}"
)
"""The files that an ingest writes, in the folder."""


class Dataset:
    """A folder that one ingest at a time writes to."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.work = os.path.join(folder, _WORK)
        self.manifest = os.path.join(folder, _MANIFEST)

    def part(self, table: str, date: str) -> str:
        """The file of a table and a date."""
        return os.path.join(self.folder, table, f"date={date}", "part-0.parquet")

    def new_part(self, table: str, date: str) -> str:
        """The file that will take its place; its folder is made."""
        return self._new(os.path.join(table, f"date={date}", "part-0.parquet"))

    def new_manifest(self) -> str:
        """The list of ingested files that will take the place of the former."""
        return self._new(_MANIFEST)

    def _new(self, name: str) -> str:
        path = os.path.join(self.work, _NEW, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def dates(self, table: str) -> list[str]:
        """The dates that a table has, in order."""
        folder = os.path.join(self.folder, table)
        names = os.listdir(folder) if os.path.isdir(folder) else []
        dates = [name.removeprefix("date=") for name in names if name.startswith("date=")]
        return sorted(date for date in dates if os.path.isfile(self.part(table, date)))

    def require_tables(self) -> None:
        """Raises an error unless each table has a date."""
        missing = [table for table in TABLES if not self.dates(table)]
        again = f"remove {self.manifest} and ingest all records again"
        if missing and not os.path.exists(self.manifest):
            raise FleetError(f"{self.folder} has no tables: make them with `clockscope-fleet ingest DIR {self.folder}`")
        if len(missing) == len(TABLES):
            raise FleetError(f"{self.folder} has no dates: ingest new records; for the removed ones, {again}")
        if missing:
            raise FleetError(
                f"{self.folder} lacks the files of {', '.join(missing)}: {again}; without the records they are lost"
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keeps others from writing meanwhile, and leaves nothing half-done behind."""
        os.makedirs(self.folder, exist_ok=True)
        with _locked(os.path.join(self.folder, _LOCK), self.folder):
            self._finish()
            shutil.rmtree(self.work, ignore_errors=True)
            os.makedirs(self.work)
            try:
                yield
            except OSError as error:
                # A full disk is found by write(), which knows no name.
                error.filename = error.filename or self.work
                raise
            finally:
                if not os.path.exists(os.path.join(self.folder, JOURNAL)):
                    shutil.rmtree(self.work, ignore_errors=True)

    def replace(self) -> None:
        """Puts all new files into place: all of them, or none."""
        root = os.path.join(self.work, _NEW)
        names = sorted(
            os.path.relpath(os.path.join(parent, name), root) for parent, _, files in os.walk(root) for name in files
        )
        for name in names:
            _flush(os.path.join(root, name))
        draft = os.path.join(self.work, "journal")
        with open(draft, "w", encoding="utf-8") as journal:
            json.dump(names, journal)
        _flush(draft)
        os.replace(draft, os.path.join(self.folder, JOURNAL))
        _flush(self.folder)
        self._finish()

    def _finish(self) -> None:
        """Does what the journal says, if there is one."""
        journal = os.path.join(self.folder, JOURNAL)
        try:
            with open(journal, encoding="utf-8") as file:
                names = self._names(json.load(file))
        except FileNotFoundError:
            return
        except (ValueError, RecursionError):
            raise FleetError(
                f"{journal} is damaged, so that days may be incomplete: "
                f"remove it and {self.manifest}, and ingest all records again"
            ) from None
        for name in names:
            new, target = os.path.join(self.work, _NEW, name), os.path.join(self.folder, name)
            if os.path.exists(new):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.replace(new, target)
        folders = {os.path.dirname(os.path.join(self.folder, name)) for name in names}
        for folder in folders | {os.path.dirname(folder) for folder in folders if folder != self.folder} | {self.folder}:
            _flush(folder)
        os.remove(journal)

    def _names(self, value: object) -> list[str]:
        """Returns a journal's names. Raises a ValueError unless each is of a new file, or of one in place."""
        names = [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
        if not names or names != value:
            raise ValueError("not a list of names")
        for name in names:
            places = (os.path.join(self.work, _NEW, name), os.path.join(self.folder, name))
            if not _FILE.fullmatch(name) or not any(map(os.path.isfile, places)):
                raise ValueError(f"{name!r} is not a file of an ingest")
        return names


def _flush(path: str) -> None:
    """Waits until a file or a folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some file systems do not flush folders.
        if error.errno not in (errno.EINVAL, errno.EBADF):
            raise
    finally:
        os.close(handle)


@contextmanager
def _locked(path: str, folder: str) -> Iterator[None]:
    import fcntl

    with open(path, "a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FleetError(f"another ingest writes to {folder}: wait until it has ended") from None
        yield
