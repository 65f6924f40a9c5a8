"""Makes text of clients, agents and skills safe to show. Any thread.

In safe text each hidden character, which is invisible or reorders its neighbours, is replaced by
its number in angle quotes, such as U+202E. Safe text is plain text: a surface must not interpret
markup in it. `safe_line` and `safe_text` also shorten the text; `visible` does not, and
`from_visible` is its inverse, as an agent names an item as the item was shown.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable
from typing import Final, Protocol

MAX_SHOWN_CHARS: Final = 8192  # of a message
MAX_LINE_CHARS: Final = 160  # of a text that has to fit in a line: a name, a title
_MAX_WORD_CHARS: Final = 28  # of a word that a window need not wrap
_TAB: Final = "    "
_ZERO_WIDTH_SPACE: Final = "\N{ZERO WIDTH SPACE}"
_COLOUR_SELECTOR: Final = "\N{VARIATION SELECTOR-16}"
# These are letters and marks by their category, and yet invisible: fillers, joiners, selectors.
_BLANK: Final = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}).union(
    range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)
)
_BLANK_CHARACTERS: Final = frozenset(chr(code) for code in _BLANK)
# Finds every hidden character, and some that are seen. It passes over letters, digits and the usual
# punctuation, so a large text is searched quickly; four letters are invisible.
_MAYBE_HIDDEN: Final = re.compile(
    r"[^\w !-~\n\t\u2010-\u2027\u3001-\u303f\uff01-\uff5e]|[\u115f\u1160\u3164\uffa0]"
)
_OPEN: Final = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
_CLOSE: Final = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
_NUMBERED: Final = f"{_OPEN}U+%04X{_CLOSE}"
_NUMBER: Final = re.compile(rf"{_OPEN}U\+([0-9A-F]{{4,6}}){_CLOSE}")


class Translate(Protocol):
    """A function that translates a text of the bridge, and fills in its placeholders."""

    def __call__(self, text: str, **values: object) -> str:
        """Return the translation of a text.

        Args:
            text: An English literal, so that it can be collected; with placeholders.
            **values: The values of the placeholders. An integer called ``n`` decides on the plural.
        """


def english(text: str, **values: object) -> str:
    """Return a text in English, with its placeholders filled in."""
    if not values:
        return text
    return text.format(**values)


def plural(count: int, noun: str) -> str:
    """Return a number with its noun: "1 mesh", "2 meshes", "3 copies"."""
    if count == 1:
        return f"1 {noun}"
    stem = re.sub("(?<=[^aeiou])y$", "ie", noun)
    ending = "s"
    if noun.endswith(("s", "x", "sh", "ch")):
        ending = "es"
    return f"{count} {stem}{ending}"


def left_out(n: int, tr: Translate = english) -> str:
    """Return a note on how many characters of a text are not shown."""
    return tr("({n:,} more characters are not shown)", n=n)


def safe_text(text: str, most: int = MAX_SHOWN_CHARS, *, tr: Translate = english) -> str:
    """Make a text of several lines safe to show: no character hides, or reorders its neighbours.

    Any thread. It raises nothing.

    Args:
        text: A text that is not the bridge's own: an agent's, a name in the scene.
        most: How many characters are shown; the others are counted.
        tr: Translates the note that counts them.

    Returns:
        The lines of the text, with hidden characters as their numbers.
    """
    text = text.replace("\r\n", "\n")
    lines = [_number_hidden(line).replace("\t", _TAB) for line in text[:most].split("\n")]
    shown = "\n".join(lines)
    left = len(text) - most
    if left <= 0:
        return shown
    return f"{shown}…\n{left_out(left, tr)}"


def safe_whole(text: str) -> str:
    """Make a text of several lines safe to show, whole: no character is left out."""
    return safe_text(text, len(text))


def safe_line(text: str, most: int = MAX_LINE_CHARS) -> str:
    """Make a text safe to show in one line: a newline is shown as its number too.

    Any thread. It raises nothing.

    Args:
        text: A text that is not the bridge's own.
        most: How many characters are shown; the end of a path is among them.

    Returns:
        One line, with hidden characters as their numbers.
    """
    if len(text) > most:
        tail = 0
        if "/" in text and " " not in text:
            tail = most // 2  # paths differ at their end
        text = text[: most - tail - 1].rstrip() + "…" + text[len(text) - tail :]
    return _number_hidden(text).replace("\n", numbered("\n")).replace("\t", numbered("\t"))


def visible(text: str) -> str:
    """Return the whole text, with hidden characters as their numbers; line ends and tabs stay.

    Where the text itself has a character's number in angle quotes, the first quote is numbered
    too. So no two texts look alike.
    """
    if _OPEN in text:
        text = _NUMBER.sub(_number_quote, text)
    lines = [_number_hidden(line) for line in text.split("\r\n")]
    return "\r\n".join(lines)


def _number_quote(match: re.Match[str]) -> str:
    return numbered(_OPEN) + match[0][1:]


def hides_nothing(text: str) -> bool:
    """Return whether `visible` leaves a text of one line as it is. Quick for a large text."""
    if not text.isprintable() or _OPEN in text:
        return False
    return text.isascii() or _BLANK_CHARACTERS.isdisjoint(text)


def from_visible(text: str) -> str:
    """Return the original of a text that `visible` made, or `safe_line` without shortening."""
    if _OPEN not in text:
        return text
    return _NUMBER.sub(_character_of, text)


def _character_of(match: re.Match[str]) -> str:
    """Return the character of a number; the number itself if no hidden character has it."""
    code = int(match[1], 16)
    if code > sys.maxunicode:
        return match[0]
    char = chr(code)
    if char in (_OPEN, "\n", "\t") or is_hidden(char, " "):
        return char
    return match[0]


def breakable(text: str) -> str:
    """Insert invisible breaks into safe text, so that a window can wrap a word that is too long.

    The text looks the same. A combining mark stays with its letter, up to twice the usual length.
    """
    parts: list[str] = []
    length = 0  # of the word so far
    for char in text:
        length += 1
        if char.isspace():
            length = 0
        is_mark = unicodedata.category(char)[0] == "M" and length <= 2 * _MAX_WORD_CHARS
        if length > _MAX_WORD_CHARS and not is_mark:
            parts.append(_ZERO_WIDTH_SPACE)
            length = 1
        parts.append(char)
    return "".join(parts)


def tool_tip(text: str, *, wraps: bool = False) -> str:
    """Make a text safe for a tooltip of Qt, which interprets a text that looks like markup.

    Any thread. It raises nothing.

    Args:
        text: The text of the tooltip.
        wraps: Whether the lines may be too long for a screen. Qt wraps markup only.

    Returns:
        The text, as markup where that is needed.
    """
    if "<" not in text and "&" not in text and not wraps:
        return text
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return f"<p style='white-space: pre-wrap'>{escaped}</p>"


def numbered(char: str) -> str:
    """Return the text that stands for a character: its number in angle quotes."""
    return _NUMBERED % ord(char)


def span(seconds: float, tr: Callable[..., str] = str.format) -> str:
    """Return a duration in words, to the nearest second, minute or hour.

    Args:
        seconds: The duration.
        tr: Translates and fills in the text.
    """
    whole = max(0, round(seconds))
    if whole < 60:
        return tr("{n} s", n=whole)
    minutes = round(whole / 60)
    if minutes < 60:
        return tr("{n} min", n=minutes)
    return tr("{n} h", n=round(minutes / 60))


def _number_hidden(text: str) -> str:
    """Return a text with hidden characters as their numbers; newlines and tabs stay."""
    in_line = text.replace("\n", "").replace("\t", "")
    has_no_blanks = in_line.isascii() or _BLANK_CHARACTERS.isdisjoint(in_line)
    if in_line.isprintable() and has_no_blanks:
        return text
    parts = []
    before = " "
    for char in text:
        if is_hidden(char, before):
            parts.append(numbered(char))
        else:
            parts.append(char)
        before = char
    return "".join(parts)


def is_hidden(char: str, before: str) -> bool:
    """Return whether a character is invisible, or reorders its neighbours.

    Args:
        char: The character.
        before: The character before.
    """
    if char in "\n\t":
        return False
    # After a symbol, as in "⚠️", the selector asks for the coloured drawing, which is seen.
    if char == _COLOUR_SELECTOR:
        return not unicodedata.category(before).startswith("S")
    category = unicodedata.category(char)
    return category[0] == "C" or category in ("Zl", "Zp") or ord(char) in _BLANK


def find_hidden(text: str) -> int | None:
    """Return the index of the first hidden character of a text. Quick for a large text."""
    for match in _MAYBE_HIDDEN.finditer(text):
        index = match.start()
        before = text[index - 1 : index] or " "
        if is_hidden(match[0], before):
            return index
    return None


def split_lines(text: str) -> list[str]:
    """Split a text into lines where Python's own parser does, and not where Unicode would."""
    lines = re.split(r"\r\n?|\n", text)
    if not lines[-1]:
        lines.pop()
    return lines
