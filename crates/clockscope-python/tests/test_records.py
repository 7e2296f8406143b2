"""Records: what they read and refuse, that they do not change, and that they can be sent."""

from __future__ import annotations

import copy
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import clockscope
from clockscope import Fields, Record, _command

DOCUMENT: dict[str, Any] = {
    "schema": "clockscope.measure",
    "schema_version": 1,
    "recorded_at": "2026-11-23T20:45:32Z",
    "run": {"interrupted": False},
    "clocks": [
        {
            "name": "tsc",
            "cost_ns": {"median": 7.9},
            "tick_ns": None,
            "unknown": {"tick_ns": {"code": "other", "text": "why"}},
            "is": 1,
        }
    ],
    "a key of a later version": [[1, {"x": 2}]],
}


@pytest.fixture
def record() -> Record:
    return Record(json.dumps(DOCUMENT))


def test_keys_are_attributes(record: Record) -> None:
    (clock,) = record.clocks
    assert clock.name == "tsc" and clock.cost_ns.median == 7.9 and clock.tick_ns is None
    assert clock.unknown["tick_ns"].code == "other" and clock["is"] == 1
    assert clock.unknown.tick_ns.text == "why" and len(clock.cost_ns.unknown) == 0
    assert record["a key of a later version"][0][1].x == 2
    assert set(DOCUMENT) <= set(dir(record)) and list(record) == list(DOCUMENT) and len(record) == len(DOCUMENT)
    assert "clocks" in record and "clock" not in record
    with pytest.raises(AttributeError, match="no key 'clocs'"):
        record.clocs
    with pytest.raises(KeyError):
        record["clocs"]
    assert repr(record) == "<clockscope.Record 'clockscope.measure' of 2026-11-23T20:45:32Z>"
    assert repr(clock) == "Fields(name='tsc', tick_ns=None, is=1, ...)"


def test_nothing_can_be_changed(record: Record) -> None:
    for target in (record, record.run):
        with pytest.raises(AttributeError, match="immutable"):
            target.schema = "other"
        with pytest.raises(AttributeError, match="immutable"):
            del target.schema
        with pytest.raises(TypeError):
            target["schema"] = "other"
        data = target.to_dict()
        data.clear()
        assert len(target) > 0
    assert isinstance(record.clocks, tuple)
    inner = record.to_dict()
    inner["clocks"][0]["name"] = "other"
    assert record.clocks[0].name == "tsc"
    assert record.to_dict() == DOCUMENT and json.loads(record.to_json()) == DOCUMENT


def test_records_are_compared_by_their_contents(record: Record) -> None:
    same = Record(json.dumps(DOCUMENT, indent=4))
    other = Record(json.dumps({**DOCUMENT, "recorded_at": None}))
    assert record == same and hash(record) == hash(same) and record != other and record != DOCUMENT
    assert len({record, same, other}) == 2


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_records_and_errors_are_pickled(record: Record, protocol: int) -> None:
    for one in (record, record.clocks[0]):
        again = pickle.loads(pickle.dumps(one, protocol))
        assert again == one and type(again) is type(one)
    for error in (
        clockscope.Interrupted,
        clockscope.Undetermined,
        clockscope.FindingError,
        clockscope.ClockUnavailable,
    ):
        again = pickle.loads(pickle.dumps(error("why", record), protocol))
        assert type(again) is error and again.record == record and str(again) == "why"
    assert copy.copy(record) == copy.deepcopy(record) == record


def test_a_file_is_read(tmp_path: Path, record: Record) -> None:
    file = tmp_path / "record.json"
    file.write_text(record.to_json())
    assert clockscope.read_record(file) == clockscope.read_record(str(file)) == record
    with pytest.raises(FileNotFoundError):
        clockscope.read_record(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "Expecting value"),
        ("{", "Expecting property name"),
        ("[]", 'expected a document with the key "schema"'),
        ('{"schema": 3}', 'expected a document with the key "schema"'),
        ('{"schema": "other.measure", "schema_version": 1}', 'expected a document with the key "schema"'),
        ('{"schema": "clockscope.measure"}', "schema_version None of clockscope.measure: expected 1"),
        ('{"schema": "clockscope.measure", "schema_version": 2}', "install a newer clockscope"),
        (
            '{"schema": "clockscope.measure", "schema_version": 0}',
            "schema_version 0 of clockscope.measure: expected 1$",
        ),
        ('{"schema": "clockscope.measure", "schema_version": true}', "schema_version True"),
        ('{"schema": "clockscope.measure", "schema_version": 1, "x": NaN}', "NaN is not JSON"),
        ("[" * 200_000, "nested too deeply"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "record.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=expected) as raised:
        clockscope.read_record(file)
    assert str(raised.value).startswith(str(file))


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(ValueError):
        clockscope.read_record(file)


def test_the_text_is_the_terminals_page() -> None:
    page = str(clockscope.measure("monotonic", duration=0.05))
    conclusion, table = re.split(r"(?m)^ *Name ", page)
    assert conclusion.strip() and re.search(r"(?m)^> monotonic +[0-9]", table) and "\x1b" not in page


def test_without_the_command_the_text_says_so(nowhere: None, record: Record) -> None:
    assert str(record).startswith(repr(record)) and "the command clockscope is missing" in str(record)


def test_a_command_that_cannot_be_executed_shows_in_the_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, record: Record
) -> None:
    file = tmp_path / _command._NAME
    file.write_bytes(b"\x7fELF")
    file.chmod(0o755)
    monkeypatch.setattr(_command, "_folders", lambda: iter([str(tmp_path)]))
    assert "no table: " in str(record)


def test_only_text_is_a_record() -> None:
    for wrong in (json.dumps(DOCUMENT).encode(), None, DOCUMENT):
        with pytest.raises(TypeError):
            Record(wrong)  # type: ignore[arg-type]


def test_fields_have_the_same_surface(record: Record) -> None:
    run = record.run
    assert isinstance(run, Fields) and run.to_dict() == {"interrupted": False}
    assert json.loads(run.to_json()) == {"interrupted": False}
