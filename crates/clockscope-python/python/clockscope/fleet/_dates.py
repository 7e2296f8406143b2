"""Days as numbers, which the tables have, and as dates."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

_EPOCH: Final = date(1970, 1, 1)


def date_of(day_no: int) -> str:
    """The date of a day, as 2026-11-28, by its number since 1970-01-01."""
    return (_EPOCH + timedelta(days=day_no)).isoformat()


def day_no_of(day: date) -> int:
    """The number of days from 1970-01-01 to a date."""
    return (day - _EPOCH).days
