"""How a command ends: its exit code, and a sentence where it could not do its work. Any thread."""

from __future__ import annotations

import sys
from typing import Final

SUCCESS: Final = 0
TOOL_ERROR: Final = 1
USAGE: Final = 2
REFUSED: Final = 3
UNREACHABLE: Final = 4
INTERRUPTED: Final = 130

TABLE: Final = """\
exit codes:
  0    it was done
  1    the tool reported an error
  2    wrong usage, or the host could not be started
  3    the person refused, or nobody could be asked
  4    the host could not be reached, or it went away
  130  Ctrl+C"""


class Failure(Exception):
    """A command cannot go on. Its text is a sentence for the person.

    Attributes:
        code: The exit code.
    """

    def __init__(self, sentence: str, code: int = USAGE) -> None:
        super().__init__(sentence)
        self.code = code


def tell(sentence: str) -> None:
    """Print a sentence beside the result."""
    print(f"dcc-bridge: {sentence}", file=sys.stderr, flush=True)
