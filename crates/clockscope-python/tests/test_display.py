"""Records as pages in notebooks, and as charts."""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import matplotlib
import matplotlib.pyplot
import numpy
import pytest

import clockscope
from clockscope import Record, _command

matplotlib.use("agg")


class Page(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_notebook_shows_the_page_in_a_frame_without_script() -> None:
    record = clockscope.measure("monotonic", duration=0.05)
    fragment = record._repr_html_()
    assert fragment is not None
    ((tag, attributes),) = Page(fragment).elements
    assert tag == "iframe" and attributes["sandbox"] is None and attributes["title"] == repr(record)
    page = _command.report(record.to_json(), "html")
    assert attributes["srcdoc"] == page
    inner = Page(page)
    assert {"table", "svg"} <= {tag for tag, _ in inner.elements} and "monotonic" in inner.texts


def test_a_hostile_record_stays_inside_of_its_frame() -> None:
    hostile = clockscope.measure("monotonic", duration=0.05).to_dict()
    hostile["clocks"][0]["name"] = '"></iframe><script>alert(1)</script>'
    hostile["recorded_at"] = "2026-11-23T20:45:32Z"
    fragment = Record(json.dumps(hostile))._repr_html_()
    assert fragment is not None and [tag for tag, _ in Page(fragment).elements] == ["iframe"]


def test_without_the_command_a_notebook_shows_the_text(nowhere: None) -> None:
    record = Record('{"schema": "clockscope.measure", "schema_version": 1, "recorded_at": null}')
    assert record._repr_html_() is None


def test_answers_are_drawn() -> None:
    ask: Callable[[], Record]
    for ask, label in (
        (lambda: clockscope.measure(["monotonic", "realtime"], duration=0.05), "cost per read (ns)"),
        (lambda: clockscope.steps(["monotonic", "realtime"], reads=2000), "difference (ns)"),
        (lambda: clockscope.gaps(duration=0.05), "lost time (ms)"),
    ):
        record = ask()
        try:
            axes = record.plot()
        except ValueError as error:
            # A quiet machine loses nothing.
            assert "nothing to draw" in str(error) and not record.gaps[0].causes
            continue
        assert axes.get_xlabel() == label and (axes.patches or axes.lines)
        matplotlib.pyplot.close("all")


def document(schema: str, **keys: Any) -> Record:
    return Record(json.dumps({"schema": f"clockscope.{schema}", "schema_version": 1, **keys}))


def drawn(record: Record) -> tuple[list[str], list[float]]:
    """The labels and lengths of bars."""
    axes = record.plot()
    labels = [text.get_text() for text in axes.get_yticklabels()]
    widths = [float(bar.get_width()) for bar in axes.patches]  # type: ignore[attr-defined]
    matplotlib.pyplot.close("all")
    return labels, widths


def test_what_is_unknown_is_not_drawn() -> None:
    known, unknown = {"median": 8.0, "ci95": [7.5, 7.9]}, {"median": None, "ci95": None}
    clocks = [{"name": "a", "cost_ns": known}, {"name": "b", "cost_ns": None}, {"name": "c", "cost_ns": unknown}]
    assert drawn(document("measure", clocks=clocks)) == (["a"], [8.0])
    rates = [{"name": "a", "ppm": -3.5, "bound_ppm": 1.0}, {"name": "b", "ppm": None, "bound_ppm": None}]
    assert drawn(document("rate", clocks=rates, reference="r")) == (["a"], [-3.5])
    pairs = [{"a": 0, "b": 1, "offset_ns": 2.0, "bound_ns": 9.0}, {"a": 0, "b": 2, "offset_ns": None, "bound_ns": 1}]
    assert drawn(document("offsets", pairs=pairs)) == (["CPUs 0, 1"], [2.0])
    probes = [{"title": "C", "api": "f", "cost": known}, {"title": "D", "api": "g", "cost": None}]
    assert drawn(document("runtimes", runtimes=probes)) == (["C f"], [8.0])
    gaps = [{"cpu": 1, "causes": [{"cause": "a_cause", "total_ns": 2e6}]}]
    assert drawn(document("gaps", gaps=gaps)) == (["CPU 1: a cause"], [2.0])


def test_steps_are_drawn_as_shares_of_all() -> None:
    differences = [{"ns": 1.0, "count": 1}, {"ns": 2.0, "count": 2}]
    clocks = [
        {"name": "a", "available": True, "differences": differences, "summary": {"count": 4}},
        {"name": "b", "available": False, "differences": [], "summary": None},
    ]
    axes = document("steps", clocks=clocks).plot()
    assert [numpy.asarray(line.get_ydata()).tolist() for line in axes.lines] == [[0.25, 0.75]]
    matplotlib.pyplot.close("all")


def test_lateness_is_drawn_for_each_call() -> None:
    rows = [{"call": call, "requested_ns": 1000, "p50_ns": p50} for call, p50 in (("a", 1500.0), ("b", None))]
    axes = document("sleep", rows=rows).plot()
    assert [(line.get_label(), numpy.asarray(line.get_ydata()).tolist()) for line in axes.lines] == [("a", [500.0])]
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("schema", ["measure", "steps", "rate", "sleep"])
def test_nothing_is_not_drawn(schema: str) -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        document(schema, clocks=[], rows=[], reference="r").plot()


def test_a_record_without_a_chart_names_those_that_have_one() -> None:
    with pytest.raises(ValueError, match="no chart of clockscope.info: expected a record of measure, steps, rate"):
        document("info").plot()


def test_a_chart_is_drawn_on_the_callers_axes() -> None:
    _, axes = matplotlib.pyplot.subplots(1, 2)
    record = document("measure", clocks=[{"name": "a", "cost_ns": {"median": 8.0, "ci95": None}}])
    assert record.plot(axes[1]) is axes[1] and not axes[0].patches
    matplotlib.pyplot.close("all")
