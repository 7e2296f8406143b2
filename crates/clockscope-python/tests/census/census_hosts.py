"""Hosts of a census: hardware, names and habits, which stay the same on all days."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

# They need the TSC, a clocksource that replaces it, or many hosts of a kind.
X86_FAULTS = ("hpet", "unstable_tsc", "twice", "outlier")
# Labels that programs may mistake for their own syntax, and the longest.
HOSTILE_LABELS = (
    "o'brien\"; DROP TABLE checks;--",
    "<script>alert(1)</script>",
    "a/b\\c",
    "日本 東京",
    ("long-" * 253 + ".example.net")[-253:],
)

Record = dict[str, Any]


@dataclass(frozen=True)
class Model:
    """A model of processors, with costs relative to those of the base record."""

    vendor: str
    name: str
    identity: dict[str, int]
    khz: int
    cost: float
    syscall_ns: float


AMD = Model("AuthenticAMD", "AMD EPYC 9R14", {"family": 25, "model": 17, "stepping": 1}, 2_600_000, 1.0, 260.0)
INTEL = Model(
    "GenuineIntel", "Intel(R) Xeon(R) Platinum 8488C", {"family": 6, "model": 143, "stepping": 8}, 2_400_000, 1.37, 356.0
)
# Neoverse V1, by the codes that the kernel shows. Its counter has the frequency of the emulated machine.
NEOVERSE = Model("0x41", "0xd40", {"model": 0xD40, "stepping": 17}, 62_500, 0.2, 210.0)


@dataclass(frozen=True)
class Architecture:
    """Half of its hosts have the first offer; releases are from the oldest on."""

    name: str
    offers: tuple[tuple[str, str, Model, int], ...]
    releases: tuple[str, str, str]
    slower_release: str
    clocksources: tuple[str, ...]
    source: str


X86 = Architecture(
    "x86_64",
    (
        ("Amazon EC2", "m7a.large", AMD, 2),
        ("Amazon EC2", "m7i.xlarge", INTEL, 4),
        ("Google Compute Engine", "c3-standard-8", INTEL, 8),
    ),
    ("6.1.0-40-cloud-amd64", "6.8.0-1031-generic", "6.12.48-cloud-amd64"),
    "6.12.51-cloud-amd64",
    ("tsc", "hpet", "acpi_pm"),
    "hypervisor",
)
ARM = Architecture(
    "aarch64",
    (("Amazon EC2", "m7g.large", NEOVERSE, 2),),
    ("6.1.0-40-cloud-arm64", "6.8.0-1031-aws", "6.12.48-cloud-arm64"),
    "6.12.51-cloud-arm64",
    ("arch_sys_counter",),
    "firmware",
)


@cache
def bases() -> list[Record]:
    folder = Path(__file__).parent / "bases"
    found: list[Record] = [json.loads((folder / f"{name}.json").read_text()) for name in ("tsc", "simulated", "emulated")]
    return found


@cache
def base_costs(base: int) -> dict[str, float]:
    verdicts = bases()[base]["verdicts"]
    costs = ((verdict["clock"], found) for verdict in verdicts for found in verdict["evidence"])
    return {clock: found["cost_ns"] for clock, found in costs if found["check"] == "cost"}


@dataclass
class Host:
    """Properties of a host that stay the same on all days."""

    number: int
    label: str | None
    digits: str
    offer: tuple[str, str, Model, int]
    base: int
    architecture: Architecture
    fault: str | None
    # Days are counted from 1: the first of the fault, and of the upgrade to the next release.
    fault_day: int
    release: int
    upgrade: int | None
    # Standard deviation of the logarithm of costs, from day to day.
    noise: float
    counter_ppm: float
    # Error that the daemon states; none if it states none, as timesyncd.
    error_s: float | None
    steering_ppm: float
    # Cost of a read of another clocksource than the counter.
    device_ns: float

    @property
    def name(self) -> str:
        return self.label or self.digits

    def fault_on(self, day: int) -> str | None:
        return self.fault if self.fault_day <= day else None

    def release_on(self, day: int) -> str:
        if self.fault_on(day) == "slower_kernel":
            return self.architecture.slower_release
        is_upgraded = self.upgrade is not None and self.upgrade <= day
        return self.architecture.releases[self.release + is_upgraded]


def digits(draw: random.Random, count: int) -> str:
    return f"{draw.getrandbits(4 * count):0{count}x}"


def draw_host(number: int, fault: str | None, fault_day: int, days: int, draw: random.Random) -> Host:
    is_arm = draw.random() < 0.2
    architecture = ARM if is_arm and fault not in X86_FAULTS else X86
    offer, is_first = draw.choice(architecture.offers[1:] or architecture.offers), draw.random() < 0.5
    bases_of_it = [at for at, base in enumerate(bases()) if base["environment"]["cpu"]["architecture"] == architecture.name]
    release, upgrade, is_upgraded = draw.randrange(3), draw.randrange(days // 3 + 1, days * 2 // 3 + 1), draw.random() < 0.2
    if fault == "hpet":
        release, upgrade, is_upgraded = min(release, 1), fault_day, True
    # Only a daemon that states its error states how far the time of day is off.
    is_exact = draw.random() < 0.97 or fault == "time_of_day_off"
    return Host(
        number=number,
        label=None if number % 3 == 2 else f"node-{number:05}.example.net",
        digits=digits(draw, 64),
        offer=architecture.offers[0] if is_first or fault == "outlier" else offer,
        base=bases_of_it[number % len(bases_of_it)],
        architecture=architecture,
        fault=fault,
        fault_day=fault_day,
        release=release,
        upgrade=upgrade if is_upgraded and release < 2 and fault in (None, "hpet") else None,
        # A fault of 12 % has to be more than that.
        noise=draw.uniform(0.005, 0.015 if fault == "slower_kernel" else 0.04),
        counter_ppm=draw.uniform(-12, 12),
        error_s=draw.uniform(2e-4, 5e-3) if is_exact else None,
        steering_ppm=draw.uniform(-25, 25),
        device_ns=draw.uniform(1_050, 1_450),
    )
