"""How a question ended, in the words of the record; skills are told the same. Any thread."""

from __future__ import annotations

from typing import Final

DECLINED: Final = "declined"
UNASKED: Final = "unasked"
"""An edit about which nobody was asked, as undo takes it back. Only the record has this word."""
