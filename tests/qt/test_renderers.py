"""A field of each kind is offered and sent alike by Qt, by Blender and at a terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import MagicMock

import anyio
import pytest
from PySide6.QtWidgets import QApplication

from dcc_bridge.client.terminal import Terminal
from dcc_bridge.client.terminal_io import Screen
from dcc_bridge.client.typed_answers import SKIP
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.effect import CodeRun, Effect
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.caller_view import argument_views
from dcc_bridge.elicitation.details import Details, details_view
from dcc_bridge.elicitation.field_view import field_views
from dcc_bridge.elicitation.question import Consent, Offers, Question
from dcc_bridge.elicitation.schema import Form
from dcc_bridge.elicitation.view import view_of
from dcc_bridge.host import UndoMark
from dcc_bridge.local_clients import LocalClient, LocalState
from dcc_bridge.panel.state import State
from dcc_bridge.panel.view import CallView, PanelView
from dcc_bridge.qt.form import FormView
from dcc_bridge.qt.labels import Mnemonics
from dcc_bridge.skills.call_history import Recent, Record
from tests.stand_ins import FakeHost

from .stage import delete, form

PLUG_IN: Final = Path(__file__).parents[2] / "plugins" / "blender"
PROPERTIES: Final = ("String", "Bool", "Int", "Float")
TITLED: Final = [{"const": "a", "title": "Take"}, {"const": "b", "title": "Take"}]
KINDS: Final[list[tuple[dict[str, Any], Any]]] = [
    ({"type": "string"}, "shot"),
    ({"type": "string", "format": "email"}, "a@b.com"),
    ({"type": "string", "format": "date-time"}, "2026-11-20T14:30:00Z"),
    ({"type": "number"}, 0.5),
    ({"type": "number", "minimum": -1, "maximum": 1e12}, -1.0),
    ({"type": "integer"}, 12345678901234567891),
    ({"type": "integer", "minimum": 1, "maximum": 24}, 7),
    ({"type": "boolean"}, False),
    ({"type": "boolean"}, True),
    ({"type": "string", "enum": ["a", "b"]}, "b"),
    ({"type": "string", "oneOf": TITLED}, "b"),
    ({"type": "string", "enum": [str(number) for number in range(200)]}, "7"),
    ({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}, ["b"]),
    ({"type": "array", "items": {"anyOf": TITLED}}, ["a"]),
]
STATE: Final = State(
    at=0.0,
    host="Blender",
    address="http://127.0.0.1:1/mcp",
    problem="",
    is_paused=False,
    asked=(),
    live=(),
    ended=(),
    grants=(),
    muted={},
    clients=(),
    top=UndoMark(0),
    local=LocalState(),
)
Answer = Callable[[Form], object]
PlugIn = Callable[[str], Any]


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
    keyboard: Any = Keys(text)
    person = Terminal(keyboard, Screen(io.StringIO()), "A test")
    return anyio.run(person.ask, "Well?", form).content


def in_qt(form: Form) -> object:
    view = FormView(field_views(form, False), Mnemonics())
    content = view.content() if view.first_wrong() is None else None
    delete(view)
    return content


def enum_property(items: Any, **more: Any) -> dict[str, Any]:
    """A choice, whose default is the first unless a function offers what there is."""
    if callable(items):
        return more
    return {"default": items[0][0], **more}


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[PlugIn]:
    """Imports a module of Blender's plug-in, without Blender."""
    bpy: Any = MagicMock()
    bpy.app.version = (3, 4, 1)
    del bpy.context.window_manager.dcc_bridge_history  # no plug-in is registered
    bpy.props = SimpleNamespace(**{f"{kind}Property": dict for kind in PROPERTIES})
    bpy.props.EnumProperty = enum_property
    bpy.props.PointerProperty = dict
    mathutils: Any = SimpleNamespace(Vector=tuple)
    monkeypatch.setitem(sys.modules, "bpy", bpy)
    monkeypatch.setitem(sys.modules, "bpy.utils", bpy.utils)
    monkeypatch.setitem(sys.modules, "bpy.utils.previews", bpy.utils.previews)
    monkeypatch.setitem(sys.modules, "mathutils", mathutils)
    monkeypatch.syspath_prepend(PLUG_IN)
    before = set(sys.modules)
    yield lambda name: import_module(f"dcc_bridge_blender.ui.{name}")
    for name in [name for name in set(sys.modules) - before if "blender" in name]:
        del sys.modules[name]


@pytest.fixture
def in_blender(plug_in: PlugIn) -> Answer:
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

    def operator(self, _: str, text: str, **__: Any) -> SimpleNamespace:
        self.drawn.append(text)
        return SimpleNamespace()

    @property
    def texts(self) -> str:
        return str(self.drawn)

    box = row = column = split


def test_blenders_sidebar_offers_the_clients_on_this_computer(plug_in: PlugIn) -> None:
    panel, layout = plug_in("panel"), Layout()
    found = LocalClient("cursor", "/x/mcp.json", False, True, "{}")

    for local in (LocalState(), LocalState((found,), "done"), LocalState((found,), "looking")):
        for row in PanelView(replace(STATE, local=local)).clients:
            panel._draw_row(layout, row, 60)

    assert "Find clients" in layout.texts
    assert "['Cursor'], ['Connect'], ['On this computer, not set up']" in layout.texts


def test_blenders_sidebar_tells_of_a_pause_a_mute_and_how_far_a_call_is(plug_in: PlugIn) -> None:
    panel, layout, recent = plug_in("panel"), Layout(), Recent(10)
    call = Call("bake", "Bake", client=Client("claude-code", "Claude Code"))
    recent.follow(call)
    recent.change(call.id, state="running", progress=(53.0, 100.0, "Frame 127"))
    (record,) = recent.records()
    muted = {"cursor": 540.0}
    state = replace(STATE, at=record.began + 6, is_paused=True, live=(record,), muted=muted)

    view = PanelView(state)
    panel._draw_head(layout, view, 40)
    for row in view.now:
        panel._draw_row(layout, row, 40)

    said = ("Paused", "Resume", "Muted for 9 min: cursor", "Unmute cursor", "53%", "Frame 127")
    assert [text for text in said if text not in layout.texts] == []
    assert "Claude Code" not in layout.texts


RAN: Final = CodeRun(
    "Tidy up.",
    Details("\n".join(f"v{n} = {n}" for n in range(1, 31)), ((2, "removes objects"),)),
    {"created": (0, []), "changed": (1, ["Key"]), "deleted": (25, [f"c{n}" for n in range(25)])},
)


def code_call(most: int = 10) -> tuple[Recent, Record]:
    """Give a history in which code ran after another edit, and its call."""
    recent = Recent(most)
    for title, left in (("Rename", Effect()), ("Run code", Effect(code=RAN))):
        call = Call("skill", title, "destructive", Client("claude-code"))
        recent.follow(call).end("done", effect=left)
    return recent, recent.records()[0]


def test_blenders_sidebar_offers_the_card_of_code_and_of_nothing_else(plug_in: PlugIn) -> None:
    panel, layout, (recent, _) = plug_in("panel"), Layout(), code_call()

    view = PanelView(replace(STATE, ended=tuple(recent.records())))
    panel._draw_history(layout, view, 60)

    *_, run, other = layout.drawn
    assert "Run code" in str(run)
    assert "Show the code" in str(run)
    assert "Rename" in str(other)
    assert "Show the code" not in str(other)


def test_blenders_card_says_why_and_what_changed_and_has_a_page_of_the_text(
    plug_in: PlugIn,
) -> None:
    panel, layout, (_, record) = plug_in("panel"), Layout(), code_call()
    pages = plug_in("pages").Pages(details_view(RAN.details))

    panel._draw_card(layout, CallView(record), pages, 36)

    said = ["claude-code · done", "The agent said: “Tidy up.”", "Marked 1: line 2: removes objects"]
    said += ["Changed 1: Key", "Deleted 25: c0, ", "5 more", "30 lines", "v1 = 1"]
    said += ["Line 2: removes objects", "Page 1 of 2", "Next"]
    assert [text for text in said if text not in layout.texts] == []
    assert "v30" not in layout.texts


def test_blenders_sidebar_is_drawn_again_only_where_something_changed(
    plug_in: PlugIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, sidebar = plug_in("panel"), MagicMock()
    paused = replace(STATE, is_paused=True)
    views = iter(map(PanelView, (STATE, replace(STATE), paused)))
    monkeypatch.setattr(panel, "_regions", lambda: [sidebar])
    monkeypatch.setattr(PanelView, "read", lambda _: next(views))
    shown = panel.Sidebar(MagicMock(), (), MagicMock())
    drawn = []

    for _ in range(2):
        shown._read_at = 0.0
        shown.turn()
        shown.turn()  # too soon: nothing is read
        drawn.append(sidebar.tag_redraw.call_count)

    assert drawn == [0, 1]


def test_in_blender_a_long_value_stays_in_the_column_of_values(plug_in: PlugIn) -> None:
    given = (("path", "/World/Cube\npath: /World/Sky"), ("note", "abc " * 100), ("empty", ""))
    layout = Layout()

    plug_in("subject").draw_arguments(layout, argument_views(given))

    path, note, empty = layout.drawn
    assert path == [["path"], ["/World/Cube‹U+000A›path: /World/Sky"]]  # noqa: RUF001 - ours
    assert (note[0], len(note[1]) > 3) == (["note"], True)
    assert " ".join(note[1]).endswith("(200 more characters are not shown)")
    assert empty == [["empty"]]


@pytest.mark.parametrize(("room", "is_said"), [(32, True), (31, False)])
def test_in_blender_what_is_said_of_fields_leaves_room_for_the_answers(
    plug_in: PlugIn, room: int, is_said: bool
) -> None:
    fields, layout = plug_in("fields"), MagicMock()
    asked = {f"f{n}": {"type": "string", "description": "What for."} for n in range(32)}
    labels = layout.column.return_value.label
    column = layout.column_flow.return_value.split.return_value.column.return_value

    fields.Fields(field_views(form(**asked), False)).draw(MagicMock(), layout, room)

    texts = [call.kwargs["text"] for call in column.column.return_value.label.call_args_list]
    assert ("What for." in texts) is is_said
    assert labels.called is not is_said


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
    assert in_blender(asked) == {}


@pytest.mark.parametrize("has_native", [True, False], ids=["4.1", "3.4"])
def test_blenders_own_buttons_say_the_answers_where_they_can(
    plug_in: PlugIn, has_native: bool
) -> None:
    dialog, drawn = consent(plug_in, has_native=has_native)

    answers = drawn(dialog)

    own = {"confirm_text": "Delete", "cancel_default": True} if has_native else {}
    options = dialog._options()
    assert {name: options[name] for name in options if name != "title"} == own
    assert answers == (["Decline"] if has_native else ["Delete", "Decline", "Not now"])


def test_the_other_ways_to_decline_are_one_menu_in_blender(plug_in: PlugIn) -> None:
    dialog, _ = consent(plug_in, has_native=False)
    menu = Layout()

    dialog.draw_menu(menu)

    assert menu.drawn == [["Decline and say why…"], ["Mute claude for 10 minutes"]]


@pytest.mark.parametrize(("has_native", "height"), [(True, None), (False, 0)], ids=["4.1", "3.4"])
def test_blenders_own_ok_has_no_height_where_it_cannot_say_what_it_does(
    plug_in: PlugIn, has_native: bool, height: int | None
) -> None:
    """Blender draws it on the root of the layout, 20 pixels high."""
    dialog, _ = consent(plug_in, has_native=has_native)
    root = SimpleNamespace(scale_y=None, column=MagicMock(), label=MagicMock())

    ours = dialog._drawing._content(root)

    if height is None:
        assert ours is root
        assert root.scale_y is None
    else:
        assert int(20 * root.scale_y) == height
        assert ours.scale_y * root.scale_y == 1


def test_a_letter_chooses_and_enter_gives_what_is_chosen(plug_in: PlugIn) -> None:
    dialog, _ = consent(plug_in, has_native=False)
    heard = dialog.heard

    dialog.press("accept", "RET")  # not the chosen one
    dialog._opened = 0.0
    dialog.press("decline", "D")
    dialog._opened = 0.0
    is_open = not heard
    dialog.press("decline", "RET")

    assert is_open
    assert [(reply.action, reply.reason) for reply in heard] == [("decline", "not mine")]


def test_what_comes_in_a_dialogs_first_moment_is_no_answer(
    plug_in: PlugIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog, _ = consent(plug_in, has_native=False)
    clock = SimpleNamespace(monotonic=lambda: dialog._opened + 0.3)
    monkeypatch.setattr(import_module(type(dialog).__module__), "time", clock)

    dialog.press("accept", "LEFTMOUSE")
    dialog.cancel()

    assert (dialog.heard, dialog.is_open) == ([], False)


def test_keys_that_come_one_after_the_other_from_the_first_moment_on_give_no_answer(
    plug_in: PlugIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog, _ = consent(plug_in, has_native=False)
    now = [dialog._opened]
    clock = SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr(import_module(type(dialog).__module__), "time", clock)

    for _ in range(9):
        now[0] += 0.3
        dialog.press("cancel", "RET")
    heard_of_typing = list(dialog.heard)
    now[0] += 0.6
    dialog.press("cancel", "RET")

    assert heard_of_typing == []
    assert [reply.action for reply in dialog.heard] == ["cancel"]


class Typed:
    """What stands in a dialog."""

    reason: str = " not mine "

    def as_pointer(self) -> int:
        """Tell that it is still there."""
        return 1


def consent(
    plug_in: PlugIn, *, has_native: bool, details: Details | None = None
) -> tuple[Any, Any]:
    """Give an open dialog that asks to delete, and what lists the answers that it draws."""
    module, layout = plug_in("dialog"), MagicMock()
    parameters = {"confirm_text": None} if has_native else {}
    manager = module.bpy.types.WindowManager
    manager.bl_rna.functions = {"invoke_props_dialog": SimpleNamespace(parameters=parameters)}
    agreed = form(["yes"], yes={"type": "boolean", "title": "Delete"})
    call = Call("delete_cameras", "Delete cameras", client=Client("claude"))
    question = Question("Delete them?", call, agreed, consent=Consent(), details=details)
    question = replace(question, offers=Offers(mute="claude"))
    heard: list[Any] = []
    dialog = module.OperatorDialog(question, view_of(question, FakeHost()), heard.append)
    dialog.heard, dialog.is_open = heard, True
    module._running[:] = [Typed()]
    dialog.state.values = SimpleNamespace(group=Typed(), keep=lambda: None)

    def drawn(dialog: Any) -> list[str]:
        row = layout.row.return_value
        row.row.return_value = row
        dialog._drawing._draw_answers(layout)
        return [pressed.kwargs["text"] for pressed in row.operator.call_args_list]

    return dialog, drawn


def pages(plug_in: PlugIn, details: Details) -> Callable[[str], list[Any]]:
    """Give what presses a button below a text in Blender, and lists all that is drawn then."""
    shown = plug_in("pages").Pages(details_view(details))

    def press(answer: str) -> list[Any]:
        assert shown.turn(answer) is (answer != "accept")
        layout = Layout()
        shown.draw(layout, 84, 30, lambda row, _, caption: row.label(caption))
        return layout.drawn

    return press


def test_in_blender_a_text_is_read_page_by_page(plug_in: PlugIn) -> None:
    press = pages(plug_in, Details("\n".join(f"v{n} = {n}" for n in range(1, 46))))

    first, second, last, beyond = map(press, ("accept", *["next_page"] * 3))

    assert first[:2] == ["45 lines", [[f"{n}", f"v{n} = {n}"] for n in range(1, 21)]]
    assert [page[2] for page in (first, second, last)] == [
        [f"Page {n} of 3", ["Previous"], ["Next"], "Copy all"] for n in (1, 2, 3)
    ]
    assert [len(page[1]) for page in (first, second, last)] == [20, 20, 20]  # nothing moves
    assert last == beyond
    assert press("previous_page") == second


def test_in_blender_what_differs_comes_first_and_a_mark_says_why(plug_in: PlugIn) -> None:
    press = pages(plug_in, Details("a\nb", ((2, "loses b"),), "a\nc"))

    title, rows, below = press("accept")
    whole = press("switch_text")

    assert title == "1 line differs from the text approved last"
    assert rows == [["1", "a"], ["-", "c"], ["2 +", "b"], ["!", "Line 2: loses b"]]
    assert below == ["Page 1 of 1", [], [], "Show all lines", "Copy all"]
    assert whole[0] == "2 lines · 1 line differs from the text approved last"
    assert whole[1] == [["1", "a"], ["2", "b"], ["!", "Line 2: loses b"]]


@pytest.mark.parametrize(("letter", "most"), [("x", 72), ("W", 42), ("語", 32)])
def test_in_blender_a_line_is_broken_before_it_is_cut(
    plug_in: PlugIn, letter: str, most: int
) -> None:
    (_, rows, _) = pages(plug_in, Details(200 * letter))("accept")

    assert "".join(text for _, text in rows) == 200 * letter
    assert max(len(text) for _, text in rows) == most
    assert [number for number, _ in rows] == ["1"] + [""] * (len(rows) - 1)


def test_turning_a_page_in_blender_is_no_answer(plug_in: PlugIn) -> None:
    dialog, _ = consent(plug_in, has_native=False, details=Details("x\n" * 30))

    dialog.press("next_page", "LEFTMOUSE")
    dialog.press("accept", "LEFTMOUSE")  # the second click of two

    assert (dialog.heard, dialog.is_open, dialog.state.pages._page) == ([], True, 1)


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
