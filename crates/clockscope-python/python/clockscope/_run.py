"""Runs a question, and turns the command's end into a record or an exception.

The command forks, pins itself to a CPU and tries reads that may end its process. So it never runs
inside of the interpreter.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from types import FrameType

from clockscope._command import complaint, find, how_it_ended
from clockscope._errors import MeasurementFailed
from clockscope._record import Record
from clockscope._record_errors import FindingError, Interrupted, Undetermined

# Exit codes of the command (docs: clockscope --help).
_SUCCESS, _FINDING, _USAGE, _UNDETERMINED, _INTERRUPTED = 0, 1, 2, 3, 130


def run(
    arguments: Sequence[str],
    document: str | None = None,
    folder: str | None = None,
    variables: Mapping[str, str] | None = None,
) -> Record:
    """Runs the command, in a folder or the current one, and returns the document that it writes.

    `document` is its input, if there is one; `variables` are added to its environment.

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
            env=None if variables is None else {**os.environ, **variables},
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
    said = complaint(err)
    record = None
    if code in (_SUCCESS, _FINDING, _UNDETERMINED, _INTERRUPTED) and out:
        record = _record(out)
    if interrupted or code == _INTERRUPTED:
        raise Interrupted("interrupted", record)
    if code == _SUCCESS and record is not None:
        return record
    if code == _USAGE:
        raise ValueError(said or "wrong arguments")
    if code == _FINDING:
        raise FindingError(said or "a finding that fail_on names, or an unmet demand", record)
    if code == _UNDETERMINED:
        raise Undetermined(said or "it could not be determined", record)
    raise MeasurementFailed(said or how_it_ended(code))


def _record(out: bytes) -> Record:
    try:
        return Record(out.decode())
    except ValueError as error:
        raise MeasurementFailed(f"the command wrote something else than a record: {error}") from None
