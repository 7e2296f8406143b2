"""Cost of a read in Python: all kinds in turn, batch by batch, the median over the batches less that
of an empty loop. Prints `name ns` lines.

    python clocks.py ROUNDS
"""

import statistics
import sys
import time
from collections.abc import Callable

import clockscope
from clockscope import stamps

CALLS = 200


def batch(read: Callable[[], object]) -> int:
    """Ns that a batch took."""
    calls = range(CALLS)
    start = time.perf_counter_ns()
    for _ in calls:
        read()
    return time.perf_counter_ns() - start


def empty() -> int:
    """Ns of the loop alone."""
    calls = range(CALLS)
    start = time.perf_counter_ns()
    for _ in calls:
        pass
    return time.perf_counter_ns() - start


def main() -> None:
    if len(sys.argv) != 2 or not sys.argv[1].isdecimal():
        sys.exit("usage: clocks.py ROUNDS")
    rounds = int(sys.argv[1])
    source = stamps.counter()
    kinds: dict[str, Callable[[], object]] = {
        "now_ns": clockscope.now_ns,
        "now_unordered_ns": clockscope.now_unordered_ns,
        "stamp": source.now,
        "os": time.monotonic_ns,
    }
    costs: dict[str, list[int]] = {name: [] for name in [*kinds, "empty"]}
    for read in kinds.values():
        # As many as the library needs to settle.
        for _ in range(rounds // 5):
            batch(read)
    for _ in range(rounds):
        costs["empty"].append(empty())
        for name, read in kinds.items():
            costs[name].append(batch(read))
    loop = statistics.median(costs.pop("empty"))
    for name, taken in costs.items():
        print(name, f"{(statistics.median(taken) - loop) / CALLS:.3f}")


main()
