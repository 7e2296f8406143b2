"""The folder of a fleet's tables: who writes to it, and how a new state takes the place of the old.

An ingest writes all that is new into a folder of its own inside. When that is complete, the list of
its files is put down as a journal; from then on the ingest counts, and what a crash leaves undone of
the renames is done by whoever writes next. Before that, nothing has changed.
"""

from __future__ import annotations

import errno
import json
import os
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
        return sorted(name.removeprefix("date=") for name in names if name.startswith("date="))

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
                names: list[str] = json.load(file)
        except FileNotFoundError:
            return
        for name in names:
            new, place = os.path.join(self.work, _NEW, name), os.path.join(self.folder, name)
            if os.path.exists(new):
                os.makedirs(os.path.dirname(place), exist_ok=True)
                os.replace(new, place)
        folders = {os.path.dirname(os.path.join(self.folder, name)) for name in names}
        for folder in folders | {os.path.dirname(folder) for folder in folders if folder != self.folder} | {self.folder}:
            _flush(folder)
        os.remove(journal)


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
