"""How a question ended, in the words of the record; skills are told the same. Any thread."""

from __future__ import annotations

from typing import Final

DECLINED: Final = "declined"
UNASKED: Final = "unasked"  # an edit that undo takes back; the record has it, and no response
