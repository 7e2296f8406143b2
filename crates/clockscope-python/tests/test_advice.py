"""Advice for Python: its clocks alone, with the costs and the errors of its own calls."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import clockscope
from clockscope import stamps

PROBE = Path(__file__).parents[2] / "clockscope-runtimes" / "probes" / "probe.py"
OF_INTERVALS = {"time.perf_counter_ns()", "time.monotonic_ns()", "clockscope.now_ns()"}


def probe() -> Any:
    """The probe, which the command runs, as a module."""
    specification = importlib.util.spec_from_file_location("probe", PROBE)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_advice_names_clocks_of_python_alone() -> None:
    advice = clockscope.advise(50e-6, error=0.5, duration=0.1)
    assert (advice.schema, advice.language) == ("clockscope.advise", "python")
    assert advice.language_version == ".".join(map(str, sys.version_info[:3]))
    assert {clock.clock for clock in advice.clocks} == OF_INTERVALS
    assert {clock.clock for clock in advice.left_out} == {"time.time_ns()", "time.process_time_ns()"}
    (row,) = advice.rows
    assert row.clock in OF_INTERVALS and row.reading_error > 0 and row.repetitions >= 1
    spin = next(found for found in row.after_work if found.work == "spin")
    assert advice.after == "spin" and spin.work_ns == 50_000 and 0 < spin.measurements <= 1000
    assert f"in Python {advice.language_version}: measure once by {row.clock}" in str(advice).replace("\n", " ")


def test_a_clock_and_a_work_can_be_chosen() -> None:
    advice = clockscope.advise(1e-3, error=0.5, clock="now_ns", after="sleep", duration=0.1)
    assert [clock.clock for clock in advice.clocks] == ["clockscope.now_ns()"]
    assert (advice.after, advice.rows[0].clock) == ("sleep", "clockscope.now_ns()")
    with pytest.raises(ValueError, match=r"unknown clock of Python: rdtscp; .*time\.perf_counter_ns"):
        clockscope.advise(1e-3, clock="rdtscp", duration=0.1)


def test_advice_from_a_record_is_for_other_languages() -> None:
    measured = clockscope.measure("monotonic", duration=0.05)
    assert clockscope.advise(1e-3, record=measured, error=0.5).language is None
    for given in ({"duration": 1.0}, {"cpu": 0}, {"clock": "monotonic"}):
        with pytest.raises(ValueError, match="record: expected neither"):
            clockscope.advise(1e-3, record=measured, **given)


def test_without_a_program_of_python_there_is_no_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(clockscope.MeasurementFailed, match=r"sys\.executable names no program"):
        clockscope.advise(1e-3)


def test_stamps_show_the_length_of_work() -> None:
    source = stamps.os()
    assert source._spin(1000) >= 1000
    assert source._sleep(1000) >= 1000
    assert source._touch(4096) > 0
    with pytest.raises(OverflowError):
        source._spin(-1)


class World:
    """A machine whose time passes by calls alone."""

    def __init__(self, counts_per_ns: float) -> None:
        self.ns = 0.0
        self.counts_per_ns = counts_per_ns

    def clock(self, before_ns: float, after_ns: float) -> Any:
        """A clock that takes its reading so long after the call, and so long before the return."""

        def read() -> int:
            self.ns += before_ns
            reading = round(self.ns)
            self.ns += after_ns
            return reading

        return read

    def now(self) -> int:
        self.ns += 10.0
        return round(self.ns * self.counts_per_ns)

    def _spin(self, counts: int) -> int:
        start = self.now()
        self.ns += counts / self.counts_per_ns
        return self.now() - start

    def _touch(self, size: int) -> int:
        return self._spin(size)


def test_an_error_is_what_a_clock_shows_more_than_the_work_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    module = probe()
    world = World(counts_per_ns=2.0)
    monkeypatch.setattr(module, "perf_counter_ns", world.clock(0.0, 0.0))
    monkeypatch.setattr(module.time, "sleep", lambda seconds: setattr(world, "ns", world.ns + seconds * 1e9))
    clocks = [world.clock(30.0, 40.0), world.clock(5.0, 6.0)]
    around = module.AroundWork(clocks, world, [("spin", 1000.0, 1.0), ("touch_32k", 0.0, 1e-9)], 2)
    around.measure_part()
    around.measure_part()
    for index, expected in enumerate((70, 11)):
        spin, touch = around.errors(index)
        assert (spin["work"], spin["work_ns"], len(spin["errors_ns"])) == ("spin", 1000, 1000)
        assert all(abs(error - expected) <= 1 for error in spin["errors_ns"])
        # One a part, where the time is over at once.
        assert (touch["work"], len(touch["errors_ns"])) == ("touch_32k", 2) and touch["work_ns"] > 0


def lines(**variables: str) -> dict[str, Any]:
    """The lines of the probe by their APIs."""
    command = [sys.executable, "-B", str(PROBE), "2"]
    output = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, check=True, text=True).stdout
    return {line["api"]: line for line in map(json.loads, output.splitlines())}


def test_the_probe_measures_around_work_if_it_is_asked_to() -> None:
    assert [api for api, line in lines().items() if line.get("around_work")] == []
    found = lines(CLOCKSCOPE_PROBE_WORKS="spin:1000:0.01,sleep:1000:0.001")
    assert {f"{api}()" for api, line in found.items() if line.get("around_work")} == OF_INTERVALS
    assert [around["work"] for around in found["clockscope.now_ns"]["around_work"]] == ["spin", "sleep"]


def test_without_the_package_the_probe_reads_clocks_alone(tmp_path: Path) -> None:
    (tmp_path / "clockscope.py").write_text("raise ImportError('planted')")
    found = lines(CLOCKSCOPE_PROBE_WORKS="spin:1000:0.01", PYTHONPATH=str(tmp_path))
    assert found["clockscope.now_ns"]["unavailable"] == "the package clockscope cannot be imported: planted"
    assert all(not line.get("around_work") for line in found.values()) and len(found) == 5
