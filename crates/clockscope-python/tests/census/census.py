"""Makes a census: the records that a fleet's hosts would have left in some days, by
`clockscope check --format ndjson`, with faults that are planted in some of them.

    python census.py HOSTS DAYS DIR [--healthy] [--without FAULT] [--last DAYS] [--seed N] [--compact]

`records/` has the records, `inventory.txt` the names of all hosts, a line each. `truth.json` lists the
planted faults, and the hosts that are derived from each base record: no query reads it. A seed decides all
of it. A fault that is left out changes no other host's records.

The base records in `bases/` are checks of machines whose clocks are fit, without names of a machine:

- tsc.json: a guest of KVM whose clocksource is the TSC (`clockscope check --format json`).
- emulated.json: a guest of QEMU for aarch64 (the output `check` of `cargo xtask machines census`).
- simulated.json: a simulated machine (target/tmp/simulated-check.json, which
  `cargo test -p clockscope-measure --test truth census` writes).

A new one takes `recorded_at`, `kernel.version`, `check_id` and `identity` from the old one. Leave out `name`,
`source`, `text` and `advice` of its evidence, and empty its histograms.
"""

from __future__ import annotations

import argparse
import json
import random
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path

from census_files import STRAYS, DayFolder, spoiled
from census_hosts import HOSTILE_LABELS, Host, Record, base_costs, bases, digits, draw_host
from census_records import State, fill, rendered

# Records are history, so that the last day never moves.
LAST = date(2026, 10, 31)
MIN_HOSTS, MIN_DAYS = 12, 10
# Of a day, but for the last hour: a second check of the day comes up to an hour later.
FIRST_CHECK_S = 23 * 3600

# Every fault, and what it does.
FAULTS = {
    "hpet": "a kernel upgrade makes the host use the HPET",
    "unstable_tsc": "the kernel marks the counter unstable",
    "slower_kernel": "a kernel release makes two clocks slower",
    "unsynchronized": "no daemon synchronizes the host",
    "time_of_day_off": "the daemon states that the time of day is far off",
    "outlier": "one clock costs more than on machines of its kind",
    "rate_off": "the counter is far off the nominal frequency",
    "silent": "the host's records end",
    "never": "the host never left a record",
    "clock_wrong": "the host records a wrong year",
    "twice": "the host is checked twice a day, first in another state",
}
UPGRADE_DAY = 9


@dataclass(frozen=True)
class Census:
    """A census to be made."""

    hosts: int
    days: int
    folder: Path
    without: tuple[str, ...] = ()
    last: int | None = None
    seed: int = 1
    is_compact: bool = False

    def make(self) -> None:
        if self.hosts < MIN_HOSTS or not MIN_DAYS <= self.days <= 3650:
            raise SystemExit(f"expected {MIN_HOSTS} hosts or more, and from {MIN_DAYS} to 3650 days")
        written = self.days if self.last is None else self.last
        if not 1 <= written <= self.days:
            raise SystemExit(f"--last {written}: expected 1 to {self.days}")
        if self.folder.exists() and any(self.folder.iterdir()):
            raise SystemExit(f"{self.folder} is not an empty folder: name another one")
        (self.folder / "records").mkdir(parents=True)
        fleet = Fleet.draw(self)
        names = "".join(f"{host.name}\n" for host in fleet.hosts)
        (self.folder / "inventory.txt").write_text(names, encoding="utf-8")
        rejects: list[Record] = []
        superseded: list[Record] = []
        with ProcessPoolExecutor() as pool:
            for found in pool.map(fleet.day, range(self.days - written + 1, self.days + 1)):
                rejects += found[0]
                superseded += found[1]
        rejects.sort(key=lambda one: one["file"])
        truth = fleet.truth() | {"rejects": rejects, "superseded": superseded}
        (self.folder / "truth.json").write_text(json.dumps(truth, indent=1, ensure_ascii=False), encoding="utf-8")

    def numbers(self, *parts: object) -> random.Random:
        """Random numbers that the seed and these parts decide."""
        return random.Random(f"{self.seed} {parts}")

    def date_of(self, day: int) -> date:
        return LAST + timedelta(days=day - self.days)


def first_day(fault: str, days: int, draw: random.Random) -> int:
    """The first day on which a fault shows; the last days of one that is seen by its end have none."""
    if fault in ("outlier", "never", "clock_wrong", "twice"):
        return 1
    if fault in ("hpet", "slower_kernel"):
        return UPGRADE_DAY if fault == "hpet" else days - 3
    return draw.randrange(3, days - 2 if fault == "silent" else days - 1)


@dataclass(frozen=True)
class Fleet:
    """A fleet, and everything that is planted in it."""

    census: Census
    hosts: list[Host]
    # Bad files: the day, the host and the kind.
    strays: list[tuple[int, int, str]]

    @staticmethod
    def draw(census: Census) -> Fleet:
        draw = census.numbers("fleet")
        # One host in a hundred has each fault, two at least, one where there are too few hosts for that.
        each = max(census.hosts // 100, 2) if census.hosts > 3 * len(FAULTS) else 1
        planted = [fault for fault in FAULTS for _ in range(each)]
        faults = dict(zip(draw.sample(range(census.hosts), len(planted)), planted, strict=True))
        hosts = []
        for number in range(census.hosts):
            fault = faults.get(number)
            day = first_day(fault, census.days, draw) if fault else 1
            hosts.append(draw_host(number, fault, day, census.days, census.numbers("host", number)))
        by_fault = sorted(hosts, key=lambda host: host.fault is not None)
        for host, label in zip(by_fault, HOSTILE_LABELS, strict=False):
            host.label = label
        healthy = [host.number for host in hosts if host.fault is None]
        strays = [
            (draw.randrange(1, census.days + 1), draw.choice(healthy), kind)
            for kind in STRAYS
            for _ in range(max(census.hosts // 200, 1))
        ]
        for host in hosts:
            if host.fault in census.without:
                host.fault = None
        return Fleet(census, hosts, strays)

    def truth(self) -> Record:
        faults: Record = {fault: [] for fault in FAULTS if fault not in self.census.without}
        upgrades = []
        for host in self.hosts:
            if host.fault:
                entry = {"host": host.name, "day": str(self.census.date_of(host.fault_day))}
                faults[host.fault].append(entry | ({"clock": "monotonic"} if host.fault == "outlier" else {}))
            elif host.upgrade:
                day, kernel = str(self.census.date_of(host.upgrade)), host.release_on(host.upgrade)
                upgrades.append({"host": host.name, "day": day, "kernel": kernel})
        of_bases = []
        for at, base in enumerate(bases()):
            names = [host.name for host in self.hosts if host.base == at]
            of_bases.append({"clocksource": base["environment"]["clocksource"], "clocks": list(base_costs(at)), "hosts": names})
        return {
            "first_day": str(self.census.date_of(1)),
            "last_day": str(LAST),
            "hosts": len(self.hosts),
            "bases": of_bases,
            "seed": self.census.seed,
            "faults": faults,
            "harmless_upgrades": upgrades,
        }

    def check(self, host: Host, state: State, day: int, at: datetime, draw: random.Random) -> tuple[str, bytes]:
        """Makes a check; returns its number and its lines."""
        lines, number = rendered(state), digits(draw, 32)
        fill(lines[0], lines[1:-1], host, state, day, draw, self.census.numbers("habits", host.number))
        lines[0]["recorded_at"] = at.strftime("%Y-%m-%dT%H:%M:%SZ")
        for line in lines:
            line |= {"check_id": number, "host": host.name}
        text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
        return number, text.encode()

    def day(self, day: int) -> tuple[list[Record], list[Record]]:
        """Writes the records of a day; returns bad files, and checks that a later one replaces."""
        midnight = datetime.combine(self.census.date_of(day), datetime.min.time())
        out = DayFolder(self.census.folder / "records", str(midnight.date()), self.census.is_compact)
        rejects: list[Record] = []
        superseded: list[Record] = []
        for host in self.hosts:
            fault = host.fault_on(day)
            if fault in ("silent", "never"):
                continue
            draw, state = self.census.numbers("day", host.number, day), State.on(host, day)
            second = draw.randrange(FIRST_CHECK_S)
            at = midnight + timedelta(seconds=second)
            later = at + timedelta(seconds=draw.randrange(1, 3_600))
            if fault == "clock_wrong":
                # Forty years ahead, or the first day that a clock shows.
                at = at + timedelta(days=40 * 365 + 10) if host.number % 2 == 0 else datetime(1970, 1, 1) + (at - midnight)
            turn = 0
            if fault == "twice":
                # The later file sorts before the earlier one on every other day.
                earlier, turn = (1, 0) if day % 2 == 0 else (0, 1)
                former = replace(state, device="acpi_pm", clocksource="acpi_pm")
                number, text = self.check(replace(host, device_ns=2_100.0), former, day, at, draw)
                file = out.put(host.number, earlier, text)
                superseded.append({"host": host.name, "file": file, "check_id": number})
                at = later
            number, text = self.check(host, state, day, at, draw)
            file = out.put(host.number, turn, text)
            if fault == "clock_wrong":
                reject = {"file": file, "why": fault, "host": host.name, "kind": "wrong_year", "check_id": number}
                rejects.append(reject)
            kinds = [kind for on, by, kind in self.strays if (on, by) == (day, host.number)]
            for at_turn, kind in enumerate(kinds, 1):
                _, text = self.check(host, state, day, later, draw)
                file = out.stray(host.number, at_turn, spoiled(kind, text, draw))
                rejects.append({"file": file, "why": STRAYS[kind], "host": host.name, "kind": kind})
        out.close()
        return rejects, superseded


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the records of a fleet, with planted faults.")
    parser.add_argument("hosts", type=int)
    parser.add_argument("days", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--healthy", action="store_true", help="plants no fault")
    parser.add_argument("--without", action="append", default=[], choices=FAULTS, help="leaves a fault out")
    parser.add_argument("--last", type=int, metavar="DAYS", help="writes the records of the last days alone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compact", action="store_true", help="writes a file a day, compressed by zstd")
    given = parser.parse_args()
    without = tuple(FAULTS) if given.healthy else tuple(given.without)
    Census(given.hosts, given.days, given.folder, without, given.last, given.seed, given.compact).make()


if __name__ == "__main__":
    main()
