"""Finds the command `clockscope`, runs it, and turns its end into a record or an exception.

The command forks, pins itself to a CPU and tries reads that may end its process. So it never runs
inside of the interpreter.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator, Sequence
from types import FrameType

from clockscope._errors import (
    CommandNotFound,
    FindingError,
    Interrupted,
    MeasurementFailed,
    Undetermined,
)
from clockscope._record import Record

_NAME = "clockscope" + (sysconfig.get_config_var("EXE") or "")

# Exit codes of the command (docs: clockscope --help).
_SUCCESS, _FINDING, _USAGE, _UNDETERMINED, _INTERRUPTED = 0, 1, 2, 3, 130


def find() -> str:
    """Returns the path of the command that was installed with this package, or the one on PATH."""
    for folder in _folders():
        path = os.path.join(folder, _NAME)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    on_path = shutil.which("clockscope")
    if on_path is not None:
        # A question may run it in another folder.
        return os.path.abspath(on_path)
    raise CommandNotFound(
        "the command clockscope is missing: `pip install clockscope` installs it beside the package, "
        "`cargo install clockscope-cli` on PATH"
    )


def _folders() -> Iterator[str]:
    """Where installers put scripts: for this environment, the user, and a target folder."""
    yield sysconfig.get_path("scripts")
    schemes = sysconfig.get_scheme_names()
    user = sysconfig.get_preferred_scheme("user")
    if user in schemes:
        yield sysconfig.get_path("scripts", scheme=user)
    # pip install --target FOLDER, --prefix FOLDER
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield os.path.join(packages, "bin")
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(packages))), "bin")


def ask(arguments: Sequence[str], document: str | None = None, folder: str | None = None) -> Record:
    """Runs the command, in a folder or the current one, and returns the document that it writes.

    `document` is its input, if there is one.

    Other threads run meanwhile. Ctrl-C ends the measurement, and raises Interrupted with what was
    measured until then.
    """
    command = [find(), *arguments]
    interrupted = False
    # An exception in Popen would leave the command behind.
    ctrl_c = _DeferredCtrlC()
    try:
        # In a session of its own: Ctrl-C of a terminal would reach the command as well as this
        # process, which hands it on, and a second one ends the command without an answer.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL if document is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            start_new_session=True,
        )
    except BaseException:
        ctrl_c.end()
        raise
    with process:
        try:
            ctrl_c.end()
            out, err = process.communicate(None if document is None else document.encode())
        except KeyboardInterrupt:
            interrupted = True
            out, err = _end(process)
        except BaseException:
            process.kill()
            raise
    return _judged(process.returncode, out, err, interrupted)


class _DeferredCtrlC:
    """Keeps SIGINT back from the handler that Python code has set, until the end."""

    def __init__(self) -> None:
        self._came = False
        self._former = signal.getsignal(signal.SIGINT)
        # Handlers run on the main thread alone, and only there can they be set.
        self._is_set = callable(self._former) and threading.current_thread() is threading.main_thread()
        if self._is_set:
            signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = True

    def end(self) -> None:
        """Puts the handler back, and calls it for a signal that came."""
        if self._is_set:
            signal.signal(signal.SIGINT, self._former)
        if self._came:
            signal.raise_signal(signal.SIGINT)


def report(document: str, format: str) -> str:
    """Renders a document in one of the command's formats."""
    command = [find(), "report", "-", "--format", format, "--color", "never"]
    done = subprocess.run(command, input=document.encode(), capture_output=True, check=False)
    if done.returncode != _SUCCESS:
        raise MeasurementFailed(_complaint(done.stderr) or _how_it_ended(done.returncode))
    return done.stdout.decode()


def replace_this_process(arguments: Sequence[str]) -> int:
    """Becomes the command; returns its exit code only where a system has no such call."""
    path = find()
    if sys.platform == "win32":
        return subprocess.call([path, *arguments])
    # Python ignores these, and a program that is executed would inherit that.
    for name in ("SIGPIPE", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.execv(path, [path, *arguments])


def _end(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Ends a measurement early, and returns what it has; a second Ctrl-C kills it."""
    try:
        # The console of Windows has interrupted both.
        if sys.platform != "win32":
            process.send_signal(signal.SIGINT)
        return process.communicate()
    except BaseException:
        process.kill()
        raise


def _judged(code: int, out: bytes, err: bytes, interrupted: bool) -> Record:
    """The record of a run that ended so, or the exception that its exit code means."""
    complaint = _complaint(err)
    record = None
    if code in (_SUCCESS, _FINDING, _UNDETERMINED, _INTERRUPTED) and out:
        record = _record(out)
    if interrupted or code == _INTERRUPTED:
        raise Interrupted("interrupted", record)
    if code == _SUCCESS and record is not None:
        return record
    if code == _USAGE:
        raise ValueError(complaint or "wrong arguments")
    if code == _FINDING:
        raise FindingError(complaint or "a finding that fail_on names, or an unmet demand", record)
    if code == _UNDETERMINED:
        raise Undetermined(complaint or "it could not be determined", record)
    raise MeasurementFailed(complaint or _how_it_ended(code))


def _record(out: bytes) -> Record:
    try:
        return Record(out.decode())
    except ValueError as error:
        raise MeasurementFailed(f"the command wrote something else than a record: {error}") from None


def _complaint(err: bytes) -> str:
    """The error that the command wrote, without its advice on the command line."""
    lines = err.decode(errors="replace").strip().splitlines()
    errors = [number for number, line in enumerate(lines) if line.startswith("error: ")]
    if not errors:
        return "\n".join(lines)
    lines = lines[errors[-1] :]
    if "" in lines:
        lines = lines[: lines.index("")]
    return "\n".join(lines).removeprefix("error: ")


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"the command ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"the command was ended by {name}"
