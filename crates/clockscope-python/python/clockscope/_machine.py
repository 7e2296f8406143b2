"""Questions about the machine, its runtimes and earlier records. The command answers them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from typing import TypeVar, cast

from clockscope import _arguments as words
from clockscope._arguments import Clocks
from clockscope._errors import MeasurementFailed
from clockscope._questions import FORMAT
from clockscope._record import Record, parsed
from clockscope._run import run

Path = str | os.PathLike[str]
Records = Record | Path | Iterable[Record | Path]
_T = TypeVar("_T")


def info() -> Record:
    """Gives the facts about this machine that clocks depend on."""
    return run(["info", *FORMAT])


def bounds() -> Record:
    """Gives the interval that contains the true time of day, as the daemon and the kernel state it.

    Raises Undetermined, with the record, where nothing bounds it.
    """
    return run(["bounds", *FORMAT])


def list_clocks(*, via: str = "libc", all_platforms: bool = False) -> Record:
    """Lists all clocks, and whether they can be read here.

    via: "libc", "vdso", "syscall" or "all", for clocks that can be read in several ways.
    all_platforms: lists the clocks of every system instead, with what each system documents.
    """
    if all_platforms:
        return run(["list", *FORMAT, "--all-platforms"])
    return run(["list", *FORMAT, *words.options(via=via)])


def clocksource() -> Record:
    """Gives what the kernel's clocks are based on, and why. Changes nothing."""
    return run(["clocksource", *FORMAT])


def runtimes(
    names: Clocks = (),
    *,
    duration: float = 0.3,
    timeout: float | None = None,
    programs: Mapping[str, Path | Iterable[Path]] | None = None,
    fail_on: Clocks = (),
) -> Record:
    """Measures the stopwatches of language runtimes and browsers, by a probe in each.

    names: runtimes, as list_runtimes() names them; all that are found by default.
    duration: seconds for which each API is read, 0.001 to 60.
    timeout: seconds that a probe may take; 20 and 10 times `duration` by default.
    programs: programs of runtimes to use instead of those on PATH: {"python": "/usr/bin/python3"}.
    fail_on: "regression", "unavailable", "unknown".
    """
    arguments = words.options(
        duration=words.seconds("duration", duration),
        timeout=words.seconds("timeout", timeout),
        fail_on=words.names("fail_on", fail_on),
    )
    for name, given in (programs or {}).items():
        paths: list[Path] = _listed("programs", given)
        arguments += [f"--runtime={words.text('programs', name)}={os.fspath(path)}" for path in paths]
    return run(["runtimes", *FORMAT, *arguments, "--", *words.names_of("names", names)])


def list_runtimes() -> Record:
    """Lists the runtimes that are found, and how to get the others. Starts none of them."""
    return run(["runtimes", *FORMAT, "--list"])


def compare(
    base: Records,
    new: Records,
    *,
    clocks: Clocks = (),
    margin: float = 0.02,
    all: bool = False,
    across_machines: bool = False,
    fail_on: Clocks = (),
) -> Record:
    """Compares records with earlier ones: which clocks are slower, what else has changed.

    base, new: records of measure() or check(): a Record, the path of a file, or of a folder, of
    which all files `*.json` are read, or several of these. It takes several records a side, or
    one of measure(repeat=6), to know how much runs differ.
    clocks: compares these alone: fewer have narrower bounds.
    all: compares every clock. Without it, of more than eight clocks those are compared that
    programs usually read; the others have no ratio, and `undecided` is "not_compared".
    margin: the relative change of a cost that does not matter.
    across_machines: compares records of different machines; without it they raise Undetermined.
    fail_on: "slower", "verdict", "clocksource", "events".

    Raises OSError where a file cannot be read, and ValueError where it is not such a record.
    """
    arguments = words.options(
        margin=words.number("margin", margin),
        fail_on=words.names("fail_on", fail_on),
    )
    arguments += [f"--clock={name}" for name in words.names_of("clocks", clocks)]
    arguments += ["--all"] * bool(all)
    arguments += ["--across-machines"] * bool(across_machines)
    # Records of this process get names there. The command runs in that folder, so that its answer
    # shows these names without a path.
    with tempfile.TemporaryDirectory(prefix="clockscope-") as folder:
        sides = [_side(name, given, folder) for name, given in (("base", base), ("new", new))]
        return run(["compare", *FORMAT, *arguments, "--", *sides], folder=folder)


def replay(path: Path, *, fail_on: Clocks = ()) -> Record:
    """Computes the answer of a recorded run of steps again (`clockscope steps --raw FILE.json`).

    fail_on: as for steps(). Raises OSError where the file cannot be read, and ValueError where it is
    not a recording.
    """
    with open(path, encoding="utf-8") as file:
        recording = file.read()
    arguments = words.options(fail_on=words.names("fail_on", fail_on))
    try:
        answer = run(["report", *FORMAT, *arguments, "--", "-"], recording)
    except MeasurementFailed as error:
        refused, because = "cannot report -: ", str(error)
        if not because.startswith(refused):
            raise
        raise ValueError(f"{os.fspath(path)}: {because.removeprefix(refused)}") from None
    if answer.schema != "clockscope.steps":
        raise ValueError(f"{os.fspath(path)}: it is not a recording: its schema is {answer.schema}")
    return answer


def _listed(name: str, given: _T | Iterable[_T]) -> list[_T]:
    """What is given, of which one alone may be given by itself."""
    if isinstance(given, (Record, str, os.PathLike)):
        return [cast("_T", given)]
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise TypeError(f"{name}: expected a record, a path or several, got {type(given).__name__}")
    return list(cast("Iterable[_T]", given))


def _side(name: str, given: Records, folder: str) -> str:
    """The records of a side, as the command takes them."""
    files: list[str] = []
    parts: list[Record | Path] = _listed(name, given)
    for one in parts:
        if isinstance(one, Record):
            files.append(f"{name}-{len(files) + 1}.json")
            with open(os.path.join(folder, files[-1]), "w", encoding="utf-8") as file:
                file.write(one.to_json())
        else:
            files += _files(name, one)
    if not files:
        raise ValueError(f"{name}: expected one record at least")
    # The command takes a comma for the end of a name.
    names = enumerate(files, 1)
    return ",".join(_copied(file, number, name, folder) if "," in file else file for number, file in names)


def _files(name: str, path: Path) -> list[str]:
    """The records that a path names: absolute paths."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{name}: expected records or paths, got {type(path).__name__}")
    whole = os.path.abspath(words.text(name, os.fspath(path)))
    found = [whole]
    if os.path.isdir(whole):
        found = [os.path.join(whole, entry) for entry in sorted(os.listdir(whole)) if entry.endswith(".json")]
        if not found:
            raise ValueError(f"{name}: {path} is a folder without a file *.json")
    for file in found:
        with open(file, encoding="utf-8") as stream:
            try:
                parsed(stream.read())
            except ValueError as error:
                raise ValueError(f"{file}: {error}") from None
    return found


def _copied(file: str, number: int, name: str, folder: str) -> str:
    """The name of a copy, without a comma."""
    short = f"{name}-{number}-{os.path.basename(file).replace(',', '_')}"
    shutil.copyfile(file, os.path.join(folder, short))
    return short
