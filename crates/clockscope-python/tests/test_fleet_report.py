"""The report of a fleet."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clockscope.fleet import _queries, _report
from clockscope.fleet.__main__ import main
from fleet_checks import Lines, check, ingest, write

HOSTILE = "<script>alert(1)</script>'; DROP TABLE checks; --\u202e|`x`![a](http://example.net)"


def unfit(lines: Lines) -> Lines:
    """The same check with a clock that steps back."""
    found = {"check": "steps_back", "finding": "against", "decides": True, "count": 3, "readings": 5000, "text": "3 steps back",
             "advice": "use <b>another</b> clock", "worst_ns": 7.0}  # fmt: skip
    (tsc,) = [line for line in lines if line.get("clock") == "tsc"]
    tsc |= {"verdict": "unfit", "uses": {"interval": "unfit", "time_of_day": None}, "evidence": [found]}
    return lines


@pytest.fixture
def out(tmp_path: Path) -> Path:
    records = tmp_path / "records"
    for day in (1, 2):
        write(records / f"{day}-a.ndjson", check("a", f"2026-10-0{day}T10:00:00Z"))
        write(records / f"{day}-b.ndjson", unfit(check(HOSTILE, f"2026-10-0{day}T10:00:00Z")))
    (records / "bad.ndjson").write_text("no record\n")
    ingest(records, tmp_path / "out")
    return tmp_path / "out"


def document(out: Path, *options: str) -> dict[str, Any]:
    path = out.parent / "fleet.json"
    assert main(["report", str(out), "-o", str(path), *options]) == 0
    found = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_a_document_has_the_answers_to_all_queries(out: Path) -> None:
    found = document(out)
    assert (found["schema"], found["as_of"]) == ("clockscope.fleet", "2026-10-02")
    assert (found["hosts"], found["recent_hosts"], found["checks"]) == (2, 2, 4)
    answers = {answer["query"]: answer for answer in found["answers"]}
    assert set(answers) == {query.name for query in _queries.every()}
    (row,) = [dict(zip(answers["offenders"]["columns"], row, strict=True)) for row in answers["offenders"]["rows"]]
    assert (row["host"], row["clock"], row["text"]) == (HOSTILE, "tsc", "3 steps back")
    assert (answers["offenders"]["hosts"], answers["clocksources"]["hosts"]) == (1, None)
    assert answers["rejects"]["row_count"] == 1


def test_a_page_has_offenders_remedies_and_trends_and_needs_no_other_file(out: Path) -> None:
    path = out.parent / "fleet.html"
    assert main(["report", str(out), "-o", str(path), "--quiet"]) == 0
    page = path.read_text(encoding="utf-8")
    assert "Unfit or limited clocks: on 1 of 2 hosts." in page
    assert "use &lt;b&gt;another&lt;/b&gt; clock" in page
    assert "&lt;script&gt;alert(1)" in page and "<script>alert" not in page and "\u202e" not in page
    assert page.count("<svg") == 3
    assert not re.search(r"(src|href)=.?(https?:)?//", page)


def test_a_report_may_be_of_an_earlier_day(out: Path) -> None:
    found = document(out, "--as-of", "2026-10-01")
    assert (found["as_of"], found["checks"]) == ("2026-10-01", 2)
    page = out.parent / "fleet.md"
    assert main(["report", str(out), "-o", str(page), "--as-of", "2026-09-01"]) == 0
    assert "No checks until 2026-09-01." in page.read_text(encoding="utf-8")


def test_markdown_has_the_data_of_trends_and_no_link_of_a_record(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(out.parent)
    assert main(["report", str(out), "--output=-x.md"]) == 0
    page = (out.parent / "-x.md").read_text(encoding="utf-8")
    assert "### daily_verdicts" in page and "unfit" in page
    assert "](" not in page


def test_a_dataset_without_a_check_has_a_report(tmp_path: Path) -> None:
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "bad.ndjson").write_text("no record\n")
    ingest(tmp_path / "records", tmp_path / "out")
    found = document(tmp_path / "out")
    assert (found["as_of"], found["hosts"], found["checks"]) == (None, 0, 0)
    path = tmp_path / "fleet.md"
    assert main(["report", str(tmp_path / "out"), "-o", str(path)]) == 0
    assert "No checks." in path.read_text(encoding="utf-8")


def test_a_report_has_the_first_rows_and_their_number(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_report, "_MOST_ROWS", 1)
    (found,) = [answer for answer in document(out)["answers"] if answer["query"] == "cost_quantiles"]
    assert (len(found["rows"]), found["row_count"]) == (1, 2)
    (trend,) = [answer for answer in document(out)["answers"] if answer["query"] == "daily_costs"]
    assert len(trend["rows"]) == trend["row_count"] == 4


@pytest.mark.parametrize("name", ["fleet.txt", "fleet", "missing/fleet.html", "folder.html"])
def test_what_cannot_be_written_is_an_error(name: str, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (out.parent / "folder.html").mkdir()
    before = sorted(out.parent.iterdir())
    assert main(["report", str(out), "-o", str(out.parent / name)]) == 4
    error = capsys.readouterr().err
    assert error.startswith("error: ") and name in error
    assert sorted(out.parent.iterdir()) == before


def test_a_report_needs_the_command(out: Path, nowhere: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(out), "-o", str(out.parent / "fleet.html")]) == 4
    assert "the command clockscope is missing" in capsys.readouterr().err
