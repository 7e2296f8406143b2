"""The questions: the command's answers, its ends, its absence, and arguments of every kind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import clockscope
from clockscope import _command

Replace = Callable[..., None]

DOCUMENT = '{"schema": "clockscope.measure", "schema_version": 1, "recorded_at": null, "clocks": []}'
PRINT = f"import sys; sys.stdout.write({DOCUMENT!r}); "


def answer(ask: Callable[[], clockscope.Record]) -> clockscope.Record:
    """The record, also where a busy machine left something undetermined."""
    try:
        return ask()
    except clockscope.Undetermined as error:
        assert error.record is not None
        return error.record


def test_every_question_is_answered() -> None:
    for schema, ask in {
        "measure": lambda: clockscope.measure(["monotonic", "realtime"], duration=0.05, via="vdso"),
        "steps": lambda: clockscope.steps("monotonic", reads=2000),
        "check": lambda: clockscope.check("monotonic", duration=0.3),
        "order": lambda: clockscope.order("monotonic", duration=0.05, serial=True, handoff="lock"),
        "rate": lambda: clockscope.rate("monotonic", duration=0.05),
        "gaps": lambda: clockscope.gaps(duration=0.05, threshold=1e-3, cpus=[min(os.sched_getaffinity(0))]),
        "offsets": lambda: clockscope.offsets(duration=0.05),
        "sleep": lambda: clockscope.sleep(duration=0.1),
        "shootout": lambda: clockscope.shootout("monotonic", "monotonic_coarse", duration=0.3),
    }.items():
        record = answer(ask)
        assert record.schema == f"clockscope.{schema}" and record.run.interrupted is False


def test_the_order_of_stores_is_tested_if_it_is_asked_for() -> None:
    def order(stores: bool) -> clockscope.Record:
        return answer(lambda: clockscope.order("monotonic", duration=0.2, stores=stores))

    record = order(True)
    if len(record.cpus) < 2:
        pytest.skip("needs two CPUs")
    assert record.stores.writer != record.stores.reader
    assert [clock.name for clock in record.stores.clocks] == ["monotonic"]
    assert record.stores.clocks[0].fenced.rounds > 0 and record.stores.clocks[0].fenced.violations == 0
    assert "stores" not in order(False)


def test_clocks_are_the_named_ones() -> None:
    names = [clock.name for clock in clockscope.measure(("monotonic", "realtime"), duration=0.05).clocks]
    assert sorted(names) == ["monotonic", "realtime"]


def test_advice_is_computed_from_a_record() -> None:
    measured = clockscope.measure("monotonic", duration=0.05)
    advice = answer(lambda: clockscope.advise(1e-6, error=0.1, record=measured))
    assert advice.schema == "clockscope.advise" and advice.error == 0.1
    assert [clock.clock for clock in advice.clocks] == ["monotonic"]


def test_the_command_is_beside_the_package_or_on_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: Replace
) -> None:
    command("")
    beside = _command.find()
    assert beside == str(tmp_path / "scripts" / _command._NAME)
    monkeypatch.setattr(_command, "_folders", lambda: iter([str(tmp_path)]))
    monkeypatch.setenv("PATH", str(tmp_path / "scripts"))
    assert _command.find() == beside


def test_without_the_command_the_error_says_how_to_get_it(nowhere: None) -> None:
    with pytest.raises(clockscope.CommandNotFound, match="cargo install --locked --path"):
        clockscope.measure("monotonic")
    assert clockscope.now_ns() > 0


@pytest.mark.parametrize(
    ("program", "error", "has_record"),
    [
        (PRINT + "sys.exit(1)", clockscope.FindingError, True),
        ("import sys; sys.exit('error: planted')", clockscope.FindingError, False),
        ("import sys; print('error: planted', file=sys.stderr); sys.exit(2)", ValueError, None),
        (PRINT + "sys.exit(3)", clockscope.Undetermined, True),
        ("import sys; print('error: planted', file=sys.stderr); sys.exit(4)", clockscope.MeasurementFailed, None),
        (PRINT + "sys.exit(130)", clockscope.Interrupted, True),
        ("import sys; sys.exit(130)", clockscope.Interrupted, False),
        ("import os; os.kill(os.getpid(), 9)", clockscope.MeasurementFailed, None),
        ("", clockscope.MeasurementFailed, None),
        ("print('no record')", clockscope.MeasurementFailed, None),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", clockscope.MeasurementFailed, None),
        (PRINT + "sys.exit(101)", clockscope.MeasurementFailed, None),
    ],
)
def test_exit_codes_are_exceptions(
    command: Replace, program: str, error: type[BaseException], has_record: bool | None
) -> None:
    command(program)
    with pytest.raises(error) as raised:
        clockscope.measure()
    assert str(raised.value)
    if "planted" in program:
        assert str(raised.value) == "planted"
    if has_record is not None:
        assert (raised.value.record is not None) == has_record  # type: ignore[attr-defined]


def test_messages_that_are_no_text_are_reported(command: Replace) -> None:
    command("import sys; sys.stderr.buffer.write(b'error: \\xff\\x00'); sys.exit(4)")
    with pytest.raises(clockscope.MeasurementFailed, match="\N{REPLACEMENT CHARACTER}"):
        clockscope.measure()


def test_the_command_gets_all_arguments(command: Replace, tmp_path: Path) -> None:
    seen = tmp_path / "arguments"
    command(PRINT + f"open({str(seen)!r}, 'w').write('\\n'.join(sys.argv[1:]))")
    clockscope.measure("--help", duration=1, via="all", cpu=0, extended=True, fail_on=["jump", "stall"])
    expected = (
        "measure --format json --quiet --duration=1.0s --via=all --cpu=0 --fail-on=jump,stall --extended -- --help"
    )
    assert seen.read_text().split() == expected.split()


def test_a_name_is_never_an_option() -> None:
    for name in ("--help", "-V", "--output=/dev/full", "", "a" * 5000, "\n", "'; exit 0"):
        with pytest.raises(ValueError, match="unknown clock" if name.strip() else "name is empty"):
            clockscope.measure(name, duration=0.05)
    with pytest.raises(ValueError, match="invalid UTF-8"):
        clockscope.measure("\udc80", duration=0.05)


def test_a_wrong_name_gets_the_nearest() -> None:
    with pytest.raises(ValueError, match="unknown clock: monotnic; did you mean monotonic"):
        clockscope.measure(["monotnic"])
    with pytest.raises(ValueError, match="did you mean|a similar value|possible values"):
        clockscope.measure("monotonic", fail_on="jumps")
    with pytest.raises(ValueError):
        clockscope.measure("monotonic", via="telepathy")


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        (clockscope.measure, {"duration": 0}),
        (clockscope.measure, {"duration": -1.5}),
        (clockscope.measure, {"duration": float("nan")}),
        (clockscope.measure, {"duration": float("inf")}),
        (clockscope.measure, {"duration": 10**400}),
        (clockscope.measure, {"duration": 1e300}),
        (clockscope.measure, {"cpu": -1}),
        (clockscope.measure, {"cpu": 2**40}),
        (clockscope.measure, {"clocks": "zero\0byte"}),
        (clockscope.measure, {"clocks": "\ud800"}),
        (clockscope.steps, {"reads": 1}),
        (clockscope.steps, {"reads": 10, "duration": 1}),
        (clockscope.order, {"cpus": []}),
        (clockscope.order, {"cpus": [0, -1]}),
        (clockscope.gaps, {"threshold": 1e-12}),
        (clockscope.rate, {"until_ppm": 0}),
        (clockscope.rate, {"reference": "no such clock"}),
        (clockscope.advise, {"error": 2}),
        (clockscope.shootout, {"b": "monotonic"}),
    ],
)
def test_wrong_values_are_value_errors(question: Callable[..., Any], arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        question(**arguments)


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        (clockscope.measure, {"duration": "1"}),
        (clockscope.measure, {"duration": True}),
        (clockscope.measure, {"cpu": 0.0}),
        (clockscope.measure, {"cpu": True}),
        (clockscope.measure, {"clocks": 3}),
        (clockscope.measure, {"clocks": b"tsc"}),
        (clockscope.measure, {"clocks": [None]}),
        (clockscope.measure, {"via": 3}),
        (clockscope.order, {"cpus": "0-1"}),
        (clockscope.order, {"cpus": 0}),
        (clockscope.advise, {"record": {}}),
        (clockscope.check, {"policy": 3}),
    ],
)
def test_wrong_types_are_type_errors(question: Callable[..., Any], arguments: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        question(**arguments)


def test_clocks_that_cannot_be_read_are_unavailable() -> None:
    listed = subprocess.run([_command.find(), "list", "--json"], capture_output=True, check=True).stdout.decode()
    unreadable = [clock.name for clock in clockscope.Record(listed).clocks if not clock.available]
    if not unreadable:
        pytest.skip("every clock of this machine can be read")
    with pytest.raises(clockscope.ClockUnavailable, match=unreadable[0]) as raised:
        clockscope.measure(unreadable[0], duration=0.05)
    assert raised.value.record is not None and not raised.value.record.clocks[0].available
    both = clockscope.measure([unreadable[0], "monotonic"], duration=0.05)
    assert {clock.name: clock.available for clock in both.clocks} == {unreadable[0]: False, "monotonic": True}


def test_other_threads_run_meanwhile(command: Replace, tmp_path: Path) -> None:
    """The command waits for what another thread does."""
    file = tmp_path / "go"
    command(f"import os, time\nwhile not os.path.exists({str(file)!r}): time.sleep(0.001)\n{PRINT}")
    records: list[clockscope.Record] = []
    thread = threading.Thread(target=lambda: records.append(clockscope.measure()))
    thread.start()
    file.touch()
    thread.join()
    assert records[0].schema == "clockscope.measure"


def test_several_threads_ask_at_once() -> None:
    records: list[clockscope.Record] = []
    threads = [
        threading.Thread(target=lambda: records.append(clockscope.measure("monotonic", duration=0.05)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(records) == 4 and all(record.clocks[0].available for record in records)


INTERRUPTED = """
import clockscope
try:
    clockscope.measure("monotonic", duration=60)
except KeyboardInterrupt as error:
    record = error.record
    print(type(error).__name__, record.run.interrupted, record.run.duration_s < 60, flush=True)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
@pytest.mark.parametrize("interrupt", [os.kill, os.killpg], ids=["process", "terminal"])
def test_ctrl_c_gives_what_there_is(ctrl_c: None, interrupt: Callable[[int, int], None]) -> None:
    """A terminal interrupts all processes of the group that it shows."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    child = None
    try:
        child = wait_for(lambda: child_that_watches(process.pid))
        # Else a terminal's Ctrl-C reaches it twice, and the second one ends it.
        assert os.getsid(child) != os.getsid(process.pid)
        interrupt(process.pid, signal.SIGINT)
        out, _ = process.communicate()
        left = os.path.exists(f"/proc/{child}")
        # Its number may be another process's soon.
        child = child if left else None
    finally:
        process.kill()
        if child is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
    assert out.split() == ["Interrupted", "True", "True"]
    assert not left


def test_clocks_are_judged_for_one_use() -> None:
    uses = clockscope.check("realtime", duration=0.1, for_use="interval")["verdicts"][0]["uses"]
    assert uses["interval"] is not None and uses["time_of_day"] is None
    with pytest.raises(ValueError, match="sundial"):
        clockscope.check("realtime", duration=0.1, for_use="sundial")


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_ctrl_c_while_the_command_starts_leaves_nothing_behind(
    ctrl_c: None, command: Replace, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Python that is interrupted while it starts ends with 1.
    command("exec sleep 60", "/bin/sh")
    started: list[subprocess.Popen[bytes]] = []
    former = signal.getsignal(signal.SIGINT)

    class Interrupting(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            started.append(self)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupting)
    with pytest.raises(clockscope.Interrupted):
        clockscope.measure()
    assert started[0].returncode == -signal.SIGINT
    assert signal.getsignal(signal.SIGINT) is former


def test_ctrl_c_before_there_is_anything_gives_none(
    ctrl_c: None, command: Replace, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Python that is interrupted while it starts ends with 1.
    command("exec sleep 60", "/bin/sh")
    started: list[subprocess.Popen[bytes]] = []
    communicate = subprocess.Popen.communicate

    def interrupted_once(process: subprocess.Popen[bytes], *arguments: Any) -> Any:
        started.append(process)
        if len(started) == 1:
            raise KeyboardInterrupt
        return communicate(process, *arguments)

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted_once)
    with pytest.raises(clockscope.Interrupted) as raised:
        clockscope.measure()
    assert raised.value.record is None and started[0].returncode == -signal.SIGINT


def test_any_other_exception_ends_the_command(command: Replace, monkeypatch: pytest.MonkeyPatch) -> None:
    command("import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)")
    started: list[subprocess.Popen[bytes]] = []

    def communicate(process: subprocess.Popen[bytes], *_: object) -> None:
        started.append(process)
        raise TimeoutError("planted")

    monkeypatch.setattr(subprocess.Popen, "communicate", communicate)
    with pytest.raises(TimeoutError):
        clockscope.measure()
    assert started[0].returncode == -signal.SIGKILL


def child_that_watches(parent: int) -> int | None:
    """A child of this process that has a handler for SIGINT, and is not Python."""
    for entry in os.listdir("/proc"):
        try:
            status = Path(f"/proc/{entry}/status").read_text() if entry.isdigit() else ""
            name = os.readlink(f"/proc/{entry}/exe") if f"\nPPid:\t{parent}\n" in status else ""
        except OSError:
            continue
        caught = next((line for line in status.splitlines() if line.startswith("SigCgt:")), "SigCgt: 0")
        if name.endswith("clockscope") and int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1:
            return int(entry)
    return None


def wait_for(question: Callable[[], int | None]) -> int:
    """Asks until there is an answer, for a minute."""
    for _ in range(6000):
        answer = question()
        if answer is not None:
            return answer
        time.sleep(0.01)
    raise AssertionError("not within a minute")


def run_module(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "clockscope", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_module_is_the_command() -> None:
    version = run_module("--version")
    assert (version.returncode, version.stdout) == (0, f"clockscope {clockscope.__version__}\n")
    wrong = run_module("measure", "monotnic")
    assert wrong.returncode == 2 and "did you mean monotonic" in wrong.stderr


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_the_module_replaces_the_interpreter(tmp_path: Path) -> None:
    """There is no process in between, and signals are as a shell leaves them."""
    file = tmp_path / _command._NAME
    file.write_text("#!/bin/sh\necho $$\ngrep SigIgn: /proc/$$/status\n")
    file.chmod(0o755)
    program = (
        "import os; from clockscope import _command; print(os.getpid(), flush=True); "
        f"_command._folders = lambda: iter([{str(tmp_path)!r}]); _command.replace_this_process([])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    own, replaced, ignored = done.stdout.splitlines()
    assert replaced == own
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        assert not int(ignored.split()[1], 16) >> (number - 1) & 1


def test_the_module_without_the_command_says_how_to_get_it(tmp_path: Path) -> None:
    program = (
        "import sys; from clockscope import _command; _command._folders = lambda: iter(()); "
        "from clockscope.__main__ import _main; sys.exit(_main())"
    )
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 4 and done.stderr.startswith("error: the command clockscope is missing")
