"""Charts of records, with Matplotlib."""

# Matplotlib leaves the types of further arguments open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from clockscope._errors import missing_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clockscope._fields import Fields


class _Bar(NamedTuple):
    """A figure with the ends of what it may be."""

    label: str
    value: float
    low: float
    high: float


def plot(record: Fields, ax: Axes | None) -> Axes:
    """Draws a record's main figure."""
    draw = _CHARTS.get(record.schema.removeprefix("clockscope."))
    if draw is None:
        raise ValueError(f"no chart of {record.schema}: expected a record of {', '.join(_CHARTS)}")
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise missing_extra("plot()", "plot", error) from None
        ax = pyplot.subplots(layout="constrained")[1]
    draw(record, ax)
    return ax


def _bars(ax: Axes, bars: list[_Bar], label: str) -> None:
    """Draws bars below each other, in the order of the record."""
    if not bars:
        raise ValueError("nothing to draw: no figure of the record is known")
    values = [bar.value for bar in bars]
    ends = [[bar.value - bar.low for bar in bars], [bar.high - bar.value for bar in bars]]
    ax.barh([bar.label for bar in bars], values, xerr=ends, capsize=3)
    ax.invert_yaxis()
    ax.set_xlabel(label)


def _point(label: str, value: float) -> _Bar:
    return _Bar(label, value, value, value)


def _measure(record: Fields, ax: Axes) -> None:
    costs = [(clock.name, clock.cost_ns) for clock in record.clocks if clock.cost_ns is not None]
    _bars(ax, [_cost(name, cost) for name, cost in costs if cost.median is not None], "cost per read (ns)")


def _cost(label: str, cost: Fields) -> _Bar:
    """A median, with its interval if that is known."""
    low, high = cost.ci95 or (cost.median, cost.median)
    # The median of few batches may lie on an end, and rounding put it beyond.
    return _Bar(label, cost.median, min(low, cost.median), max(high, cost.median))


def _runtimes(record: Fields, ax: Axes) -> None:
    known = [one for one in record.runtimes if one.cost is not None and one.cost.median is not None]
    _bars(ax, [_cost(f"{one.title} {one.api}", one.cost) for one in known], "cost per read (ns)")


def _rate(record: Fields, ax: Axes) -> None:
    known = [clock for clock in record.clocks if clock.ppm is not None and clock.bound_ppm is not None]
    bars = [
        _Bar(clock.name, clock.ppm, clock.ppm - clock.bound_ppm, clock.ppm + clock.bound_ppm) for clock in known
    ]
    _bars(ax, bars, f"rate relative to {record.reference} (ppm)")


def _offsets(record: Fields, ax: Axes) -> None:
    known = [pair for pair in record.pairs if pair.offset_ns is not None and pair.bound_ns is not None]
    bars = [
        _Bar(f"CPUs {pair.a}, {pair.b}", pair.offset_ns, pair.offset_ns - pair.bound_ns, pair.offset_ns + pair.bound_ns)
        for pair in known
    ]
    _bars(ax, bars, "offset (ns)")


def _gaps(record: Fields, ax: Axes) -> None:
    bars = [
        _point(f"CPU {cpu.cpu}: {cause.cause.replace('_', ' ')}", cause.total_ns / 1e6)
        for cpu in record.gaps
        for cause in cpu.causes
    ]
    _bars(ax, bars, "lost time (ms)")


def _sleep(record: Fields, ax: Axes) -> None:
    calls: dict[str, list[tuple[float, float]]] = {}
    for row in record.rows:
        if row.p50_ns is not None:
            calls.setdefault(row.call, []).append((row.requested_ns, row.p50_ns - row.requested_ns))
    if not calls:
        raise ValueError("nothing to draw: no figure of the record is known")
    for call, points in calls.items():
        ax.plot(*zip(*points), marker="o", label=call)
    ax.set(xscale="log", yscale="symlog", xlabel="asked for (ns)", ylabel="median lateness (ns)")
    ax.legend()


def _steps(record: Fields, ax: Axes) -> None:
    """The share of differences that are as small, clock by clock."""
    drawn = False
    for clock in record.clocks:
        if not clock.available or not clock.differences:
            continue
        counts = list(accumulate(difference.count for difference in clock.differences))
        # All differences are counted, also those that the record does not list.
        total = max(clock.summary.count if clock.summary else 0, counts[-1])
        shares = [count / total for count in counts]
        ax.step([difference.ns for difference in clock.differences], shares, where="post", label=clock.name)
        drawn = True
    if not drawn:
        raise ValueError("nothing to draw: no figure of the record is known")
    ax.set(xscale="symlog", xlabel="difference (ns)", ylabel="share of differences")
    ax.legend()


_CHARTS: dict[str, Callable[[Fields, Axes], None]] = {
    "measure": _measure,
    "steps": _steps,
    "rate": _rate,
    "offsets": _offsets,
    "gaps": _gaps,
    "sleep": _sleep,
    "runtimes": _runtimes,
}
