"""Finds the command `clockscope`, becomes it, and has it render documents."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence

from clockscope._errors import CommandNotFound, MeasurementFailed

_NAME = "clockscope" + (sysconfig.get_config_var("EXE") or "")


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
        "the command clockscope is missing: a wheel has it beside the package; in the repository, "
        "`cargo install --locked --path crates/clockscope-cli` puts it on PATH"
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


def report(document: str, format: str) -> str:
    """Renders a document in one of the command's formats."""
    return output(["report", "-", "--format", format, "--color", "never"], document)


def output(arguments: Sequence[str], document: str = "") -> str:
    """Runs the command, with a document as its input if it needs one; returns its standard output."""
    done = subprocess.run([find(), *arguments], input=document.encode(), capture_output=True, check=False)
    if done.returncode != 0:
        raise MeasurementFailed(complaint(done.stderr) or how_it_ended(done.returncode))
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


def complaint(err: bytes) -> str:
    """The error that the command wrote, without its advice on the command line."""
    lines = err.decode(errors="replace").strip().splitlines()
    errors = [number for number, line in enumerate(lines) if line.startswith("error: ")]
    if not errors:
        return "\n".join(lines)
    lines = lines[errors[-1] :]
    if "" in lines:
        lines = lines[: lines.index("")]
    return "\n".join(lines).removeprefix("error: ")


def how_it_ended(code: int) -> str:
    """The exit code or the signal that ended the command, in a sentence."""
    if code >= 0:
        return f"the command ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"the command was ended by {name}"
