"""The exception for all that goes wrong with a fleet's data."""

from __future__ import annotations

from clockscope._errors import ClockscopeError


class FleetError(ClockscopeError):
    """It names what was asked, what went wrong, and what to do."""
