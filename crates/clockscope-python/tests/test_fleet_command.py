"""The command of a fleet: its queries, errors and outputs, with DuckDB."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from clockscope.fleet import _queries
from clockscope.fleet.__main__ import main
from clockscope.fleet._dataset import TABLES
from clockscope.fleet._engines import DuckDb, Settings
from clockscope.fleet._problems import FleetError
from fleet_checks import check, content, ingest, rows, table, write


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ingest", "{none}", "{out}"], "it is not a folder"),
        (["ingest", "{records}", "{records}/out"], "it is inside"),
        (["query", "{none}", "rejects"], "has no tables"),
        (["query", "{out}", "nothing"], "there is no query 'nothing'"),
        (["query", "{out}", "{none}.sql"], "cannot read"),
        (["query", "{out}", "rejects", "--master", "local"], "--master is Spark's"),
        (["query", "{out}", "rejects", "--inventory", "{none}"], "No such file"),
    ],
)
def test_errors_say_what_was_asked(
    arguments: list[str], message: str, records: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(records / "a.ndjson", check("one"))
    ingest(records, out)
    folders = {"none": str(tmp_path / "none"), "records": str(records), "out": str(out)}
    assert main([argument.format(**folders) for argument in arguments]) == 4
    assert message in capsys.readouterr().err


def test_a_dataset_without_a_check_shows_its_rejects(records: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (records / "empty").touch()
    ingest(records, out)
    assert main(["query", str(out), "rejects", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("empty,")
    for query in _queries.every():
        rows(out, query.sql)


def test_a_day_that_has_just_begun_is_not_looked_at(records: Path, out: Path) -> None:
    for host in ("a", "b", "c"):
        write(records / f"{host}.ndjson", check(host, state="unsynchronized"))
    write(records / "next.ndjson", check("a", "2026-10-02T00:10:00Z", state="unsynchronized"))
    ingest(records, out)
    assert [row[0] for row in rows(out, _queries.find("unsynchronized").sql)] == ["a", "b", "c"]
    # Of the others, the check of the day before counts.
    with DuckDb(str(out), Settings(as_of=date(2026, 10, 2))) as engine:
        found = engine.query(_queries.find("unsynchronized").sql).rows
        assert [(row[0], row[3]) for row in found] == [("a", 2), ("b", 1), ("c", 1)]


def test_an_inventory_has_a_host_a_line(records: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(records / "a.ndjson", check("one"))
    ingest(records, out)
    (tmp_path / "hosts").write_bytes("\ufeffone\r\n# two\r\n\r\n  \r\nthree four \t\r\n".encode())
    assert main(["query", str(out), "silent", "--inventory", str(tmp_path / "hosts"), "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["three four,never,,"]


def test_a_table_that_was_removed_is_an_error(records: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(records / "a.ndjson", check("one"))
    ingest(records, out)
    before = content(out)
    for removed in TABLES:
        shutil.rmtree(out / removed)
        capsys.readouterr()
        assert main(["query", str(out), "clocksources"]) == 4
        assert f"lacks the files of {removed}" in capsys.readouterr().err
        # The remedy that the error names.
        (out / ".ingested.parquet").unlink()
        ingest(records, out)
        assert content(out) == before


def test_every_query_begins_with_its_question() -> None:
    for query in _queries.every():
        assert query.sql.startswith("-- ") and query.question.endswith("?"), query.name


def test_statements_of_users_that_are_wrong(records: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(records / "a.ndjson", check("one"))
    ingest(records, out)
    (tmp_path / "mine.sql").write_text("SELECT nothing FROM checks;\n")
    assert main(["query", str(out), str(tmp_path / "mine.sql")]) == 4
    assert "refuses the query" in capsys.readouterr().err
    for wrong in ("SELECT 1; SELECT", "SELECT 1; SELECT 2", "", "-- nothing"):
        with pytest.raises(FleetError):
            rows(out, wrong)
    (tmp_path / "mine.sql").write_text("SELECT 'nan'::DOUBLE AS a, INTERVAL 1 DAY AS b, '\\xff'::BLOB AS c;\n")
    capsys.readouterr()
    assert main(["query", str(out), str(tmp_path / "mine.sql"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["a"] is None
    (tmp_path / "mine.sql").write_text("SELECT 1 AS a, 2 AS a")
    assert main(["query", str(out), str(tmp_path / "mine.sql"), "--format", "json"]) == 4


def test_formats(records: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(records / "a.ndjson", check('a "b", c\x1b[2J', state="unsynchronized"))
    ingest(records, out)
    capsys.readouterr()
    assert main(["query", str(out), "unsynchronized"]) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed and "2026-10-01" in printed
    assert main(["query", str(out), "unsynchronized", "--format", "json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["since"] == "2026-10-01"
    assert main(["query", str(out), "unsynchronized", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("host,time_of_day_state,since")


def test_output_that_is_closed_or_full_is_an_error(records: Path, out: Path) -> None:
    write(records / "a.ndjson", check("one"))
    ingest(records, out)
    query = f"'{sys.executable}' -m clockscope.fleet query '{out}' clocksources"
    for target, message in ((">&-", "standard output is closed"), ("> /dev/full", "No space left")):
        done = subprocess.run(["sh", "-c", f"{query} {target}"], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (4, 1) and message in done.stderr, done


def test_ctrl_c_while_duckdb_works(records: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: object, *_: object) -> None:
        raise RuntimeError("Query interrupted")

    write(records / "a.ndjson", check("one"))
    monkeypatch.setattr("clockscope.fleet._ingest._Ingest._join", interrupted)
    assert main(["ingest", str(records), str(out), "--quiet"]) == 130


def test_standard_error_that_is_closed_or_full_loses_lines_alone(records: Path, out: Path) -> None:
    write(records / "a.ndjson", check("one"))
    for number, target in enumerate(("2>&-", "2> /dev/full")):
        command = f"'{sys.executable}' -m clockscope.fleet ingest '{records}' '{out}{number}' {target}"
        assert subprocess.run(["sh", "-c", command], check=False).returncode == 0


def test_what_a_killed_ingest_leaves_is_cleared_away(records: Path, out: Path) -> None:
    write(records / "a.ndjson", check("one"))
    kill = (
        "import os, signal; from clockscope.fleet import __main__, _dataset; "
        "_dataset.Dataset.new_manifest = lambda self: os.kill(os.getpid(), signal.SIGKILL); "
        f"__main__.main(['ingest', {str(records)!r}, {str(out)!r}])"
    )
    assert subprocess.run([sys.executable, "-c", kill], check=False).returncode == -9
    assert (out / ".ingest").exists() and not (out / "checks").exists()
    ingest(records, out)
    assert table(out, "checks", "host") == [("one",)]
    assert not (out / ".ingest").exists()


def test_the_command_is_installed_and_needs_its_extra(records: Path, out: Path) -> None:
    hidden = "import sys; sys.modules['duckdb'] = None; from clockscope.fleet.__main__ import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", hidden, "ingest", str(records), str(out)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 4 and "extra fleet" in done.stderr
    assert not out.exists()
    assert os.access(Path(sys.executable).parent / "clockscope-fleet", os.X_OK)
