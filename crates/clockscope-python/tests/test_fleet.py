"""Ingest of a fleet."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
import zstandard

from clockscope.fleet import _dataset, _files, _queries, _tables
from clockscope.fleet.__main__ import main
from fleet_checks import Lines, check, content, evidence, ingest, rows, table, write


def test_a_check_becomes_rows_of_all_tables(records: Path, out: Path) -> None:
    write(records / "a.ndjson", check("one"))
    ingest(records, out)
    assert table(out, "checks", "host, date, kernel, instance_type, time_of_day_state, frequency_ppm, clocks") == [
        ("one", date(2026, 10, 1), "6.1.0", "m7i.large", "synchronized", 1.0, 2)
    ]
    assert table(out, "clocks", "clock, cost_p50_ns, cost_p99_ns, findings_for") == [
        ("monotonic", 20.0, 30.0, 2),
        ("tsc", 20.0, 30.0, 2),
    ]
    assert table(out, "evidence", "clock, pos, kind, samples, failures, text")[:2] == [
        ("monotonic", 1, "steps_back", 5000, 0, None),
        ("monotonic", 2, "cost", None, None, None),
    ]
    assert table(out, "costs", "clock, bin, batches")[:2] == [("monotonic", 138, 250), ("monotonic", 157, 6)]
    assert table(out, "rejects", "file") == []


def test_processors_of_one_name_differ_by_their_numbers(records: Path, out: Path) -> None:
    numbers = {"family": 6, "model": 207, "stepping": 8}
    write(records / "a.ndjson", check("a", processor={"identity": numbers, "microcode": "0x2b0004b1"}))
    write(records / "b.ndjson", check("b", processor={"identity": {"model": 3340, "stepping": 49}, "microcode": None}))
    write(records / "c.ndjson", check("c", processor={"identity": None, "microcode": None}))
    write(records / "former.ndjson", check("former"))
    ingest(records, out)
    assert table(out, "checks", "host, cpu_family, cpu_model_number, cpu_stepping, cpu_microcode") == [
        ("a", 6, 207, 8, "0x2b0004b1"),
        ("b", None, 3340, 49, None),
        ("c", None, None, None, None),
        ("former", None, None, None, None),
    ]


def test_like_hosts_are_of_one_model(records: Path, out: Path) -> None:
    costs = {("slow", 167): 40.0, ("fast", 207): 20.0}
    for (name, model), cost in costs.items():
        for number in range(12):
            numbers = {"family": 6, "model": model, "stepping": 1}
            host = f"{name}-{number}"
            write(records / f"{host}.ndjson", check(host, processor={"identity": numbers}, cost=cost))
    odd = {"family": 6, "model": 207, "stepping": 1}
    write(records / "odd.ndjson", check("odd", processor={"identity": odd}, cost=40.0))
    ingest(records, out)
    found = rows(out, _queries.find("outliers").sql)
    assert {row[0] for row in found} == {"odd"}


def test_parts_of_an_earlier_version_lack_columns(records: Path, out: Path) -> None:
    write(records / "a.ndjson", check("a"))
    ingest(records, out)
    (part,) = (out / "checks").glob("*/*.parquet")
    former = part.with_name("former")
    duckdb.execute(f"COPY (SELECT * EXCLUDE (cpu_family, cpu_microcode) FROM '{part}') TO '{former}' (FORMAT parquet)")
    former.replace(part)
    numbers = {"family": 6, "model": 207, "stepping": 8}
    write(records / "next.ndjson", check("b", "2026-10-02T10:00:00Z", processor={"identity": numbers}))
    ingest(records, out)
    every = "SELECT host, cpu_family FROM checks ORDER BY host"
    assert rows(out, every) == [("a", None), ("b", 6)]
    # The former part is written anew, with the columns.
    write(records / "same-day.ndjson", check("c", processor={"identity": numbers}))
    ingest(records, out)
    assert rows(out, every) == [("a", None), ("b", 6), ("c", 6)]


def test_compressed_files_and_one_file_of_many_hosts(records: Path, out: Path) -> None:
    text = "".join(json.dumps(line) + "\n" for host in ("a", "b") for line in check(host))
    (records / "both.ndjson.gz").write_bytes(gzip.compress(text.encode()))
    other = "".join(json.dumps(line) + "\n" for line in check("c")).encode()
    compress = zstandard.ZstdCompressor().compress
    (records / "c.ndjson.zst").write_bytes(compress(other[:500]) + compress(other[500:]))
    ingest(records, out)
    assert table(out, "checks", "host") == [("a",), ("b",), ("c",)]


def test_a_check_may_be_split_over_files_and_be_there_twice(records: Path, out: Path) -> None:
    lines = check("one")
    write(records / "first.ndjson", lines[:2])
    write(records / "second.ndjson", lines[2:])
    write(records / "copy.ndjson", lines)
    ingest(records, out)
    assert table(out, "checks", "host") == [("one",)]
    assert table(out, "clocks", "clock") == [("monotonic",), ("tsc",)]
    assert table(out, "rejects", "reason") == []


def test_no_host_can_spoil_the_check_of_another(records: Path, out: Path) -> None:
    write(records / "a.ndjson", check("victim"))
    number = check("victim")[0]["check_id"]
    write(records / "b.ndjson", [line | {"check_id": number} for line in check("attacker", kernel="evil")])
    write(records / "c.ndjson", [line | {"check_id": number, "host": "third"} for line in check("third")[:1]])
    ingest(records, out)
    assert table(out, "checks", "host, kernel") == [("attacker", "evil"), ("victim", "6.1.0")]
    assert table(out, "rejects", "host, reason") == [("third", "cut_off")]


def test_the_last_check_of_a_day_counts_whichever_ingest_finds_it(records: Path, out: Path) -> None:
    write(records / "b.ndjson", check("one", "2026-10-01T20:00:00Z", kernel="late"))
    write(records / "c.ndjson", check("one", "2026-10-01T08:00:00Z", kernel="early"))
    ingest(records, out)
    assert table(out, "checks", "kernel") == [("late",)]
    write(records / "d.ndjson", check("one", "2026-10-01T09:00:00Z", kernel="earlier"))
    write(records / "e.ndjson", check("two", "2026-10-01T09:00:00Z"))
    ingest(records, out)
    assert table(out, "checks", "host, kernel") == [("one", "late"), ("two", "6.1.0")]
    write(records / "f.ndjson", check("one", "2026-10-01T23:00:00Z", kernel="last", cost=50.0))
    ingest(records, out)
    assert table(out, "checks", "host, kernel") == [("one", "last"), ("two", "6.1.0")]
    assert table(out, "clocks", "host, cost_p50_ns")[:2] == [("one", 50.0), ("one", 50.0)]
    assert len(table(out, "evidence", "host")) == 8


def test_a_second_ingest_changes_nothing(records: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(records / "a.ndjson", check("one"))
    (records / "empty.ndjson").touch()
    ingest(records, out)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")}
    assert main(["ingest", str(records), str(out)]) == 0
    assert "0 new files (2 known)" in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")} == before


def test_a_file_that_was_cut_off_and_is_whole_now(records: Path, out: Path) -> None:
    write(records / "a.ndjson", check("one")[:3])
    ingest(records, out)
    assert table(out, "rejects", "file, host, reason, first_line, reject_lines") == [("a.ndjson", "one", "cut_off", 1, 3)]
    write(records / "a.ndjson", check("one"))
    ingest(records, out)
    assert table(out, "rejects", "file") == []
    assert table(out, "checks", "host") == [("one",)]


def test_a_check_that_was_cut_off_is_completed_by_a_later_file(
    records: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(records / "a.ndjson", check("one")[:2] + check("two"))
    ingest(records, out)
    before = content(out), (out / ".ingested.parquet").read_bytes()
    assert main(["ingest", str(records), str(out)]) == 0
    assert "0 new files (1 known)" in capsys.readouterr().err
    assert (content(out), (out / ".ingested.parquet").read_bytes()) == before
    # Its lines are still missing: neither its reject nor its day changes.
    days = {path: path.read_bytes() for path in out.rglob("part-0.parquet")}
    write(records / "b.ndjson", check("three", "2026-10-02T10:00:00Z"))
    ingest(records, out)
    assert {path: path.read_bytes() for path in days} == days
    write(records / "c.ndjson", check("one")[2:])
    assert main(["ingest", str(records), str(out)]) == 0
    assert "1 new files (2 known): 1 checks" in capsys.readouterr().err
    assert table(out, "checks", "host") == [("one",), ("three",), ("two",)]
    assert table(out, "rejects", "file") == []
    assert duckdb.execute(f"SELECT tried_until FROM '{out}/.ingested.parquet'").fetchall() == [(None,)] * 3


def test_a_check_that_stays_cut_off_is_not_read_for_ever(records: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tables, "MANIFEST", _tables.MANIFEST.replace("+ 7", "- 1"))
    write(records / "a.ndjson", check("one")[:2])
    ingest(records, out)
    write(records / "b.ndjson", check("one")[2:])
    ingest(records, out)
    assert table(out, "rejects", "file, reason") == [("a.ndjson", "cut_off"), ("b.ndjson", "cut_off")]


def test_two_folders_with_files_of_the_same_names(tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for host in ("one", "two"):
        write(tmp_path / host / "a.ndjson", check(host))
        (tmp_path / host / "b.ndjson").touch()
        ingest(tmp_path / host, out)
    before = content(out)
    assert [row[0] for row in table(out, "checks", "host")] == ["one", "two"]
    capsys.readouterr()
    for host in ("one", "two"):
        assert main(["ingest", str(tmp_path / host), str(out)]) == 0
        assert "0 new files (2 known)" in capsys.readouterr().err
    assert content(out) == before


def remove(out: Path, date: str) -> None:
    for folder in out.glob(f"*/date={date}"):
        shutil.rmtree(folder)


def test_dates_that_were_removed_stay_away(records: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(records / "a.ndjson", check("one", "2026-10-01T10:00:00Z") + check("one", "2026-10-02T10:00:00Z"))
    write(records / "b.ndjson", check("two", "2026-10-01T10:00:00Z") + check("two", "2026-10-01T11:00:00Z")[:2])
    (records / "empty.ndjson").touch()
    ingest(records, out)
    remove(out, "2026-10-01")
    write(records / "c.ndjson", check("one", "2026-10-03T10:00:00Z"))
    ingest(records, out)
    assert [row[0].day for row in table(out, "checks", "date")] == [2, 3]
    assert [row[0] for row in table(out, "rejects", "file")] == ["empty.ndjson"]
    remove(out, "*")
    ingest(records, out)
    capsys.readouterr()
    assert main(["query", str(out), "clocksources"]) == 4
    assert "has no dates" in capsys.readouterr().err
    write(records / "d.ndjson", check("one", "2026-10-04T10:00:00Z"))
    ingest(records, out)
    assert [row[0] for row in rows(out, "SELECT host FROM checks")] == ["one"]
    # A file that has changed is new.
    write(records / "b.ndjson", check("two", "2026-10-01T10:00:00Z"))
    ingest(records, out)
    assert [row[0].day for row in table(out, "checks", "date")] == [1, 4]


def changed(line: int, **values: Any) -> Callable[[Lines], Lines]:
    def change(lines: Lines) -> Lines:
        lines[line] |= values
        return lines

    return change


WRONG = {
    "a number for a text": changed(0, environment={"kernel": {"release": 6}}),
    "a text for a number": changed(0, run={"duration_s": "4"}),
    "a huge number": changed(3, lines=10**30),
    "a time beyond all sense": changed(0, run={"duration_s": 1e300}),
    "a negative count": changed(0, clocks=-1),
    "counts whose sum is no integer": changed(
        1, evidence=[{"check": "jumps", "finding": "for", "decides": True, "ahead": 2**63 - 1, "behind": 2**63 - 1}]
    ),
    "a negative cost": changed(1, evidence=[{**evidence(1)[1], "cost_ns": -5}]),
    "bins of fractions": changed(1, evidence=[{**evidence(1)[1], "histogram": [[1.7, 2.6]]}]),
    "bins of texts": changed(1, evidence=[{**evidence(1)[1], "histogram": [["1", "2"]]}]),
    "a host of 100 kB": changed(0, host="x" * 100_000),
    "no host": changed(0, host=None),
    "a blank host": changed(0, host=" \n"),
    "a host with a zero": changed(0, host="a\0b"),
    "an unknown verdict": changed(1, verdict="fine"),
    "no evidence": changed(1, evidence=None),
    "evidence of another type": changed(1, evidence=["x"]),
    "a bin that is none": changed(1, evidence=[{**evidence(1)[1], "histogram": [[1, 2, 3]]}]),
    "bins that are no list": changed(1, evidence=[{**evidence(1)[1], "histogram": {"a": 1}}]),
    "a time that is none": changed(0, recorded_at="yesterday"),
    "a time without its zeros": changed(0, recorded_at="2026-1-1T1:2:3Z"),
    "a time with blanks": changed(0, recorded_at=" 2026-10-01T10:00:00Z"),
    "a day that is none": changed(0, recorded_at="2026-02-30T10:00:00Z"),
    "a time as a number": changed(0, recorded_at=1_790_000_000),
    "no time": changed(0, recorded_at=None),
    "no environment": changed(0, environment=None),
    "a list for an environment": changed(0, environment=[]),
    "a text for a kernel": changed(0, environment={"kernel": "6.1.0", "cpu": {}}),
    "a list for an identity": changed(0, identity=[]),
    "a list for chrony": changed(0, synchronization={"chrony": []}),
    "no uses": changed(1, uses=None),
    "a text for a reason": changed(1, evidence=[{**evidence(1)[0], "reason": "denied"}]),
    "a list for a cause": changed(1, evidence=[{**evidence(1)[1], "cause": ["denied"]}]),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_value_of_the_wrong_type_refuses_the_check_alone(what: str, records: Path, out: Path) -> None:
    write(records / "bad.ndjson", WRONG[what](check("bad")))
    write(records / "good.ndjson", check("good"))
    ingest(records, out)
    assert table(out, "checks", "host") == [("good",)]
    found = table(out, "rejects", "file, reason, detail")
    # A line that does not name the host of the others is not a line of their check.
    others = [("bad.ndjson", "cut_off")] if "host" in what else []
    assert [(file, reason) for file, reason, _ in found] == [*others, ("bad.ndjson", "wrong_type")], found


BAD_LINES = {
    "not_json": [b"\x89PNG\r\n\x1a\n\xff\xfe\n", b'{"a": 1} {"b": 2}\n', b"{\n", b"\0\0\n", b"[" * 5000 + b"\n",
                 b"NaN\n", b'{"a": -Infinity}\n', b'{"schema": "clockscope.check" ,\t}\n', b'{"a": ["\\"", ], "b": "\\""}\n'],
    "foreign": [b'{"level": "info"}\n', b"7\n", b'{"a": "nan,]\\\\", "b": "inf,\\"}"}\n', b'{"schema": "clockscope.measure", "schema_version": 1}\n'],
    "schema_version": [
        b'{"schema": "clockscope.check", "schema_version": 0}\n',
        b'{"schema": "clockscope.check", "schema_version": 99}\n',
        b'{"schema": "clockscope.check", "schema_version": "1"}\n',
    ],
    "empty": [b""],
}  # fmt: skip


@pytest.mark.parametrize(("reason", "line"), [(reason, line) for reason, lines in BAD_LINES.items() for line in lines])
def test_what_is_no_record_is_a_reject(reason: str, line: bytes, records: Path, out: Path) -> None:
    (records / "bad").write_bytes(line)
    write(records / "good.ndjson", check("good"))
    ingest(records, out)
    assert table(out, "checks", "host") == [("good",)]
    assert {row[0] for row in table(out, "rejects", "reason")} >= {reason}


def test_a_key_that_stands_twice_is_a_reject(records: Path, out: Path) -> None:
    for name, part in {"state": '"state": "synchronized"', "within": '"release": "6.1.0"', "evidence": '"count": 0'}.items():
        text = "".join(json.dumps(line) + "\n" for line in check("bad", number=name))
        assert part in text
        (records / name).write_text(text.replace(part, f"{part}, {part}"))
    ingest(records, out)
    assert table(out, "rejects", "file, reason, detail") == [
        (name, "wrong_type", "a key stands twice") for name in ("evidence", "state", "within")
    ]


def test_a_byte_order_mark_is_not_a_part_of_a_line(records: Path, out: Path) -> None:
    text = "".join(json.dumps(line) + "\r\n" for line in check("one"))
    (records / "a").write_bytes(b"\xef\xbb\xbf" + text.encode())
    ingest(records, out)
    assert table(out, "checks", "host") == [("one",)]


def test_a_line_without_an_end_is_read_no_further_than_a_file_may_be(
    records: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clockscope.fleet._files._MOST_TEXT", 8 << 20)
    (records / "bomb.zst").write_bytes(zstandard.ZstdCompressor().compress(b"0" * (64 << 20) + b"\n\n"))
    read = list(_files.lines(_files.find(str(records))[0]))
    assert [part.reason for part in read if isinstance(part, _files.BadPart)] == ["not_json", "too_large"]


def test_a_damaged_archive_gives_what_is_before_the_damage(records: Path, out: Path) -> None:
    text = "".join(json.dumps(line) + "\n" for host in range(200) for line in check(f"host {host}", number=os.urandom(9).hex()))
    for name, data in {"a.gz": gzip.compress(text.encode()), "a.zst": zstandard.ZstdCompressor().compress(text.encode())}.items():
        (records / name).write_bytes(data[: len(data) // 2])
    ingest(records, out)
    reasons = {(file, reason) for file, reason in table(out, "rejects", "file, reason")}
    assert {("a.gz", "cut_off"), ("a.zst", "cut_off")} <= reasons
    assert len(table(out, "checks", "host")) > 0


@pytest.mark.parametrize("at", ["1970-01-01T00:00:05Z", "2066-10-01T10:00:00Z"])
def test_a_clock_that_is_wrong_by_years_is_a_reject_with_the_host(at: str, records: Path, out: Path) -> None:
    write(records / "a.ndjson", check("astray", at))
    write(records / "b.ndjson", check("good"))
    ingest(records, out)
    assert table(out, "rejects", "host, reason") == [("astray", "clock_wrong")]
    assert [day for day in _dataset.Dataset(str(out)).dates("checks") if not day.startswith("2026")] == []


HOSTILE = ["o'brien\"; DROP TABLE checks;--", "<script>alert(1)</script>", "a/b\\c", "日本 東京", "../../etc/passwd", "%s{}$1", "\u202eabc"]


def test_a_check_of_no_known_day_is_no_end_of_all_ingests(records: Path, out: Path) -> None:
    write(records / "a.ndjson", check("one", "0000-01-01T00:00:00Z")[:2])
    write(records / "b.ndjson", check("good"))
    ingest(records, out)
    assert table(out, "rejects", "host, reason") == [("one", "cut_off")]
    assert table(out, "checks", "host") == [("good",)]


def test_names_stay_what_they_are(records: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, host in enumerate(HOSTILE):
        write(records / f"{number}'\"\n.ndjson", check(host, number=str(number)))
    os.mkfifo(records / "pipe")
    ingest(records, out)
    assert main(["ingest", str(records), str(out)]) == 0
    assert "0 new files" in capsys.readouterr().err
    assert {host for (host,) in table(out, "checks", "host")} == set(HOSTILE)
    for query in _queries.every():
        rows(out, query.sql)


def test_an_ingest_that_fails_changes_nothing(records: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(records / "a.ndjson", check("one"))
    ingest(records, out)
    before = content(out)
    write(records / "b.ndjson", check("two"))

    def full(self: object) -> str:
        raise OSError(28, "No space left on device", "part-0.parquet")

    monkeypatch.setattr(_dataset.Dataset, "new_manifest", full)
    assert main(["ingest", str(records), str(out), "--quiet"]) == 4
    assert content(out) == before
    assert not (out / ".ingest").exists()
    monkeypatch.undo()
    ingest(records, out)
    assert table(out, "checks", "host") == [("one",), ("two",)]


ON_A_FULL_DISK = """
mount -t tmpfs -o size=24m tmpfs "$2" || exit 77
content() { (cd "$2/out" && find . -type f -exec sha256sum {} + | sort); }
"$1" -m clockscope.fleet ingest "$3" "$2/out" --quiet || exit 1
before=$(content "$@")
for kib in 0 200 2000; do
    free=$(df -k --output=avail "$2" | tail -n 1)
    head -c "$((free - kib))K" /dev/zero > "$2/ballast"
    "$1" -m clockscope.fleet ingest "$4" "$2/out" --quiet
    [ $? = 4 ] && [ "$before" = "$(content "$@")" ] || exit 1
    rm "$2/ballast"
done
"$1" -m clockscope.fleet ingest "$4" "$2/out" --quiet && [ "$before" != "$(content "$@")" ]
"""


def test_a_full_disk_is_an_error_that_names_the_folder(records: Path, tmp_path: Path) -> None:
    write(records / "a.ndjson", check("one"))
    write(tmp_path / "more" / "a.ndjson", [line for host in range(2500) for line in check(f"host {host}")])
    disk = tmp_path / "disk"
    disk.mkdir()
    arguments = [sys.executable, str(disk), str(records), str(tmp_path / "more")]
    try:
        command = ["unshare", "--map-root-user", "--mount", "sh", "-c", ON_A_FULL_DISK, "sh", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("this system has no unshare")
    if done.returncode == 77 or done.stderr.startswith("unshare:"):
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done
    errors = done.stderr.splitlines()
    assert len(errors) == 3 and all(f"{disk}/out/.ingest" in error and "No space left" in error for error in errors), errors


def test_a_crash_between_two_renames_is_made_good_by_the_next_ingest(
    records: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(records / "a.ndjson", check("one"))
    ingest(records, out)
    write(records / "b.ndjson", check("two"))
    replace, renames = os.replace, 0

    def crash(source: str, target: str) -> None:
        nonlocal renames
        renames += 1
        # The first puts the journal into place.
        if renames == 3:
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", crash)
    assert main(["ingest", str(records), str(out), "--quiet"]) == 130
    monkeypatch.undo()
    assert (out / ".journal").exists()
    assert main(["query", str(out), "clocksources"]) == 4
    ingest(records, out)
    assert table(out, "checks", "host") == [("one",), ("two",)]
    assert len(table(out, "clocks", "host")) == 4
    assert not (out / ".journal").exists()


def test_a_query_during_the_renames_of_an_ingest_says_so(
    records: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(records / "a.ndjson", check("one"))
    ingest(records, out)
    shutil.rmtree(out / "clocks")
    (out / ".journal").write_text("[]")
    assert main(["query", str(out), "silent"]) == 4
    assert "an ingest puts its files into place" in capsys.readouterr().err


def test_a_file_of_a_far_future_has_a_date(records: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (records / "bad.ndjson").write_text("no record\n")
    of_path = os.lstat
    far = os.stat_result((*of_path(records / "bad.ndjson")[:7], 0, 10**15, 0))
    monkeypatch.setattr(os, "lstat", lambda path, **more: far if str(path).endswith("bad.ndjson") else of_path(path, **more))
    ingest(records, out)
    assert table(out, "rejects", "date") == [(date(9999, 12, 31),)]


@pytest.mark.parametrize(
    "journal",
    [b"", b"{", b"\xff", b"7", b"[]", b"[7]", b'["../stranger"]', b'["/stranger"]', b'["checks/../../stranger"]',
     b'["checks/date=2026-10-02/part-0.parquet"]', b"[" * 100_000],
)  # fmt: skip
def test_a_journal_of_no_ingest_is_an_error(
    journal: bytes, records: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(records / "a.ndjson", check("one"))
    ingest(records, out)
    (out / ".ingest/new").mkdir(parents=True)
    for source in (out / ".ingest/stranger", out / ".ingest/new/stranger"):
        source.write_text("new")
    (tmp_path / "stranger").write_text("old")
    (out / ".journal").write_bytes(journal)
    before = content(out)
    assert main(["ingest", str(records), str(out)]) == 4
    assert f"{out}/.journal is damaged" in capsys.readouterr().err
    assert (tmp_path / "stranger").read_text() == "old" and (out / ".ingest/new/stranger").exists()
    # The remedy that the error names.
    for name in (".journal", ".ingested.parquet"):
        (out / name).unlink()
    ingest(records, out)
    assert content(out) == before


def test_a_second_ingest_at_once_is_refused(records: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(records / "a.ndjson", check("one"))
    with _dataset.Dataset(str(out)).writing():
        assert main(["ingest", str(records), str(out), "--quiet"]) == 4
    assert "another ingest writes to" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["*", "a*b", "[ab]", "a{b,c}", "'", '"', "\n", "%", "a b;--", "日本"])
def test_names_of_folders_are_no_patterns(name: str, records: Path, out: Path, tmp_path: Path) -> None:
    """A pattern would also find what is in the neighbors."""
    write(tmp_path / name / "records" / "a.ndjson", check("one"))
    write(records / "b.ndjson", check("two"))
    for neighbor in ("axb", "a", "ab"):
        ingest(records, tmp_path / neighbor / "out")
    for _ in range(2):
        ingest(tmp_path / name / "records", tmp_path / name / "out")
        assert rows(tmp_path / name / "out", "SELECT host FROM checks") == [("one",)]
        write(tmp_path / name / "records" / "c.ndjson", check("one", number="1"))


def test_names_that_duckdb_does_not_take_are_refused(
    records: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "a\\b?" / "a.ndjson", check("one"))
    for name in ("a\\b", "a?", "s3://bucket/out"):
        assert main(["ingest", str(records), name if ":" in name else str(tmp_path / name)]) == 4
        assert "without a backslash" in capsys.readouterr().err
        assert not (tmp_path / name).exists()
    ingest(tmp_path / "a\\b?", out)
    assert table(out, "checks", "host") == [("one",)]
    out.rename(tmp_path / "a\\b")
    assert main(["query", str(tmp_path / "a\\b"), "rejects"]) == 4
    assert "with a backslash" in capsys.readouterr().err
