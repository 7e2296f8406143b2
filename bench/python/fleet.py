"""Time and memory of a step of `clockscope-fleet`. Prints an object of JSON.

    python fleet.py ingest DIR OUT
    python fleet.py queries duckdb|spark OUT
"""

import glob
import json
import os
import sys
import time
from typing import Any

from clockscope.fleet import _queries
from clockscope.fleet.__main__ import main as command
from clockscope.fleet._engines import DuckDb, Settings, Spark


def peak_bytes(process: str) -> int:
    """Peak of a process's memory; 0 of one that has ended."""
    try:
        with open(f"/proc/{process}/status", encoding="utf-8") as status:
            lines = [line for line in status if line.startswith("VmHWM:")]
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines)


def children() -> list[str]:
    """Processes that this one has started, and those that they have started."""
    parents = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as stat:
                # The name before it may hold spaces and parentheses.
                parents[path.split("/")[2]] = stat.read().rpartition(")")[2].split()[1]
        except OSError:
            continue
    found = [str(os.getpid())]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found[1:]


def ingest(folder: str, out: str) -> dict[str, Any]:
    """Ingests a folder as the command does."""
    start = time.perf_counter()
    code = command(["ingest", folder, out, "--quiet"])
    seconds = time.perf_counter() - start
    if code != 0:
        sys.exit(code)
    peak = peak_bytes("self")
    parts = glob.glob(os.path.join(glob.escape(out), "*", "date=*", "*.parquet"))
    with DuckDb(out, Settings()) as engine:
        ((checks,),) = engine.query("SELECT count(*) FROM checks").rows
    return {
        "seconds": seconds,
        "peak_bytes": peak,
        "checks": checks,
        "parquet_bytes": sum(os.path.getsize(part) for part in parts),
    }


def queries(name: str, out: str) -> dict[str, Any]:
    """Asks all queries of a new engine. The memory is that of all processes, each at its peak."""
    answered = {}
    start = time.perf_counter()
    engine = {"duckdb": DuckDb, "spark": Spark}[name](out, Settings())
    for query in _queries.every():
        asked = time.perf_counter()
        engine.query(query.sql)
        answered[query.name] = time.perf_counter() - asked
    seconds = time.perf_counter() - start
    peak = sum(map(peak_bytes, ["self", *children()]))
    engine.close()
    return {"seconds": seconds, "peak_bytes": peak, "queries": answered}


def main() -> None:
    match sys.argv[1:]:
        case ["ingest", folder, out]:
            print(json.dumps(ingest(folder, out)))
        case ["queries", name, out]:
            print(json.dumps(queries(name, out)))
        case _:
            sys.exit("usage: fleet.py ingest DIR OUT | fleet.py queries duckdb|spark OUT")


main()
