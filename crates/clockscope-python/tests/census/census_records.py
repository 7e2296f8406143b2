"""The record of one check: a base record, changed to what the host's state on that day leads to."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from census_hosts import ARM, X86, Host, Record, base_costs, bases, digits
from census_judgment import is_counter, judge

TICKS_NS = {"hpet": 1e9 / 14_318_180, "acpi_pm": 1e9 / 3_579_545}


@dataclass(frozen=True)
class State:
    """A host's state at the time of a check, by which its evidence is for or against its clocks."""

    base: int
    clocksource: str
    # The clocksource that replaces the counter.
    device: str | None = None
    is_unstable: bool = False
    # `exact`, `vague` or `none`.
    daemon: str = "exact"
    is_rate_off: bool = False

    @staticmethod
    def on(host: Host, day: int) -> State:
        state = State(host.base, host.architecture.clocksources[0], daemon="exact" if host.error_s else "vague")
        match host.fault_on(day):
            case "hpet":
                return replace(state, device="hpet", clocksource="hpet")
            case "unstable_tsc":
                device = "acpi_pm" if host.number % 2 else "hpet"
                return replace(state, device=device, clocksource=device, is_unstable=True)
            case "unsynchronized":
                return replace(state, daemon="none")
            case "rate_off":
                return replace(state, is_rate_off=True)
        return state


def finding(is_for: bool) -> str:
    return "for" if is_for else "against"


def change(verdict: Record, state: State) -> None:
    """Changes a verdict's evidence to what the state leads to, and judges it."""
    clock, evidence = verdict["clock"], verdict["evidence"]
    if is_counter(verdict):
        evidence[:] = [found for found in evidence if found["check"] != "kernel_verdict"]
        at = next(at for at, found in enumerate(evidence) if found["check"] == "clocksource")
        evidence[at] |= {"current": state.clocksource, "finding": finding(state.device is None)}
        if state.device:
            evidence.insert(at + 1, kernel_verdict(state, state.device))
    is_coarse, is_cpu_time = clock.endswith("_coarse"), clock in ("process", "thread")
    is_steered_off = state.is_rate_off and clock != "monotonic_raw"
    for found in evidence:
        if found["check"] in ("jumps", "constant_rate", "rate"):
            found["reference_shares_hardware"] = state.device is None
        match found["check"]:
            case "offsets" if state.is_unstable:
                found |= {"apart": 1, "a": 0, "b": 1, "finding": "against"}
            case "rate":
                found["finding"] = finding(not is_steered_off)
            case "cost" if found["sequence"] is None:
                device = None if is_coarse else state.device
                found |= {"cause": "clocksource" if device else None, "clocksource": device}
                found["finding"] = finding(device is None)
            case "resolution" if state.device and (found["tick_ns"] or 1e3) < 1e3 and not is_cpu_time:
                found["tick_ns"] = TICKS_NS[state.device]
            case "nominal_frequency":
                found["finding"] = "for"
            case "synchronization":
                found["state"] = {"exact": "synchronized", "vague": "worthless", "none": "unsynchronized"}[state.daemon]
                found["finding"] = {"exact": "for", "vague": "unknown", "none": "against"}[state.daemon]
                found |= {"shows_utc": False, "error_s": None, "reported_error_s": 16.0 if state.daemon == "none" else 0.0}
    judge(verdict)


def kernel_verdict(state: State, device: str) -> Record:
    """The kernel's reason for another clocksource: its command line, or its watchdog."""
    cause: Record = {"cause": "clocksource_option", "clocksource": device}
    if state.is_unstable:
        line = "clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because the skew is too large:"
        intervals = {"watchdog": device, "watchdog_ns": 504_000_000, "clocksource": "tsc", "clocksource_ns": 596_000_000}
        cause = {"cause": "log_line", "line": line, "fault": "frequency_skew", "intervals": intervals | {"went_back": False}}
    return {"check": "kernel_verdict", "cause": cause, "log_error": None, "finding": "against", "decides": False}


@cache
def rendered(state: State) -> list[Record]:
    """The lines of a check in this state by the command, which alone writes sentences and advice. They have the
    figures of some host."""
    record = deepcopy(bases()[state.base])
    environment = record["environment"]
    architecture = X86 if environment["cpu"]["architecture"] == X86.name else ARM
    environment["clocksource"] = state.clocksource
    offered = [name for name in architecture.clocksources if name != "tsc" or not state.is_unstable]
    environment["clocksources_available"] = offered
    environment["program"]["debug_build"] = False
    record["demands"] = []
    for verdict in record["verdicts"]:
        change(verdict, state)
    offer = architecture.offers[0]
    host = Host(0, None, "0" * 64, offer, state.base, architecture, None, 0, 0, None, 0.0, 0.0, 1e-3, 0.0, 1_250.0)
    fill(record, record["verdicts"], host, state, 0, random.Random(0), random.Random(0))
    command = [str(Path(sys.executable).with_name("clockscope")), "report", "-", "--format", "ndjson"]
    printed = subprocess.run(command, input=json.dumps(record), text=True, check=True, stdout=subprocess.PIPE)
    return [json.loads(line) for line in printed.stdout.splitlines()]


def know(holder: Record, path: str, value: Any) -> None:
    """Puts a figure in place of an unknown one and its reason."""
    *folders, key = path.split(".")
    for folder in folders:
        holder = holder[folder]
    holder.get("unknown", {}).pop(key, None)
    holder[key] = value


def fill(
    head: Record,
    verdicts: list[Record],
    host: Host,
    state: State,
    day: int,
    draw: random.Random,
    habits: random.Random,
) -> None:
    """Fills in the figures of a check. `habits` draws what stays the same on all days, `draw` the rest."""
    cloud, instance, model, cpus = host.offer
    release, off_ppm = host.release_on(day), 400.0 if state.is_rate_off else 0.0
    nominal_hz = model.khz * 1e3
    measured_hz = nominal_hz * (1 + (host.counter_ppm + off_ppm + draw.uniform(-0.1, 0.1)) * 1e-6)
    steering_ppm = off_ppm or host.steering_ppm
    device_ns = host.device_ns * (2 if state.device == "acpi_pm" else 1)

    environment, identity = head["environment"], head["identity"]
    know(environment, "kernel.release", release)
    figures = {"vendor": model.vendor, "model": model.name, "identity": model.identity, "online": cpus}
    for name, value in (figures | {"allowed": list(range(cpus))}).items():
        know(environment, f"cpu.{name}", value)
    if host.architecture.name == ARM.name:
        know(environment, "frequencies.cntfrq_hz", model.khz * 1_000)
    else:
        know(environment, "frequencies.cpuid_40000010h_tsc_khz", model.khz)
    head["run"] |= {"duration_s": draw.uniform(4.0, 4.4), "cpu": draw.randrange(cpus)}
    head["run"]["timer"]["frequency_hz"] = measured_hz
    # An upgrade boots the machine.
    boot = random.Random(f"{habits.random()} {release}")
    identity["label"] = host.label
    for name, text in {"host": host.digits, "boot": digits(boot, 64), "cloud": cloud, "instance_type": instance}.items():
        know(identity, name, text)

    common = draw.gauss(0, 0.8)

    def noise() -> float:
        return math.exp(host.noise * max(-1.75, min(1.75, common + draw.gauss(0, 0.6))))

    syscall_ns = (device_ns + 200 if state.device else model.syscall_ns) * noise()
    slower = {"slower_kernel": {"monotonic": 1.12, "realtime": 1.12}, "outlier": {"monotonic": 3.0}}
    factors = slower.get(host.fault_on(day) or "", {})
    costs = {}
    for clock, base_ns in base_costs(state.base).items():
        own, is_by_device = habits.uniform(-0.03, 0.03), state.device and not clock.endswith("_coarse")
        if is_by_device and clock not in ("tsc", "cntvct"):
            costs[clock] = device_ns * (1 + own / 3) * noise()
        else:
            costs[clock] = base_ns * model.cost * (1 + own) * factors.get(clock, 1.0) * noise()

    for verdict in verdicts:
        clock = verdict["clock"]
        for found in verdict["evidence"]:
            if "readings" in found:
                found["readings"] = draw.randrange(1_600_000, 2_400_000)
            match found["check"]:
                case "cost":
                    beside_ns = costs.get("monotonic") if is_counter(verdict) else None
                    found |= cost(costs[clock], draw.uniform(0.004, 0.012), draw.uniform(0.12, 0.3))
                    found |= {"monotonic_ns": beside_ns, "syscall_ns": syscall_ns}
                case "offsets":
                    found["within_ns"] = draw.uniform(90, 250)
                    if found["apart"]:
                        offset_ns, bound_ns = draw.uniform(20_000, 90_000), found["within_ns"]
                        found |= {"offset_ns": offset_ns, "bound_ns": bound_ns, "within_ns": offset_ns + bound_ns}
                case "rate":
                    off = 0.0 if clock == "monotonic_raw" else steering_ppm
                    found |= {"ppm": off + draw.uniform(-0.05, 0.05), "bound_ppm": draw.uniform(0.25, 0.4)}
                case "nominal_frequency":
                    found |= {"nominal_hz": nominal_hz, "reported_by": host.architecture.source, "measured_hz": measured_hz}
                    found |= {"ppm": (nominal_hz / measured_hz - 1) * 1e6, "bound_ppm": draw.uniform(0.2, 0.4)}
                case "synchronization" if state.daemon == "exact":
                    found |= {"error_s": host.error_s, "reported_error_s": host.error_s}

    synchronize(head["synchronization"], host, state, day, steering_ppm, draw)


def synchronize(found: Record, host: Host, state: State, day: int, steering_ppm: float, draw: random.Random) -> None:
    """Fills in what the kernel and the daemon state about the time of day."""
    error_s = host.error_s if state.daemon == "exact" else None
    error_us = 16_000_000 if state.daemon == "none" else int((error_s or 0.0) * 1e6)
    adjtimex = {
        "freq_ppm": steering_ppm,
        "tick_us": 10_000,
        "offset_ns": draw.randrange(-1_000, 1_000),
        "maxerror_us": error_us,
        "esterror_us": error_us // 4,
        "tai_offset_s": 37,
        "status": ["unsync" if state.daemon == "none" else "pll", "nano"],
        "state": {"exact": "synchronized", "vague": "worthless", "none": "unsynchronized"}[state.daemon],
        "time_of_day_error_s": error_s,
    }
    know(found, "adjtimex", adjtimex)
    if error_s is not None:
        behind_s = math.copysign(0.04, host.steering_ppm) if host.fault_on(day) == "time_of_day_off" else 0.0
        chrony = {
            "stratum": 3,
            "correction_s": behind_s + draw.uniform(-1e-4, 1e-4),
            "error_s": error_s,
            "freq_ppm": steering_ppm,
            "skew_ppm": draw.uniform(0.01, 0.2),
            "update_interval_s": draw.uniform(64, 1024),
        }
        know(found, "chrony", chrony)


# Of a histogram's batches: the logistic distribution, which has its median at 0, and a tail above the share that
# nothing delays; both for a width and a length of 1.
def shape(share: float) -> tuple[float, float]:
    return math.log(share / (1 - share)) / 1.7, (max(share - 0.94, 0.0) / 0.06) ** 2


SHAPE = [shape((at + 0.5) / 256) for at in range(256)]


def cost(ns: float, width: float, tail: float) -> Record:
    """A cost with the percentile and the histogram that belong to it: 32 bins for each doubling."""
    bulk, end = shape(0.99)
    middle, per_log = 32 * math.log2(ns), 32 / math.log(2)
    bins = Counter(math.floor(middle + (one * width + other * tail) * per_log) for one, other in SHAPE)
    return {"cost_ns": ns, "p99_ns": ns * math.exp(bulk * width + end * tail), "histogram": sorted(bins.items())}
