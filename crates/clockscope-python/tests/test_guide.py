"""The guide's examples run as they are printed."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot

import clockscope

matplotlib.use("agg")

GUIDES = Path(__file__).parents[3] / "docs" / "guides"
NOTEBOOK = GUIDES / "python.ipynb"


def guide() -> str:
    return "\n".join((GUIDES / f"{name}.md").read_text() for name in ["python", "python-stamps", "python-machine"])


def test_every_example_runs() -> None:
    examples = re.findall(r"^```python\n(.*?)^```$", guide(), re.MULTILINE | re.DOTALL)
    assert len(examples) > 5
    names: dict[str, Any] = {"__name__": "guide"}
    for example in examples:
        exec(compile(example, "guide", "exec"), names)
    names["pytest_sessionstart"](None)


def evaluated(cell: str, names: dict[str, Any]) -> Any:
    """Runs a cell of a notebook; the value that the notebook shows of it."""
    parsed = ast.parse(cell)
    last = parsed.body.pop()
    if not isinstance(last, ast.Expr):
        parsed.body.append(last)
    exec(compile(parsed, str(NOTEBOOK), "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)


def test_the_notebook_runs() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    names: dict[str, Any] = {"__name__": "__main__"}
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    values = [evaluated(cell, names) for cell in code]
    matplotlib.pyplot.close("all")
    assert len(code) > 5 and not any(cell.get("outputs") for cell in cells)
    # The first cell answers which timer: by Python's own clocks.
    assert names["timers"].language == "python" and names["timers"].rows
    assert isinstance(values[1], clockscope.Readings) and "monotonic" in values[1]
    described = names["described"]
    assert {"count", "mean", "std", "min", "25%", "50%", "75%", "max"} == set(described.index)
    # Each clock was read as often, and its first reading has no difference.
    assert (described.loc["count"] == 9_999).all() and described.loc["50%", "monotonic"] > 0
    assert names["advice"].rows


def test_the_guide_names_all_functions_and_exceptions() -> None:
    text = guide()
    types_of_answers = {"ClockInfo", "ErrorBound", "Evidence", "Fields", "Readings", "Record", "Table"}
    missing = [name for name in clockscope.__all__ if f"`{name}" not in text and f".{name}(" not in text]
    assert set(missing) <= types_of_answers
