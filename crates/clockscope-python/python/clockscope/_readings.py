"""Raw readings of clocks, as buffers."""

from __future__ import annotations

import ast
import os
import sys
import tempfile
from array import array
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from clockscope import _arguments as words
from clockscope._arguments import Clocks
from clockscope._errors import MeasurementFailed, missing_extra
from clockscope._questions import about_clocks
from clockscope._record import Record

if TYPE_CHECKING:
    import pandas

_MAGIC = b"\x93NUMPY\x01\x00"
# NumPy's names of the types, and those of array and memoryview.
_CODES = {"<i8": "q", "<f8": "d"}


class Readings(Mapping[str, "memoryview[Any]"]):
    """Every reading of some clocks: a buffer for each, by name, in ns since its first reading.

    `numpy.asarray(readings["monotonic"])` copies nothing. The numbers are int64 of clocks whose
    unit is a whole number of ns, and float64 of others, such as the processor's counter. Clocks
    that cannot be read, and those that count core cycles, have none: `record` has the reasons.
    """

    __slots__ = ("_buffers", "_record")

    def __init__(self, record: Record, buffers: Mapping[str, memoryview[Any]]) -> None:
        self._record = record
        self._buffers = dict(buffers)

    @property
    def record(self) -> Record:
        """The answer of steps() on the same readings."""
        return self._record

    def __getitem__(self, clock: str) -> memoryview[Any]:
        return self._buffers[clock]

    def __iter__(self) -> Iterator[str]:
        return iter(self._buffers)

    def __len__(self) -> int:
        return len(self._buffers)

    def __repr__(self) -> str:
        counts = ", ".join(f"{clock}: {len(buffer)}" for clock, buffer in self._buffers.items())
        return f"<clockscope.Readings {counts or 'of no clock'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # A memoryview cannot be pickled.
        return _again, (self.record, {clock: (view.format, view.tobytes()) for clock, view in self.items()})

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the columns `clock`, a category, and `ns`, a row for each reading.

        Copies nothing of a single clock. Raises ImportError without pandas (`clockscope[pandas]`).
        """
        try:
            import numpy
            import pandas
        except ImportError as error:
            raise missing_extra("to_pandas()", "pandas", error) from None
        parts = [numpy.asarray(buffer) for buffer in self._buffers.values()]
        ns = parts[0] if len(parts) == 1 else numpy.concatenate(parts or [numpy.empty(0)])
        codes = numpy.repeat(numpy.arange(len(parts), dtype=numpy.int16), [len(part) for part in parts])
        clocks = pandas.Categorical.from_codes(codes, categories=pandas.Index(list(self._buffers)), validate=False)
        return pandas.DataFrame({"clock": clocks, "ns": ns}, copy=False)


def readings(clocks: Clocks = (), *, reads: int = 10_000, via: str = "libc", cpu: int | None = None) -> Readings:
    """Reads clocks in a loop, and gives every reading.

    clocks: names, as list_clocks() gives them; all clocks by default.
    reads: the number for each clock; at most 10**8 of all together.
    via, cpu, ClockUnavailable: as for measure().
    """
    with tempfile.TemporaryDirectory(prefix="clockscope-") as folder:
        file = os.path.join(folder, "readings.npy")
        arguments = words.options(
            reads=words.whole("reads", reads, least=2), via=via, cpu=words.cpu(cpu), raw=file, raw_format="npy"
        )
        record = about_clocks("steps", clocks, arguments)
        with open(file, "rb") as stream:
            contents = stream.read()
    try:
        return Readings(record, dict(_arrays(memoryview(contents))))
    except (ValueError, TypeError, KeyError, SyntaxError) as error:
        raise MeasurementFailed(f"the command wrote something else than readings: {error}") from None


def _arrays(data: memoryview[Any]) -> Iterator[tuple[str, memoryview[Any]]]:
    """Arrays in NumPy's format, one after the other, with a field of a clock's name each."""
    while data:
        start = len(_MAGIC) + 2
        if bytes(data[: len(_MAGIC)]) != _MAGIC or len(data) < start:
            raise ValueError("expected an array in the format NPY 1.0")
        begin = start + int.from_bytes(data[len(_MAGIC) : start], "little")
        header = ast.literal_eval(bytes(data[start:begin]).decode("ascii"))
        ((clock, kind),) = header["descr"]
        (count,) = header["shape"]
        end = begin + 8 * count
        if len(data) < end:
            raise ValueError("the file is cut off")
        yield clock, _native_order(data[begin:end], _CODES[kind])
        data = data[end:]


def _native_order(data: memoryview[Any], code: str) -> memoryview[Any]:
    """Words of 64 bits, lowest byte first, as numbers of this machine."""
    if sys.byteorder == "little":
        return data.cast(code)  # type: ignore[call-overload,no-any-return]
    swapped = array(code, data.tobytes())
    swapped.byteswap()
    return memoryview(swapped)


def _again(record: Record, parts: dict[str, tuple[str, bytes]]) -> Readings:
    """Readings from a pickle."""
    return Readings(record, {clock: memoryview(data).cast(code) for clock, (code, data) in parts.items()})  # type: ignore[call-overload]
