"""Text of clients, agents and skills, made safe to show.

Nothing in it is invisible and nothing reorders what stands beside it: such a character is shown
as its number, U+202E in angle quotes. What comes out is plain text; whoever draws it must not read
markup into it. An agent may name an item as it was shown: `from_visible` reads `visible` back.
Pure Python, any thread.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable
from typing import Final, Protocol

MOST_SHOWN: Final = 8192  # how much of a message is shown
MOST_IN_LINE: Final = 160  # how much is shown of what has to fit in a line: names, titles
_LONGEST_RUN: Final = 28
_TAB: Final = "    "
_BREAK: Final = "\N{ZERO WIDTH SPACE}"
_COLOURED: Final = "\N{VARIATION SELECTOR-16}"
# Letters and marks by their category, but with nothing to see: fillers, joiners, selectors.
_BLANK: Final = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}).union(
    range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)
)
_BLANK_CHARACTERS: Final = frozenset(map(chr, _BLANK))
_OPEN: Final = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
_CLOSE: Final = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
_NUMBERED: Final = f"{_OPEN}U+%04X{_CLOSE}"
_NUMBER: Final = re.compile(rf"{_OPEN}U\+([0-9A-F]{{4,6}}){_CLOSE}")


class Translate(Protocol):
    """Translates a text of ours, and fills in its places."""

    def __call__(self, text: str, **values: object) -> str:
        """Return a text, an English literal so that it can be collected, with its places filled in.

        An integer called ``n`` decides on the plural.
        """


def english(text: str, **values: object) -> str:
    """Fill in the places of a text, and leave it in English."""
    return text.format(**values) if values else text


def plural(count: int, noun: str) -> str:
    """Return a number with its noun: "1 mesh", "2 meshes", "3 copies"."""
    stem = re.sub("(?<=[^aeiou])y$", "ie", noun)
    end = "es" if noun.endswith(("s", "x", "sh", "ch")) else "s"
    return f"1 {noun}" if count == 1 else f"{count} {stem}{end}"


def left_out(n: int, tr: Translate = english) -> str:
    """Say how many characters of a text are not shown."""
    return tr("({n:,} more characters are not shown)", n=n)


def safe_text(text: str, most: int = MOST_SHOWN, *, tr: Translate = english) -> str:
    """Make a text of several lines safe to show: no character hides, or turns what follows around.

    Any thread. It raises nothing.

    Args:
        text: Somebody else's text: an agent's, a name in the scene.
        most: How many characters are shown; what is beyond is counted.
        tr: Translates what is said of it.

    Returns:
        Its lines, with hidden characters as their numbers.
    """
    text = text.replace("\r\n", "\n")
    left = len(text) - most
    shown = "\n".join(_visible(part).replace("\t", _TAB) for part in text[:most].split("\n"))
    return shown if left <= 0 else f"{shown}…\n{left_out(left, tr)}"


def safe_whole(text: str) -> str:
    """Make a text of several lines safe, all of it. What is safe stays as it is."""
    return safe_text(text, len(text))


def safe_line(text: str, most: int = MOST_IN_LINE) -> str:
    """Make a text safe that has to stay in one line: a newline is shown as its number too.

    Any thread. It raises nothing.

    Args:
        text: Somebody else's text.
        most: How many characters are shown; of a path its end too.

    Returns:
        One line, with hidden characters as their numbers.
    """
    if len(text) > most:
        tail = most // 2 if "/" in text and " " not in text else 0  # paths differ at their end
        text = text[: most - tail - 1].rstrip() + "…" + text[len(text) - tail :]
    return _visible(text).replace("\n", numbered("\n")).replace("\t", numbered("\t"))


def visible(text: str) -> str:
    """Return all of a text, each hidden character as its number; line ends and tabs stay.

    A text that looks like such a number has its first quote numbered, so no two texts look alike.
    """
    if _OPEN in text:
        text = _NUMBER.sub(lambda found: numbered(_OPEN) + found[0][1:], text)
    return "\r\n".join(map(_visible, text.split("\r\n")))


def hides_nothing(text: str) -> bool:
    """Return whether `visible` leaves a text of one line as it is. It is quick for a large one."""
    is_seen = text.isascii() or _BLANK_CHARACTERS.isdisjoint(text)
    return is_seen and text.isprintable() and _OPEN not in text


def from_visible(text: str) -> str:
    """Return the text of which `visible`, or `safe_line` where it is short, made another one."""
    return _NUMBER.sub(_numbered_character, text) if _OPEN in text else text


def _numbered_character(found: re.Match[str]) -> str:
    number = int(found[1], 16)
    if number > sys.maxunicode:
        return found[0]
    char = chr(number)
    is_ours = char in (_OPEN, "\n", "\t") or is_hidden(char, " ")
    return char if is_ours else found[0]


def breakable(text: str) -> str:
    """Let a word in safe text that is too long for any window be wrapped; it looks the same."""
    made: list[str] = []
    run = 0
    for char in text:
        run = 0 if char.isspace() else run + 1
        belongs = unicodedata.category(char)[0] == "M" and run <= 2 * _LONGEST_RUN
        if run > _LONGEST_RUN and not belongs:
            made.append(_BREAK)
            run = 1
        made.append(char)
    return "".join(made)


def tool_tip(text: str, *, wraps: bool = False) -> str:
    """Make a text safe for a tooltip of Qt, which takes for markup what looks like it. Any thread.

    It raises nothing.

    Args:
        text: What it says.
        wraps: Whether its lines may be too long for a screen. Qt wraps nothing but markup.

    Returns:
        The text, as markup where that is needed.
    """
    if "<" not in text and "&" not in text and not wraps:
        return text
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return f"<p style='white-space: pre-wrap'>{escaped}</p>"


def numbered(char: str) -> str:
    """Give the text that stands for a character, its number in angle quotes."""
    return _NUMBERED % ord(char)


def span(seconds: float, tr: Callable[..., str] = str.format) -> str:
    """Say how long something takes, to the nearest second, minute or hour."""
    whole = max(0, round(seconds))
    if whole < 60:
        return tr("{n} s", n=whole)
    minutes = round(whole / 60)
    return tr("{n} min", n=minutes) if minutes < 60 else tr("{n} h", n=round(minutes / 60))


def _visible(text: str) -> str:
    in_line = text.replace("\n", "").replace("\t", "")
    is_seen = in_line.isascii() or _BLANK_CHARACTERS.isdisjoint(in_line)
    if in_line.isprintable() and is_seen:
        return text
    pairs = zip(text, " " + text, strict=False)  # each with the one before
    return "".join(numbered(it) if is_hidden(it, before) else it for it, before in pairs)


def is_hidden(char: str, before: str) -> bool:
    """Whether a character is invisible, or reorders what stands beside it, after the one before."""
    if char in "\n\t":
        return False
    if char == _COLOURED:  # "⚠️": it asks for the coloured drawing of a symbol, and that is seen
        return not unicodedata.category(before).startswith("S")
    category = unicodedata.category(char)
    return category[0] == "C" or category in ("Zl", "Zp") or ord(char) in _BLANK


def split_lines(text: str) -> list[str]:
    """Split a text where Python's own parser does, and not where Unicode would."""
    lines = re.split(r"\r\n?|\n", text)
    return lines if lines[-1] else lines[:-1]
