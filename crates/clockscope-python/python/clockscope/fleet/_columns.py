"""The columns: the key of a record that becomes each, and the type that its value has to be of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

@dataclass(frozen=True)
class Type:
    """A column's type in SQL, and how JSON has its values. `{raw}` is a value as JSON writes it."""

    sql: str
    word: str
    is_one: str
    value: str
    longest: int = 0
    """Characters of a text; more is not what the program writes."""


def _text(longest: int) -> Type:
    value = "CASE WHEN contains({raw}, '\\') THEN json_extract_string({raw}, '$') ELSE {raw}[2:-2] END"
    return Type("VARCHAR", f"text of at most {longest} characters", "starts_with({raw}, '\"')", value, longest)


TEXT: Final = _text(300)
LONG_TEXT: Final = _text(2000)
COUNT: Final = Type("BIGINT", "count", "regexp_full_match({raw}, '[0-9]{{1,15}}')", "TRY_CAST({raw} AS BIGINT)")
NUMBER: Final = Type("DOUBLE", "number within ±1e18", "TRY_CAST({raw} AS DOUBLE) BETWEEN -1e18 AND 1e18", "TRY_CAST({raw} AS DOUBLE)")
NOT_NEGATIVE: Final = Type(
    "DOUBLE", "number from 0 to 1e18", "TRY_CAST({raw} AS DOUBLE) BETWEEN 0 AND 1e18", "TRY_CAST({raw} AS DOUBLE)"
)
YES_NO: Final = Type("BOOLEAN", "true or false", "{raw} IN ('true', 'false')", "{raw} = 'true'")


@dataclass(frozen=True)
class Column:
    """A column, by the path of its key; of several paths, the first that the record has."""

    name: str
    type: Type
    paths: tuple[str, ...]
    required: bool = False
    words: tuple[str, ...] = ()
    """The texts that it takes; any where there are none."""


def _column(name: str, type: Type, *paths: str, required: bool = False, words: tuple[str, ...] = ()) -> Column:
    return Column(name, type, paths or (name,), required, words)


_VERDICTS: Final = ("trusted", "undecided", "limited", "unfit")
_FINDINGS: Final = ("for", "against", "unknown")


CHECK: Final = (
    _column("check_id", TEXT, required=True),
    _column("host", TEXT, required=True),
    _column("recorded_text", TEXT, "recorded_at", required=True),
    _column("boot", TEXT, "identity.boot"),
    _column("cloud", TEXT, "identity.cloud"),
    _column("instance_type", TEXT, "identity.instance_type"),
    _column("kernel", TEXT, "environment.kernel.release"),
    _column("clocksource", TEXT, "environment.clocksource"),
    _column("hypervisor", TEXT, "environment.hypervisor"),
    _column("cpu_model", TEXT, "environment.cpu.model"),
    _column("cpu_family", COUNT, "environment.cpu.identity.family"),
    _column("cpu_model_number", COUNT, "environment.cpu.identity.model"),
    _column("cpu_stepping", COUNT, "environment.cpu.identity.stepping"),
    _column("cpu_microcode", TEXT, "environment.cpu.microcode"),
    _column("architecture", TEXT, "environment.cpu.architecture"),
    _column("cpus_online", COUNT, "environment.cpu.online"),
    _column("program_version", TEXT, "environment.program.version"),
    _column("duration_s", NOT_NEGATIVE, "run.duration_s"),
    _column("timer", TEXT, "run.timer.name"),
    _column("time_of_day_state", TEXT, "synchronization.adjtimex.state"),
    _column("time_of_day_error_s", NOT_NEGATIVE, "synchronization.adjtimex.time_of_day_error_s"),
    _column("frequency_ppm", NUMBER, "synchronization.adjtimex.freq_ppm"),
    _column("chrony_correction_s", NUMBER, "synchronization.chrony.correction_s"),
    _column("chrony_error_s", NOT_NEGATIVE, "synchronization.chrony.error_s"),
    _column("clocks", COUNT, required=True),
)

CLOCK: Final = (
    _column("check_id", TEXT, required=True),
    _column("host", TEXT, required=True),
    _column("clock", TEXT, required=True),
    _column("verdict", TEXT, required=True, words=_VERDICTS),
    _column("interval_verdict", TEXT, "uses.interval", words=_VERDICTS),
    _column("time_of_day_verdict", TEXT, "uses.time_of_day", words=_VERDICTS),
)

EVIDENCE: Final = (
    _column("kind", TEXT, "check", required=True),
    _column("finding", TEXT, required=True, words=_FINDINGS),
    _column("decides", YES_NO, required=True),
    _column("cause", TEXT, "cause.cause", "cause"),
    _column("reason", TEXT, "reason.code"),
    _column("reference", TEXT),
    _column("samples", COUNT, "readings", "handoffs", "brackets"),
    _column("failures", COUNT, "count", "regressions", "runs", "ahead", "apart"),
    _column("behind", COUNT),
    _column("worst_ns", NOT_NEGATIVE),
    _column("within_ns", NOT_NEGATIVE),
    _column("tick_ns", NOT_NEGATIVE),
    _column("hz", NOT_NEGATIVE, "measured_hz"),
    _column("ppm", NUMBER),
    _column("bound_ppm", NOT_NEGATIVE),
    _column("error_s", NOT_NEGATIVE),
    _column("cost_ns", NOT_NEGATIVE),
    _column("p99_ns", NOT_NEGATIVE),
    _column("syscall_ns", NOT_NEGATIVE),
    _column("text", LONG_TEXT),
    _column("advice", LONG_TEXT),
)

END: Final = (
    _column("check_id", TEXT, required=True),
    _column("host", TEXT, required=True),
    _column("end_lines", COUNT, "lines", required=True),
)

NULLABLE: Final = (
    "environment.cpu.identity",
    "synchronization",
    "synchronization.adjtimex",
    "synchronization.chrony",
    "reason",
)
"""The paths of objects that may be null."""


def objects(columns: Sequence[Column]) -> list[str]:
    """The paths of the objects that columns are taken from, beside the line itself."""
    steps = [path.split(".")[:-1] for column in columns for path in column.paths]
    return sorted({".".join(step[: end + 1]) for step in steps for end in range(len(step))})
