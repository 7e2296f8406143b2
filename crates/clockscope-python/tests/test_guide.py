"""The guide's examples run as they are printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import clockscope

GUIDE = Path(__file__).parents[3] / "docs" / "python.md"


def test_every_example_runs() -> None:
    examples = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(examples) > 5
    names: dict[str, Any] = {"__name__": "guide"}
    for example in examples:
        exec(compile(example, str(GUIDE), "exec"), names)
    names["pytest_sessionstart"](None)


def test_the_guide_names_all_functions_and_exceptions() -> None:
    text = GUIDE.read_text()
    types_of_answers = {"ClockInfo", "ErrorBound", "Evidence", "Fields", "Record"}
    missing = [name for name in clockscope.__all__ if f"`{name}" not in text and f".{name}(" not in text]
    assert set(missing) <= types_of_answers
