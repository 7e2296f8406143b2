"""Raw readings: buffers without a copy, and files that are something else."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable

import numpy
import pytest

import clockscope
from clockscope import _readings

Replace = Callable[[str], None]
RECORD = (
    '{"schema": "clockscope.steps", "schema_version": 1, "clocks": '
    '[{"name": "x", "available": true}, {"name": "y", "available": true}]}'
)


def array(clock: str, kind: str, words: bytes, count: int) -> bytes:
    header = f"{{'descr': [('{clock}', '{kind}')], 'fortran_order': False, 'shape': ({count},), }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + words


X = array("x", "<i8", b"".join(value.to_bytes(8, "little", signed=True) for value in (0, 20, -10)), 3)
Y = array("y", "<f8", numpy.array([0, 0.5]).tobytes(), 2)


def planted(command: Replace, contents: bytes) -> None:
    command(
        "import sys; file = next(word for word in sys.argv if word.startswith('--raw=')).removeprefix('--raw=')\n"
        f"open(file, 'wb').write({contents!r}); sys.stdout.write({RECORD!r})"
    )


def test_each_clock_has_its_readings(command: Replace) -> None:
    planted(command, X + Y)
    readings = clockscope.readings()
    assert list(readings) == ["x", "y"] and len(readings) == 2 and readings.record.schema == "clockscope.steps"
    assert readings["x"].tolist() == [0, 20, -10] and readings["y"].tolist() == [0, 0.5]
    assert (readings["x"].format, readings["y"].format) == ("q", "d")
    assert repr(readings) == "<clockscope.Readings x: 3, y: 2>"
    again = pickle.loads(pickle.dumps(readings))
    assert again == readings and again.record == readings.record
    frame = readings.to_pandas()
    assert frame["clock"].tolist() == ["x"] * 3 + ["y"] * 2 and frame["ns"].tolist() == [0, 20, -10, 0, 0.5]


def test_numpy_takes_a_buffer_without_copying(command: Replace) -> None:
    planted(command, X)
    readings = clockscope.readings()
    first, second = numpy.asarray(readings["x"]), numpy.asarray(readings["x"])
    assert first.dtype == "int64" and first.tolist() == [0, 20, -10]
    assert first.__array_interface__["data"] == second.__array_interface__["data"]
    assert numpy.shares_memory(first, readings.to_pandas()["ns"].to_numpy())


def test_readings_of_no_clock_are_an_empty_frame(command: Replace) -> None:
    planted(command, b"")
    readings = clockscope.readings()
    assert len(readings) == 0 and len(readings.to_pandas()) == 0


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (b"clock,ns\nx,0\n", "NPY 1.0"),
        (X[:9], "NPY 1.0"),
        (X[:-1], "cut off"),
        (X + Y[:-1], "cut off"),
        (X.replace(b"<i8", b"<i4"), "readings: '<i4'"),
        (X.replace(b"'descr'", b"'dtype'"), "readings"),
        (X.replace(b"{'descr'", b"['descr'"), "readings"),
        (X.replace(b"(3,)", b"[()]"), "readings"),
    ],
)
def test_what_are_no_readings_is_refused(command: Replace, contents: bytes, expected: str) -> None:
    planted(command, contents)
    with pytest.raises(clockscope.MeasurementFailed, match=expected):
        clockscope.readings()


def test_words_of_the_other_byte_order_are_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "byteorder", "big")
    (clock, view), *others = _readings._arrays(memoryview(X))
    assert clock == "x" and not others
    assert view.tolist()[:2] == [0, int.from_bytes((20).to_bytes(8, "little"), "big")]


def test_real_readings_are_those_of_the_record() -> None:
    readings = clockscope.readings(["monotonic", "realtime"], reads=2000)
    assert sorted(readings) == ["monotonic", "realtime"]
    for clock in readings.record.clocks:
        ns = numpy.asarray(readings[clock.name])
        steps = numpy.diff(ns)
        assert len(ns) == clock.events.reads == 2000 and ns[0] == 0
        assert clock.summary.min == steps.min() and clock.summary.max == steps.max()


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="did you mean monotonic"):
        clockscope.readings("monotnic")
    with pytest.raises(ValueError):
        clockscope.readings("monotonic", reads=1)
    with pytest.raises(ValueError, match="100000000"):
        clockscope.readings("monotonic", reads=10**9)
    with pytest.raises(TypeError):
        clockscope.readings("monotonic", reads=1e3)  # type: ignore[arg-type]
