"""What can go wrong with a fleet's data, as one exception."""

from __future__ import annotations

from clockscope._errors import ClockscopeError


class FleetError(ClockscopeError):
    """It names what was asked, what went wrong, and what to do."""
