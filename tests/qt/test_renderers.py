"""A field of each kind is offered and sent alike by Qt, by Blender and at a terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import MagicMock

import anyio
import pytest
from PySide6.QtWidgets import QApplication

from dcc_bridge.client.terminal import SKIP, Terminal
from dcc_bridge.client.terminal_io import Screen
from dcc_bridge.elicitation.schema import Form
from dcc_bridge.elicitation.view import argument_views, field_views
from dcc_bridge.qt.form import FormView
from dcc_bridge.qt.labels import Mnemonics

from .stage import delete, form

PLUG_IN: Final = Path(__file__).parents[2] / "plugins" / "blender"
PROPERTIES: Final = ("String", "Bool", "Int", "Float")
TITLED: Final = [{"const": "a", "title": "Take"}, {"const": "b", "title": "Take"}]
KINDS: Final[list[tuple[dict[str, Any], Any]]] = [
    ({"type": "string"}, "shot"),
    ({"type": "string", "minLength": 2, "maxLength": 9}, "shot"),
    ({"type": "string", "format": "email"}, "a@b.com"),
    ({"type": "string", "format": "uri"}, "https://a.b"),
    ({"type": "string", "format": "date"}, "2026-11-20"),
    ({"type": "string", "format": "date-time"}, "2026-11-20T14:30:00Z"),
    ({"type": "number"}, 0.5),
    ({"type": "number", "minimum": -1, "maximum": 1e12}, -1.0),
    ({"type": "integer"}, 12345678901234567891),
    ({"type": "integer", "minimum": 1, "maximum": 24}, 7),
    ({"type": "boolean"}, False),
    ({"type": "boolean"}, True),
    ({"type": "string", "enum": ["a", "b"]}, "b"),
    ({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}, "b"),
    ({"type": "string", "oneOf": TITLED}, "b"),
    ({"type": "string", "enum": [str(number) for number in range(200)]}, "7"),
    ({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}, ["b"]),
    ({"type": "array", "items": {"anyOf": TITLED}}, ["a"]),
]
Answer = Callable[[Form], object]


class Keys:
    """A keyboard on which the same line is typed again and again."""

    def __init__(self, text: str) -> None:
        self._text = text

    def forget(self) -> None:
        """Do nothing."""

    async def line(self) -> str:
        """Type it."""
        return self._text


def at_terminal(form: Form, text: str = "") -> object:
    """Press Enter at each field."""
    keyboard: Any = Keys(text)
    person = Terminal(keyboard, Screen(io.StringIO()), "A test")
    return anyio.run(person.ask, "Well?", form).content


def in_qt(form: Form) -> object:
    """Send the form as it is drawn."""
    view = FormView(field_views(form, False), Mnemonics())
    content = view.content() if view.first_wrong() is None else None
    delete(view)
    return content


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Imports a module of Blender's plug-in, without Blender."""
    bpy: Any = MagicMock()
    bpy.props = SimpleNamespace(**{f"{kind}Property": dict for kind in PROPERTIES})
    bpy.props.EnumProperty = lambda items, **more: {"default": items[0][0], **more}
    monkeypatch.setitem(sys.modules, "bpy", bpy)
    monkeypatch.syspath_prepend(PLUG_IN)
    before = set(sys.modules)
    yield lambda name: import_module(f"dcc_bridge_blender.{name}")
    for name in [name for name in set(sys.modules) - before if "blender" in name]:
        del sys.modules[name]


@pytest.fixture
def in_blender(plug_in: Callable[[str], Any]) -> Answer:
    """Blender's operator, whose properties have their defaults."""
    fields = plug_in("fields")

    def answer(form: Form) -> object:
        drawn = fields.Fields(field_views(form, False))
        properties = drawn.properties(lambda *_: None)
        defaults = {key: each.get("default") for key, each in properties.items()}
        return drawn.content(SimpleNamespace(**defaults))

    return answer


class Layout:
    """A layout of Blender's: what is drawn on it, the parts of a row in brackets."""

    def __init__(self) -> None:
        self.drawn: list[Any] = []

    def label(self, text: str, **_: Any) -> None:
        self.drawn.append(text)

    def separator(self, **_: Any) -> None:
        """Draw nothing."""

    def split(self, **_: Any) -> Layout:
        part = Layout()
        self.drawn.append(part.drawn)
        return part

    column = split


def test_in_blender_a_long_value_stays_in_the_column_of_values(
    plug_in: Callable[[str], Any],
) -> None:
    given = (("path", "/World/Cube\npath: /World/Sky"), ("note", "abc " * 100), ("empty", ""))
    layout = Layout()

    plug_in("dialog")._draw_arguments(layout, argument_views(given))

    path, note, empty = layout.drawn
    assert path == ["path", ["/World/Cube‹U+000A›path: /World/Sky"]]  # noqa: RUF001 - ours
    assert (note[0], len(note[1]) > 3) == ("note", True)
    assert " ".join(note[1]).endswith("(200 more characters are not shown)")
    assert empty == ["empty"]


@pytest.mark.parametrize("required", [[], ["it"]], ids=["optional", "required"])
@pytest.mark.parametrize(("part", "default"), KINDS)
def test_a_default_is_filled_in_and_sent(
    app: QApplication, in_blender: Answer, part: dict[str, Any], default: Any, required: list[str]
) -> None:
    asked = form(required, it={**part, "default": default})

    assert in_qt(asked) == {"it": default}
    assert in_blender(asked) == {"it": default}
    if part["type"] != "boolean":  # Enter alone says neither yes nor no to a lone field
        assert at_terminal(asked) == {"it": default}


@pytest.mark.parametrize("part", [part for part, _ in KINDS])
def test_what_may_be_left_out_is_left_out_until_it_is_touched(
    app: QApplication, in_blender: Answer, part: dict[str, Any]
) -> None:
    asked = form(it=part)

    assert in_qt(asked) == {}
    assert at_terminal(asked) == at_terminal(asked, SKIP) == {}
    if part["type"] not in ("boolean", "array"):  # Blender's own have no third state
        assert in_blender(asked) == {}


def test_two_options_that_look_the_same_are_told_apart() -> None:
    (view,) = field_views(form(it={"type": "string", "oneOf": TITLED}), False)

    assert [option.title for option in view.options] == ["Take (a)", "Take (b)"]


@pytest.mark.parametrize(
    ("part", "limits"),
    [
        ({"type": "number", "minimum": 0.5, "maximum": 5}, "From 0.5 to 5."),
        ({"type": "integer", "minimum": 3}, "At least 3."),
        ({"type": "integer", "maximum": 3}, "At most 3."),
        ({"type": "string", "minLength": 1}, ""),
        ({"type": "string", "minLength": 2}, "At least 2 characters."),
        ({"type": "string", "minLength": 2, "maxLength": 9}, "From 2 to 9 characters."),
        ({"type": "string", "minLength": 1, "maxLength": 1}, "At most 1 character."),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1}, "At least 1."),
    ],
)
def test_limits_are_said_in_words(part: dict[str, Any], limits: str) -> None:
    (view,) = field_views(form(it=part), False)

    assert view.limits == limits
