"""Queries find what `census.py` has planted, and nothing else, with DuckDB and with Spark.

CLOCKSCOPE_CENSUS names a folder with two censuses: `faults` with all faults, and `healthy` with none.
Nothing but this test reads their truth.json.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from copy import copy
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from clockscope.fleet import _queries
from clockscope.fleet.__main__ import main
from clockscope.fleet._dataset import TABLES
from clockscope.fleet._engines import Answer, DuckDb, Engine, Settings, Spark

CENSUSES = Path(os.environ["CLOCKSCOPE_CENSUS"])


class Census:
    """A census, its truth, and the answers of an engine."""

    def __init__(self, folder: Path, out: Path) -> None:
        self.folder, self.out = folder, out
        self.truth: dict[str, Any] = json.loads((folder / "truth.json").read_text())
        self.last = date.fromisoformat(self.truth["last_day"])
        assert main(["ingest", str(folder / "records"), str(out), "--quiet"]) == 0

    def left_out(self, fault: str, healthy: Census) -> Census:
        """This census without a fault: its hosts are those of the healthy one."""
        census = copy(self)
        hosts = self.hosts(fault)
        faults = {name: ones for name, ones in self.truth["faults"].items() if name != fault}
        upgrades = [one for one in healthy.truth["harmless_upgrades"] if one["host"] in hosts]
        census.truth = self.truth | {
            "faults": faults,
            "rejects": [one for one in self.truth["rejects"] if one["host"] not in hosts],
            "harmless_upgrades": self.truth["harmless_upgrades"] + upgrades,
        }
        return census

    def settings(self) -> Settings:
        return Settings(inventory=(self.folder / "inventory.txt").read_text(encoding="utf-8").splitlines())

    def hosts(self, *faults: str) -> set[str]:
        return {one["host"] for fault in faults for one in self.truth["faults"].get(fault, [])}

    def clocksources(self) -> set[str]:
        """Those of the hosts without a fault."""
        return {base["clocksource"] for base in self.truth["bases"]}

    def since(self, fault: str) -> dict[str, date]:
        return {one["host"]: date.fromisoformat(one["day"]) for one in self.truth["faults"].get(fault, [])}


Rows = list[dict[str, Any]]


def ask(engine: Engine, name: str) -> Rows:
    answer = engine.query(_queries.find(name).sql)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Census:
    return Census(CENSUSES / "faults", tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="module")
def duckdb(census: Census) -> Iterator[Engine]:
    with DuckDb(str(census.out), census.settings()) as engine:
        yield engine


def test_something_is_planted(census: Census) -> None:
    assert len(census.truth["faults"]) == 11
    for fault, hosts in census.truth["faults"].items():
        assert len(hosts) >= 2, fault


class Expected:
    """The rows that each query has to find in a census."""

    def __init__(self, census: Census, engine: Engine) -> None:
        self.census, self.engine = census, engine
        unstable = census.since("unstable_tsc")
        # Days that the query compares, seen from the last one.
        ago = {host: (census.last - day).days for host, day in unstable.items()}
        slow_since_then = {host for host, days in ago.items() if days <= 6}
        self.may_be_slower = census.hosts("slower_kernel", "hpet", "unstable_tsc")
        self.is_slower = census.hosts("slower_kernel", "hpet") | slow_since_then

    def slower(self, found: Rows) -> None:
        hosts = {row["host"] for row in found}
        assert self.is_slower <= hosts <= self.may_be_slower
        clocks = {row["clock"] for row in found if row["host"] in self.census.hosts("slower_kernel")}
        assert clocks == ({"monotonic", "realtime"} if self.census.hosts("slower_kernel") else set())

    def first_day(self, found: Rows) -> None:
        planted = self.census.since("hpet") | self.census.since("unstable_tsc")
        assert days(found, "clocksource") == planted
        assert days(found, "verdict") == planted | self.census.since("rate_off")
        assert days(found, "synchronization") == self.census.since("unsynchronized")
        # The query needs three days on each side.
        first, last = date.fromisoformat(self.census.truth["first_day"]), self.census.last
        planted |= self.census.since("slower_kernel")
        seen = {host: day for host, day in planted.items() if (day - first).days >= 3 and (last - day).days >= 2}
        assert days(found, "cost") == seen
        together = {row["hosts_that_day"] for row in found if row["host"] in self.census.hosts("hpet")}
        assert not together or min(together) >= len(self.census.hosts("hpet"))
        kernels = {row["host"] for row in found if row["with_new_kernel"]}
        assert kernels == self.census.hosts("hpet", "slower_kernel")

    def kernel_changes(self, found: Rows) -> None:
        turned = {row["kernel_after"]: row["clocksource_changed"] for row in found if row["clocksource_changed"]}
        assert sum(turned.values()) == len(self.census.hosts("hpet"))
        slower = [row for row in found if row["cost_ratio"] > 1.06 and not row["clocksource_changed"]]
        assert sum(row["hosts"] for row in slower) == len(self.census.hosts("slower_kernel"))
        upgraded = self.census.hosts("hpet", "slower_kernel") | {one["host"] for one in self.census.truth["harmless_upgrades"]}
        assert sum(row["hosts"] for row in found) == len(upgraded)

    def unsynchronized(self, found: Rows) -> None:
        assert {row["host"]: row["since"] for row in found} == self.census.since("unsynchronized")

    def time_of_day_offsets(self, found: Rows) -> None:
        assert {row["host"] for row in found} == self.census.hosts("time_of_day_off")
        assert all(row["chrony_correction_s"] == pytest.approx(0.04, abs=1e-3) or
                   row["chrony_correction_s"] == pytest.approx(-0.04, abs=1e-3) for row in found)

    def silent(self, found: Rows) -> None:
        state = {row["host"]: row["state"] for row in found}
        never = dict.fromkeys(self.census.hosts("never", "clock_wrong"), "never")
        assert state == never | dict.fromkeys(self.census.hosts("silent"), "silent")

    def rates(self, found: Rows) -> None:
        by_kind = defaultdict(set)
        for row in found:
            by_kind["offsets" if row["kind"] == "offsets" else "rate"].add(row["host"])
        assert by_kind["offsets"] == self.census.hosts("unstable_tsc")
        assert by_kind["rate"] == self.census.hosts("rate_off")

    def outliers(self, found: Rows) -> None:
        assert {(row["host"], row["clock"]) for row in found} == {
            (one["host"], one["clock"]) for one in self.census.truth["faults"].get("outlier", [])
        }

    def clocksources(self, found: Rows) -> None:
        turned = self.census.hosts("hpet", "unstable_tsc")
        silent = self.census.hosts("never", "clock_wrong", "silent")
        healthy = Counter[str]()
        for base in self.census.truth["bases"]:
            healthy[base["clocksource"]] += len(set(base["hosts"]) - turned - silent)
        hosts = Counter[str]()
        for row in found:
            hosts[row["clocksource"] if row["clocksource"] in healthy else "other"] += row["hosts"]
        assert hosts == healthy + Counter(other=len(turned))

    def offenders(self, found: Rows) -> None:
        of_kind = defaultdict(set)
        for row in found:
            assert row["text"] and row["advice"], row
            of_kind[row["kind"]].add(row["host"])
        assert of_kind["synchronization"] == self.census.hosts("unsynchronized")
        assert self.census.hosts("hpet", "unstable_tsc", "rate_off") <= {row["host"] for row in found}
        known = self.census.hosts("hpet", "unstable_tsc", "rate_off", "unsynchronized")
        assert {row["host"] for row in found} <= known

    def faults(self, found: Rows) -> None:
        hosts = Counter[str]()
        for row in found:
            assert row["example"] and row["advice"], row
            hosts[row["kind"]] += row["hosts"]
        assert hosts["synchronization"] == len(self.census.hosts("unsynchronized"))
        assert hosts["rate"] == len(self.census.hosts("rate_off"))
        assert hosts["cost"] == len(self.census.hosts("hpet", "unstable_tsc"))
        assert set(hosts) <= {"synchronization", "rate", "cost", "kernel_verdict", "clocksource", "offsets"}

    def daily_clocksources(self, found: Rows) -> None:
        turned = self.census.since("hpet") | self.census.since("unstable_tsc")
        others: Counter[date] = Counter()
        for row in found:
            others[row["date"]] += row["hosts"] if row["clocksource"] not in self.census.clocksources() else 0
        assert len(others) == 12
        for day, count in others.items():
            assert count == sum(since <= day for since in turned.values()), day

    def daily_verdicts(self, found: Rows) -> None:
        since = self.census.since("hpet") | self.census.since("unstable_tsc")
        since |= self.census.since("rate_off") | self.census.since("unsynchronized")
        faulty: Counter[date] = Counter()
        for row in found:
            faulty[row["date"]] += row["hosts"] if row["worst_verdict"] in ("limited", "unfit") else 0
        for day, count in faulty.items():
            assert count == sum(first <= day for first in since.values()), day

    def daily_costs(self, found: Rows) -> None:
        last = {row["clock"]: row for row in found if row["date"] == self.census.last}
        first = {row["clock"]: row for row in found if row["date"] != self.census.last}
        assert set(last) == set(first)
        for clock, row in last.items():
            assert row["p50_ns"] <= row["p90_ns"], clock
            with_clock = {host for base in self.census.truth["bases"] if clock in base["clocks"] for host in base["hosts"]}
            assert row["hosts"] == len(with_clock - self.census.hosts("never", "clock_wrong", "silent")), clock

    def rejects(self, found: Rows) -> None:
        rows = set(self.engine.query("SELECT file, reason FROM rejects").rows)
        planted = {(one["file"], one["why"]) for one in self.census.truth["rejects"]}
        assert planted <= rows
        assert {file for file, _ in rows} == {file for file, _ in planted}
        # A bad line leaves its check incomplete.
        assert {reason for file, reason in rows - planted} <= {"cut_off", "not_json"}
        assert sum(row["files"] for row in found) >= len({file for file, _ in planted})

    def cost_quantiles(self, found: Rows) -> None:
        assert {row["clock"] for row in found} >= {"monotonic", "realtime"}
        for row in found:
            bins = _bins(self.census, row["clock"], row["clocksource"])
            for share, name in ((0.5, "p50_ns"), (0.9, "p90_ns"), (0.99, "p99_ns")):
                expected = bins[math.ceil(share * len(bins)) - 1]
                middle = 2 ** ((expected + 0.5) / 32)
                assert row[name] == pytest.approx(middle, rel=1e-9), (row, share)


def days(found: Rows, subject: str) -> dict[str, date]:
    """The day of each host's only change of a kind."""
    rows = [row for row in found if row["subject"] == subject]
    assert len(rows) == len({row["host"] for row in rows})
    return {row["host"]: row["date"] for row in rows}


def _bins(census: Census, clock: str, clocksource: str | None) -> list[int]:
    """All bins of all hosts' last checks of the last day, in order, read from the files."""
    last: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    rejected = {one["file"] for one in census.truth["rejects"]}
    for path in (census.folder / "records" / census.truth["last_day"]).iterdir():
        if str(path.relative_to(census.folder / "records")) in rejected:
            continue
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        host, at = lines[0]["host"], lines[0]["recorded_at"]
        if host not in last or last[host][0] < at:
            last[host] = (at, lines)
    bins: list[int] = []
    for _, lines in last.values():
        if lines[0]["environment"]["clocksource"] == clocksource:
            for line in lines:
                if line.get("clock") == clock:
                    histograms = [one["histogram"] for one in line["evidence"] if one["check"] == "cost"]
                    bins.extend(bin for histogram in histograms for bin, count in histogram for _ in range(count))
    return sorted(bins)


NAMES = [query.name for query in _queries.every()]
FAULTS = sorted(json.loads((CENSUSES / "faults" / "truth.json").read_text())["faults"])


@pytest.mark.parametrize("name", NAMES)
def test_a_query_finds_exactly_what_was_planted(name: str, census: Census, duckdb: Engine) -> None:
    getattr(Expected(census, duckdb), name)(ask(duckdb, name))


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Census, Engine]]:
    census = Census(CENSUSES / "healthy", tmp_path_factory.mktemp("healthy"))
    with DuckDb(str(census.out), census.settings()) as engine:
        yield census, engine


@pytest.mark.parametrize("name", NAMES)
def test_nobody_is_found_where_nothing_was_planted(name: str, healthy: tuple[Census, Engine]) -> None:
    census, engine = healthy
    assert census.truth["faults"] == {}
    getattr(Expected(census, engine), name)(ask(engine, name))


class Mixed(DuckDb):
    """A dataset, but for some hosts, whose rows are those of another one. A fault that is left out
    changes no other host's records, as the tests of the census show."""

    def __init__(self, census: Census, healthy: Census, fault: str) -> None:
        self.datasets = str(census.out), str(healthy.out)
        self.hosts = ", ".join("'" + host.replace("'", "''") + "'" for host in census.hosts(fault))
        super().__init__(str(census.out), census.settings())

    def _view(self, name: str, sql: str) -> None:
        if name in TABLES:
            other = sql.replace(*self.datasets)
            sql = f"{sql} WHERE host IS NULL OR host NOT IN ({self.hosts}) UNION ALL {other} WHERE host IN ({self.hosts})"
        super()._view(name, sql)


@pytest.mark.parametrize("fault", FAULTS)
def test_nobody_is_found_for_a_fault_that_is_left_out(
    fault: str, census: Census, healthy: tuple[Census, Engine]
) -> None:
    left_out = census.left_out(fault, healthy[0])
    with Mixed(census, healthy[0], fault) as engine:
        for name in NAMES:
            # Its rows are of all hosts together, counted from the files.
            if name != "cost_quantiles":
                getattr(Expected(left_out, engine), name)(ask(engine, name))


def test_spark_gives_the_same_rows(census: Census, duckdb: Engine) -> None:
    with Spark(str(census.out), census.settings(), "local[2]") as spark:
        for query in _queries.every():
            same(query.name, duckdb.query(query.sql), spark.query(query.sql))


def same(name: str, one: Answer, other: Answer) -> None:
    """Compares two answers row by row: floats within 1e-9 of their size."""
    assert one.columns == other.columns, name
    assert len(one.rows) == len(other.rows), name
    for left, right in zip(one.rows, other.rows, strict=True):
        for column, a, b in zip(one.columns, left, right, strict=True):
            is_same = b == pytest.approx(a, rel=1e-9, abs=1e-12) if isinstance(a, float) else a == b
            assert is_same, (name, column, left, right)
