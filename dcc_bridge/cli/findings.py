"""The results of the checks of ``doctor``. Any thread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem.

    Attributes:
        check: The kind of check, in a word.
        what: The problem, in a sentence.
        mend: The next step, in a sentence or a command.
    """

    check: str
    what: str
    mend: str


class Advice(Finding):
    """Something that is still to be done, but is no problem: it does not change the exit code."""


Results = Iterator[str | Finding]
