"""Reads code that an agent sends, before anybody is asked: refuses some, and marks lines.

The marked lines inform a person, who may let a text without such lines run unread. Any thread.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from unicodedata import normalize

from dcc_bridge.code.plain import MAX_REASONS, closes_scene, marked_lines
from dcc_bridge.elicitation.text import find_hidden, plural
from dcc_bridge.errors import BadArguments
from dcc_bridge.verbs.plain_names import PlainNames

MAX_BYTES: Final = 16 * 1024
MAX_LINES: Final = 400
_MAX_DEPTH: Final = 100  # of the tree; the reader calls itself for each level
_MAX_SHOWN: Final = 120  # characters of a line in an error
_ATTRIBUTE: Final = re.compile(r"uses ([^\W_]\w*)")
_ENCODING: Final = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)  # PEP 263


@dataclass(frozen=True, slots=True)
class CodeFinding:
    """A line that is not plain, of which a person is told before the code runs.

    Attributes:
        line: The number of the line, counted from 1.
        reason: Why the line is not plain, in words.
    """

    line: int
    reason: str

    @property
    def is_of_object(self) -> bool:
        """Whether the line only names attributes of objects that are not known as plain.

        It is not plain by what it may do to the scene, which can be compared, and by no import,
        builtin, assignment or name of a module.
        """
        reasons = self.reason.split("; ")
        return len(reasons) < MAX_REASONS and all(map(_uses_attribute, reasons))


@dataclass(frozen=True, slots=True)
class CodeText:
    """Code that can be asked about.

    Attributes:
        text: The code with newlines of one kind, as the person reads and Python compiles it.
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
        """Whether the code only computes, and reads and edits the scene."""
        return not self.findings

    @property
    def sha256(self) -> str:
        """The digest that an answer is bound to."""
        return sha256(self.text.encode()).hexdigest()

    @property
    def lines(self) -> int:
        """The number of lines."""
        return len(self.text.splitlines())


def _uses_attribute(reason: str) -> bool:
    """Return whether a line is marked for the name of an attribute alone."""
    found = _ATTRIBUTE.fullmatch(reason)
    return found is not None and not hasattr(builtins, found[1])


def read_code(code: str, plain: PlainNames) -> CodeText:
    """Read code without running it.

    Args:
        code: The text.
        plain: The names of the application that plain code may use.

    Raises:
        BadArguments: A person cannot be asked about the code; the message names the line.
    """
    text = code.replace("\r\n", "\n")
    try:
        _check_characters(text)
        tree = _parsed(text)
        reasons = dict(marked_lines(tree, plain))
        for line, reason in _lookalike_names(text, tree):
            if line in reasons:
                reason = f"{reasons[line]}; {reason}"
            reasons[line] = reason
        findings = [CodeFinding(line, reason) for line, reason in sorted(reasons.items())]
        return CodeText(text, tree, tuple(findings), closes_scene(tree, plain))
    except (RecursionError, MemoryError) as error:
        raise BadArguments(f"The code is nested too deeply to be read: {error}.") from error


def _check_characters(text: str) -> None:
    """Refuse a text that is too large, or that does not mean what a person sees."""
    size = len(text.encode(errors="surrogatepass"))
    lines = text.splitlines()
    if size > MAX_BYTES or len(lines) > MAX_LINES:
        most = f"at most {MAX_BYTES:,} bytes and {MAX_LINES} lines are allowed"
        raise BadArguments(f"The code has {plural(len(lines), 'line')} and {size:,} bytes: {most}.")
    hidden = find_hidden(text)
    if hidden is not None:
        line = 1 + text.count("\n", 0, hidden)
        why = "is invisible or changes how text is shown. Write it as an escape"
        raise BadArguments(f"Line {line}: the character U+{ord(text[hidden]):04X} {why}.")
    for number, first in enumerate(lines[:2], 1):  # Python looks for an encoding in these two
        cookie = _ENCODING.match(first)
        if cookie and cookie[1].lower() not in ("utf-8", "utf8"):
            raise BadArguments(f"Line {number}: remove the encoding {cookie[1]}.")


def _parsed(text: str) -> ast.Module:
    try:
        tree = ast.parse(text)
        _check_depth(tree)
        compile(tree, "<agreed code>", "exec", dont_inherit=True)
    except SyntaxError as error:
        line = error.lineno or 1
        source = error.text or "".join(text.split("\n")[line - 1 : line])
        shown = source.strip()[:_MAX_SHOWN]
        raise BadArguments(f"Line {line} is not valid Python: {error.msg}: {shown}") from error
    return tree


def _lookalike_names(text: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line of each name with letters beyond ASCII, and a reason to mark that line.

    The text is searched, since the tree has the names in normalized letters.
    """
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
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, str):
                names.update(part.split("."))
    return names


def _check_depth(tree: ast.Module) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(_MAX_DEPTH):
        children = list[ast.AST]()
        for node in level:
            children.extend(ast.iter_child_nodes(node))
        level = children
    if level:
        line = _first_line(level)
        raise BadArguments(
            f"Line {line} is nested more than {_MAX_DEPTH} levels deep. Nest it less."
        )


def _first_line(nodes: Iterable[ast.AST]) -> int:
    """Return the line of the first node that has one; 1 where none has."""
    for node in nodes:
        if isinstance(node, ast.expr | ast.stmt):
            return node.lineno
    return 1
