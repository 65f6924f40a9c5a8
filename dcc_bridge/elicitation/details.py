"""A text that a question is about, such as code, and the view in which a surface draws it.

The view has the lines of the text, the reasons why lines are marked, and the differences from the
text that was agreed to last. Any thread.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from operator import itemgetter
from typing import ClassVar, Final

from dcc_bridge.elicitation.text import Translate, english, safe_line, safe_whole, split_lines
from dcc_bridge.errors import SchemaError

MAX_DETAILS_BYTES: Final = 64_000  # of a text that is agreed to
MAX_DETAILS_LINES: Final = 2_000
_MIN_RATIO: Final = 0.5  # a text whose `SequenceMatcher.ratio` is smaller counts as wholly new
_CONTEXT_LINES: Final = 3  # before and after each difference

# A block of `SequenceMatcher`: its tag, the lines of the previous text, the lines of the new one.
Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Details:
    """A text that a question is about, shown whole: monospace, with line numbers.

    Any thread.

    Attributes:
        text: The text that is agreed to.
        marks: The marked lines: the number of each, counted from 1, and the reason for the mark.
        previous: The text that was agreed to last, so that the difference is shown first; None
            where there was none.
        max_bytes: Bytes that a text may have at most, as UTF-8.
        max_lines: Lines that a text may have at most.

    Raises:
        SchemaError: The text, or the previous one, is more than a person reads; or a mark is on a
            line that the text does not have.
    """

    max_bytes: ClassVar[int] = MAX_DETAILS_BYTES
    max_lines: ClassVar[int] = MAX_DETAILS_LINES

    text: str
    marks: tuple[tuple[int, str], ...] = ()
    previous: str | None = None

    def __post_init__(self) -> None:
        """Check the length of the texts and the numbers of the marked lines."""
        for text in (self.text, self.previous or ""):
            size = len(text.encode("utf-8", "surrogatepass"))
            count = len(split_lines(text))
            if size > MAX_DETAILS_BYTES or count > MAX_DETAILS_LINES:
                raise SchemaError(
                    f"The details have {size:,} bytes and {count:,} lines; "
                    f"{MAX_DETAILS_BYTES:,} and {MAX_DETAILS_LINES:,} are the most. "
                    "Ask about a part, or in several questions."
                )
        last = len(split_lines(self.text))
        for line, _ in self.marks:
            if not 1 <= line <= last:
                raise SchemaError(f"Line {line} is marked, but the details have {last} lines.")

    @property
    def sha256(self) -> str:
        """The digest of the text, which stands for it in the audit log."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class DetailsRow:
    """A row of the view of a text: a line, or a note between two lines.

    Attributes:
        number: The number of the line, counted from 1; 0 for a row that is not in the text.
        text: The line, or a note on how many lines are left out.
        mark: Why the line is marked, or "".
        sign: "+" for a line that is not in the previous text, "-" for a line that only the
            previous text has, else " ".
    """

    number: int
    text: str
    mark: str = ""
    sign: str = " "

    def __str__(self) -> str:
        """Return the row as a text in which no line can pass for another one."""
        number = self.number or ""
        mark = "!" if self.mark else " "
        return f"{number:>5} {self.sign}{mark} {self.text}".rstrip()


@dataclass(frozen=True, slots=True)
class DetailsView:
    """The view of a text that is agreed to.

    Attributes:
        title: The length of the text.
        rows: The whole text.
        marks: A note for each marked line: its number, and why it is marked.
        difference: How many lines differ from the text that was agreed to last, or "".
        changes: The lines that differ, with the lines around them.
    """

    title: str
    rows: tuple[DetailsRow, ...]
    marks: tuple[str, ...]
    difference: str = ""
    changes: tuple[DetailsRow, ...] = ()


def details_view(details: Details, tr: Translate = english) -> DetailsView:
    """Make the view of a text that is agreed to, with the differences from the previous text.

    Any thread. It raises nothing.

    Args:
        details: The text.
        tr: Translates the texts of the bridge.

    Returns:
        The view; its texts are safe to show.
    """
    lines = split_lines(details.text)
    reasons = _mark_reasons(details)
    previous = lines
    if details.previous is not None:
        previous = split_lines(details.previous)
    matcher = SequenceMatcher(None, previous, lines)
    is_new = matcher.ratio() < _MIN_RATIO
    groups: Sequence[Sequence[Opcode]] = []
    if not is_new:
        groups = list(matcher.get_grouped_opcodes(_CONTEXT_LINES))
    rows = _rows(lines, reasons, groups)

    title = tr("{n:,} lines", n=len(rows))
    if len(rows) == 1:
        title = tr("1 line")
    difference = ""
    if details.previous is not None:
        difference = _count_differences(groups, tr, is_new=is_new)
    marks = [tr("line {line}: {why}", line=line, why=why) for line, why in reasons.items()]
    return DetailsView(
        title=title,
        rows=tuple(rows),
        marks=tuple(marks),
        difference=difference,
        changes=tuple(_changes(groups, previous, rows, tr)),
    )


def _mark_reasons(details: Details) -> dict[int, str]:
    """Return the reasons of each marked line by its number, in the order of the lines."""
    reasons: dict[int, list[str]] = {}
    for line, reason in sorted(details.marks, key=itemgetter(0)):
        reasons.setdefault(line, [])
        if reason:
            reasons[line].append(safe_line(reason))
    return {line: "; ".join(texts) for line, texts in reasons.items()}


def _rows(
    lines: list[str], reasons: Mapping[int, str], groups: Sequence[Sequence[Opcode]]
) -> list[DetailsRow]:
    """Return a row for each line of the text."""
    added = set[int]()
    for _, _, _, start, end in _differing_blocks(groups):
        added.update(range(start, end))
    rows = []
    for index, line in enumerate(lines):
        number = index + 1
        sign = "+" if index in added else " "
        rows.append(DetailsRow(number, safe_whole(line), reasons.get(number, ""), sign))
    return rows


def _differing_blocks(groups: Sequence[Sequence[Opcode]]) -> Iterator[Opcode]:
    for group in groups:
        for block in group:
            if block[0] != "equal":
                yield block


def _count_differences(groups: Sequence[Sequence[Opcode]], tr: Translate, *, is_new: bool) -> str:
    """Return a phrase that says how many lines differ from the previous text."""
    if is_new:
        return tr("a completely new text")
    n = 0
    for _, start, end, new_start, new_end in _differing_blocks(groups):
        n += max(end - start, new_end - new_start)
    if n == 1:
        return tr("1 line differs from the text approved last")
    return tr("{n:,} lines differ from the text approved last", n=n)


def _changes(
    groups: Sequence[Sequence[Opcode]],
    previous: list[str],
    rows: list[DetailsRow],
    tr: Translate,
) -> Iterator[DetailsRow]:
    """Yield the lines that differ, with their context and notes on the lines between."""
    if not groups:
        return
    position = 0  # in the new text
    for group in groups:
        first = group[0][3]
        if first > position:
            yield DetailsRow(0, _unchanged(first - position, tr))
        for tag, start, end, new_start, new_end in group:
            if tag != "equal":
                for line in previous[start:end]:
                    yield DetailsRow(0, safe_whole(line), sign="-")
            yield from rows[new_start:new_end]
        position = group[-1][4]
    if len(rows) > position:
        yield DetailsRow(0, _unchanged(len(rows) - position, tr))


def _unchanged(n: int, tr: Translate) -> str:
    return tr("… unchanged lines: {n:,}", n=n)
