"""Writes command lines that a person can copy into the shell of this system. Any thread.

On Windows that is PowerShell, or cmd: in double quotes both take a word as it is, unless it has one
of PowerShell's own characters. Such a word is for PowerShell alone.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from typing import Final

# PowerShell divides an option that has a dot or a colon in it.
_PLAIN: Final = re.compile(r"(?!-)[\w\\/.:+=-]+|-[\w-]+", re.ASCII)
# PowerShell also takes typographic quotation marks for quotation marks.
_MEANS_MORE: Final = re.compile('["$`\u201c-\u201e]')  # in double quotes
_SINGLE_QUOTE: Final = re.compile("['\u2018-\u201b]")
_LAST_BACKSLASHES: Final = re.compile(r"\\+$")


def line(words: Sequence[str]) -> str:
    """Return the command line with which a person starts a program. It raises nothing.

    Args:
        words: The program and its arguments.

    Returns:
        The line, for the shell of this system.
    """
    if sys.platform != "win32":
        return shlex.join(words)
    return powershell_line(words)


def argument(word: str) -> str:
    """Return an argument as a person types it after a command. It raises nothing.

    Args:
        word: The argument.

    Returns:
        The argument, quoted for the shell of this system if need be.
    """
    if sys.platform != "win32":
        return shlex.quote(word)
    return _quoted(word)


def powershell_line(words: Sequence[str]) -> str:
    """Return a command line for PowerShell, and if possible also for cmd. It raises nothing.

    Args:
        words: The program and its arguments.

    Returns:
        The line.
    """
    quoted = " ".join(_quoted(word) for word in words)
    if _PLAIN.fullmatch(words[0]):
        return quoted
    return f"& {quoted}"  # else PowerShell prints the quoted text


def _quoted(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    # The program reads a quotation mark after one backslash as a part of the word.
    whole = _LAST_BACKSLASHES.sub(lambda match: match[0] * 2, word)
    if not _MEANS_MORE.search(word):
        return f'"{whole}"'
    doubled = _SINGLE_QUOTE.sub(lambda match: match[0] * 2, whole)
    return f"'{doubled}'"
