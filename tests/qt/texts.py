"""The texts that can be translated, and a language in which every one of them has brackets.

``python -m tests.qt.texts > dcc_bridge.ts`` writes them down for Qt Linguist.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QWidget

import dcc_bridge
from dcc_bridge.qt.labels import CONTEXT

_PACKAGE = Path(dcc_bridge.__file__).parent
_MAKER = "tr"
_HEAD = '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE TS>'
_INNERMOST = re.compile("⟦[^⟦⟧]*⟧")


def makers() -> Iterator[tuple[str, ast.Call]]:
    """Give each place in the package where a text for a person is made, and the call."""
    for file in sorted(_PACKAGE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if f"{_MAKER}(" in text else ():
            if isinstance(node, ast.Call) and _name(node.func) == _MAKER:
                yield f"{file.relative_to(_PACKAGE)}:{node.lineno}", node


def _name(function: ast.expr) -> str:
    match function:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def literal(call: ast.Call) -> str | None:
    """Give the text that such a call has, or None where only a running program knows it."""
    first = call.args[0] if len(call.args) == 1 else None
    fits = isinstance(first, ast.Constant) and isinstance(first.value, str)
    return str(ast.literal_eval(first)) if first is not None and fits else None


@cache
def collected() -> frozenset[str]:
    """Give every text that can be translated."""
    return frozenset(text for _, call in makers() if (text := literal(call)) is not None)


def ts(language: str, translations: Mapping[str, list[str]]) -> str:
    """Write a translation as Qt Linguist and ``lrelease`` read it.

    Args:
        language: Such as "pl".
        translations: Of some of the texts; several are the plurals of that language.
    """
    messages = "".join(_message(text, translations.get(text, [])) for text in sorted(collected()))
    head = f'{_HEAD}<TS version="2.1" language="{language}">'
    return f"{head}\n<context><name>{CONTEXT}</name>\n{messages}</context></TS>\n"


def _message(text: str, translated: list[str]) -> str:
    counted = "{n" in text
    forms = [f"<numerusform>{escape(form)}</numerusform>" for form in translated]
    said = "".join(forms) if counted else escape("".join(translated))
    state = "" if translated else ' type="unfinished"'
    plural = ' numerus="yes"' if counted else ""
    source = f"<source>{escape(text)}</source>"
    return f"<message{plural}>{source}<translation{state}>{said}</translation></message>\n"


class Brackets(QTranslator):
    """Puts every text that was collected into brackets.

    Attributes:
        unknown: The texts that were asked for and not collected.
        shown: Those that were.
    """

    def __init__(self) -> None:
        super().__init__()
        self.collected = collected()
        self.unknown: set[str] = set()
        self.shown: set[str] = set()

    def isEmpty(self) -> bool:
        return False

    def translate(
        self, context: str, text: str, disambiguation: str | None = None, n: int = -1
    ) -> Any:  # None, which its type does not know, leaves a text as it is; "" would empty it
        if context != CONTEXT:
            return None
        (self.shown if text in self.collected else self.unknown).add(text)
        return f"⟦{text}⟧" if text in self.collected else None


def readable(*tops: QWidget) -> Iterator[str]:
    """Give every text of some windows that a person reads, or hears from a screen reader."""
    for top in tops:
        for widget in (top, *top.findChildren(QWidget)):
            yield widget.toolTip()
            yield widget.windowTitle()
            yield widget.accessibleName()
            yield widget.accessibleDescription()
            yield from _drawn(widget)


def _drawn(widget: QWidget) -> Iterator[str]:
    match widget:
        case QLabel() | QAbstractButton():
            yield widget.text()
        case QLineEdit():
            yield widget.placeholderText()
        case QComboBox():
            yield widget.placeholderText()
            yield from (widget.itemText(row) for row in range(widget.count()))


def unbracketed(text: str, theirs: set[str]) -> str:
    """Give what is left of a text without its brackets and without what somebody else said.

    Args:
        text: As it is shown.
        theirs: What skills, clients and the host say.
    """
    left = text.replace("\N{ZERO WIDTH SPACE}", "").replace("&", "")
    while (less := _INNERMOST.sub("", left)) != left:
        left = less
    for said in sorted(theirs, key=len, reverse=True):
        left = left.replace(said, "")
    return left if any(char.isalpha() for char in left) else ""


if __name__ == "__main__":
    print(ts("en", {}))
