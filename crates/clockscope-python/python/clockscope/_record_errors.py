"""The exceptions that carry a record, one for each way in which a question fails."""

from __future__ import annotations

from clockscope._errors import ClockscopeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clockscope._record import Record


class _WithRecord(BaseException):
    """An exception that carries what was measured."""

    record: Record | None

    def __init__(self, message: str = "", record: Record | None = None) -> None:
        super().__init__(message)
        self.record = record

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.record)


class ClockUnavailable(_WithRecord, ClockscopeError):
    """None of the clocks that were asked for can be read; `record`, if any, has the reasons."""


class Undetermined(_WithRecord, ClockscopeError):
    """What was asked could not be determined (exit code 3); `record` has what was measured."""


class FindingError(_WithRecord, ClockscopeError):
    """`fail_on` names what was found, or a demand is not met (exit code 1); see `record`."""


class Interrupted(_WithRecord, KeyboardInterrupt):
    """Ctrl-C during a question (exit code 130); `record` has what was measured, or is None."""
