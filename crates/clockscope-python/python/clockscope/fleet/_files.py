"""The files of records: which there are, their checksums, and their lines."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import os
import re
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from clockscope._errors import missing_extra

if TYPE_CHECKING:
    from typing_extensions import Buffer

_LONGEST_LINE: Final = 1 << 20
"""Bytes of a line; a line of the program has some thousand."""
_MOST_TEXT: Final = 4 << 30
"""Bytes that a compressed file may become."""
_CHUNK: Final = 1 << 20
_LAST_DAY: Final = 2_932_896
"""The last day of the year 9999: file systems have later ones."""
_COMPRESSED: Final = 4096
"""Bytes of a zstd file that are decompressed at once: they become 128 MiB at most."""


@dataclass(frozen=True)
class RecordFile:
    """A file below the folder that is ingested."""

    name: str
    """Its path there, with slashes."""
    path: str
    size: int
    day_no: int
    """The day of its last change, in days since 1970-01-01 (UTC)."""
    sha256: str
    problem: str | None = None
    """The reason why it cannot be read; it stands for the checksum then."""


@dataclass(frozen=True)
class BadPart:
    """A part of a file that cannot become a line for the parser."""

    reason: str
    detail: str
    line: int
    """Its number, from 1; 0 for the file itself."""


def find(folder: str) -> list[RecordFile]:
    """All files below a folder in the order of their names, but those whose names begin with a dot.

    The program writes to such a name first. Links to folders are not followed.
    """
    found: list[RecordFile] = []
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith("."):
                path = os.path.join(parent, name)
                found.append(_described(os.path.relpath(path, folder), path))
    return sorted(found, key=lambda file: file.name)


def _raise(error: OSError) -> None:
    raise error


def _described(name: str, path: str) -> RecordFile:
    readable = re.sub(r"[\x00-\x1f\x7f]", "?", os.fsencode(name).decode("utf-8", "backslashreplace")).replace(os.sep, "/")
    day_no = 0
    try:
        day_no = min(max(int(os.lstat(path).st_mtime // 86400), 0), _LAST_DAY)
        state = os.stat(path)
        # A pipe would never end, and a device is not a record.
        if not stat.S_ISREG(state.st_mode):
            return RecordFile(readable, path, 0, day_no, "not a file", "not a file")
        with open(path, "rb") as opened:
            return RecordFile(readable, path, state.st_size, day_no, _checksum(opened))
    except OSError as error:
        problem = error.strerror or type(error).__name__
        return RecordFile(readable, path, 0, day_no, problem, problem)


def _checksum(file: BinaryIO) -> str:
    # hashlib.file_digest() is not in Python 3.10.
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def lines(file: RecordFile) -> Iterator[tuple[int, bytes] | BadPart]:
    """The lines of a file with their numbers, and what of it is none. Empty lines are left out."""
    if file.problem is not None:
        yield BadPart("unreadable", file.problem, 0)
        return
    count = 0
    try:
        with _opened(file.path) as opened:
            read = 0
            while line := opened.readline(_LONGEST_LINE + 1):
                count += 1
                read += len(line)
                if read > _MOST_TEXT:
                    yield BadPart("too_large", f"more than {_MOST_TEXT >> 30} GiB of text", count)
                    return
                if len(line) > _LONGEST_LINE:
                    while read <= _MOST_TEXT and line and not line.endswith(b"\n"):
                        line = opened.readline(_LONGEST_LINE)
                        read += len(line)
                    yield BadPart("not_json", f"a line of more than {_LONGEST_LINE >> 20} MiB", count)
                    continue
                yield from _checked(count, line)
    except (gzip.BadGzipFile, EOFError, zlib.error, _zstd_error()) as error:
        yield BadPart("cut_off", f"cannot be decompressed to its end: {error}", 0)
        return
    except OSError as error:
        # The next ingest tries again.
        yield BadPart("unreadable", f"cannot be read to its end: {error.strerror}", 0)
        return
    if count == 0:
        yield BadPart("empty", "it has no line", 0)


def _checked(number: int, line: bytes) -> Iterator[tuple[int, bytes] | BadPart]:
    # White space to JSON, which separates columns and lines of what the parser is given.
    line = (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).translate(_BLANK).strip()
    if not line:
        return
    try:
        line.decode()
    except UnicodeDecodeError:
        yield BadPart("not_json", "a line that is not UTF-8", number)
        return
    if b"\0" in line:
        yield BadPart("not_json", "a line with a zero byte", number)
        return
    yield number, line


_BLANK: Final = bytes.maketrans(b"\t\r\n", b"   ")


def _opened(path: str) -> BinaryIO:
    if path.endswith(".gz"):
        return cast(BinaryIO, gzip.open(path, "rb"))
    if path.endswith(".zst"):
        return io.BufferedReader(_Decompressed(path), _CHUNK)
    return open(path, "rb")


class _Decompressed(io.RawIOBase):
    """The text of a file of zstd frames; a frame that does not end is an error."""

    def __init__(self, path: str) -> None:
        self._zstandard = _zstandard(path)
        self._file = open(path, "rb")
        self._frame = self._zstandard.ZstdDecompressor().decompressobj()
        self._is_begun = False
        self._text = b""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer).cast("B")
        while not self._text:
            data = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame, self._is_begun = self._zstandard.ZstdDecompressor().decompressobj(), False
            data = data or self._file.read(_COMPRESSED)
            if not data:
                if self._is_begun:
                    raise EOFError("its last frame does not end")
                return 0
            self._is_begun = True
            self._text = self._frame.decompress(data)
        size = min(len(view), len(self._text))
        view[:size] = self._text[:size]
        self._text = self._text[size:]
        return size


def _zstandard(path: str) -> ModuleType:
    try:
        import zstandard
    except ImportError as error:
        raise missing_extra(f"reading {path}", "fleet", error) from None
    return zstandard


def _zstd_error() -> type[Exception]:
    try:
        import zstandard
    except ImportError:
        return EOFError
    return zstandard.ZstdError
