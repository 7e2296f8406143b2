"""A census has what its truth.json says, and its seed decides it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from census import FAULTS, Census
from census_files import STRAYS
from census_hosts import bases
from census_judgment import is_counter

HOSTS, DAYS = 12, 11
Lines = list[dict[str, Any]]


@dataclass
class Made:
    """A census, as a program reads it that does not know how it was made."""

    files: dict[str, bytes]

    @property
    def truth(self) -> dict[str, Any]:
        truth: dict[str, Any] = json.loads(self.files["truth.json"])
        return truth

    def records(self) -> dict[str, bytes]:
        return {name.removeprefix("records/"): text for name, text in self.files.items() if name.startswith("records/")}

    def fault(self, name: str) -> tuple[str, int]:
        """The host of the only fault of this name, and its first day, counted from 0."""
        [fault] = self.truth["faults"][name]
        return fault["host"], (date.fromisoformat(fault["day"]) - date.fromisoformat(self.truth["first_day"])).days

    def checks(self, host: str) -> dict[int, Lines]:
        """The lines of a host's good checks, by the number of the day; of two, the later one."""
        rejects, found = {one["file"] for one in self.truth["rejects"]}, dict[int, Lines]()
        for file, text in self.records().items():
            if file in rejects:
                continue
            lines = [json.loads(line) for line in text.splitlines()]
            day = file.split("/")[0]
            assert lines[0]["recorded_at"].startswith(day) and lines[-1]["lines"] == len(lines) - 1, file
            assert len({line["check_id"] for line in lines}) == 1, file
            number = (date.fromisoformat(day) - date.fromisoformat(self.truth["first_day"])).days
            former = found.get(number)
            if lines[0]["host"] == host and (not former or former[0]["recorded_at"] < lines[0]["recorded_at"]):
                found[number] = lines
        return found


Make = Callable[..., Made]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    def made(**options: Any) -> Made:
        folder = tmp_path_factory.mktemp("census")
        arguments: dict[str, Any] = {"hosts": HOSTS, "days": DAYS, "folder": folder}
        Census(**arguments | options).make()
        files = (path for path in folder.rglob("*") if path.is_file())
        return Made({str(path.relative_to(folder)): path.read_bytes() for path in files})

    return made


@pytest.fixture(scope="module")
def census(make: Make) -> Made:
    return make()


def verdict(lines: Lines, clock: str) -> dict[str, Any]:
    return next(line for line in lines if line["type"] == "verdict" and line["clock"] == clock)


def evidence(lines: Lines, clock: str, check: str) -> dict[str, Any]:
    pieces: Lines = verdict(lines, clock)["evidence"]
    return next(found for found in pieces if found["check"] == check)


def counter(lines: Lines) -> str:
    return "cntvct" if lines[0]["environment"]["cpu"]["architecture"] == "aarch64" else "tsc"


def cost(lines: Lines, clock: str = "monotonic") -> float:
    ns: float = evidence(lines, clock, "cost")["cost_ns"]
    return ns


def hpet(before: Lines, after: Lines) -> None:
    assert verdict(before, "tsc")["verdict"] == "trusted" and before[0]["environment"]["clocksource"] == "tsc"
    assert verdict(after, "tsc")["verdict"] == "limited" and after[0]["environment"]["clocksource"] == "hpet"
    assert before[0]["environment"]["kernel"]["release"] != after[0]["environment"]["kernel"]["release"]
    assert 950 < cost(after) < 1_600 and evidence(after, "monotonic", "cost")["cause"] == "clocksource"
    assert evidence(after, "tsc", "kernel_verdict")["cause"]["cause"] == "clocksource_option"


def unstable_tsc(before: Lines, after: Lines) -> None:
    assert verdict(before, "tsc")["verdict"] == "trusted" and verdict(after, "tsc")["verdict"] == "unfit"
    assert evidence(after, "tsc", "offsets")["apart"] == 1 and evidence(after, "tsc", "kernel_verdict")["decides"]


def slower_kernel(before: Lines, after: Lines) -> None:
    assert 1.04 < cost(after) / cost(before) < 1.2 and 0.93 < cost(after, "monotonic_raw") / cost(before, "monotonic_raw") < 1.07


def unsynchronized(before: Lines, after: Lines) -> None:
    assert verdict(before, "realtime")["uses"]["time_of_day"] != "limited"
    assert verdict(after, "realtime")["uses"]["time_of_day"] == verdict(after, "realtime")["verdict"] == "limited"
    assert after[0]["synchronization"]["adjtimex"]["state"] == "unsynchronized"


def time_of_day_off(before: Lines, after: Lines) -> None:
    behind = [abs(lines[0]["synchronization"]["chrony"]["correction_s"]) for lines in (before, after)]
    assert behind[0] < 0.001 and behind[1] > 0.03


def rate_off(before: Lines, after: Lines) -> None:
    off = [abs(evidence(lines, counter(lines), "nominal_frequency")["ppm"]) for lines in (before, after)]
    assert off[0] < 20 and off[1] > 380 and evidence(after, "monotonic", "rate")["finding"] == "against"


@pytest.mark.parametrize("shown", [hpet, unstable_tsc, slower_kernel, unsynchronized, time_of_day_off, rate_off])
def test_a_fault_shows_from_its_first_day_on(shown: Callable[[Lines, Lines], None], census: Made) -> None:
    host, first = census.fault(shown.__name__)
    checks = census.checks(host)
    assert len(checks) == DAYS and 0 < first < DAYS - 1
    for day in range(first, DAYS):
        shown(checks[first - 1], checks[day])


def test_faults_without_a_first_day_show_on_all(census: Made) -> None:
    checks = census.checks(census.fault("outlier")[0]).values()
    assert len(checks) == DAYS and all(cost(lines) > 2 * cost(lines, "boottime") for lines in checks)
    host, first = census.fault("silent")
    assert set(census.checks(host)) == set(range(first)) and first < DAYS - 3
    for fault in ("never", "clock_wrong"):
        assert census.checks(census.fault(fault)[0]) == {}
    wrong = [one for one in census.truth["rejects"] if one["kind"] == "wrong_year"]
    assert len(wrong) == DAYS and {one["host"] for one in wrong} == {census.fault("clock_wrong")[0]}
    checks = census.checks(census.fault("twice")[0]).values()
    assert all(lines[0]["environment"]["clocksource"] == "tsc" for lines in checks)
    assert len(census.truth["superseded"]) == DAYS
    names = census.files["inventory.txt"].decode().splitlines()
    assert len(names) == HOSTS and census.fault("never")[0] in names


def test_bad_files_are_bad_in_their_way(census: Made) -> None:
    kinds = {one["kind"]: census.records()[one["file"]] for one in census.truth["rejects"]}
    assert set(kinds) == {*STRAYS, "wrong_year"}
    for kind in ("corrupt", "png"):
        with pytest.raises(UnicodeDecodeError):
            kinds[kind].decode()
    assert kinds["empty"] == b""
    assert kinds["cut_between_lines"].endswith(b"}\n") and b'"type":"end"' not in kinds["cut_between_lines"]
    assert not kinds["cut_within_line"].endswith((b"}", b"\n")) and kinds["cut_within_line"].count(b"\n") > 0
    assert len(kinds["foreign_lines"].splitlines()) == 8 and b"schema" not in kinds["foreign_lines"]
    for kind, version in (("schema_zero", 0), ("schema_newer", 99)):
        assert all(json.loads(line)["schema_version"] == version for line in kinds[kind].splitlines())
    assert sum(b"}{" in line for line in kinds["joined_lines"].splitlines()) == 1
    assert kinds["duplicate_key"].splitlines()[0].count(b'"host":"') == 3


def test_the_seed_decides_and_a_fault_can_be_left_out(census: Made, make: Make) -> None:
    assert make().files == census.files != make(seed=7).files
    without = make(without=("hpet",))
    host, _ = census.fault("hpet")
    assert set(without.truth["faults"]) == set(FAULTS) - {"hpet"}
    assert all(lines[0]["environment"]["clocksource"] == "tsc" for lines in without.checks(host).values())
    assert without.records().keys() == census.records().keys()
    changed = {name for name, text in census.records().items() if without.records()[name] != text}
    assert changed and all(json.dumps(host, ensure_ascii=False).encode() in census.records()[name] for name in changed)


def test_the_last_days_are_those_of_the_whole_census(census: Made, make: Make) -> None:
    last, first = make(last=2), "2026-10-30"
    assert last.records() == {name: text for name, text in census.records().items() if name[:10] >= first}
    assert last.truth["faults"] == census.truth["faults"]


def test_each_base_has_hosts_with_its_clocks(make: Make) -> None:
    made = make(hosts=40, last=1)
    for base in made.truth["bases"]:
        checks = [lines for host in base["hosts"] for lines in made.checks(host).values()]
        healthy = [lines for lines in checks if lines[0]["environment"]["clocksource"] == base["clocksource"]]
        assert len(healthy) >= 3
        for lines in healthy:
            assert all(cost(lines, clock) > 1 for clock in base["clocks"])
            assert verdict(lines, counter(lines))["verdict"] == "trusted"


def test_base_records_support_their_clocks() -> None:
    """But for evidence that a census makes, or that no Arm machine shows."""
    optional = ("synchronization", "nominal_frequency", "hypervisor")
    for base in bases():
        assert sum(map(is_counter, base["verdicts"])) == 1
        for found in (found for verdict in base["verdicts"] for found in verdict["evidence"]):
            assert found["finding"] == "for" or found["check"] in optional, found


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    for arguments, expected in (
        ((3, DAYS, tmp_path), "12 hosts or more"),
        ((HOSTS, 2, tmp_path), "from 10 to 3650 days"),
        ((HOSTS, DAYS, tmp_path, (), 12), "expected 1 to 11"),
    ):
        with pytest.raises(SystemExit, match=expected):
            Census(*arguments).make()
    (tmp_path / "notes").touch()
    with pytest.raises(SystemExit, match="not an empty folder"):
        Census(HOSTS, DAYS, tmp_path).make()
