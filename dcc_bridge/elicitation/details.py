"""A text that a question is about, and what is shown of it: lines, marks, differences.

Any thread.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from operator import itemgetter
from typing import Any, ClassVar, Final

from dcc_bridge.elicitation.text import Translate, english, safe_line, safe_text, split_lines
from dcc_bridge.errors import SchemaError

MOST_DETAILS: Final = 64_000  # bytes of a text that is agreed to
MOST_LINES: Final = 2_000  # lines of it


@dataclass(frozen=True, slots=True)
class Details:
    """A text that a question is about, shown whole: monospace, with line numbers.

    Making one raises SchemaError where the text, or the one before, is more than a person reads,
    or where a line is marked that the text does not have. Any thread.

    Attributes:
        text: What is agreed to.
        marks: Lines, counted from 1, each with the reason for which it is marked.
        previous: The text that was agreed to last, so that the difference is shown first; None
            where there was none.
        max_bytes: Bytes that a text may have at most, as UTF-8.
        max_lines: Lines that a text may have at most.
    """

    max_bytes: ClassVar[int] = MOST_DETAILS
    max_lines: ClassVar[int] = MOST_LINES

    text: str
    marks: tuple[tuple[int, str], ...] = ()
    previous: str | None = None

    def __post_init__(self) -> None:
        """Check the length of the texts and the numbers of the marked lines."""
        for text in (self.text, self.previous or ""):
            size, count = len(text.encode("utf-8", "surrogatepass")), len(split_lines(text))
            if size > MOST_DETAILS or count > MOST_LINES:
                raise SchemaError(
                    f"The details have {size:,} bytes and {count:,} lines; {MOST_DETAILS:,} and "
                    f"{MOST_LINES:,} are the most. Ask about a part, or in several questions."
                )
        last = len(split_lines(self.text))
        wrong = [line for line, _ in self.marks if not 1 <= line <= last]
        if wrong:
            raise SchemaError(f"Line {wrong[0]} is marked, but the details have {last} lines.")

    @property
    def sha256(self) -> str:
        """The digest of the text, which stands for it in the audit log."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class DetailsRow:
    """A line of a text that is agreed to, or something between two of them.

    Attributes:
        number: Counted from 1; 0 for what is not in the text.
        text: The line, or how many are left out.
        mark: Why it is marked, or ""
        sign: "+" for a line that the text before did not have, "-" for one that is gone.
    """

    number: int
    text: str
    mark: str = ""
    sign: str = " "

    def __str__(self) -> str:
        """Give the row as a text in which no line can pass for another one."""
        return f"{self.number or '':>5} {self.sign}{'!' if self.mark else ' '} {self.text}".rstrip()


@dataclass(frozen=True, slots=True)
class DetailsView:
    """A text that is agreed to.

    Attributes:
        title: How long it is.
        rows: All of it.
        marks: Why lines are marked, each with its number.
        difference: How much differs from the text agreed to last, or ""
        changes: What does, with the lines around it.
    """

    title: str
    rows: tuple[DetailsRow, ...]
    marks: tuple[str, ...]
    difference: str = ""
    changes: tuple[DetailsRow, ...] = ()


def details_view(details: Details, tr: Translate = english) -> DetailsView:
    """Make the view of a text that is agreed to, and of what differs from the one before.

    Any thread. It raises nothing.

    Args:
        details: The text.
        tr: Translates texts of ours.

    Returns:
        The view; its texts are safe to show.
    """
    lines, reasons = split_lines(details.text), dict[int, str]()
    for number, reason in sorted(details.marks, key=itemgetter(0)):
        reasons[number] = "; ".join(filter(None, (reasons.get(number), safe_line(reason))))
    before = lines if details.previous is None else split_lines(details.previous)
    matcher = SequenceMatcher(None, before, lines)
    is_new = matcher.ratio() < 0.5
    groups = [] if is_new else list(matcher.get_grouped_opcodes(3))
    blocks = [block for group in groups for block in group if block[0] != "equal"]
    new = {at for *_, first, end in blocks for at in range(first, end)}
    texts = [safe_text(line, len(line)) for line in lines]
    rows = tuple(
        DetailsRow(at, text, reasons.get(at, ""), "+" if at - 1 in new else " ")
        for at, text in enumerate(texts, 1)
    )
    n = sum(max(end - first, new_end - new_first) for _, first, end, new_first, new_end in blocks)
    differs = tr("{n:,} lines differ from what was agreed to last", n=n)
    differs = tr("1 line differs from what was agreed to last") if n == 1 else differs
    differs = tr("a wholly new text") if is_new else differs
    return DetailsView(
        title=tr("1 line") if len(rows) == 1 else tr("{n:,} lines", n=len(rows)),
        rows=rows,
        marks=tuple(tr("line {line}: {why}", line=line, why=why) for line, why in reasons.items()),
        difference="" if details.previous is None else differs,
        changes=() if is_new else tuple(_changes(groups, before, rows, tr)),
    )


def _changes(
    groups: list[Any], before: list[str], rows: tuple[DetailsRow, ...], tr: Translate
) -> Iterator[DetailsRow]:
    shown = 0
    for group in [*groups, [("equal", 0, 0, len(rows), len(rows))]]:
        if groups and group[0][3] > shown:
            yield DetailsRow(0, tr("… unchanged lines: {n:,}", n=group[0][3] - shown))
        for tag, first, end, new_first, new_end in group:
            for line in before[first:end] if tag != "equal" else ():
                yield DetailsRow(0, safe_text(line, len(line)), sign="-")
            yield from rows[new_first:new_end]
        shown = group[-1][4]
