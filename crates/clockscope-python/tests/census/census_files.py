"""Files of a census: one a check, or one a day, compressed, and those that no reader can take for a check."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import zstandard

# Kinds of files that no reader can take for a check, and the reason to reject each.
STRAYS = {
    "corrupt": "not_json",
    "cut_between_lines": "cut_off",
    "cut_within_line": "cut_off",
    "foreign_lines": "foreign",
    "png": "not_json",
    "empty": "empty",
    "schema_zero": "schema_version",
    "schema_newer": "schema_version",
    "joined_lines": "not_json",
    "duplicate_key": "wrong_type",
}


def spoiled(kind: str, text: bytes, draw: random.Random) -> bytes:
    """The file that takes the place of a check's lines."""
    ends = [at for at, byte in enumerate(text) if byte == ord("\n")]
    # The end of a line that is neither the first nor one of the last two.
    line = draw.randrange(1, len(ends) - 2)
    first, rest = text[: ends[line]], text[ends[line] + 1 :]
    match kind:
        case "corrupt":
            middle = len(text) // 2
            return text[:middle] + bytes(byte ^ 0xFF for byte in text[middle : middle + 8]) + text[middle + 8 :]
        case "cut_between_lines":
            return first + b"\n"
        case "cut_within_line":
            half = rest[: rest.index(b"\n") // 2].rstrip(bytes(range(0x80, 0x100)))
            return first + b"\n" + half
        case "foreign_lines":
            lines = ({"level": "info", "turn": turn, "message": f"rotated {draw.randrange(100)}"} for turn in range(8))
            return "".join(json.dumps(line) + "\n" for line in lines).encode()
        case "png":
            return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\0"
        case "schema_zero" | "schema_newer":
            version = b"0" if kind == "schema_zero" else b"99"
            return text.replace(b'"schema_version":1', b'"schema_version":' + version)
        case "joined_lines":
            return first + rest
        case "duplicate_key":
            return b'{"host":"another",' + text[1:]
    return b""


class DayFolder:
    """Files of a day's records: one a check, or one for all, compressed."""

    def __init__(self, records: Path, day: str, is_compact: bool) -> None:
        self.records, self.day = records, day
        self.stream = self.compressed(f"{day}.ndjson.zst") if is_compact else None
        if not is_compact:
            (records / day).mkdir()

    def compressed(self, file: str) -> Any:
        return zstandard.ZstdCompressor(level=3).stream_writer((self.records / file).open("wb"))

    def put(self, host: int, turn: int, content: bytes) -> str:
        """Writes a check; returns its file. The one of turn 0 sorts last."""
        if self.stream:
            self.stream.write(content)
            return f"{self.day}.ndjson.zst"
        file = f"{self.day}/{host:05}-{turn}.ndjson" if turn else f"{self.day}/{host:05}.ndjson"
        (self.records / file).write_bytes(content)
        return file

    def stray(self, host: int, turn: int, content: bytes) -> str:
        """Writes a bad file. It shares no file with checks, because a cut would join it with the next line."""
        if not self.stream:
            return self.put(host, turn, content)
        file = f"{self.day}-{host:05}-{turn}.ndjson.zst"
        with self.compressed(file) as stream:
            stream.write(content)
        return file

    def close(self) -> None:
        if self.stream:
            self.stream.close()
