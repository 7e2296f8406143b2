"""Cycles between the package's modules."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import clockscope

FOLDER = Path(clockscope.__file__).parent
PACKAGE = "__init__"


def imported(source: str, modules: set[str]) -> set[str]:
    """Returns the modules of the package that a source imports, in functions and for types too.

    `from clockscope import x` imports the module x, or the package itself if x is not a module.
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            paths = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(filter(None, ["clockscope" if node.level else "", node.module]))
            paths = [f"{start}.{alias.name}" for alias in node.names]
        else:
            continue
        for path in paths:
            top, _, tail = path.partition(".")
            if top == "clockscope":
                name = tail.partition(".")[0]
                found.add(name if name in modules else PACKAGE)
    return found


def dependencies(folder: Path) -> dict[str, set[str]]:
    """Returns the imports of each module. The stub names the modules that the package loads lazily.

    Every module may import `_native`: it is written in Rust, and its stub imports nothing. Only
    when a call fails does it import the package, for its exceptions.
    """
    files = [*folder.glob("*.py"), *folder.glob("*.pyi")]
    modules = {file.stem for file in files}
    graph: dict[str, set[str]] = {module: set() for module in modules}
    for file in files:
        graph[file.stem] |= imported(file.read_text(), modules)
    return graph


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Returns a cycle, which ends with its first module; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_no_modules_depend_on_each_other_in_a_cycle() -> None:
    graph = dependencies(FOLDER)
    assert cycle(graph) == []
    assert graph["__main__"] > {PACKAGE} and {"_record", "_native", "_questions"} < graph[PACKAGE]
    assert "_plot" in graph["_record"] and "_record" in graph["_record_errors"]


@pytest.mark.parametrize(
    "planted",
    [
        "from clockscope._one import name",
        "from clockscope import _one",
        "import os, clockscope._one as one",
        "from . import _one",
        "from ._one import name",
        "def function():\n    from clockscope import _one",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from clockscope._one import name",
        "from clockscope import name",
        "import clockscope",
    ],
)
def test_a_planted_cycle_is_found(planted: str, tmp_path: Path) -> None:
    (tmp_path / "__init__.pyi").write_text("from clockscope._one import name as name\n")
    (tmp_path / "_one.py").write_text("from clockscope import _native\nfrom clockscope._two import name\n")
    (tmp_path / "_native.pyi").write_text("def call() -> int: ...\n")
    other = tmp_path / "_two.py"
    other.write_text("import os\nimport clockscopes\nfrom other import _one\nfrom clockscope import _native\n")
    assert cycle(dependencies(tmp_path)) == []
    other.write_text(planted)
    found = cycle(dependencies(tmp_path))
    assert found[0] == found[-1] and {"_one", "_two"} <= set(found)
