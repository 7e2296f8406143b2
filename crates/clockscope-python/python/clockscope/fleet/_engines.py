"""DuckDB and Spark: each makes the tables known under their names, and answers a query in SQL."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from types import TracebackType

from clockscope._errors import missing_extra
from clockscope.fleet._connection import connect, escaped
from clockscope.fleet._dataset import TABLES
from clockscope.fleet._dates import day_no_of
from clockscope.fleet._parsing import text
from clockscope.fleet._problems import FleetError

Cell = object
"""A scalar, or None."""


@dataclass(frozen=True)
class Answer:
    """The rows of a query, under the names of its columns."""

    columns: list[str]
    rows: list[tuple[Cell, ...]]


@dataclass(frozen=True)
class Settings:
    """The views `as_of` and `inventory`, which queries have besides the tables."""

    as_of: date | None = None
    """The day that answers are of; without one, the last on which half of the hosts have a check."""
    inventory: Sequence[str] = ()
    """Hosts that are expected, by the names of their records."""


class Engine(ABC):
    """Opens a dataset; answers queries until it is closed."""

    def __init__(self, dataset: str, settings: Settings) -> None:
        self.dataset = dataset
        self.settings = settings

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @abstractmethod
    def query(self, sql: str) -> Answer:
        """The answer to one statement."""

    @abstractmethod
    def close(self) -> None:
        """Ends it."""

    @abstractmethod
    def _view(self, name: str, sql: str) -> None:
        """Names a query."""

    def _prepare(self) -> None:
        """Makes the views that are the same in all engines."""
        wanted = self.settings.as_of
        # Neither a host whose clock runs ahead nor a day that has just begun decides for all: the
        # last day on which half as many have a check as on the busiest.
        day = (
            f"SELECT {day_no_of(wanted)} AS day_no"
            if wanted is not None
            else "SELECT MAX(day_no) AS day_no FROM (SELECT day_no, COUNT(*) AS hosts, "
            "MAX(COUNT(*)) OVER () AS most FROM checks GROUP BY day_no) AS days WHERE hosts * 2 >= most"
        )
        (row,) = self.query(day).rows
        self._view("as_of", f"SELECT CAST({'NULL' if row[0] is None else row[0]} AS INT) AS day_no")
        latest = (
            "SELECT host, MAX(checks.day_no) AS day_no FROM checks JOIN as_of "
            "ON checks.day_no BETWEEN as_of.day_no - 2 AND as_of.day_no GROUP BY host"
        )
        self._view("latest", latest)


class DuckDb(Engine):
    """In this process; the default."""

    def __init__(self, dataset: str, settings: Settings) -> None:
        super().__init__(dataset, settings)
        if "\\" in dataset:
            raise FleetError(f"cannot read {dataset}: DuckDB reads no folder with a backslash in its path: rename it")
        self._connection = connect()
        # Parts that an earlier version ingested lack columns.
        for table in TABLES:
            files = text(f"{escaped(dataset)}/{table}/*/*.parquet")
            self._view(table, f"SELECT * FROM read_parquet({files}, hive_partitioning = true, union_by_name = true)")
        self._connection.execute("CREATE TEMP TABLE inventory (host VARCHAR)")
        if settings.inventory:
            self._connection.execute("INSERT INTO inventory SELECT unnest($1)", [list(settings.inventory)])
        self._prepare()

    def query(self, sql: str) -> Answer:
        import duckdb

        try:
            statements = self._connection.extract_statements(sql)
            if len(statements) != 1:
                raise FleetError(f"the query has {len(statements)} statements: expected one")
            found = self._connection.execute(statements[0])
            if found is None or found.description is None:
                raise FleetError("the statement gives no rows: expected a SELECT")
            return Answer([column[0] for column in found.description], found.fetchall())
        except duckdb.Error as error:
            raise FleetError(f"DuckDB refuses the query: {error}") from None

    def _view(self, name: str, sql: str) -> None:
        self._connection.execute(f"CREATE TEMP VIEW {name} AS {sql}")

    def close(self) -> None:
        self._connection.close()


class Spark(Engine):
    """A cluster, or all processors of this machine."""

    def __init__(self, dataset: str, settings: Settings, master: str | None = None) -> None:
        super().__init__(dataset, settings)
        try:
            from pyspark.sql import SparkSession
        except ImportError as error:
            raise missing_extra("--engine spark", "spark", error) from None
        builder = SparkSession.builder.appName("clockscope-fleet")
        if master is not None or "SPARK_ENV_LOADED" not in os.environ:
            # spark-submit names the master itself.
            builder = builder.master(master or "local[*]")
        if master is None or master.startswith("local"):
            # One machine needs no network.
            builder = builder.config("spark.driver.host", "localhost").config("spark.driver.bindAddress", "127.0.0.1")
        settings_of_spark = {
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.ansi.enabled": "true",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "16",
        }
        for name, value in settings_of_spark.items():
            builder = builder.config(name, value)
        self._session = builder.getOrCreate()
        self._session.sparkContext.setLogLevel("ERROR")
        for table in TABLES:
            self._session.read.option("mergeSchema", "true").parquet(f"{_escaped_of_spark(dataset)}/{table}").createOrReplaceTempView(table)
        hosts = self._session.createDataFrame([(host,) for host in settings.inventory], "host string")
        hosts.createOrReplaceTempView("inventory")
        self._prepare()

    def query(self, sql: str) -> Answer:
        from pyspark.errors import PySparkException

        try:
            found = self._session.sql(sql)
            return Answer(found.columns, [tuple(row) for row in found.collect()])
        except PySparkException as error:
            raise FleetError(f"Spark refuses the query: {error}") from None

    def _view(self, name: str, sql: str) -> None:
        self._session.sql(sql).createOrReplaceTempView(name)

    def close(self) -> None:
        self._session.stop()


def _escaped_of_spark(path: str) -> str:
    return "".join("\\" + letter if letter in "*?[]{}\\" else letter for letter in path)
