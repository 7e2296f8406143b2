"""The command `clockscope-fleet`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from datetime import date

from clockscope._command import find as find_program
from clockscope._errors import ClockscopeError
from clockscope.fleet import _output, _queries, _report
from clockscope.fleet._dataset import JOURNAL, Dataset
from clockscope.fleet._engines import DuckDb, Engine, Settings, Spark
from clockscope.fleet._ingest import ingest
from clockscope.fleet._problems import FleetError
from clockscope.fleet._progress import Progress, say

_CODES = """exit codes: 0 done; 2 wrong arguments; 4 failed; 130 interrupted"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a name shows its escapes.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
        return 0
    except BrokenPipeError:
        # The reader has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _failed("interrupted", 130)
    except (ClockscopeError, ImportError) as error:
        return _failed(str(error), 4)
    except OSError as error:
        return _failed(f"{error.filename or 'output'}: {error.strerror}", 4)
    except Exception as error:
        # DuckDB's own, such as of a full disk, and of Ctrl-C while it works.
        if isinstance(error, RuntimeError) and "interrupted" in str(error):
            return _failed("interrupted", 130)
        if type(error).__module__ not in ("duckdb", "_duckdb"):
            raise
        return _failed(f"DuckDB: {error}", 4)


def _failed(message: str, code: int) -> int:
    say(f"error: {message}")
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="clockscope-fleet",
        description="Records of `clockscope check` of many machines: as Parquet tables, and questions about them.",
        epilog=_CODES,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    one = _command(commands, "ingest", "make tables of JSON lines", _ingest)
    one.add_argument("folder", metavar="DIR", help="folder of JSON lines, also .gz and .zst; with all folders inside")
    one.add_argument("out", metavar="OUT", help="folder of the tables; made if it is not there")
    one.add_argument("--quiet", action="store_true", help="no progress and no summary")

    _command(commands, "queries", "list the questions that come with the package", _list)

    one = _command(commands, "query", "answer a question", _query)
    one.add_argument("out", metavar="OUT", help="folder of the tables")
    one.add_argument("query", metavar="QUERY", help="name of a query, or a file that ends with .sql")
    _engine_options(one)
    one.add_argument("--format", choices=_output.FORMATS, default="table", help="table (default), csv, json: JSON lines")

    one = _command(commands, "report", "write a page with all answers", _write_report)
    one.add_argument("out", metavar="OUT", help="folder of the tables")
    one.add_argument("-o", "--output", metavar="FILE", required=True, help="the page: .html, .md, or .json for `clockscope report`")
    one.add_argument("--quiet", action="store_true", help="no progress")
    _engine_options(one)
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, help: str, run: object
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".", allow_abbrev=False)
    parser.set_defaults(run=run)
    return parser


def _engine_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb", help="duckdb (default) or spark")
    parser.add_argument("--master", metavar="URL", help="Spark's master, such as spark://HOST:7077; local[*] without it")
    parser.add_argument("--as-of", metavar="DATE", type=_date, help="the day that answers are of; without it the last one on which half of the hosts have a check")
    parser.add_argument("--inventory", metavar="FILE", help="hosts that are expected, one a line")


def _date(argument: str) -> date:
    try:
        return date.fromisoformat(argument)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{argument!r} is not a date such as 2026-11-28") from None


def _ingest(options: argparse.Namespace) -> None:
    progress = Progress(options.quiet)
    try:
        done = ingest(options.folder, options.out, progress)
    finally:
        progress.end()
    if not options.quiet:
        say(
            f"{done.files:,} new files ({done.known:,} known): {done.checks:,} checks, one a host and day; "
            f"{done.days:,} days written; {done.rejects:,} rejects"
        )


def _list(_: argparse.Namespace) -> None:
    found = _queries.every()
    width = max(len(query.name) for query in found)
    _print("".join(f"{query.name:{width}}  {query.question}\n" for query in found))


def _print(text: str) -> None:
    if sys.stdout is None:
        raise FleetError("standard output is closed: name a file or a pipe")
    sys.stdout.write(text)


def _query(options: argparse.Namespace) -> None:
    query = _queries.find(options.query)
    with _engine(options) as engine:
        answer = engine.query(query.sql)
    _print(_output.render(answer, options.format))


def _write_report(options: argparse.Namespace) -> None:
    # Before all queries, which take long on a cluster.
    _report.format_of(options.output)
    find_program()
    progress = Progress(options.quiet)
    try:
        with _engine(options) as engine:
            _report.write(engine, options.output, progress)
    finally:
        progress.end()


def _engine(options: argparse.Namespace) -> Engine:
    settings = Settings(options.as_of, _inventory(options.inventory) if options.inventory else ())
    if os.path.exists(os.path.join(options.out, JOURNAL)):
        raise FleetError(
            f"an ingest puts its files into place in {options.out}, or was ended while it did: ask again, or ingest again"
        )
    if "://" not in options.out:
        Dataset(options.out).require_tables()
    if options.engine == "spark":
        return Spark(options.out, settings, options.master)
    if options.master is not None:
        raise FleetError("--master is Spark's: name --engine spark, too")
    return DuckDb(options.out, settings)


def _inventory(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            hosts = [line.strip() for line in file]
            return [host for host in hosts if host and not host.startswith("#")]
    except UnicodeDecodeError:
        raise FleetError(f"cannot read {path}: it is not UTF-8") from None


if __name__ == "__main__":
    sys.exit(main())
