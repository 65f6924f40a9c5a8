"""The sidebar of the 3D view: what agents ask, do and did, with a button for each thing.

It is read on the main thread from the bridge's timer, when something has changed and once a second
for what only the clock or the person's own undo changes, and drawn again where it looks different.

Blender reads the annotations of these classes, so they must not be put off.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import bpy

from dcc_bridge.spi.drawing import CallView, PanelPort, PanelRow, PanelView, Question, safe_line

from .. import preferences
from ..loop import redraw
from .drawing import columns_of, say, scaled, stir, wrapped
from .pages import Pages

_BETWEEN: Final = 0.2
_TICK: Final = 1.0
_MARGIN: Final = 55  # pixels at the sides of a text in a box of the sidebar
_MOST: Final = 12  # calls of the history that are listed
_BESIDE: Final = 8  # characters that the icon and the word of the button that undoes take
_BAR: Final = 10
_WIDTH: Final = 760
_COLUMNS: Final = 115  # characters of a line in a card of that width
_LINE: Final = 21
_FIXED_LINES: Final = 8  # those of a card that are neither what is known of it nor its text
_NAMES: Final = 20  # names of what code changed, of each kind, that its card lists
_ICONS: Final = {
    "done": "CHECKMARK",
    "undone": "LOOP_BACK",
    "unanswered": "INFO",
    "refused": "X",
    "cancelled": "X",
    "not_started": "X",
}


class Shown:
    """What the sidebar shows of a bridge."""

    def __init__(
        self,
        port: PanelPort,
        notes: Sequence[tuple[str, float]],
        enter: Callable[[], bool],  # leads into the question that waits
    ) -> None:
        """Listen to a bridge."""
        self._enter = enter
        self.notes = notes  # the notifications, each with the time when it goes
        self.view = PanelView.read(port)  # how everything was when it was read
        self.pages: Pages | None = None  # the text of the code whose card is open; None before
        self._port = port
        self._is_stale, self._read_at = True, 0.0
        self.close = port.watch(self._note_change)  # ends the listening to the bridge

    def _note_change(self) -> None:
        self._is_stale = True

    def turn(self) -> None:
        """Read how everything is, if it is time to, and draw it where it changed."""
        now, sidebars = time.monotonic(), _sidebars()
        if not sidebars or now < self._read_at + (_BETWEEN if self._is_stale else _TICK):
            return
        self._read_at, self._is_stale = now, False
        before = self.view
        self.view = PanelView.read(self._port)
        if self.view.looks_like(before):
            return
        for region in sidebars:
            region.tag_redraw()

    def _show(self, _: Question) -> None:
        self._enter()  # the one whose turn it is

    def act(self, key: str, verb: str) -> None:
        """Do what a button says."""
        if self.pages is not None and self.pages.turn(verb):
            return
        port, windows = self._port, bpy.context.window_manager
        if verb == "pause":
            (port.resume if port.is_paused else port.pause)()
        elif verb == "undo":
            port.undo(key)
        elif verb == "copy" and windows is not None:
            windows.clipboard = key
        else:
            PanelView.press(port, key, verb, self._show)
        self._is_stale = True


shown: Shown | None = None  # what is shown now; None while nothing runs


class DCC_BRIDGE_OT_act(bpy.types.Operator):
    """Does what a button says."""

    bl_idname = "dcc_bridge.act"
    bl_label = "Act"
    bl_description = "Does what the button says"  # Blender puts a full stop after it
    bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape

    key: bpy.props.StringProperty()  # type: ignore[valid-type]  # how Blender declares properties
    verb: bpy.props.StringProperty()  # type: ignore[valid-type]  # how Blender declares properties
    tip: bpy.props.StringProperty()  # type: ignore[valid-type]  # how Blender declares properties

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        """Say what the button does."""
        return str(properties.tip)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        """Act, and have what pops up drawn again: it waits for the mouse else."""
        acted = self.execute(context)
        redraw()
        stir(context, event)
        return acted

    def execute(self, context: bpy.types.Context) -> Any:
        """Act."""
        if shown is not None:
            shown.act(self.key, self.verb)
        return {"FINISHED"}


class DCC_BRIDGE_OT_code(bpy.types.Operator):
    """Shows code that an agent ran."""

    bl_idname = "dcc_bridge.code"
    bl_label = "Code of an agent"
    bl_description = "Shows the code, what it was for, and what it changed"
    bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape

    key: bpy.props.StringProperty()  # type: ignore[valid-type]  # how Blender declares properties

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        """Open the card of a call, on the first page of its text."""
        call = shown.view.code_call(self.key) if shown else None
        code = call.code if call is not None else None
        windows = context.window_manager
        if shown is None or code is None or windows is None:
            return {"CANCELLED"}
        shown.pages = Pages(code)
        return windows.invoke_props_dialog(self, width=_WIDTH)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw why it ran, what came of it, and a page of its text."""
        call = shown.view.code_call(self.key) if shown else None
        if shown is None or shown.pages is None or call is None:
            return
        height = context.window.height if context.window is not None else 0
        _draw_card(self.layout, call, shown.pages, int(scaled(context, height) / _LINE))

    def execute(self, context: bpy.types.Context) -> Any:
        """Close it."""
        return {"FINISHED"}


def _draw_card(layout: Any, call: CallView, pages: Pages, lines: int) -> None:
    """Draw what is known of a call, and a page of the code that it ran."""
    facts = "\n".join(call.facts(_NAMES))
    say(layout.box(), facts, _COLUMNS)
    room = lines - len(wrapped(facts, _COLUMNS)) - _FIXED_LINES
    pages.draw(layout.box(), _COLUMNS, room, _draw_turn)


def _draw_turn(layout: Any, verb: str, caption: str) -> None:
    _draw_act(layout, caption, "", verb)


class DCC_BRIDGE_PT_agents(bpy.types.Panel):
    """The panel."""

    bl_label = "Agents"
    bl_category = "Agents"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw how things are, what wants something of the person, who is there, what was done."""
        layout: Any = self.layout
        wide = columns_of(context, _MARGIN)
        if shown is None:
            say(layout, preferences.state, wide)
            return
        view = shown.view
        _draw_head(layout, view, wide)
        for part in view.now:
            _draw_row(layout, part, wide)
        for text, _ in shown.notes:
            say(layout.box(), text, wide, icon="INFO")
        _draw_history(layout, view, wide)
        layout.label(text="Agents")
        for part in (*view.clients, *view.grants):
            _draw_row(layout, part, wide)
        if view.address:
            say(layout, view.address, wide)
            _draw_act(layout, "Copy the address", view.address, "copy", icon="COPYDOWN")


def _draw_head(layout: Any, view: PanelView, wide: int) -> None:
    """Draw what is always there first, so that no button moves away below the mouse."""
    row = layout.row()
    row.alert = view.is_paused
    if view.is_paused:
        _draw_act(row, "Resume", "", "pause", "Allow edits again", "PLAY")
    else:
        _draw_act(row, "Pause", "", "pause", "Refuse new edits. Reading still works", "PAUSE")
    _draw_undo(layout.row(), view, wide)
    icon = "QUESTION" if view.is_asking else "NONE"
    say(layout, view.headline, wide, icon=icon)
    say(layout, view.connected, wide)
    say(layout, view.muted, wide, icon="MUTE_IPO_ON")
    for label, name in view.muted_clients.items():
        _draw_act(layout, f"Unmute {name}", label, "unmute", "Allow its questions again")


def _draw_undo(row: Any, view: PanelView, wide: int) -> None:
    """Draw the button that undoes what an agent did last."""
    call = view.undoable
    row.enabled = call is not None
    caption = "Undo"
    if call is not None:
        room = max(8, wide - _BESIDE)  # else Blender leaves out the middle
        caption = f"Undo: {safe_line(call.title, room)}"
    _draw_act(row, caption, view.undo_label, "undo", "Undo the last edit of an agent", "LOOP_BACK")


def _draw_history(layout: Any, view: PanelView, wide: int) -> None:
    """Draw the newest calls."""
    layout.label(text="History")
    calls = view.changes(_MOST)
    if not calls:
        say(layout, "No agent has changed anything yet.", wide)
    for call in calls:
        column = layout.box().column(align=True)
        at = time.strftime("%H:%M", time.localtime(call.ended))
        icon = _ICONS.get(call.sign, "ERROR")
        say(column, f"{at} {call.title}", wide, icon=icon)
        say(column, call.summary, wide)
        if call.is_code:
            button = column.operator("dcc_bridge.code", text="Show the code", icon="TEXT")
            button.key = call.id


def _draw_row(layout: Any, part: PanelRow, wide: int) -> None:
    box = (layout if part.is_heading else layout.box()).column(align=True)
    say(box, part.title, wide, icon="QUESTION" if part.stands_out else "NONE")
    row = box.row(align=True)
    for act in part.acts:
        _draw_act(row, act.caption, part.key, act.verb, act.tip)
    if part.done is not None:
        full = round(_BAR * max(0.0, part.done))
        share = f" {part.done:.0%}" if part.done >= 0 else ""
        box.label(text=f"{'█' * full}{'░' * (_BAR - full)}{share}", translate=False)
    say(box, part.detail, wide)


def _draw_act(
    layout: Any, caption: str, key: str, verb: str, tip: str = "", icon: str = "NONE"
) -> None:
    button = layout.operator("dcc_bridge.act", text=caption, icon=icon, translate=False)
    button.key, button.verb, button.tip = key, verb, tip.removesuffix(".")


def _sidebars() -> list[bpy.types.Region]:
    """List the sidebars that can be seen."""
    manager = bpy.context.window_manager
    areas = [area for window in manager.windows for area in window.screen.areas] if manager else []
    regions = [part for area in areas if area.type == "VIEW_3D" for part in area.regions]
    return [part for part in regions if part.type == "UI" and part.width > 1]


def register() -> None:
    """Show it."""
    for each in (DCC_BRIDGE_OT_act, DCC_BRIDGE_OT_code, DCC_BRIDGE_PT_agents):
        bpy.utils.register_class(each)


def unregister() -> None:
    """Take it away."""
    for each in (DCC_BRIDGE_PT_agents, DCC_BRIDGE_OT_code, DCC_BRIDGE_OT_act):
        bpy.utils.unregister_class(each)
