"""Verdicts that the evidence of a changed record leads to, as `check` decides them."""

from __future__ import annotations

from typing import Any

VERDICTS = ("unfit", "limited", "undecided", "trusted")
# Without an answer to one of these a clock is not trusted; the last is the counter's alone.
REQUIRED = ("readable", "invariance", "steps_back", "order", "offsets", "synchronization", "constant_rate", "rate", "clocksource")
# If it succeeded, it is a reason to trust the clock.
TESTS = ("steps_back", "order", "offsets", "synchronization")

Evidence = dict[str, Any]


def is_counter(verdict: dict[str, Any]) -> bool:
    """Returns True for the verdict on the processor's counter."""
    return any(found["check"] == "invariance" for found in verdict["evidence"])


def judge(verdict: dict[str, Any]) -> None:
    """Renews a verdict by its evidence."""
    evidence: list[Evidence] = verdict["evidence"]
    is_wall = any(found["check"] == "synchronization" for found in evidence)
    uses = {"interval": _worst(evidence, "interval"), "time_of_day": _worst(evidence, "time_of_day") if is_wall else None}
    whole = min((use for use in uses.values() if use), key=VERDICTS.index)
    for found in evidence:
        concerns = any(worst == whole and _matters(found, use) for use, worst in uses.items())
        is_reason = whole != "trusted" or (found["finding"] == "for" and _supports(found))
        found["decides"] = concerns and _alone(found) == whole and is_reason
    verdict |= {"uses": uses, "verdict": whole}


def _worst(evidence: list[Evidence], use: str) -> str:
    return min((_alone(found) for found in evidence if _matters(found, use)), key=VERDICTS.index)


def _alone(found: Evidence) -> str:
    """The verdict on a clock that nothing else contradicts; of the evidence that a census changes."""
    if found["finding"] == "against":
        is_fault = found["check"] == "kernel_verdict" and found["cause"]["cause"] == "log_line"
        return "unfit" if is_fault or (found["check"] == "rate" and not found["steerable"]) else "limited"
    return "undecided" if found["finding"] == "unknown" and found["check"] in REQUIRED else "trusted"


def _matters(found: Evidence, use: str) -> bool:
    if use == "interval":
        return bool(found["check"] != "synchronization")
    return not (found["check"] == "rate" and found["steerable"])


def _supports(found: Evidence) -> bool:
    if found["check"] in ("constant_rate", "rate"):
        return found["reference_shares_hardware"] is False
    if found["check"] in ("order", "offsets"):
        return found.get("reason") is None
    return found["check"] in TESTS
