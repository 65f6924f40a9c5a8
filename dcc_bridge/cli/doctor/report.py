"""What a check found. Any thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong.

    Attributes:
        check: What was looked at, in a word.
        what: A sentence.
        mend: What to do.
    """

    check: str
    what: str
    mend: str


@dataclass(slots=True)
class Report:
    """What a check has to say.

    Attributes:
        facts: What is well, a sentence each.
        findings: What is not.
    """

    facts: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def find(self, check: str, what: str, mend: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(check, what, mend))


Check = Callable[[], Report]
