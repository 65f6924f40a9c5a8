"""Reads code that an agent sends, before anybody is asked: what it is refused for, what it reaches.

The findings inform a person. What the text does not say is a finding itself. Any thread.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from tokenize import cookie_re
from typing import Final, Literal, cast
from unicodedata import normalize

from dcc_bridge.code.code_reader import CodeReader
from dcc_bridge.code.values import identifiers
from dcc_bridge.elicitation.text import is_hidden
from dcc_bridge.errors import BadArguments

CodeClass = Literal["files", "scene", "loses", "stays", "beyond"]

MOST_BYTES: Final = 16 * 1024
MOST_LINES: Final = 400
_DEEPEST: Final = 100  # how deep a statement may be nested; the reader calls itself for each level
_CLASSES: Final[dict[CodeClass, str]] = {
    "files": "writes or removes files",
    "scene": "opens or resets the scene or its undo",
    "loses": "removes things",
    "stays": "leaves behind what undo does not take back",
    "beyond": "reaches beyond the scene",
}


@dataclass(frozen=True, slots=True)
class CodeFinding:
    """Something that a person is told of before the code runs."""

    line: int
    kind: CodeClass
    reason: str


@dataclass(frozen=True, slots=True)
class CodeText:
    """Code that can be asked about."""

    text: str  # with newlines of one kind, which is what is agreed to and compiled
    tree: ast.Module
    findings: tuple[CodeFinding, ...]

    @property
    def sha256(self) -> str:
        """The digest to which an answer is bound."""
        return sha256(self.text.encode()).hexdigest()

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return len(self.text.splitlines())


def read_code(code: str, host: str) -> CodeText:
    """Read code without running it; a word of the host's name is enough.

    BadArguments: it cannot be asked about, and the message names the line.
    """
    text = code.replace("\r\n", "\n")
    try:
        _check_characters(text)
        tree = _parsed(text)
        rows = sorted([*_other_letters(text, tree), *CodeReader(tree, host).findings()])
        findings = [CodeFinding(line, cast(CodeClass, kind), why) for line, kind, why in rows]
    except (RecursionError, MemoryError) as error:
        raise BadArguments(f"The code is nested too deeply to be read: {error}.") from error
    return CodeText(text, tree, tuple(findings))


def classes_named(findings: Iterable[CodeFinding]) -> str:
    """Say in a question what the findings come to."""
    kinds = {finding.kind for finding in findings}
    words = [word for kind, word in _CLASSES.items() if kind in kinds]
    return ", ".join(words) or "only the scene's own interface"


def _check_characters(text: str) -> None:
    size, lines = len(text.encode(errors="surrogatepass")), text.splitlines()
    if size > MOST_BYTES or len(lines) > MOST_LINES:
        most = f"at most {MOST_BYTES:,} bytes and {MOST_LINES} lines are"
        raise BadArguments(f"Line {len(lines)} is the last of {size:,} bytes: {most} asked about.")
    before, line = " ", 1
    for char in text:
        if is_hidden(char, before):
            why = "is not seen or changes what is seen, so nobody can agree to it: write an escape"
            raise BadArguments(f"Line {line}: the character U+{ord(char):04X} {why}.")
        before, line = char, line + (char == "\n")
    for number, start in enumerate(lines[:2], 1):
        cookie = cookie_re.match(start)
        if cookie and cookie[1].lower() not in ("utf-8", "utf8"):
            raise BadArguments(f"Line {number}: leave the encoding {cookie[1]} out.")


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


def _other_letters(text: str, tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Give names that are not ASCII as they are written: the tree has them normalized."""
    if text.isascii():
        return
    nodes = (node for node in ast.walk(tree) if not isinstance(node, ast.Constant))
    names = {name for node in nodes for name in identifiers(node)}
    for number, line in enumerate(text.split("\n"), 1):
        for word in dict.fromkeys(re.findall(r"[\w\x80-\U0010ffff]+", line)):
            if not word.isascii() and normalize("NFKC", word) in names:
                yield number, "beyond", f"has letters that may only look like others: {word}"


def _check_depth(tree: ast.Module) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        line = next((node.lineno for node in level if isinstance(node, ast.expr | ast.stmt)), 1)
        raise BadArguments(f"Line {line} is nested more than {_DEEPEST} deep: write it flatter.")
