"""The words for the end of a question that the audit log and skills have in common. Any thread."""

from __future__ import annotations

from typing import Final

DECLINED: Final = "declined"
UNASKED: Final = "unasked"
"""An edit about which nobody was asked, as it can be undone. Only the audit log has this word."""
