"""Records of checks, for tests of a fleet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb

from clockscope.fleet.__main__ import main
from clockscope.fleet._dataset import TABLES
from clockscope.fleet._engines import DuckDb, Settings

Lines = list[dict[str, Any]]


def check(host: str, at: str = "2026-10-01T10:00:00Z", number: str = "00", **changes: Any) -> Lines:
    """The lines of a check with two clocks, of which one shows the time of day."""
    head = {"schema": "clockscope.check", "schema_version": 1, "check_id": f"{host}-{at}-{number}", "host": host}
    environment = {
        "clocksource": changes.get("clocksource", "tsc"),
        "clocksources_available": ["tsc", "hpet"],
        "kernel": {"release": changes.get("kernel", "6.1.0")},
        "cpu": {"model": "EPYC", "architecture": "x86_64", "online": 2, **changes.get("processor", {})},
        "hypervisor": "KVM",
        "program": {"version": "0.1.0"},
    }
    state = changes.get("state", "synchronized")
    first = {
        "type": "environment",
        "clocks": 2,
        "environment": environment,
        "identity": {"boot": None, "cloud": "Amazon EC2", "instance_type": "m7i.large"},
        "recorded_at": at,
        "run": {"duration_s": 4.0, "timer": {"name": "rdtscp_lfence"}},
        "synchronization": {"adjtimex": {"state": state, "time_of_day_error_s": None, "freq_ppm": 1}, "chrony": None},
    }
    cost = changes.get("cost", 20.0)
    verdicts = [
        {"clock": clock, "verdict": "trusted", "uses": {"interval": "trusted", "time_of_day": None}, "evidence": evidence(cost)}
        for clock in ("tsc", "monotonic")
    ]
    lines: Lines = [first, *({"type": "verdict"} | verdict for verdict in verdicts)]
    lines.append({"type": "end", "lines": len(lines)})
    return [line | head for line in lines]


def evidence(cost: float) -> Lines:
    return [
        {"check": "steps_back", "finding": "for", "decides": True, "count": 0, "readings": 5000, "text": "none", "advice": None},
        {"check": "cost", "finding": "for", "decides": False, "cost_ns": cost, "p99_ns": cost * 1.5, "syscall_ns": 200,
         "cause": None, "histogram": [[138, 250], [157, 6]], "text": "20 ns", "advice": None},
    ]  # fmt: skip


def write(path: Path, lines: Lines) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def ingest(records: Path, out: Path) -> None:
    assert main(["ingest", str(records), str(out), "--quiet"]) == 0


def rows(out: Path, sql: str) -> list[tuple[Any, ...]]:
    with DuckDb(str(out), Settings()) as engine:
        return engine.query(sql).rows


def table(out: Path, name: str, columns: str) -> list[tuple[Any, ...]]:
    """Rows of a table, also of a dataset without a check."""
    return duckdb.execute(f"SELECT {columns} FROM '{out}/{name}/*/*.parquet' ORDER BY ALL").fetchall()


def content(out: Path) -> dict[str, list[tuple[Any, ...]]]:
    return {name: table(out, name, "*") for name in TABLES}
