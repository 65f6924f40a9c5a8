"""Reads code that an agent sends, before anybody is asked: what it is refused for, what is marked.

The findings inform a person, who may let a text without any run without reading it. Any thread.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from tokenize import cookie_re
from typing import Final
from unicodedata import normalize

from dcc_bridge.code.plain import closes_scene, marked_lines
from dcc_bridge.elicitation.text import is_hidden, plural
from dcc_bridge.errors import BadArguments
from dcc_bridge.verbs.plain_names import PlainNames

MOST_BYTES: Final = 16 * 1024
MOST_LINES: Final = 400
_DEEPEST: Final = 100  # how deep a statement may be nested; the reader calls itself for each level


@dataclass(frozen=True, slots=True)
class CodeFinding:
    """A line that is not plain, of which a person is told before the code runs.

    Attributes:
        line: Its number, counted from 1.
        reason: Why it is not, in plain words.
    """

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class CodeText:
    """Code that can be asked about.

    Attributes:
        text: The code with newlines of one kind, which is what is agreed to and compiled.
        tree: The text, parsed.
        findings: The lines that are not plain, each once.
        closes_scene: Whether the text names what opens, closes or reverts the scene.
    """

    text: str
    tree: ast.Module
    findings: tuple[CodeFinding, ...]
    closes_scene: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it only computes, and reads and edits the scene."""
        return not self.findings

    @property
    def sha256(self) -> str:
        """The digest to which an answer is bound."""
        return sha256(self.text.encode()).hexdigest()

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return len(self.text.splitlines())


def read_code(code: str, plain: PlainNames) -> CodeText:
    """Read code without running it.

    Args:
        code: The text.
        plain: The names of the application that plain code may use.

    Raises:
        BadArguments: It cannot be asked about, and the message names the line.
    """
    text = code.replace("\r\n", "\n")
    try:
        _check_characters(text)
        tree = _parsed(text)
        rows = dict(marked_lines(tree, plain))
        for line, reason in _other_letters(text, tree):
            rows[line] = f"{rows[line]}; {reason}" if line in rows else reason
        findings = [CodeFinding(line, reason) for line, reason in sorted(rows.items())]
        return CodeText(text, tree, tuple(findings), closes_scene(tree, plain))
    except (RecursionError, MemoryError) as error:
        raise BadArguments(f"The code is nested too deeply to be read: {error}.") from error


def _check_characters(text: str) -> None:
    size, lines = len(text.encode(errors="surrogatepass")), text.splitlines()
    if size > MOST_BYTES or len(lines) > MOST_LINES:
        most = f"at most {MOST_BYTES:,} bytes and {MOST_LINES} lines are allowed"
        raise BadArguments(f"The code has {plural(len(lines), 'line')} and {size:,} bytes: {most}.")
    before, line = " ", 1
    for char in text:
        if is_hidden(char, before):
            why = "is invisible or changes how text is shown. Write it as an escape"
            raise BadArguments(f"Line {line}: the character U+{ord(char):04X} {why}.")
        before, line = char, line + (char == "\n")
    for number, start in enumerate(lines[:2], 1):
        cookie = cookie_re.match(start)
        if cookie and cookie[1].lower() not in ("utf-8", "utf8"):
            raise BadArguments(f"Line {number}: remove the encoding {cookie[1]}.")


def _parsed(text: str) -> ast.Module:
    try:
        tree = ast.parse(text)
        _check_depth(tree)
        compile(tree, "<agreed code>", "exec", dont_inherit=True)
    except SyntaxError as error:
        line = error.lineno or 1
        shown = (error.text or "".join(text.split("\n")[line - 1 : line])).strip()[:120]
        raise BadArguments(f"Line {line} is not valid Python: {error.msg}: {shown}") from error
    return tree


def _other_letters(text: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield names that are not ASCII as they are written: the tree has them normalized."""
    if text.isascii():
        return
    names = set[str]()
    for node in ast.walk(tree):
        names |= _identifiers(node)
    for number, line in enumerate(text.split("\n"), 1):
        for word in dict.fromkeys(re.findall(r"[\w\x80-\U0010ffff]+", line)):
            if not word.isascii() and normalize("NFKC", word) in names:
                yield number, f"has letters that may look like others: {word}"


def _identifiers(node: ast.AST) -> set[str]:
    """Return the names that are written in a node itself."""
    if isinstance(node, ast.Constant):
        return set()
    names = set[str]()
    for _, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str):
                names.update(part.split("."))
    return names


def _check_depth(tree: ast.Module) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        line = next((node.lineno for node in level if isinstance(node, ast.expr | ast.stmt)), 1)
        raise BadArguments(f"Line {line} is nested more than {_DEEPEST} levels deep. Nest it less.")
