"""What the tests share."""

from __future__ import annotations

import signal
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clockscope import _command


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """A folder for the records of a fleet."""
    folder = tmp_path / "records"
    folder.mkdir()
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The place of a fleet's tables."""
    return tmp_path / "out"


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No command is found."""
    monkeypatch.setattr(_command, "_folders", lambda: iter(()))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Replaces the command by a program in Python, or in another language."""

    def replace(program: str, language: str = sys.executable) -> None:
        folder = tmp_path / "scripts"
        folder.mkdir(exist_ok=True)
        file = folder / _command._NAME
        file.write_text(f"#!{language}\n{program}\n")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(_command, "_folders", lambda: iter([str(folder)]))

    return replace


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Lets SIGINT interrupt this process and its children.

    A shell without job control has its background jobs ignore SIGINT, and children inherit that.
    """
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    signal.signal(signal.SIGINT, former)
