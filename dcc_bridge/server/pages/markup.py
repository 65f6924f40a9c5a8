"""HTML that is escaped unless it was made here. Any thread."""

from __future__ import annotations

from html import escape
from typing import Final

Attribute = str | bool | None
_VOID: Final = frozenset({"input", "meta", "link"})


class Markup(str):
    """A piece of HTML. Adding text to one gives text, which is escaped again."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: Attribute) -> Markup:
    """Make an element.

    Args:
        name: Of the tag.
        *children: What is in it; what is not `Markup` is text.
        **attributes: True stands alone, None and False are left out; ``aria_label`` and ``for_``
            are written as HTML has them.
    """
    head = "".join(_attribute(key, value) for key, value in attributes.items())
    return Markup(
        f"<{name}{head}>" if name in _VOID else f"<{name}{head}>{join(*children)}</{name}>"
    )


def join(*parts: str) -> Markup:
    """Put pieces beside each other."""
    return Markup("".join(p if isinstance(p, Markup) else escape(p) for p in parts))


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(value)}"'
