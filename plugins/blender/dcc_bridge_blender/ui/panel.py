"""The sidebar of the 3D view: what agents ask, do and did, with a button for each thing.

The bridge's timer reads the view of the sidebar on the main thread: when something has changed, and
once a second for what only the clock or the person's own undo changes. The sidebar is drawn again
where the view looks different.

Blender reads the annotations of these classes, so this module must not postpone annotations.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import bpy

from dcc_bridge.spi.drawing import CallView, PanelPort, PanelRow, PanelView, Question, safe_line

from .. import preferences
from ..loop import areas, redraw
from . import history_filter
from .drawing import bar, columns_of, say, scaled, scaled_by, stir, wrapped
from .pages import Pages

_CHANGED_PERIOD_S: Final = 0.2  # seconds from one reading to the next where something changed
_IDLE_PERIOD_S: Final = 1.0  # and where nothing did
_MARGIN: Final = 55  # pixels at the sides of a text in a box of the sidebar
_MAX_CALLS: Final = 12  # of the history
_UNDO_CHARACTERS: Final = 8  # that the icon and the word "Undo" take on the button that undoes
_CARD_WIDTH: Final = 760  # pixels
_CARD_EDGE: Final = 40  # pixels of the window beside a card
_CARD_CHARACTERS: Final = 115  # of a line in a card of that width
_LIST_WIDTH: Final = 460  # pixels of the list of the steps that go back
_LIST_CHARACTERS: Final = 68  # of a line of that list
_LINE_HEIGHT: Final = 21  # pixels
_FIXED_LINES: Final = 8  # of a card, beside the facts of the call and its text
_ICON_CHARACTERS: Final = 3  # characters that an icon takes the place of
_TAB_WIDTH: Final = 24  # pixels of the tabs beside the sidebar
_DRAWN_S: Final = 4.0  # seconds after which a panel that is not drawn again is taken for hidden
_MAX_NAMES: Final = 20  # names of each kind that a card lists of what code changed
_ICONS: Final = {
    "done": "CHECKMARK",
    "tried": "INFO",
    "undone": "LOOP_BACK",
    "unanswered": "INFO",
    "refused": "X",
    "cancelled": "X",
    "not_started": "X",
}


class Sidebar:
    """The state of the sidebar while a bridge runs.

    Attributes:
        notes: The notifications, each with the time when it goes.
        view: What the sidebar shows, as it was read last.
        card: The key of the call whose card was opened last, or "".
        steps: The key of the call whose list of steps was opened last, or "".
        pages: The text of the code of that card, or None.
        draw_question: Draws the list or the form of the question that waits.
        close: Ends the listening to the bridge.
    """

    def __init__(
        self,
        port: PanelPort,
        notes: Sequence[tuple[str, float]],
        enter: Callable[[], bool],
        draw_question: Callable[[Any, int], None] = lambda layout, wide: None,
    ) -> None:
        """Listen to a bridge.

        Args:
            port: The bridge.
            notes: The notifications of the surface, each with the time when it goes.
            enter: Leads the person into the question that waits.
            draw_question: Draws the list or the form of that question.
        """
        self._enter = enter
        self.draw_question = draw_question
        self.notes = notes
        self.view = PanelView.read(port)
        self.card = ""
        self.steps = ""
        self.pages: Pages | None = None
        self._port = port
        self._is_stale = True
        self._read_at = 0.0
        self.close = port.watch(self._note_change)

    def _note_change(self) -> None:
        self._is_stale = True

    def turn(self) -> None:
        """Read the view, if that is due, and have the sidebars drawn where the view changed."""
        regions = _regions()
        if not regions:
            return
        period = _IDLE_PERIOD_S
        if self._is_stale:
            period = _CHANGED_PERIOD_S
        now = time.monotonic()
        if now < self._read_at + period:
            return
        self._read_at = now
        self._is_stale = False
        before = self.view
        self.view = PanelView.read(self._port)
        if self.view.looks_like(before):
            return
        for region in regions:
            region.tag_redraw()

    def _show(self, _: Question) -> None:
        self._enter()  # whose turn it is: one question is drawn at a time

    def act(self, key: str, verb: str) -> None:
        """Do what a button says.

        Args:
            key: What the button is for: a row of the view, the label of a call, a text to copy.
            verb: What the button does.
        """
        if self.pages is not None and self.pages.turn(verb):
            return
        port = self._port
        windows = bpy.context.window_manager
        if verb == "pause" and port.is_paused:
            port.resume()
        elif verb == "pause":
            port.pause()
        elif verb == "undo":
            port.undo(key)
        elif verb == "copy" and windows is not None:
            windows.clipboard = key
        else:
            PanelView.press(port, key, verb, self._show)
        self._is_stale = True


shown: Sidebar | None = None  # None while no bridge runs
_drawn: dict[int, float] = {}  # when the panel was drawn last, by the addresses of the regions


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
        """Return what the button does."""
        return str(properties.tip)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        """Act, and have a popup drawn again: Blender would draw it when the mouse moves."""
        result = self.execute(context)
        redraw()
        stir(context, event)
        return result

    def execute(self, context: bpy.types.Context) -> Any:
        """Act."""
        if shown is not None:
            shown.act(self.key, self.verb)
        return {"FINISHED"}


class DCC_BRIDGE_OT_code(bpy.types.Operator):
    """Shows what a call of the history did, in a popup that is called the card of the call."""

    bl_idname = "dcc_bridge.code"
    bl_label = "What an agent did"
    bl_description = "Shows what was done, and the code if there is some"
    bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape

    key: bpy.props.StringProperty()  # type: ignore[valid-type]  # how Blender declares properties
    tip: bpy.props.StringProperty()  # type: ignore[valid-type]  # how Blender declares properties

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        """Return all of the row."""
        return str(properties.tip) or cls.bl_description

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        """Open the card of a call, on the first page of the code."""
        windows = context.window_manager
        call = _find_call(self.key)
        if shown is None or windows is None or call is None:
            return {"CANCELLED"}
        shown.card = call.id
        shown.pages = None
        if call.code is not None:
            shown.pages = Pages(call.code)
        return windows.invoke_props_dialog(self, width=_card_width(context))

    def draw(self, context: bpy.types.Context) -> None:
        """Draw what was done, why, and a page of the code if there is some."""
        call = _find_call(self.key)
        if shown is None or call is None:
            return
        height = 0
        if context.window is not None:
            height = context.window.height
        lines = int(scaled(context, height) / _LINE_HEIGHT)
        wide = _CARD_CHARACTERS * _card_width(context) // _CARD_WIDTH
        _draw_card(self.layout, call, shown.pages, lines, wide)

    def execute(self, context: bpy.types.Context) -> Any:
        """Close the card."""
        return {"FINISHED"}


class DCC_BRIDGE_OT_undo_back(bpy.types.Operator):
    """Lists what goes back with a call of the history, and undoes it once the person agrees."""

    bl_idname = "dcc_bridge.undo_back"
    bl_label = "Undo this and all after it"
    bl_description = "List what goes back, and undo it if you agree"
    bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape

    key: bpy.props.StringProperty()  # type: ignore[valid-type]  # how Blender declares properties

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        """List the steps. Blender's OK undoes them, from 4.1 on with our caption."""
        windows: Any = context.window_manager
        row = self._row()
        if shown is None or row is None or not row.acts:
            return {"CANCELLED"}
        shown.steps = self.key
        self._agreed = row.key
        options = {}
        if "confirm_text" in windows.bl_rna.functions["invoke_props_dialog"].parameters:
            options["confirm_text"] = row.acts[0].caption
        return windows.invoke_props_dialog(self, width=_LIST_WIDTH, **options)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the steps that go back."""
        row = self._row()
        if row is not None:
            _draw_steps(self.layout, row)

    def execute(self, context: bpy.types.Context) -> Any:
        """Undo the steps that were listed, unless another one came on top of them since."""
        if shown is not None:
            shown.act(self._agreed, "undo_back")
        return {"FINISHED"}

    def _row(self) -> PanelRow | None:
        """Return the list of the steps as it is now."""
        if shown is None:
            return None
        return shown.view.undo_list(self.key)


def _find_call(key: str) -> CallView | None:
    """Return a call of the history; None if it was dropped, or nothing is shown."""
    if shown is None:
        return None
    return shown.view.call(key)


def _draw_card(
    layout: Any, call: CallView, pages: Pages | None, lines: int, wide: int = _CARD_CHARACTERS
) -> None:
    """Draw the facts of a call, and a page of its code.

    Args:
        layout: The layout of Blender's to draw on.
        call: The call.
        pages: The text of its code, or None.
        lines: How many lines the window has.
        wide: How many characters a line of the card has.
    """
    say(layout, call.title, wide)
    facts = "\n".join(call.facts(_MAX_NAMES))
    say(layout.box(), facts, wide)
    _draw_undo_back(layout, call, wide)
    if pages is None:
        return
    room = lines - len(wrapped(facts, wide)) - _FIXED_LINES
    pages.draw(layout.box(), wide, room, _draw_page_button)


def _draw_undo_back(layout: Any, call: CallView, wide: int) -> None:
    """Draw the button that lists what goes back with a call, or why nothing can."""
    row = None
    if shown is not None:
        row = shown.view.undo_list(call.id)
    if row is None:
        return
    if not row.acts:
        if call.has_steps:
            say(layout, row.detail, wide)
        return
    caption = "Undo this and all after it…"
    layout.operator("dcc_bridge.undo_back", text=caption, icon="LOOP_BACK").key = call.id


def _card_width(context: bpy.types.Context) -> int:
    """Return the width of a card; it fits into the window."""
    if context.window is None:
        return _CARD_WIDTH
    room = int(scaled(context, context.window.width)) - _CARD_EDGE
    return min(_CARD_WIDTH, room)


def _draw_steps(layout: Any, row: PanelRow) -> None:
    """Draw the steps that go back, and what brings them back."""
    say(layout, row.title, _LIST_CHARACTERS)
    say(layout.box(), row.detail, _LIST_CHARACTERS)
    for act in row.acts:
        say(layout, f"{act.tip} Esc undoes nothing.", _LIST_CHARACTERS)


def _draw_page_button(layout: Any, verb: str, caption: str) -> None:
    draw_act(layout, caption, "", verb)


class DCC_BRIDGE_PT_agents(bpy.types.Panel):
    """The sidebar's panel."""

    bl_label = "Agents"
    bl_category = "Agents"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the state, what waits for the person, the history, and the agents."""
        layout: Any = self.layout
        wide = columns_of(context, _MARGIN)
        if context.region is not None:
            _drawn[context.region.as_pointer()] = time.monotonic()
        if shown is None:
            say(layout, preferences.state, wide)
            return
        view = shown.view
        _draw_head(layout, view, wide)
        for row in view.now:
            _draw_row(layout, row, wide)
        shown.draw_question(layout, wide)
        for text, _ in shown.notes:
            say(layout.box(), text, wide, icon="INFO")
        if view.pending is not None:
            _draw_row(layout, view.pending, wide)
        _draw_history(layout, view, wide)
        layout.label(text="Agents")
        for row in (*view.clients, *view.grants):
            _draw_row(layout, row, wide)
        if view.address:
            say(layout, view.address, wide)
            draw_act(layout, "Copy the address", view.address, "copy", icon="COPYDOWN")


def _draw_head(layout: Any, view: PanelView, wide: int) -> None:
    """Draw the parts that are always there, so that no button moves away below the mouse."""
    row = layout.row()
    row.alert = view.is_paused
    if view.is_paused:
        draw_act(row, "Resume", "", "pause", "Allow edits again", "PLAY")
    else:
        draw_act(row, "Pause", "", "pause", "Refuse new edits. Reading still works", "PAUSE")
    _draw_undo(layout.row(), view, wide)
    icon = "NONE"
    if view.is_asking:
        icon = "QUESTION"
    say(layout, view.headline, wide, icon=icon)
    say(layout, view.connected, wide)
    say(layout, view.muted, wide, icon="MUTE_IPO_ON")
    for label, name in view.muted_clients.items():
        draw_act(layout, f"Unmute {name}", label, "unmute", "Allow its questions again")


def _draw_undo(row: Any, view: PanelView, wide: int) -> None:
    """Draw the button that undoes what an agent did last."""
    call = view.undoable
    row.enabled = call is not None
    caption = "Undo"
    if call is not None:
        room = max(8, wide - _UNDO_CHARACTERS)  # Blender cuts a long caption in the middle
        caption = f"Undo: {safe_line(call.title, room)}"
    draw_act(row, caption, view.undo_label, "undo", "Undo the last edit of an agent", "LOOP_BACK")


def _draw_history(layout: Any, view: PanelView, wide: int) -> None:
    """Draw the newest calls that fit the filter."""
    layout.label(text="History")
    calls = history_filter.chosen(view, _MAX_CALLS)
    if not calls and not view.history(1, lists_reads=True):
        say(layout, "No agent has changed anything yet.", wide)
        return
    history_filter.draw(layout, view)
    if not calls:
        say(layout, "Nothing in the history fits.", wide)
    for call in calls:
        column = layout.box().column(align=True)
        _draw_call(column, call, wide)


def _draw_call(column: Any, call: CallView, wide: int) -> None:
    """Draw a call of the history; a click on its first line opens its card."""
    at = time.strftime("%H:%M", time.localtime(call.ended))
    icon = _ICONS.get(call.sign, "ERROR")
    row = column.row()
    row.alignment = "LEFT"
    # Blender cuts a long caption in the middle; the tip has all of it.
    title = safe_line(f"{at} {call.title}", wide - _ICON_CHARACTERS)
    button = row.operator("dcc_bridge.code", text=title, icon=icon, emboss=False, translate=False)
    button.key = call.id
    button.tip = f"{call.title}\n{call.summary}\nClick to read what happened"
    say(column, call.summary, wide)
    if call.is_code:
        button = column.operator("dcc_bridge.code", text="Show the code", icon="TEXT")
        button.key = call.id


def _draw_row(layout: Any, row: PanelRow, wide: int) -> None:
    """Draw a row of the view, with its buttons. A heading stands on no box."""
    box = layout
    if not row.is_heading:
        box = layout.box()
    column = box.column(align=True)
    icon = "NONE"
    if row.stands_out:
        icon = "QUESTION"
    say(column, row.title, wide, icon=icon)
    buttons = column.row(align=True)
    for act in row.acts:
        draw_act(buttons, act.caption, row.key, act.verb, act.tip)
    if row.done is not None:
        column.label(text=bar(row.done), translate=False)
    say(column, row.detail, wide)


def draw_act(
    layout: Any, caption: str, key: str, verb: str, tip: str = "", icon: str = "NONE"
) -> None:
    """Draw a button of `DCC_BRIDGE_OT_act`."""
    button = layout.operator("dcc_bridge.act", text=caption, icon=icon, translate=False)
    button.key = key
    button.verb = verb
    button.tip = tip.removesuffix(".")


def is_over(context: bpy.types.Context, event: bpy.types.Event) -> bool:
    """Return whether the mouse is over the panel, and not over the tabs beside the panel."""
    earliest = time.monotonic() - _DRAWN_S
    tabs = _TAB_WIDTH * scaled_by(context)
    for region in _regions():
        is_drawn = _drawn.get(region.as_pointer(), 0.0) >= earliest
        x = event.mouse_x - region.x
        y = event.mouse_y - region.y
        if is_drawn and 0 <= x < region.width - tabs and 0 <= y < region.height:
            return True
    return False


def open_sidebar() -> None:
    """Open the sidebar of the first 3D view, on our tab where Blender lets us choose it."""
    for area in areas():
        if area.type != "VIEW_3D":
            continue
        space: Any = area.spaces.active
        space.show_region_ui = True
        sidebar: Any
        for sidebar in area.regions:
            if sidebar.type == "UI":
                with suppress(AttributeError):  # read only, or not there, in older versions
                    sidebar.active_panel_category = DCC_BRIDGE_PT_agents.bl_category
        return


def _regions() -> list[bpy.types.Region]:
    """Return the sidebars that can be seen."""
    manager = bpy.context.window_manager
    if manager is None:
        return []
    regions: list[bpy.types.Region] = []
    for window in manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                regions += area.regions
    return [region for region in regions if region.type == "UI" and region.width > 1]


_CLASSES: Final = (
    DCC_BRIDGE_OT_act,
    DCC_BRIDGE_OT_code,
    DCC_BRIDGE_OT_undo_back,
    DCC_BRIDGE_PT_agents,
)


def register() -> None:
    """Show the panel."""
    for each in _CLASSES:
        bpy.utils.register_class(each)


def unregister() -> None:
    """Remove the panel."""
    for each in reversed(_CLASSES):
        bpy.utils.unregister_class(each)
