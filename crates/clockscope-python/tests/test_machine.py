"""Questions about the machine, its runtimes and earlier records."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import clockscope
from clockscope import Record, _command

Replace = Callable[[str], None]
SAYS = (
    "import json, os, sys; print(json.dumps({'schema': 'clockscope.said', 'schema_version': 1, "
    "'arguments': sys.argv[1:], 'files': {name: open(name).read() for name in sorted(os.listdir('.'))}}))"
)


@pytest.fixture(scope="module")
def measured() -> list[Record]:
    return [clockscope.measure("monotonic", duration=0.05) for _ in range(5)]


def test_the_machine_is_described() -> None:
    assert clockscope.info().environment.cpu.online >= 1
    assert "monotonic" in [clock.name for clock in clockscope.list_clocks().clocks]
    assert "syscall" in [clock.path for clock in clockscope.list_clocks(via="syscall").clocks]
    assert clockscope.list_clocks(all_platforms=True).schema == "clockscope.all_clocks"
    assert clockscope.clocksource().schema == "clockscope.clocksource"
    with pytest.raises(ValueError):
        clockscope.list_clocks(via="telepathy")


def test_runtimes_are_measured() -> None:
    record = clockscope.runtimes("python", duration=0.001, programs={"python": sys.executable})
    assert {one.runtime for one in record.runtimes} == {"python"}
    assert {one.program for one in record.runtimes} == {sys.executable}
    assert "python" in [one.runtime for one in clockscope.list_runtimes().runtimes]
    with pytest.raises(ValueError, match="did you mean python"):
        clockscope.runtimes("pithon")
    with pytest.raises(ValueError):
        clockscope.runtimes("python", duration=1e9)
    with pytest.raises(TypeError):
        clockscope.runtimes("python", programs={"python": 3})  # type: ignore[dict-item]


def test_runtimes_passes_its_arguments_on(command: Replace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command(SAYS)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    said = clockscope.runtimes(
        ["c", "python"], timeout=3, programs={"python": ["/a b", Path("/c")], "c": "cc"}, fail_on="regression"
    )
    assert said.arguments == (
        *("runtimes", "--format", "json", "--quiet", "--duration=0.3s", "--timeout=3.0s", "--fail-on=regression"),
        *("--runtime=python=/a b", "--runtime=python=/c", "--runtime=c=cc", "--", "c", "python"),
    )


def test_records_are_compared(measured: list[Record], tmp_path: Path) -> None:
    base, new, *others = measured
    compared = clockscope.compare(base, new)
    assert compared.schema == "clockscope.compare" and [clock.name for clock in compared.clocks] == ["monotonic"]
    assert (compared.base.files, compared.new.files) == (("base-1.json",), ("new-1.json",))
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "a,b.json").write_text(base.to_json())
    (folder / "c.json").write_text(new.to_json())
    (folder / "notes.txt").write_text("not a record")
    assert clockscope.compare(folder, others).new.runs == 3
    assert clockscope.compare(str(folder / "c.json"), base).base.files == (str(folder / "c.json"),)
    compared = clockscope.compare([folder / "a,b.json", others[0]], (folder / "c.json"), clocks="monotonic", margin=0.5)
    assert (compared.base.runs, compared.new.runs, compared.margin) == (2, 1, 0.5)
    assert compared.base.files == ("base-1-a_b.json", "base-2.json")


def test_bounds_of_the_time_of_day_are_a_record() -> None:
    try:
        found = clockscope.bounds()
    except clockscope.Undetermined as nothing:
        assert nothing.record is not None
        found = nothing.record
    assert [answer.call for answer in found.answers] == ["clockscope::utc_now", "clockscope::bounded::now"]


def test_what_cannot_be_compared_is_an_exception(measured: list[Record], tmp_path: Path) -> None:
    base = measured[0]
    for wrong, error in (
        (tmp_path / "none.json", FileNotFoundError),
        ("-", FileNotFoundError),
        (tmp_path, ValueError),
        ([], ValueError),
        (clockscope.info(), ValueError),
        (base, ValueError),
        (3, TypeError),
        (b"file", TypeError),
        ([base, 3], TypeError),
    ):
        with pytest.raises(error):
            clockscope.compare(base, wrong)  # type: ignore[arg-type]
    (tmp_path / "text.json").write_text("text")
    with pytest.raises(ValueError, match="text.json: not a record"):
        clockscope.compare(tmp_path, base)
    with pytest.raises(ValueError):
        clockscope.compare(base, measured[1], margin=0)
    with pytest.raises(ValueError):
        clockscope.compare(base, measured[1], fail_on="faster")
    other = measured[1].to_dict()
    other["environment"]["cpu"]["model"] = "another one"
    with pytest.raises(clockscope.Undetermined, match="machine"):
        clockscope.compare(base, Record(json.dumps(other)))
    assert clockscope.compare(base, Record(json.dumps(other)), across_machines=True).is_other_machine


def test_a_change_that_is_named_is_an_exception(measured: list[Record]) -> None:
    changed = measured[1].to_dict()
    changed["environment"]["clocksource"] = "hpet"
    with pytest.raises(clockscope.FindingError) as raised:
        clockscope.compare(measured[0], Record(json.dumps(changed)), fail_on="clocksource")
    assert raised.value.record is not None and raised.value.record.changes


def test_a_recording_is_replayed(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    command = [_command.find(), "steps", "monotonic", "--reads", "500", "--raw", str(file), "--quiet", "--json"]
    answered = Record(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert clockscope.replay(file).clocks == answered.clocks
    file.write_text("{}")
    with pytest.raises(ValueError, match="not a clockscope record"):
        clockscope.replay(file)
    with pytest.raises(FileNotFoundError):
        clockscope.replay(tmp_path / "none.json")


def test_a_measurement_is_repeated() -> None:
    record = clockscope.measure("monotonic", duration=0.05, repeat=2)
    assert record.run.runs == 2
    for wrong in (0, -1):
        with pytest.raises(ValueError):
            clockscope.measure("monotonic", repeat=wrong)


def test_the_folder_of_the_caller_stays(command: Replace, measured: list[Record]) -> None:
    """Only a comparison runs elsewhere, and there lie its own files alone."""
    command(SAYS)
    said: Any = clockscope.compare(measured[:2], measured[2])
    assert sorted(said.files) == ["base-1.json", "base-2.json", "new-1.json"]
    assert said.arguments[-2:] == ("base-1.json,base-2.json", "new-1.json")
