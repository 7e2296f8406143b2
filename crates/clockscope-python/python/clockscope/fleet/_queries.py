"""The questions that come with the package, each a file of SQL."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import resources

from clockscope.fleet._problems import FleetError


@dataclass(frozen=True)
class Query:
    """A question, and the statement that answers it."""

    name: str
    sql: str

    @property
    def question(self) -> str:
        """The first question of the file's comment."""
        lines = [line.removeprefix("--").strip() for line in self.sql.splitlines() if line.startswith("--")]
        return " ".join(lines).partition("?")[0] + "?"


def every() -> list[Query]:
    """All of them, by name."""
    files = resources.files("clockscope.fleet").joinpath("queries").iterdir()
    found = [
        Query(file.name.removesuffix(".sql"), _statement(file.read_text(encoding="utf-8")))
        for file in files
        if file.name.endswith(".sql")
    ]
    return sorted(found, key=lambda query: query.name)


def find(name: str) -> Query:
    """The question of this name, or of a file whose name ends with .sql."""
    if name.endswith(".sql"):
        try:
            with open(name, encoding="utf-8") as file:
                return Query(os.path.basename(name).removesuffix(".sql"), _statement(file.read()))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise FleetError(f"cannot read {name}: {reason}") from None
    for query in every():
        if query.name == name:
            return query
    known = ", ".join(query.name for query in every())
    raise FleetError(f"there is no query {name!r}: known are {known}; a file's name ends with .sql")


def _statement(sql: str) -> str:
    return sql.rstrip().removesuffix(";")
