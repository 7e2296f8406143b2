"""DuckDB, as ingest and queries use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clockscope._errors import missing_extra

if TYPE_CHECKING:
    import duckdb


def require() -> None:
    """Raises an ImportError that names the extra, if DuckDB is missing."""
    try:
        import duckdb as _
    except ImportError as error:
        raise missing_extra("clockscope-fleet", "fleet", error) from None


def escaped(path: str) -> str:
    """A path in which DuckDB finds no pattern."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def connect(database: str = ":memory:") -> duckdb.DuckDBPyConnection:
    """Opens DuckDB in this process. It takes no extension from the network."""
    require()
    import duckdb

    connection = duckdb.connect(database, config={"autoinstall_known_extensions": "false"})
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET enable_progress_bar = false")
    return connection
