"""Records as tables: for Arrow, for pandas, and without either."""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import threading
from typing import Any

import pandas
import pyarrow
import pytest

import clockscope
from clockscope import Record, _native

ROWS: list[dict[str, Any]] = [
    {
        "name": "tsc",
        "cost_ns": {"median": 7.9, "ci95": [7.8, 8.0], "p99": None, "unknown": {"p99": {"code": "few_batches"}}},
        "tick_ns": None,
        "reads": 10,
        "is_ordered": False,
        "huge": 2**64 - 1,
        "mixed": 1,
        "value": "a word",
        "unknown": {"tick_ns": {"code": "no_lattice"}},
    },
    {
        "name": "caf\N{LATIN SMALL LETTER E WITH ACUTE}",
        "cost_ns": None,
        "tick_ns": None,
        "reads": None,
        "is_ordered": True,
        "huge": 0,
        "mixed": 2.5,
        "value": 3,
        "unknown": {},
        "later": "a column of this row alone",
    },
    {"name": "", "is_ordered": None},
]


def document(**keys: Any) -> Record:
    return Record(json.dumps({"schema": "clockscope.measure", "schema_version": 1, "recorded_at": None, **keys}))


@pytest.fixture
def record() -> Record:
    return document(clocks=ROWS, empty=[], numbers=[1, 2], run={"cpu": 1})


def test_the_columns_have_one_type_each(record: Record) -> None:
    table = record.table()
    assert table.name == "clocks" and len(table) == 3 and record.tables == ("clocks", "empty")
    assert table.columns[:3] == ("name", "cost_ns.median", "cost_ns.ci95")
    assert table["cost_ns.median"] == (7.9, None, None) and table["cost_ns.ci95"] == ("[7.8, 8.0]", None, None)
    assert table["mixed"] == (1.0, 2.5, None) and table["value"] == ("a word", "3", None)
    assert table["unknown"] == ('{"tick_ns": {"code": "no_lattice"}}', None, None)
    assert table["cost_ns.unknown"] == ('{"p99": {"code": "few_batches"}}', None, None)
    assert table["later"] == (None, "a column of this row alone", None)
    with pytest.raises(KeyError):
        table["none"]
    assert repr(table) == "<clockscope.Table 'clocks' of 3 rows and 14 columns>"


def test_arrow_reads_a_record(record: Record) -> None:
    table = pyarrow.table(record)
    table.validate(full=True)
    assert table.column_names == list(record.table().columns)
    for name in table.column_names:
        assert tuple(table[name].to_pylist()) == record.table()[name], name
    types = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert types["name"] == "string" and types["is_ordered"] == "bool" and types["tick_ns"] == "null"
    assert types["cost_ns.median"] == types["mixed"] == "double"
    assert types["reads"] == "int64" and types["huge"] == "uint64"


def test_a_table_of_many_rows_is_whole() -> None:
    rows = [{"i": i, "b": i % 3 == 0, "t": str(i), "n": None if i % 5 else i / 2} for i in range(1000)]
    table = pyarrow.table(document(rows=rows))
    table.validate(full=True)
    assert table.to_pylist() == rows and table["n"].null_count == 800


def test_other_tables_have_names(record: Record) -> None:
    assert len(record.table("empty")) == 0 and pyarrow.table(record.table("empty")).shape == (0, 0)
    with pytest.raises(ValueError, match="unknown table 'clock': expected clocks, empty"):
        record.table("clock")
    with pytest.raises(ValueError, match="the record has none"):
        document().table("clocks")


def test_the_main_table_is_not_a_list_of_what_went_wrong() -> None:
    compared = json.loads(document(changes=[{"fact": "kernel"}], clocks=[{"name": "tsc"}]).to_json())
    compared["schema"] = "clockscope.compare"
    assert Record(json.dumps(compared)).table().name == "clocks"
    assert document(lost=[], rows=[{"a": 1}]).table().name == "rows"
    assert document(lost=[]).table().name == "lost"


def test_a_record_without_a_table_is_one_row() -> None:
    table = document(run={"cpu": 1}).table()
    assert (table.name, len(table), table["run.cpu"]) == ("", 1, (1,))


def test_every_answer_is_a_table() -> None:
    for record in (clockscope.info(), clockscope.list_clocks(), clockscope.measure("monotonic", duration=0.05)):
        table = pyarrow.table(record)
        table.validate(full=True)
        assert table.num_rows == len(record.to_pandas()) > 0


def test_pandas_has_the_same(record: Record) -> None:
    frame = record.to_pandas()
    assert list(frame.columns) == list(record.table().columns) and len(frame) == 3
    assert frame["cost_ns.median"].dtype == "float64" and frame["reads"].dtype == "Int64"
    assert frame["huge"][0] == 2**64 - 1 and frame["is_ordered"].dtype == "boolean"
    assert frame["name"][1] == ROWS[1]["name"] and pandas.isna(frame["later"][0])
    assert len(record.to_pandas("empty")) == 0


class Stream(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")
    ]


def test_what_arrow_keeps_outlives_the_record(record: Record) -> None:
    table = pyarrow.table(record)
    column, expected = table["name"], [row["name"] for row in ROWS]
    del table, record
    gc.collect()
    assert column.to_pylist() == expected
    # A child that outlives its batch.
    batches = pyarrow.RecordBatchReader.from_stream(document(rows=[{"t": "a" * 1000}] * 100))
    first = batches.read_next_batch().column(0)
    with pytest.raises(StopIteration):
        batches.read_next_batch()
    del batches
    gc.collect()
    assert first.to_pylist() == ["a" * 1000] * 100


def test_a_capsule_that_nobody_takes_is_freed(record: Record) -> None:
    for _ in range(1000):
        capsule = record.__arrow_c_stream__()
        del capsule
    capsule = record.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = Stream.from_address(pointer(capsule, b"arrow_array_stream"))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(stream.release)(ctypes.addressof(stream))
    assert stream.release is None
    # Freed, and not released again.
    del capsule
    assert pyarrow.table(record).num_rows == 3


def test_a_schema_is_given_as_often_as_requested(record: Record) -> None:
    reader = pyarrow.RecordBatchReader.from_stream(record)
    assert reader.schema == pyarrow.table(record).schema == reader.schema


def test_arrow_frees_after_the_interpreter_is_gone() -> None:
    program = """
import clockscope, pyarrow, json
table = pyarrow.table(clockscope.Record('{"schema": "clockscope.x", "schema_version": 1, "rows": [{"a": 1, "b": "c"}]}'))
import builtins
builtins.table = table
print(table.num_rows)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_threads_read_one_record(record: Record) -> None:
    tables: list[pyarrow.Table] = []
    threads = [threading.Thread(target=lambda: tables.append(pyarrow.table(record))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tables) == 8 and all(table == tables[0] for table in tables)


WORD = b"12345678"


@pytest.mark.parametrize(
    ("table", "error"),
    [
        (None, SystemError),
        ((), IndexError),
        ((-1, ()), OverflowError),
        ((1, None), SystemError),
        ((1, ((),)), IndexError),
        ((1, (("a", "l", 0, ()),)), ValueError),
        ((1, (("a", "l", 0, (None, None)),)), ValueError),
        ((2, (("a", "l", 0, (None, WORD)),)), ValueError),
        ((2**62, (("a", "l", 0, (None, WORD)),)), ValueError),
        ((9, (("a", "l", 0, (b"1", WORD * 9)),)), ValueError),
        ((9, (("a", "b", 0, (None, b"1")),)), ValueError),
        ((1, (("a", "u", 0, (None, b"\0\0\0\0\2\0\0\0", b"1")),)), ValueError),
        ((1, (("a", "u", 0, (None, b"\0\0\0\0", b"1")),)), ValueError),
        ((1, (("a", "u", 0, (None, b"\0\0\0\0\xff\xff\xff\xff", b"1")),)), ValueError),
        ((1, (("a", "u", 0, (None, b"\1\0\0\0\1\0\0\0", b"1")),)), ValueError),
        ((2, (("a", "u", 0, (None, b"\0\0\0\0\2\0\0\0\1\0\0\0", b"12")),)), ValueError),
        ((1, (("a", "n", 0, (None,)),)), ValueError),
        ((1, (("a", "x", 0, (None, WORD)),)), ValueError),
        ((1, (("a\0", "l", 0, (None, WORD)),)), ValueError),
        ((1, (("\udc80", "l", 0, (None, WORD)),)), UnicodeEncodeError),
        ((1, (("a", "l", 0, (None, bytearray(8))),)), TypeError),
        ((1, ((1, "l", 0, (None, WORD)),)), TypeError),
        ((1, (("a", "l", "0", (None, WORD)),)), TypeError),
    ],
)
def test_what_is_no_table_is_refused(table: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        _native.arrow_stream(table)


@pytest.mark.parametrize(
    ("module", "extra", "question"),
    [
        ("pandas", "pandas", "record.to_pandas()"),
        ("pandas", "pandas", "clockscope.Readings(record, {}).to_pandas()"),
        ("matplotlib", "plot", "record.plot()"),
    ],
)
def test_a_missing_extra_is_named(module: str, extra: str, question: str) -> None:
    program = f"""
import sys
sys.modules[{module!r}] = None
import clockscope
record = clockscope.Record('{{"schema": "clockscope.measure", "schema_version": 1, "clocks": []}}')
try:
    {question}
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith(f"needs {module}, of this package's extra {extra}: pip install {module}\n")
